"""The editor follows the disk and never overwrites it."""

from __future__ import annotations

from pathlib import Path

import pytest

from assistant.ui.loading import Loaded
from assistant.ui.memory_panel import MemoryDesk, MemoryFace, OpenFile, as_file_text, is_edited
from tests.fakes.conversation import fake_assistant


@pytest.fixture
def loaded(home: Path) -> Loaded:
    """An assistant with three memory files and two notes."""
    return Loaded(fake_assistant(home), len)


@pytest.fixture
def desk() -> MemoryDesk:
    """The tab's buttons."""
    return MemoryDesk()


def opened(desk: MemoryDesk, loaded: Loaded, name: str = "MEMORY.md") -> MemoryFace:
    """The tab after a file was opened."""
    return desk.open(loaded, name, OpenFile(), "")


def test_the_list_shows_every_file_with_its_tokens(desk: MemoryDesk, loaded: Loaded, home: Path) -> None:
    files = opened(desk, loaded).files or ""
    for name in ("SOUL.md", "USER.md", "MEMORY.md", "2026-11-30.md", "2026-11-29.md"):
        assert name in files
    assert f'<span class="p-file-tokens">{len((home / "USER.md").read_text("utf-8"))}</span>' in files


@pytest.mark.parametrize("name", ["../secret.md", "AGENTS.md", "/etc/passwd", "memory/../SOUL.md", ".env", ""])
def test_no_other_file_can_be_opened(desk: MemoryDesk, loaded: Loaded, name: str) -> None:
    face = opened(desk, loaded, name)
    assert "is not a memory file" in (face.problem or "")
    assert face.text is None


def test_a_save_writes_the_editors_words(desk: MemoryDesk, loaded: Loaded, home: Path) -> None:
    face = desk.save(loaded, opened(desk, loaded).file, "# New\n\n- one   ")
    assert (home / "MEMORY.md").read_text("utf-8") == "# New\n\n- one\n"
    assert not is_edited(face.file, "# New\n\n- one")
    assert "saved" in (face.head or "")


def test_a_change_on_disk_is_refused_and_not_overwritten(desk: MemoryDesk, loaded: Loaded, home: Path) -> None:
    file = opened(desk, loaded).file
    (home / "MEMORY.md").write_text("other hand\n", "utf-8")
    face = desk.save(loaded, file, "mine")
    assert (home / "MEMORY.md").read_text("utf-8") == "other hand\n"
    assert "Changed on disk" in (face.banner or "")
    assert "other hand" in (desk.show_diff(loaded, face.file, "mine").banner or "")
    desk.save(loaded, face.file, "mine", overwrite=True)
    assert (home / "MEMORY.md").read_text("utf-8") == "mine\n"


def test_an_untouched_editor_takes_what_changed_on_disk(desk: MemoryDesk, loaded: Loaded, home: Path) -> None:
    face = opened(desk, loaded)
    (home / "MEMORY.md").write_text("other hand\n", "utf-8")
    followed = desk.poll(loaded, face.file, (face.text or "").strip())
    assert followed.text == "other hand\n"
    assert followed.banner == ""


def test_an_edited_editor_keeps_its_words_and_is_told_once(desk: MemoryDesk, loaded: Loaded, home: Path) -> None:
    face = opened(desk, loaded)
    (home / "MEMORY.md").write_text("other hand\n", "utf-8")
    first = desk.poll(loaded, face.file, "mine")
    assert first.text is None
    assert "Changed on disk" in (first.banner or "")
    again = desk.poll(loaded, first.file, "mine")
    assert (again.text, again.banner, again.head) == (None, None, None)
    reloaded = desk.reload(loaded, "MEMORY.md", again.file)
    assert (reloaded.text, reloaded.banner) == ("other hand\n", "")


def test_nothing_is_sent_while_nothing_changes(desk: MemoryDesk, loaded: Loaded) -> None:
    face = opened(desk, loaded)
    assert desk.poll(loaded, face.file, (face.text or "").strip()) == MemoryFace(face.file)


def test_unsaved_words_are_not_dropped_for_another_file(desk: MemoryDesk, loaded: Loaded) -> None:
    file = opened(desk, loaded).file
    face = desk.open(loaded, "USER.md", file, "mine")
    assert face.file == file
    assert "not saved" in (face.problem or "")


def test_a_new_note_appears_in_the_list(desk: MemoryDesk, loaded: Loaded, home: Path) -> None:
    face = opened(desk, loaded)
    (home / "memory" / "2026-12-01.md").write_text("# new\n", "utf-8")
    assert "2026-12-01.md" in (desk.poll(loaded, face.file, (face.text or "").strip()).files or "")


@pytest.mark.parametrize(("editor", "text"), [("", ""), ("  \n", ""), ("a\r\nb", "a\nb\n"), ("a\n\n\n", "a\n")])
def test_a_file_ends_with_one_new_line(editor: str, text: str) -> None:
    assert as_file_text(editor) == text


def test_a_version_from_the_history_is_restored_as_a_change_of_its_own(
    desk: MemoryDesk, loaded: Loaded, home: Path
) -> None:
    first = desk.save(loaded, opened(desk, loaded).file, "first")
    second = desk.save(loaded, first.file, "second")
    shown = desk.toggle_history(loaded, second.file)
    history = loaded.assistant.memory_log.history("MEMORY.md")
    assert (shown.history or "").count("Restore this version") == len(history) - 1
    assert "as it stands" in (shown.history or "")
    restored = desk.restore(loaded, shown.file, "second", history[-2].change_id)
    assert (home / "MEMORY.md").read_text("utf-8") == "first\n"
    assert len(loaded.assistant.memory_log.history("MEMORY.md")) == len(history) + 1
    assert "Changes of MEMORY" in (restored.history or "")
    assert desk.toggle_history(loaded, restored.file).history == ""


def test_no_version_of_another_file_and_none_over_unsaved_words_is_restored(
    desk: MemoryDesk, loaded: Loaded, home: Path
) -> None:
    saved = desk.save(loaded, opened(desk, loaded).file, "mine")
    change_id = loaded.assistant.memory_log.history("MEMORY.md")[0].change_id
    assert "not saved" in (desk.restore(loaded, saved.file, "other words", change_id).problem or "")
    other = desk.open(loaded, "USER.md", saved.file, "mine")
    assert "another file" in (desk.restore(loaded, other.file, other.text or "", change_id).problem or "")
    assert (home / "MEMORY.md").read_text("utf-8") == "mine\n"
