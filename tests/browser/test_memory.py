"""The memory editor in the browser."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import expect

from tests.browser.behind import Behind
from tests.browser.conftest import Chat
from tests.ui.open_page import MEMORY_TEXTS

pytestmark = [pytest.mark.browser, pytest.mark.usefixtures("panel_left_open")]

WAITING = ("Collects stamps", "Plays chess")


def add_line(chat: Chat, line: str) -> None:
    """Type a line at the end of the file."""
    chat.page.locator("#editor .cm-content").click()
    chat.page.keyboard.press("Control+End")
    chat.page.keyboard.type(f"\n{line}")
    expect(chat.page.locator("#editor .cm-content")).to_contain_text(line)


def open_file(chat: Chat, name: str) -> None:
    """Open a file from the list."""
    chat.page.locator("#files .p-file", has_text=name).click()
    expect(chat.page.locator("#file-head h2")).to_contain_text(name)


def test_an_edit_is_saved_to_the_file(chat: Chat, behind: Behind) -> None:
    (behind.home / "SOUL.md").write_text(MEMORY_TEXTS["SOUL.md"], "utf-8")
    open_file(chat, "SOUL.md")
    expect(chat.page.locator("#editor .cm-content")).to_contain_text("Calm, exact, brief.")
    add_line(chat, "Speaks plainly.")
    expect(chat.page.locator("#file-head")).to_contain_text("not saved")
    chat.page.locator("#save").click()
    expect(chat.page.locator("#file-head .p-file-state")).to_have_text("saved")
    assert (behind.home / "SOUL.md").read_text("utf-8").endswith("Speaks plainly.\n")


def test_a_note_is_opened_from_the_calendar_and_shown_as_it_reads(chat: Chat, behind: Behind) -> None:
    # Of a month behind those of all other notes.
    note = behind.home / "memory" / "2031-03-21.md"
    note.write_text("# The day\n\n- **Rain** all day\n", "utf-8")
    page = chat.page
    chat.open()
    page.locator("#files .p-calendar summary").click()
    page.get_by_role("button", name="Note of 2031-03-21").click()
    expect(page.locator("#file-head h2")).to_have_text("memory/2031-03-21.md")
    expect(page.locator("#editor .cm-content")).to_contain_text("all day")
    page.locator("#file-head").get_by_role("button", name="Preview").click()
    expect(page.locator("#file-banner strong")).to_have_text("Rain")
    page.locator("#file-banner").get_by_role("button", name="Close").click()
    expect(page.locator("#file-banner strong")).to_have_count(0)
    note.unlink()


def test_changes_in_other_lines_are_merged_by_the_save(chat: Chat, behind: Behind) -> None:
    path = behind.home / "USER.md"
    open_file(chat, "USER.md")
    expect(chat.page.locator("#editor .cm-content")).to_contain_text("Zürich")
    add_line(chat, "Typed in the page.")
    path.write_text(path.read_text("utf-8").replace("# About me", "# About the person"), "utf-8")
    banner = chat.page.locator("#file-banner")
    expect(banner).to_contain_text("Save keeps both")
    banner.get_by_role("button", name="Show").click()
    expect(banner.locator(".p-diff-plus")).to_contain_text("# About the person")
    chat.page.locator("#save").click()
    expect(chat.page.locator("#file-head .p-file-state")).to_have_text("saved")
    expect(chat.page.locator("#editor .cm-content")).to_contain_text("# About the person")
    text = path.read_text("utf-8")
    assert text.startswith("# About the person\n")
    assert text.endswith("Typed in the page.\n")


def test_changes_in_the_same_line_are_shown_and_asked_about(chat: Chat, behind: Behind) -> None:
    path = behind.home / "SOUL.md"
    open_file(chat, "SOUL.md")
    path.write_text("Calm.\n", "utf-8")
    expect(chat.page.locator("#editor .cm-content")).to_have_text("Calm.")
    chat.page.locator("#editor .cm-content").click()
    chat.page.keyboard.press("Control+End")
    chat.page.keyboard.type(" Typed in the page.")
    path.write_text("Calm, says another hand.\n", "utf-8")
    banner = chat.page.locator(".p-conflict")
    expect(banner).to_contain_text("Nothing has been overwritten")
    expect(banner.locator(".p-diff-minus")).to_contain_text("Calm, says another hand.")
    expect(banner.locator(".p-diff-plus")).to_contain_text("Calm. Typed in the page.")
    assert path.read_text("utf-8") == "Calm, says another hand.\n"
    banner.get_by_role("button", name="Keep both").click()
    expect(banner).to_have_count(0)
    expect(chat.page.locator("#editor .cm-line")).to_have_text(["Calm, says another hand.", "Calm. Typed in the page."])
    assert path.read_text("utf-8") == "Calm, says another hand.\nCalm. Typed in the page.\n"


def test_reload_takes_what_stands_on_disk(chat: Chat, behind: Behind) -> None:
    path = behind.home / "memory" / "2026-11-29.md"
    open_file(chat, "2026-11-29.md")
    expect(chat.page.locator("#editor .cm-content")).to_contain_text("Alfama")
    add_line(chat, "Dropped.")
    path.write_text("# From outside\n", "utf-8")
    chat.page.locator(".p-conflict").get_by_role("button", name="Reload").click()
    expect(chat.page.locator("#editor .cm-content")).to_have_text("# From outside")


def test_an_untouched_editor_follows_the_disk(chat: Chat, behind: Behind) -> None:
    open_file(chat, "2026-11-30.md")
    expect(chat.page.locator("#editor .cm-content")).to_contain_text("Moved the dentist")
    (behind.home / "memory" / "2026-11-30.md").write_text("# Changed in an editor\n", "utf-8")
    expect(chat.page.locator("#editor .cm-content")).to_have_text("# Changed in an editor")


def test_unsaved_words_are_kept_when_another_file_is_chosen(chat: Chat) -> None:
    open_file(chat, "MEMORY.md")
    expect(chat.page.locator("#editor .cm-content")).to_contain_text("Lisbon")
    add_line(chat, "Kept.")
    chat.page.locator("#files .p-file", has_text="SOUL.md").click()
    expect(chat.page.locator(".toast-wrap")).to_contain_text("not saved")
    expect(chat.page.locator("#editor .cm-content")).to_contain_text("Kept.")


def test_a_line_that_nobody_said_waits_on_a_card_and_is_kept_or_dropped(chat: Chat, behind: Behind) -> None:
    path = behind.home / "USER.md"
    before = path.read_bytes()
    chat.say("guess what I am like")
    chat.wait_for_end()
    expect(chat.page.locator("#chat")).to_contain_text("Not written to USER.md, because you did not say it so")
    assert path.read_bytes() == before
    chat.page.locator("#files").get_by_role("button", name=re.compile(r"Waiting lines \(\d+\)")).click()
    card = chat.page.locator("#memory-work")
    stamps, chess = (card.locator("li", has=chat.page.locator(f'[value="{text}"]')) for text in WAITING)
    card.get_by_role("button", name="Keep what is ticked").click()
    expect(card.get_by_role("alert")).to_contain_text("Nothing is ticked")
    stamps.get_by_role("checkbox").check()
    stamps.locator(".p-field").fill("Collects stamps of ships")
    card.get_by_role("button", name="Keep what is ticked").click()
    expect(card).to_contain_text("1 kept.")
    expect(stamps).to_have_count(0)
    chess.get_by_role("checkbox").check()
    card.get_by_role("button", name="Drop what is ticked").click()
    expect(card).to_contain_text("1 dropped.")
    expect(chess).to_have_count(0)
    assert "- Collects stamps of ships\n" in path.read_text("utf-8")
    assert "chess" not in path.read_text("utf-8")
    # The chip stands where the line came up.
    expect(chat.page.locator("#chat .p-memory .p-row")).to_contain_text("USER.md")
    path.write_bytes(before)


def test_what_the_night_proposes_is_counted_on_a_page_that_is_open_and_nothing_is_written(
    chat: Chat, behind: Behind
) -> None:
    path = behind.home / "MEMORY.md"
    before = path.read_bytes()
    for day in ("2026-11-29", "2026-11-30"):
        note = behind.home / "memory" / f"{day}.md"
        note.write_text(f"{note.read_text('utf-8')}\n- The boat is called Marigold.\n", "utf-8")
    behind.run(behind.assistant.consolidate(is_asked_for=False))
    chat.page.locator("#files").get_by_role("button", name=re.compile(r"Waiting lines \(\d+\)")).click()
    card = chat.page.locator("#memory-work")
    boat = card.locator("li", has=chat.page.locator('[value="The boat is called Marigold."]'))
    expect(boat).to_contain_text(re.compile(r"for MEMORY.md, from memory/2026-11-29.md:\d+, memory/2026-11-30.md:\d+"))
    assert path.read_bytes() == before
    boat.get_by_role("checkbox").check()
    card.get_by_role("button", name="Keep what is ticked").click()
    expect(card).to_contain_text("1 kept.")
    assert "- The boat is called Marigold.\n" in path.read_text("utf-8")
    path.write_bytes(before)
