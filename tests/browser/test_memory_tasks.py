"""What a person does to memory beside the editor, in the browser, on a real home."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from playwright.sync_api import BrowserContext, expect

from assistant.assembly.assistant import open_assistant
from assistant.assembly.sample.show_command import with_show_command
from assistant.config.settings import Settings
from assistant.ui.page import PageServer
from tests.browser.conftest import Chat, Serve

pytestmark = [pytest.mark.browser, pytest.mark.usefixtures("panel_left_open")]


@pytest.fixture(scope="module")
def real_home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The home behind the page of this file."""
    return tmp_path_factory.mktemp("real") / "home"


@pytest.fixture(scope="module")
def real_server(serve: Serve, real_home: Path) -> PageServer:
    """The page of the built-in assistant."""
    return serve(lambda *_: with_show_command(open_assistant(real_settings(real_home))), real_home)


@pytest.fixture
def tab(context: BrowserContext, real_server: PageServer) -> Chat:
    """A tab of that page with a new conversation."""
    chat = Chat(context.new_page(), real_server.url)
    chat.open()
    chat.start_new()
    return chat


def real_settings(home: Path) -> Settings:
    """The built-in assistant, words alone."""
    return Settings(home=home, provider="offline", embedder="none", memory_store_backend="local")


def holders(home: Path, fact: str) -> list[str]:
    """The files that hold a fact."""
    return sorted(path.name for path in home.rglob("*") if path.is_file() and fact.encode() in path.read_bytes())


def test_a_fact_is_found_ticked_and_forgotten_from_the_panel(tab: Chat, real_home: Path) -> None:
    tab.say("Remember that my locker code is 7731.")
    tab.wait_for_end()
    assert holders(real_home, "7731")
    tab.page.locator("#file-head").get_by_role("button", name="Forget").click()
    card = tab.page.locator("#memory-work")
    field = card.get_by_label("What is to be forgotten")
    expect(field).to_be_focused()
    field.fill("locker code")
    field.press("Enter")
    expect(card).to_contain_text("USER.md")
    for box in card.get_by_role("checkbox").all():
        box.check()
    card.get_by_role("button", name="Forget what is ticked").click()
    expect(card).to_contain_text("Forgotten")
    expect(card.locator(".p-gone li").first).to_contain_text("Memory files")
    assert holders(real_home, "7731") == []
    expect(tab.page.locator("#chat")).not_to_contain_text("7731")
    expect(tab.page.locator("#editor .cm-content")).not_to_contain_text("7731")
    card.get_by_role("button", name="Close").click()
    expect(card.locator(".p-task")).to_have_count(0)


def test_a_chip_leads_to_all_places_of_what_it_wrote(tab: Chat, real_home: Path) -> None:
    tab.say("Remember that I collect blue fountain pens.")
    tab.wait_for_end()
    chip = tab.page.locator("#chat .p-memory .p-row").last
    chip.locator("summary").click()
    chip.get_by_role("button", name="Forget this").click()
    card = tab.page.locator("#memory-work")
    expect(card.locator(".p-field")).to_have_value("- I collect blue fountain pens.")
    expect(card.get_by_role("checkbox").first).to_be_checked()
    card.get_by_role("checkbox").first.uncheck()
    for box in card.get_by_role("checkbox").all():
        box.uncheck()
    card.get_by_role("button", name="Forget what is ticked").click()
    expect(card).to_contain_text("Nothing is ticked")
    assert holders(real_home, "fountain pens")


def test_chips_are_there_again_with_their_buttons_after_a_restart(
    context: BrowserContext, serve: Serve, tmp_path: Path
) -> None:
    home = tmp_path / "restarted"
    first = serve(lambda *_: open_assistant(real_settings(home)), home)
    chat = Chat(context.new_page(), first.url)
    chat.open()
    chat.say("Remember that I collect brass keys.")
    chat.wait_for_end()
    expect(chat.page.locator("#chat .p-memory .p-row")).to_have_count(1)
    chat.page.close()
    first.close()
    chat = Chat(context.new_page(), serve(lambda *_: open_assistant(real_settings(home)), home).url)
    chat.open()
    chip = chat.page.locator("#chat .p-memory .p-row")
    expect(chip).to_have_count(1)
    chip.locator("summary").click()
    expect(chip.locator(".p-diff")).to_contain_text("I collect brass keys.")
    chip.get_by_role("button", name="Undo this").click()
    expect(chat.page.locator("#chat .p-memory .p-row")).to_have_count(2)
    assert "brass keys" not in (home / "USER.md").read_text("utf-8")


