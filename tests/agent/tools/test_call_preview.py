"""What a person reads before they allow a call is what will happen."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assistant.agent.tools.call_preview import preview


def hunks(shown: str) -> list[str]:
    return shown.splitlines()[2:]


def test_the_preview_of_a_command_is_the_command_to_the_letter() -> None:
    assert preview("Bash", {"command": "rm -rf  'a b'"}) == "rm -rf  'a b'"


def test_the_preview_of_an_outside_tool_is_every_argument() -> None:
    assert preview("mcp__mail__send", {"to": "a@b.c", "body": "hi"}) == "to: a@b.c\nbody: hi"


@pytest.mark.parametrize("newline", ["\n", "\r\n"])
def test_the_preview_of_an_edit_is_the_diff_it_makes(tmp_path: Path, newline: str) -> None:
    path = tmp_path / "plan.md"
    path.write_text(f"one{newline}two{newline}", encoding="utf-8", newline="")
    shown = preview("Edit", {"file_path": str(path), "old_string": "two", "new_string": "three"})
    assert hunks(shown) == ["@@ -1,2 +1,2 @@", " one", "-two", "+three"]


def test_the_preview_of_an_edit_reads_other_encodings_as_the_tool_does(tmp_path: Path) -> None:
    path = tmp_path / "plan.txt"
    path.write_bytes("第一行内容\n第二行内容\n".encode("gbk"))
    shown = preview("Edit", {"file_path": str(path), "old_string": "第二行", "new_string": "第三行"})
    assert hunks(shown) == ["@@ -1,2 +1,2 @@", " 第一行内容", "-第二行内容", "+第三行内容"]


def test_the_preview_of_a_new_file_shows_all_of_it(tmp_path: Path) -> None:
    shown = preview("Write", {"file_path": str(tmp_path / "new.md"), "content": "a\nb\n"})
    assert hunks(shown) == ["@@ -0,0 +1,2 @@", "+a", "+b"]


def test_line_numbers_count_from_the_start_of_the_file(tmp_path: Path) -> None:
    path = tmp_path / "long.txt"
    path.write_text("".join(f"{number}\n" for number in range(1, 101)), encoding="utf-8")
    shown = preview("Edit", {"file_path": str(path), "old_string": "50\n", "new_string": ""})
    assert hunks(shown) == ["@@ -47,7 +47,6 @@", " 47", " 48", " 49", "-50", " 51", " 52", " 53"]


def test_a_newline_at_the_end_that_comes_or_goes_is_shown(tmp_path: Path) -> None:
    path = tmp_path / "plan.md"
    path.write_text("one", encoding="utf-8")
    shown = preview("Write", {"file_path": str(path), "content": "one\n"})
    assert hunks(shown) == ["@@ -1 +1 @@", "-one", "\\ No newline at end of file", "+one"]


@pytest.mark.parametrize("path", ["\0", "\ud800", "x" * 5_000, "/dev/zero", "/"])
def test_a_path_that_cannot_be_read_counts_as_empty(path: str) -> None:
    assert hunks(preview("Write", {"file_path": path, "content": "a\n"})) == ["@@ -0,0 +1 @@", "+a"]


def test_a_huge_change_costs_little_and_says_what_is_left_out(tmp_path: Path) -> None:
    path = tmp_path / "huge.txt"
    path.write_text("".join(f"line {number} {number % 7}\n" for number in range(60_000)), encoding="utf-8")
    added = [f"new {number}" for number in range(15_000)] + ["x" * 100_000]
    lines = hunks(preview("Write", {"file_path": str(path), "content": "\n".join([*added, ""])}))
    assert [line[1:] for line in lines if line.startswith("+")] == added
    assert lines[-1].endswith("more lines that go or stay are not shown")
    assert len(lines) < 20_000


def test_a_huge_line_is_shown_whole(tmp_path: Path) -> None:
    shown = preview("Write", {"file_path": str(tmp_path / "one.txt"), "content": "x" * 1_000_000 + "\n"})
    assert hunks(shown)[1] == "+" + "x" * 1_000_000


def patched(before: str, shown: list[str]) -> str:
    """The text after the hunks of a diff, told by their line numbers alone."""
    lines, out, position, is_kept = before.splitlines(keepends=True), list[str](), 0, False
    for line in shown:
        if match := re.match(r"@@ -(\d+)(?:,(\d+))? ", line):
            start = int(match[1]) - (match[2] != "0")
            out += lines[position:start]
            position = start
        elif line.startswith("\\"):
            # The line before this one has no newline; of an old line that is known already.
            out[-1:] = [out[-1].removesuffix("\n")] if is_kept else out[-1:]
        else:
            is_kept = line[0] in " +"
            position += line[0] in " -"
            out += [f"{line[1:]}\n"] if is_kept else []
    return "".join([*out, *lines[position:]])


_texts = st.text(alphabet="ab\n", max_size=24)


@given(before=_texts, after=_texts)
def test_the_diff_turns_the_file_into_what_is_written(
    tmp_path_factory: pytest.TempPathFactory, before: str, after: str
) -> None:
    path = tmp_path_factory.getbasetemp() / "property.txt"
    path.write_text(before, encoding="utf-8", newline="")
    shown = preview("Write", {"file_path": str(path), "content": after})
    assert patched(before, hunks(shown)) == after
