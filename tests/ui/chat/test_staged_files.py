"""Files wait for the message of their tab, so many and no more, and leave the disk when they are not sent."""

from __future__ import annotations

from pathlib import Path

import pytest

from assistant.agent.attachments.file_reading import GivenFile
from assistant.errors import AttachmentError
from assistant.ui.chat.staged_files import MAX_FILES_OF_MESSAGE, MAX_STAGED_FILES, StagedFiles


def given(folder: Path, name: str) -> GivenFile:
    """A file in a folder of its own."""
    path = folder / name / "notes.txt"
    path.parent.mkdir()
    path.write_text("words", "utf-8")
    return GivenFile("notes.txt", path, 5, "text", "words")


@pytest.mark.parametrize(
    ("tabs", "most"),
    [(["a"] * 12, MAX_FILES_OF_MESSAGE), ([f"t{number}" for number in range(50)], MAX_STAGED_FILES)],
    ids=["of a tab", "of a person"],
)
def test_files_that_came_at_once_are_no_more_than_may_wait(tmp_path: Path, tabs: list[str], most: int) -> None:
    staged = StagedFiles()
    for number, tab in enumerate(tabs[:most]):
        staged.add(tab, given(tmp_path, str(number)))
    with pytest.raises(AttachmentError):
        staged.add(tabs[most], given(tmp_path, "more"))


def test_what_is_not_sent_leaves_the_disk_and_no_other_tab_can_have_it(tmp_path: Path) -> None:
    staged = StagedFiles()
    file_ids = [staged.add("a", given(tmp_path, name)) for name in ("one", "two", "three")]
    with pytest.raises(AttachmentError):
        staged.chosen("b", file_ids[:1])
    staged.remove("b", file_ids)
    staged.remove("a", file_ids[:1])
    assert [file.path.parent.name for file in staged.chosen("a", file_ids[1:])] == ["two", "three"]
    staged.leave("a")
    assert list(tmp_path.iterdir()) == []
