"""The editor follows the disk and never overwrites it."""

from __future__ import annotations

import datetime as dt
import os
import re
from collections.abc import AsyncGenerator
from pathlib import Path

import pytest

from assistant.assembly.sample.show_command import with_show_command
from assistant.models.scripted import ScriptedModel
from assistant.ui.cards import action
from assistant.ui.memory.memory_panel import MemoryController, MemoryUpdate
from assistant.ui.memory.open_files import OpenFile, is_edited
from assistant.ui.server.loading import Loaded
from tests.fakes.home import scripted_assistant
from tests.ui.open_page import open_page


@pytest.fixture
async def loaded(home: Path) -> AsyncGenerator[Loaded]:
    """An assistant with three memory files and two notes."""
    async with open_page(home) as page:
        yield Loaded(page.assistant, len)


@pytest.fixture
def controller() -> MemoryController:
    """The tab's buttons."""
    return MemoryController()


def opened(controller: MemoryController, loaded: Loaded, name: str = "MEMORY.md") -> MemoryUpdate:
    """The tab after a file was opened."""
    return controller.open(loaded, name, OpenFile(), "")


def test_the_list_shows_every_file_with_its_tokens(controller: MemoryController, loaded: Loaded, home: Path) -> None:
    files = opened(controller, loaded).page.get("files") or ""
    for name in ("SOUL.md", "USER.md", "MEMORY.md", "2026-11-30.md", "2026-11-29.md"):
        assert name in files
    assert f'<span class="p-file-tokens">{len((home / "USER.md").read_text("utf-8"))}</span>' in files


@pytest.mark.parametrize("name", ["../secret.md", "AGENTS.md", "/etc/passwd", "memory/../SOUL.md", ".env", ""])
def test_no_other_file_can_be_opened(controller: MemoryController, loaded: Loaded, name: str) -> None:
    update = opened(controller, loaded, name)
    assert "is not a memory file" in (update.problem or "")
    assert update.page.get("editor") is None


def test_a_save_writes_the_editors_words(controller: MemoryController, loaded: Loaded, home: Path) -> None:
    update = controller.save(loaded, opened(controller, loaded).file, "# New\n\n- one   ")
    assert (home / "MEMORY.md").read_text("utf-8") == "# New\n\n- one\n"
    assert not is_edited(update.file, "# New\n\n- one")
    assert "saved" in (update.page.get("file_head") or "")


def test_unsaved_words_of_a_tab_that_was_away_are_taken_up_under_their_file(
    controller: MemoryController, loaded: Loaded, home: Path
) -> None:
    given = opened(controller, loaded, "USER.md").file.given
    back = controller.take_up(loaded, OpenFile(), given, "words that nobody saved")
    assert (back.file.name, back.file.given, back.file.state, back.page.get("editor")) == (
        "USER.md",
        given,
        "not saved",
        None,
    )
    controller.save(loaded, back.file, "words that nobody saved")
    assert (home / "USER.md").read_text("utf-8") == "words that nobody saved\n"


def test_unsaved_words_whose_file_cannot_be_told_stay_in_the_editor(
    controller: MemoryController, loaded: Loaded, home: Path
) -> None:
    given = opened(controller, loaded).file.given
    for text in ("changed meanwhile\n", (home / "USER.md").read_text("utf-8")):
        (home / "MEMORY.md").write_text(text, "utf-8")
        lost = controller.take_up(loaded, OpenFile(), given, "mine")
        assert (lost.page.get("editor"), lost.file.name, "Copy your words" in (lost.page.get("file_head") or "")) == (
            None,
            "",
            True,
        )
        assert "Copy your words" in (controller.save(loaded, lost.file, "mine").problem or "")
        assert controller.take_up(loaded, lost.file, given, "mine") == MemoryUpdate(lost.file)
        given = opened(controller, loaded).file.given


def test_an_untouched_tab_that_was_away_is_given_its_file_again(
    controller: MemoryController, loaded: Loaded, home: Path
) -> None:
    shown = opened(controller, loaded, "USER.md")
    assert controller.take_up(loaded, OpenFile(), shown.file.given, None).page.get("editor") == shown.page.get("editor")
    assert controller.take_up(loaded, OpenFile(), shown.file.given, shown.page.get("editor")).file.name == "USER.md"


