"""What a tab has open is told from the words in its editor, and those of one tab from those of another."""

from __future__ import annotations

import pytest

from assistant.memory.notes import Note
from assistant.ui.memory.open_files import OpenFile, OpenFiles, as_file_text, disk_line, is_edited, opened_file

FILE = opened_file(OpenFile(), Note("MEMORY.md", "\n\n# Memory\n- one\n- two\n", "digest"))


@pytest.mark.parametrize(("editor", "text"), [("", ""), ("  \n", ""), ("a\r\nb", "a\nb\n"), ("a\n\n\n", "a\n")])
def test_a_file_ends_with_one_new_line(editor: str, text: str) -> None:
    assert as_file_text(editor) == text


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (None, False),
        ("# Memory\n- one\n- two", False),
        ("\r\n# Memory\r\n- one\r\n- two\r\n", False),
        ("# Memory", True),
    ],
    ids=["as given", "without space around", "other line ends", "a line less"],
)
def test_only_other_words_count_as_edited(words: str | None, expected: bool) -> None:
    assert is_edited(FILE, words) is expected


def test_a_line_of_the_editor_is_found_on_disk() -> None:
    assert [disk_line(FILE, "# Memory\n- one\n- two", number) for number in (1, 3, 4, 0)] == [3, 5, None, None]
    assert disk_line(FILE, "# Memory\n- new\n- one\n- two", 2) is None
    assert disk_line(FILE, "# Memory\n- new\n- one\n- two", 4) == 5


async def test_each_tab_has_its_own_file_and_its_own_lock() -> None:
    files = OpenFiles()
    files.keep("one", FILE)
    assert (files.of("one"), files.of("two")) == (FILE, OpenFile())
    async with files.lock("one"):
        assert (files.lock("one").locked(), files.lock("two").locked()) == (True, False)
    assert not files.lock("one").locked()
    files.leave("one")
    assert files.of("one") == OpenFile()
