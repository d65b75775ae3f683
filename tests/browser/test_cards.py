"""Cards in the browser: approvals, compactions, the past; and buttons that nobody offered."""

from __future__ import annotations

import re
from functools import partial
from pathlib import Path

import pytest
from playwright.sync_api import BrowserContext, expect

from assistant.compaction.record import CompactionRecord
from assistant.config.settings import load_settings
from assistant.ui.people import open_person
from tests.browser.behind import Behind
from tests.browser.conftest import Chat, Serve, leaves_the_page
from tests.fakes.free_port import free_port
from tests.fakes.page_player import RISKY_COMMAND, PagePlayer
from tests.fakes.players import RuleBasedPlayer
from tests.fakes.provider import StrictProvider

pytestmark = pytest.mark.browser


@pytest.fixture
def build(behind: Behind) -> Path:
    """The folder that a risky call would delete."""
    folder = behind.home / "files" / "build"
    folder.mkdir(exist_ok=True)
    return folder


def newest_compaction(behind: Behind, chat: Chat) -> CompactionRecord:
    """The record of the compaction that a tab shows."""
    rows = behind.store.journal.rows(behind.conversation(chat.page.url).session_id)
    return [row for row in rows if isinstance(row, CompactionRecord)][-1]


@pytest.mark.parametrize(
    ("button", "told", "answer"),
    [
        ("Allow once", "You allowed this once", "Done: the build folder is gone."),
        ("Deny", "You denied this", "All right, I leave it as it is."),
    ],
)
def test_a_risky_call_waits_for_the_person(chat: Chat, build: Path, button: str, told: str, answer: str) -> None:
    chat.say("approve it")
    expect(chat.page.locator(".p-approval .p-command")).to_have_text(RISKY_COMMAND)
    assert build.exists()
    chat.page.get_by_role("button", name=button).click()
    expect(chat.page.locator("#chat")).to_contain_text(answer)
    expect(chat.page.locator("#chat")).to_contain_text(told)
    expect(chat.page.locator(".p-approval")).to_have_count(0)
    assert build.exists() == (button == "Deny")


def test_a_rest_that_is_closed_opens_before_anything_is_allowed(chat: Chat, behind: Behind) -> None:
    chat.say("approve it")
    approval = chat.page.locator(".p-approval")
    approval.wait_for()
    # What the card draws behind a command that is too long to be seen at once.
    approval.evaluate(
        """card => card.querySelector(".p-note").insertAdjacentHTML(
            "beforebegin", '<details class="p-rest"><summary>381 more lines</summary><pre>curl</pre></details>')"""
    )
    chat.page.get_by_role("button", name="Allow once").click()
    expect(approval.locator("details.p-rest[open]")).to_have_count(1)
    assert len(behind.conversation(chat.page.url).approvals()) == 1
    chat.page.get_by_role("button", name="Allow once").click()
    expect(chat.page.locator("#chat")).to_contain_text("You allowed this once")


@leaves_the_page
def test_an_approval_waits_through_a_reload(chat: Chat) -> None:
    chat.say("approve it")
    chat.page.locator(".p-approval").wait_for()
    chat.page.reload()
    chat.page.get_by_role("button", name="Allow once").click()
    expect(chat.page.locator("#chat")).to_contain_text("Done: the build folder is gone.")


@pytest.mark.parametrize(
    ("action", "target"), [("allow", "call-1"), ("undo", "k1"), ("retry", "t1"), ("transcript", "k1"), ("format", "c:")]
)
def test_a_button_that_nobody_offered_is_refused(
    chat: Chat, behind: Behind, build: Path, action: str, target: str
) -> None:
    chat.say("approve it")
    chat.page.locator(".p-approval").wait_for()
    chat.act(action, target)
    expect(chat.page.locator(".toast-wrap")).to_contain_text("no longer pending")
    assert (len(behind.conversation(chat.page.url).approvals()), build.exists()) == (1, True)
    expect(chat.page.locator(".p-approval")).to_be_visible()


def test_a_compaction_is_a_card_that_opens_and_can_be_undone(chat: Chat, behind: Behind) -> None:
    chat.say_two("My dentist is on Friday 15:30, tram 12 to Langstrasse.", ferries=700)
    chat.say("/compact")
    compaction = chat.page.locator("#chat .p-compaction")
    expect(compaction).to_contain_text("kept word for word")
    record = newest_compaction(behind, chat)
    saved = round(100 * (1 - record.after_tokens / record.previous_tokens))
    assert (record.folded_messages, record.kept_turns, saved > 50) == (2, 1, True)
    before, after = (f"{tokens / 1_000:.1f}k" for tokens in (record.previous_tokens, record.after_tokens))
    for words in (f"{before} → {after}", f"−{saved} %", "2 messages folded", "1 turn kept word for word"):
        expect(compaction).to_contain_text(words)
    summary = compaction.locator(".p-summary")
    expect(summary.locator(".p-prose")).to_be_hidden()
    summary.locator("summary").click()
    expect(summary.locator(".p-prose")).to_contain_text("Friday 15:30, tram 12 to Langstrasse")
    expect(chat.page.locator("#meter")).to_contain_text(f"{after} of 128k")
    compaction.get_by_role("button", name="Undo").click()
    expect(compaction).to_contain_text("Compaction undone")
    expect(compaction.get_by_role("button", name="Undo")).to_have_count(0)
    expect(chat.page.locator("#meter")).to_contain_text(re.compile(r"1[1-4]\.\dk of 128k"))