def test_changes_that_overlap_are_shown_and_asked_about(
    controller: MemoryController, loaded: Loaded, home: Path
) -> None:
    file = opened(controller, loaded).file
    (home / "MEMORY.md").write_text("other hand\n", "utf-8")
    update = controller.save(loaded, file, "mine")
    assert (home / "MEMORY.md").read_text("utf-8") == "other hand\n"
    assert "Changed on disk" in (update.page.get("file_banner") or "")
    assert "other hand" in (update.page.get("file_banner") or "")
    both = controller.decide(loaded, update.file, "mine", keeps_both=True)
    assert (home / "MEMORY.md").read_text("utf-8") == "other hand\nmine\n"
    assert (both.page.get("editor"), both.page.get("file_banner")) == ("other hand\nmine\n", "")


def test_whoever_keeps_theirs_finds_the_rest_in_the_history(
    controller: MemoryController, loaded: Loaded, home: Path
) -> None:
    file = opened(controller, loaded).file
    (home / "MEMORY.md").write_text("other hand\n", "utf-8")
    asked = controller.save(loaded, file, "mine")
    controller.decide(loaded, asked.file, "mine", keeps_both=False)
    assert (home / "MEMORY.md").read_text("utf-8") == "mine\n"
    assert "-other hand" in loaded.assistant.memory_log.history("MEMORY.md")[-1].diff


def test_what_came_after_the_question_is_asked_about_again(
    controller: MemoryController, loaded: Loaded, home: Path
) -> None:
    file = opened(controller, loaded).file
    (home / "MEMORY.md").write_text("other hand\n", "utf-8")
    asked = controller.save(loaded, file, "mine")
    (home / "MEMORY.md").write_text("a third hand\n", "utf-8")
    again = controller.decide(loaded, asked.file, "mine", keeps_both=False)
    assert "a third hand" in (again.page.get("file_banner") or "")
    assert (home / "MEMORY.md").read_text("utf-8") == "a third hand\n"


def test_changes_that_do_not_overlap_are_merged_by_the_save(
    controller: MemoryController, loaded: Loaded, home: Path
) -> None:
    update = opened(controller, loaded)
    text = (update.page.get("editor") or "").strip()
    mine = text.replace("# Long-term memory", "# What lasts")
    (home / "MEMORY.md").write_text(f"{text}\n- Added by another hand\n", "utf-8")
    told = controller.poll(loaded, update.file, mine)
    assert "Save keeps both" in (told.page.get("file_banner") or "")
    assert told.page.get("editor") is None
    assert controller.poll(loaded, told.file, mine).page.get("file_banner") is None
    assert "Added by another hand" in (controller.show_disk(loaded, told.file).page.get("file_banner") or "")
    saved = controller.save(loaded, told.file, mine)
    assert (home / "MEMORY.md").read_text("utf-8") == f"{mine}\n- Added by another hand\n"
    assert saved.page.get("editor") == f"{mine}\n- Added by another hand\n"
    assert not is_edited(saved.file, (saved.page.get("editor") or "").strip())


def test_what_was_masked_stands_masked_in_the_editor_too(controller: MemoryController, loaded: Loaded) -> None:
    key = "sk-" + "a1B2" * 12
    saved = controller.save(loaded, opened(controller, loaded).file, f"My key is {key}")
    assert key not in (saved.page.get("editor") or key)
    assert controller.poll(loaded, saved.file, (saved.page.get("editor") or "").strip()).page.get("editor") is None


def test_an_untouched_editor_takes_what_changed_on_disk(
    controller: MemoryController, loaded: Loaded, home: Path
) -> None:
    update = opened(controller, loaded)
    (home / "MEMORY.md").write_text("other hand\n", "utf-8")
    followed = controller.poll(loaded, update.file, (update.page.get("editor") or "").strip())
    assert followed.page.get("editor") == "other hand\n"
    assert followed.page.get("file_banner") == ""


def test_an_edited_editor_keeps_its_words_and_is_told_once(
    controller: MemoryController, loaded: Loaded, home: Path
) -> None:
    update = opened(controller, loaded)
    (home / "MEMORY.md").write_text("other hand\n", "utf-8")
    first = controller.poll(loaded, update.file, "mine")
    assert first.page.get("editor") is None
    assert "Changed on disk" in (first.page.get("file_banner") or "")
    again = controller.poll(loaded, first.file, "mine")
    assert (again.page.get("editor"), again.page.get("file_banner"), again.page.get("file_head")) == (None, None, None)
    reloaded = controller.reload(loaded, "MEMORY.md", again.file)
    assert (reloaded.page.get("editor"), reloaded.page.get("file_banner")) == ("other hand\n", "")


