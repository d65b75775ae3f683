"""Cards in the browser: approvals, compactions, the past; and buttons that nobody offered."""

from __future__ import annotations

import pytest
from playwright.sync_api import expect

from tests.browser.conftest import Chat
from tests.fakes.conversation import OFFLINE, FakeAssistant, FakeConversation, FakeModel

pytestmark = pytest.mark.browser


def newest(assistant: FakeAssistant) -> FakeConversation:
    """The conversation that was made last."""
    return list(assistant.conversations.known.values())[-1]


@pytest.mark.parametrize(
    ("button", "told", "answer"),
    [
        ("Allow once", "You allowed this once", "Done: the build folder is gone."),
        ("Deny", "You denied this", "All right, I leave it as it is."),
    ],
)
def test_a_risky_call_waits_for_the_person(
    chat: Chat, assistant: FakeAssistant, button: str, told: str, answer: str
) -> None:
    chat.say("approve it")
    expect(chat.page.locator(".p-approval .p-command")).to_have_text("rm -rf build/ && echo $$ done")
    chat.page.get_by_role("button", name=button).click()
    expect(chat.page.locator("#chat")).to_contain_text(answer)
    expect(chat.page.locator("#chat")).to_contain_text(told)
    expect(chat.page.locator(".p-approval")).to_have_count(0)
    assert list(newest(assistant).answers.values()) == [button == "Allow once"]


def test_a_rest_that_is_closed_opens_before_anything_is_allowed(chat: Chat, assistant: FakeAssistant) -> None:
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
    assert newest(assistant).answers == {}
    chat.page.get_by_role("button", name="Allow once").click()
    expect(chat.page.locator("#chat")).to_contain_text("You allowed this once")


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
    chat: Chat, assistant: FakeAssistant, action: str, target: str
) -> None:
    chat.say("approve it")
    chat.page.locator(".p-approval").wait_for()
    chat.act(action, target)
    expect(chat.page.locator(".toast-wrap")).to_contain_text("no longer pending")
    assert newest(assistant).answers == {}
    expect(chat.page.locator(".p-approval")).to_be_visible()


def test_a_compaction_is_a_card_that_opens_and_can_be_undone(chat: Chat) -> None:
    chat.say("compact now")
    chat.wait_for_end()
    compaction = chat.page.locator("#chat .p-compaction")
    for words in ("91.2k → 23.7k", "−74 %", "46 messages folded", "3 turns kept word for word"):
        expect(compaction).to_contain_text(words)
    summary = compaction.locator(".p-summary")
    expect(summary.locator(".p-prose")).to_be_hidden()
    summary.locator("summary").click()
    expect(summary.locator(".p-prose")).to_contain_text("Friday 15:30, tram 12 to Langstrasse")
    compaction.get_by_role("button", name="Undo").click()
    expect(compaction).to_contain_text("Compaction undone")
    expect(compaction.get_by_role("button", name="Undo")).to_have_count(0)
    expect(chat.page.locator("#meter")).to_contain_text("91k")


def test_a_person_can_compact_now_and_say_what_matters(chat: Chat) -> None:
    chat.say("hello")
    chat.wait_for_end()
    chat.page.locator("#meter button").click()
    chat.page.locator("#hint textarea").fill("Keep the flight number")
    chat.page.locator("#compact").click()
    expect(chat.page.locator("#chat .p-compaction .p-prose")).to_contain_text("Keep the flight number")
    expect(chat.page.locator("#hint textarea")).to_have_value("")
    chat.page.locator("#compactions").get_by_role("button", name="Undo").click()
    expect(chat.page.locator("#chat .p-compaction")).to_contain_text("Compaction undone")


def test_the_context_tab_shows_what_the_model_sees(chat: Chat) -> None:
    chat.say("hello")
    chat.wait_for_end()
    chat.page.locator("#meter button").click()
    item = chat.page.locator("#context details", has_text="Bash result")
    expect(item).to_contain_text("5,200")
    item.locator("summary").click()
    expect(item.locator("pre")).to_have_text("${window.pwned = 9} {{value}} <b>not bold</b>")
    assert chat.page.evaluate("window.pwned") is None


def test_what_was_folded_is_shown_and_marked(chat: Chat) -> None:
    chat.open_session("Lisbon trip")
    chat.page.get_by_text("Question 40 about the trip").wait_for()
    chat.page.locator("#chat").get_by_role("button", name="Open transcript").click()
    expect(chat.page.locator("#chat .m-found")).to_contain_text("Question 1 about the trip")
    expect(chat.page.locator("#chat .m-found")).to_be_in_viewport()
    expect(chat.page.get_by_text("Question 40 about the trip")).not_to_be_in_viewport()
    chat.page.get_by_role("button", name="To the newest words").click()
    expect(chat.page.get_by_text("Question 40 about the trip")).to_be_in_viewport()


def test_a_memory_change_is_a_chip_with_its_diff_that_opens_the_file(chat: Chat) -> None:
    chat.say("remember this")
    chat.wait_for_end()
    chip = chat.page.locator("#chat .p-memory details", has_text="USER.md")
    chip.locator("summary").click()
    expect(chip.locator(".p-diff-plus")).to_contain_text("Prefers short answers")
    chip.get_by_role("button", name="Open USER.md").click()
    expect(chat.page.locator("#file-head h2")).to_have_text("USER.md")
    expect(chat.page.locator("#chat .p-notice")).to_contain_text("84 % of its cap")


def test_what_was_recalled_opens_its_file(chat: Chat) -> None:
    chat.say("recall the dentist")
    chat.wait_for_end()
    chat.page.locator("details.p-row-recalled summary").click()
    chat.page.get_by_role("button", name="memory/2026-11-29.md:3").click()
    expect(chat.page.locator("#file-head h2")).to_have_text("memory/2026-11-29.md")


def test_without_a_model_the_page_says_what_to_do_and_looks_again(chat: Chat, assistant: FakeAssistant) -> None:
    assistant.model = OFFLINE
    try:
        chat.start_new()
        expect(chat.page.locator("#chat .p-setup")).to_contain_text("Not a language model")
        expect(chat.page.locator("#top")).to_contain_text("not a language model")
        chat.page.locator("#chat").get_by_role("button", name="Test connection").click()
        expect(chat.page.locator("#chat .p-report")).to_contain_text("called one tool")
        chat.page.locator("#chat").get_by_role("button", name="Look again").click()
        expect(chat.page.locator("#top")).to_contain_text("qwen3-max")
        expect(chat.page.locator("#chat .p-setup")).to_have_count(0)
    finally:
        assistant.model = FakeModel()