def test_a_person_can_compact_now_and_say_what_matters(chat: Chat, player: PagePlayer) -> None:
    chat.say_two("My flight is LX2086.")
    chat.page.locator("#meter button").click()
    chat.page.locator("#hint textarea").fill("Keep the flight number")
    chat.page.locator("#compact").click()
    expect(chat.page.locator("#chat .p-compaction .p-prose")).to_contain_text("LX2086")
    assert any("Keep the flight number" in text for text in player.summaries_asked)
    expect(chat.page.locator("#hint textarea")).to_have_value("")
    chat.page.locator("#compactions").get_by_role("button", name="Undo").click()
    expect(chat.page.locator("#chat .p-compaction")).to_contain_text("Compaction undone")


def test_the_context_tab_shows_what_the_model_sees(chat: Chat, behind: Behind) -> None:
    chat.say("tools please")
    chat.wait_for_end()
    chat.page.locator("#meter button").click()
    item = chat.page.locator("#context details", has_text="not bold")
    [seen] = [item for item in behind.conversation(chat.page.url).context_items() if "not bold" in item.text]
    expect(item).to_contain_text(f"{seen.tokens:,}")
    item.locator("summary").click()
    expect(item.locator("pre")).to_contain_text("${window.pwned = 9} {{value}} <b>not bold</b>")
    assert chat.page.evaluate("window.pwned") is None


def test_what_was_folded_is_shown_and_marked(chat: Chat) -> None:
    chat.open("c=lisbon")
    chat.page.get_by_text("Question 40 about the trip").wait_for()
    chat.page.locator("#chat").get_by_role("button", name="Open transcript").click()
    expect(chat.page.locator("#chat .m-found")).to_contain_text("Question 1 about the trip")
    expect(chat.page.locator("#chat .m-found")).to_be_in_viewport()
    expect(chat.page.get_by_text("Question 40 about the trip")).not_to_be_in_viewport()
    chat.page.get_by_role("button", name="To the newest words").click()
    expect(chat.page.get_by_text("Question 40 about the trip")).to_be_in_viewport()


def test_a_memory_change_is_a_chip_with_its_diff_that_opens_the_file(chat: Chat) -> None:
    chat.say("remember I collect old maps")
    chat.wait_for_end()
    chip = chat.page.locator("#chat .p-memory details", has_text="USER.md")
    chip.locator("summary").click()
    expect(chip.locator(".p-diff-plus", has_text="old maps")).to_be_visible()
    chip.get_by_role("button", name="Open USER.md").click()
    expect(chat.page.locator("#file-head h2")).to_have_text("USER.md")
    chat.say("/undo")
    expect(chat.page.locator("#chat .p-notice")).to_contain_text("Nothing to undo")


def test_what_was_recalled_opens_its_file(chat: Chat, recall: None) -> None:
    chat.say("Which hotels in Alfama?")
    chat.wait_for_end()
    chat.page.locator("details.p-row-recalled summary").click()
    chat.page.get_by_role("button", name="memory/2026-11-29.md:3").click()
    expect(chat.page.locator("#file-head h2")).to_have_text("memory/2026-11-29.md")


def test_a_passage_that_was_not_helpful_says_that_it_is_kept_out(chat: Chat, recall: None) -> None:
    chat.say("Which hotels in Alfama?")
    chat.wait_for_end()
    row = chat.page.locator("#chat details.p-row-recalled").last
    row.locator("summary").click()
    count = row.get_by_role("button", name="Not helpful").count()
    row.get_by_role("button", name="Not helpful").first.click()
    expect(row.get_by_text("kept out of this conversation")).to_have_count(1)
    expect(row.get_by_role("button", name="Not helpful")).to_have_count(count - 1)


def test_without_a_model_the_page_says_what_to_do_and_looks_again(
    context: BrowserContext, serve: Serve, tmp_path: Path
) -> None:
    home, port = tmp_path / "home", free_port()
    home.mkdir()
    values = {
        "PALIMPSEST_PROVIDER": "openai",
        "PALIMPSEST_BASE_URL": f"http://127.0.0.1:{port}/v1",
        "PALIMPSEST_API_KEY": "any",
        "PALIMPSEST_EMBEDDER": "none",
        "MEMORY_STORE_BACKEND": "local",
    }
    (home / ".env").write_text("".join(f"{name}={value}\n" for name, value in values.items()), "utf-8")
    settings = load_settings(home)
    chat = Chat(context.new_page(), serve(partial(open_person, settings), home).url)
    chat.open()
    expect(chat.page.locator("#chat .p-setup")).to_contain_text("Not a language model")
    expect(chat.page.locator("#top")).to_contain_text("not a language model")
    chat.page.locator("#chat").get_by_role("button", name="Test connection").click()
    expect(chat.page.locator("#chat .p-report")).to_be_visible()
    with StrictProvider(RuleBasedPlayer(), port=port):
        chat.page.locator("#chat").get_by_role("button", name="Look again").click()
        expect(chat.page.locator("#top")).to_contain_text("strict-7b")
        expect(chat.page.locator("#chat .p-setup")).to_have_count(0)