def test_nothing_is_sent_while_nothing_changes(controller: MemoryController, loaded: Loaded) -> None:
    update = opened(controller, loaded)
    assert controller.poll(loaded, update.file, (update.page.get("editor") or "").strip()) == MemoryUpdate(update.file)
    assert controller.poll(loaded, update.file, None) == MemoryUpdate(update.file)


def test_unsaved_words_are_not_dropped_for_another_file(controller: MemoryController, loaded: Loaded) -> None:
    file = opened(controller, loaded).file
    update = controller.open(loaded, "USER.md", file, "mine")
    assert update.file == file
    assert "not saved" in (update.problem or "")


def test_a_new_note_appears_in_the_list(controller: MemoryController, loaded: Loaded, home: Path) -> None:
    update = opened(controller, loaded)
    (home / "memory" / "2026-12-01.md").write_text("# new\n", "utf-8")
    assert "2026-12-01.md" in (
        controller.poll(loaded, update.file, (update.page.get("editor") or "").strip()).page.get("files") or ""
    )


def test_a_version_from_the_history_is_restored_as_a_change_of_its_own(
    controller: MemoryController, loaded: Loaded, home: Path
) -> None:
    first = controller.save(loaded, opened(controller, loaded).file, "first")
    second = controller.save(loaded, first.file, "second")
    shown = controller.toggle_history(loaded, second.file)
    history = loaded.assistant.memory_log.history("MEMORY.md")
    assert (shown.page.get("history") or "").count("Restore this version") == len(history) - 1
    assert "as it stands" in (shown.page.get("history") or "")
    restored = controller.restore(loaded, shown.file, "second", history[-2].change_id)
    assert (home / "MEMORY.md").read_text("utf-8") == "first\n"
    assert len(loaded.assistant.memory_log.history("MEMORY.md")) == len(history) + 1
    assert "Changes of MEMORY" in (restored.page.get("history") or "")
    assert controller.toggle_history(loaded, restored.file).page.get("history") == ""


def test_no_version_of_another_file_and_none_over_unsaved_words_is_restored(
    controller: MemoryController, loaded: Loaded, home: Path
) -> None:
    saved = controller.save(loaded, opened(controller, loaded).file, "mine")
    change_id = loaded.assistant.memory_log.history("MEMORY.md")[0].change_id
    assert "not saved" in (controller.restore(loaded, saved.file, "other words", change_id).problem or "")
    other = controller.open(loaded, "USER.md", saved.file, "mine")
    assert "another file" in (
        controller.restore(loaded, other.file, other.page.get("editor") or "", change_id).problem or ""
    )
    assert (home / "MEMORY.md").read_text("utf-8") == "mine\n"


def test_the_first_version_of_a_file_names_no_outsider(controller: MemoryController, loaded: Loaded) -> None:
    saved = controller.save(loaded, opened(controller, loaded).file, "mine")
    history = controller.toggle_history(loaded, saved.file).page.get("history") or ""
    assert "whoever made the file" in history
    assert "outside" not in history


def test_a_file_that_changed_unseen_is_marked_until_it_is_opened(
    controller: MemoryController, loaded: Loaded, home: Path
) -> None:
    update = opened(controller, loaded)
    assert ">changed<" not in (update.page.get("files") or "")
    (home / "USER.md").write_text("# Other\n", "utf-8")
    os.utime(home / "USER.md", ns=(update.file.since_ns + 10**9,) * 2)
    marked = controller.poll(loaded, update.file, None)
    assert (marked.page.get("files") or "").count(">changed<") == 1
    shown = controller.open(loaded, "USER.md", marked.file, None)
    back = controller.open(loaded, "MEMORY.md", shown.file, None)
    assert ">changed<" not in (back.page.get("files") or "")


def test_a_file_tells_how_much_of_its_cap_it_fills_and_a_full_one_offers_tidy(
    controller: MemoryController, loaded: Loaded, home: Path
) -> None:
    (home / "MEMORY.md").write_text("x" * 17_000, "utf-8")
    (home / "USER.md").write_text("x" * 16_000, "utf-8")
    files = opened(controller, loaded).page.get("files") or ""
    assert "85 %" in files.replace("&#37;", "%")
    assert files.count("Tidy…") == 1


