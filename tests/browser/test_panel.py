"""Search, history, pins, previews and full texts in the browser."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import expect

from tests.browser.behind import Behind
from tests.browser.conftest import Chat

pytestmark = [pytest.mark.browser, pytest.mark.usefixtures("panel_left_open")]


def search(chat: Chat, words: str) -> None:
    """Type into the box that Ctrl-K goes to."""
    chat.page.keyboard.press("Control+k")
    expect(chat.page.locator("#search :is(input, textarea)")).to_be_focused()
    chat.page.keyboard.type(words)


def open_tab(chat: Chat, name: str) -> None:
    """Choose a tab of the right sidebar."""
    chat.page.locator("#tabs").get_by_role("tab", name=name).click()


def test_a_hit_in_memory_opens_its_file_at_its_line(chat: Chat, behind: Behind) -> None:
    path = behind.home / "memory" / "2026-11-25.md"
    path.write_text("# 2026-11-25\n\n- Compared three ferries\n", "utf-8")
    behind.index_words()
    search(chat, "xylophone")
    expect(chat.page.locator(".p-hits")).to_contain_text("Nothing was found")
    chat.page.locator("#search :is(input, textarea)").fill("Compared three ferries")
    chat.page.locator(".p-hit", has_text="memory/2026-11-25.md:3").click()
    expect(chat.page.locator("#file-head h2")).to_have_text("memory/2026-11-25.md")
    chat.page.wait_for_function("document.getSelection().toString().includes('Compared three ferries')")


def test_what_was_said_opens_at_its_message(chat: Chat, behind: Behind) -> None:
    behind.index_words()
    search(chat, "kingfishers")
    hit = chat.page.locator(".p-hit", has_text="Lisbon trip").first
    expect(hit).to_contain_text(behind.store.clock.now().strftime("%b %Y"))
    hit.click()
    expect(chat.page.locator("#top h1")).to_have_text("Lisbon trip")
    expect(chat.page.locator("#chat .m-found")).to_contain_text("Question 7 about the kingfishers")
    expect(chat.page.locator("#chat .m-found")).to_be_in_viewport()


def test_a_version_is_restored_from_the_history(chat: Chat, behind: Behind) -> None:
    notes = behind.store.notes
    for text in ("# Soul\n\nThe first.\n", "# Soul\n\nThe second.\n"):
        notes.save("SOUL.md", text, notes.read("SOUL.md").digest, "owner")
    chat.page.locator("#files .p-file", has_text="SOUL.md").click()
    expect(chat.page.locator("#editor .cm-content")).to_contain_text("The second.")
    chat.page.locator("#file-head").get_by_role("button", name="History").click()
    version = chat.page.locator("#history .p-item").nth(1)
    version.locator("summary").click()
    expect(version.locator(".p-diff")).to_contain_text("The first.")
    version.get_by_role("button", name="Restore this version").click()
    expect(chat.page.locator("#editor .cm-content")).to_contain_text("The first.")
    assert notes.read("SOUL.md").text == "# Soul\n\nThe first.\n"


def test_a_message_is_pinned_and_a_compaction_looked_ahead_to(chat: Chat) -> None:
    chat.say_two("Hello")
    open_tab(chat, "Context")
    chat.page.locator("#look-ahead").click()
    expect(chat.page.locator("#preview")).to_contain_text("would be folded")
    item = chat.page.locator("#context .p-item", has_text="and now?").filter(has=chat.page.locator("button")).last
    item.locator("summary").click()
    item.get_by_role("button", name="Pin", exact=True).click()
    expect(item.locator(".p-badge-pin")).to_be_visible()
    item.get_by_role("button", name="Unpin").click()
    expect(item.locator(".p-badge-pin")).to_have_count(0)


def test_a_shortened_result_opens_in_full_and_escape_closes_it(chat: Chat) -> None:
    chat.say("full")
    chat.wait_for_end()
    row = chat.page.locator("#chat .p-row", has_text=re.compile("^Bash")).last
    row.locator("summary").click()
    row.get_by_role("button", name="Open full text").click()
    pane = chat.page.get_by_role("dialog", name="Full text")
    expect(pane).to_contain_text("<img src=x onerror=window.pwned=1> ${1+1} a line")
    expect(pane).to_contain_text("the whole text")
    expect(pane.get_by_role("button", name="Close")).to_be_focused()
    chat.page.keyboard.press("Escape")
    expect(pane).to_have_count(0)
    assert chat.page.evaluate("window.pwned") is None