def test_what_was_said_is_in_memory_once_the_conversation_is_left_and_answers_in_the_next(
    tab: Chat, real_home: Path
) -> None:
    said = ("My sister Vilma is afraid of ferries.", "She has lived in Bergen since 2019.", "Good night!")
    for number, words in enumerate(said, 1):
        tab.say(words)
        expect(tab.page.locator("#chat .p-foot")).to_have_count(number)
    assert not [path for path in (real_home / "memory").glob("*.md") if "Vilma" in path.read_text("utf-8")]
    tab.start_new()
    note = tab.page.locator("#files .p-file", has_text="2").first
    expect(note).to_be_visible()
    (path,) = (real_home / "memory").glob("*.md")
    assert path.read_text("utf-8").count("Vilma is afraid of ferries.") == 1
    tab.say("What is Vilma afraid of?")
    tab.wait_for_end()
    number = path.read_text("utf-8").splitlines().index("- My sister Vilma is afraid of ferries.") + 1
    expect(tab.page.locator("#chat .m-column")).to_contain_text(f"memory/{path.name}:{number}")
    written = json.loads((real_home / "memory_log.jsonl").read_text("utf-8").splitlines()[-1])
    tab.open(f"c={written['session_id']}")
    expect(tab.page.locator("#chat .p-memory .p-row")).to_have_count(1)
    expect(tab.page.locator("#chat .p-memory .p-row")).to_contain_text(path.name)


def test_a_full_file_is_tidied_by_ticks_and_restored_from_its_history(tab: Chat, real_home: Path) -> None:
    text = "\n".join(["- likes tea", "- likes tea", *(f"- fact {number}" for number in range(2_000))]) + "\n"
    (real_home / "MEMORY.md").write_text(text, "utf-8")
    tab.page.locator("#files .p-file", has_text="MEMORY.md").click()
    tab.page.locator("#files").get_by_role("button", name="Tidy").click()
    card = tab.page.locator("#memory-work")
    expect(card).to_contain_text("line 2 may go")
    card.get_by_role("checkbox").check()
    card.get_by_role("button", name="Remove what is ticked").click()
    expect(card).to_contain_text("1 line is gone from MEMORY.md")
    assert (real_home / "MEMORY.md").read_text("utf-8") == text.replace("- likes tea\n", "", 1)
    expect(tab.page.locator("#editor .cm-line").nth(1)).to_have_text("- fact 0")
    tab.page.locator("#file-head").get_by_role("button", name="History").click()
    versions = tab.page.locator("#history .p-item")
    expect(versions.first).to_contain_text("tidy")
    versions.nth(1).locator("summary").click()
    versions.nth(1).get_by_role("button", name="Restore this version").click()
    expect(versions.first).to_contain_text("you, in this program")
    assert (real_home / "MEMORY.md").read_text("utf-8") == text
    (real_home / "MEMORY.md").write_text("# Memory\n", "utf-8")


def test_a_line_tells_where_it_comes_from_and_leads_there(tab: Chat) -> None:
    tab.say("Remember that I play the cello.")
    tab.wait_for_end()
    tab.start_new()
    tab.page.locator("#files .p-file", has_text="USER.md").click()
    tab.page.locator("#editor .cm-line", has_text="cello").click()
    tab.page.locator("#file-head").get_by_role("button", name="Who wrote this line").click()
    card = tab.page.locator("#memory-work")
    expect(card).to_contain_text("the assistant")
    card.get_by_role("button", name="Remember that I play the cello.").click()
    expect(tab.page.locator("#chat")).to_contain_text("I play the cello.")


def test_the_sample_shows_its_own_files(tab: Chat, real_home: Path) -> None:
    tab.say("/show")
    expect(tab.page.locator("#files .p-sample")).to_be_visible()
    tab.start_new()
    expect(tab.page.locator("#files .p-sample")).to_have_count(0)


@pytest.mark.parametrize("width", [1280, 390])
def test_the_card_fits_the_screen(
    context: BrowserContext, real_server: PageServer, width: int, open_sidebar: Callable[[Chat], None]
) -> None:
    chat = Chat(context.new_page(), real_server.url)
    chat.page.set_viewport_size({"width": width, "height": 844})
    chat.open()
    open_sidebar(chat)
    chat.page.locator("#file-head").get_by_role("button", name="Forget").click()
    card = chat.page.locator("#memory-work .p-task")
    card.locator(".p-field").fill("the")
    card.get_by_role("button", name="Find").click()
    expect(card.get_by_role("checkbox").first).to_be_visible()
    box = card.bounding_box()
    assert box is not None
    assert box["x"] >= 0
    assert box["x"] + box["width"] <= width


@pytest.fixture
def open_sidebar() -> Callable[[Chat], None]:
    """Opens the right panel where the screen is too narrow to keep it open."""

    def open_one(chat: Chat) -> None:
        button = chat.page.get_by_role("button", name="Show memory, context and model")
        if button.is_visible():
            button.click()

    return open_one