def test_many_notes_stand_by_month_and_are_found_by_day(
    controller: MemoryController, loaded: Loaded, home: Path
) -> None:
    day = dt.date(2026, 11, 28)
    for number in range(998):
        name = f"{day - dt.timedelta(days=number)}.md"
        (home / "memory" / name).write_text(f"# {name}\n", "utf-8")
    update = opened(controller, loaded)
    assert (update.page.get("files") or "").count("daily note") == 10
    assert ">November 2026<" in (update.page.get("files") or "")
    assert "March 2024" in (update.page.get("files") or "")
    month = controller.toggle_month(loaded, "2025-02", update.file)
    assert (month.page.get("files") or "").count("daily note") == 38
    assert ">2025-02-14.md<" in (month.page.get("files") or "")
    assert (controller.toggle_month(loaded, "2025-02", month.file).page.get("files") or "").count("daily note") == 10
    assert controller.open_day(loaded, "2024-05-17", update.file, None).page.get("editor") == "# 2024-05-17.md\n"
    assert "no note of 1999" in (controller.open_day(loaded, "1999-01-01", update.file, None).problem or "")


def test_the_calendar_marks_the_days_that_have_notes_and_goes_from_month_to_month(
    controller: MemoryController, loaded: Loaded, home: Path
) -> None:
    (home / "memory" / "2026-02-14.md").write_text("# A day\n", "utf-8")
    update = opened(controller, loaded)
    files = update.page.get("files") or ""
    assert re.findall(r'aria-label="Note of (\S+)">', files) == ["2026-11-29", "2026-11-30"]
    assert action("notes-month", "2026-02") in files
    earlier = controller.toggle_month(loaded, "2026-02", update.file).page.get("files") or ""
    assert re.findall(r'aria-label="Note of (\S+)">', earlier) == ["2026-02-14"]
    assert action("notes-month", "2026-11") in earlier


def test_a_name_that_no_calendar_has_leaves_the_list_as_it_is(
    controller: MemoryController, loaded: Loaded, home: Path
) -> None:
    (home / "memory" / "9999-99-99.md").write_text("# A day\n", "utf-8")
    assert "9999-99-99.md" in (opened(controller, loaded).page.get("files") or "")


def test_the_note_of_today_is_opened_empty_and_is_there_once_it_is_saved(
    controller: MemoryController, loaded: Loaded, home: Path
) -> None:
    today = f"memory/{loaded.assistant.store.clock.now():%Y-%m-%d}.md"
    update = controller.open_today(loaded, opened(controller, loaded).file, None)
    assert (update.file.name, update.page.get("editor")) == (today, "")
    assert not (home / today).exists()
    controller.save(loaded, update.file, "- Rain")
    assert (home / today).read_text("utf-8") == "- Rain\n"


def test_a_file_is_shown_as_it_reads_without_a_tag_of_its_own(controller: MemoryController, loaded: Loaded) -> None:
    file = opened(controller, loaded).file
    shown = controller.preview(file, "# Plan\n\n- **one** <script>x</script>").page.get("file_banner") or ""
    assert "<strong>one</strong>" in shown
    assert "<script>" not in shown
    assert controller.end_preview(file).page.get("file_banner") == ""
    assert "Nothing is written here yet." in (controller.preview(file, "").page.get("file_banner") or "")


async def test_a_guest_conversation_shows_its_own_home_and_the_persons_comes_back(home: Path) -> None:
    controller = MemoryController()
    async with with_show_command(scripted_assistant(home, ScriptedModel([]))) as assistant:
        loaded = Loaded(assistant, len)
        own = controller.poll(loaded, OpenFile(), None)
        first = (await assistant.submit(assistant.conversations.create(), "/show en")).conversation
        guest = loaded.of(first.session_id)
        shown = controller.poll(guest, own.file, None)
        assert shown.file.home == guest
        assert "Sample" in (shown.page.get("files") or "")
        saved = controller.save(guest, shown.file, "mine")
        assert guest.assistant.notes.read("MEMORY.md").text == "mine\n"
        assert assistant.notes.read("MEMORY.md").text == own.page.get("editor")
        assert controller.poll(loaded, saved.file, "more words").file.home == guest
        back = controller.poll(loaded, saved.file, None)
        assert (back.file.home, back.page.get("editor")) == (loaded, own.page.get("editor"))
        # A new one ends the one before.
        await assistant.submit(assistant.conversations.create(), "/show en")
        assert loaded.of(first.session_id) == loaded
        assert "cannot be saved" in (controller.save(loaded, saved.file, "more words").problem or "")
        assert "home is gone" in (controller.poll(loaded, saved.file, "more words").page.get("file_head") or "")
        assert controller.poll(loaded, saved.file, None).file.home == loaded
        assert assistant.notes.read("MEMORY.md").text == own.page.get("editor")
