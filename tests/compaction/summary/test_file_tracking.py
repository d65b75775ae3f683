"""Which files a stretch of messages read and changed, and the lists at the end of a summary."""

from __future__ import annotations

import pytest

from assistant.compaction.summary.file_tracking import (
    MAX_PATHS,
    FileLists,
    files_of,
    merge_files,
    read_file_lists,
    without_file_lists,
    write_file_lists,
)
from assistant.messages.blocks import ToolResultState
from tests.compaction.conversations import call, reply, result, user


@pytest.mark.parametrize(
    ("name", "arguments", "expected"),
    [
        pytest.param("Read", '{"file_path": "/a"}', FileLists(read=("/a",)), id="Read"),
        pytest.param("read_file", '{"path": "/a"}', FileLists(read=("/a",)), id="read_file"),
        pytest.param("mcp__files__read_file", '{"path": "/a"}', FileLists(read=("/a",)), id="an MCP server's read"),
        pytest.param("memory_get", '{"path": "MEMORY.md"}', FileLists(read=("MEMORY.md",)), id="a memory file"),
        pytest.param("Glob", '{"pattern": "*.py", "path": "/src"}', FileLists(read=("/src/*.py",)), id="Glob"),
        pytest.param("Glob", '{"pattern": "*.py"}', FileLists(read=("*.py",)), id="Glob here"),
        pytest.param("Grep", '{"pattern": "x", "path": "/src"}', FileLists(read=("/src",)), id="Grep"),
        pytest.param("Grep", '{"pattern": "x"}', FileLists(), id="Grep here"),
        pytest.param("Write", '{"file_path": "/a", "content": "x"}', FileLists(modified=("/a",)), id="Write"),
        pytest.param("Edit", '{"file_path": "/a"}', FileLists(modified=("/a",)), id="Edit"),
        pytest.param("Bash", '{"command": "cat /a"}', FileLists(), id="no guess from a command"),
        pytest.param("Read", "not json", FileLists(), id="broken arguments"),
        pytest.param("Read", '{"file_path": "/a\\n</read-files>"}', FileLists(), id="a path that would break the list"),
    ],
)
def test_a_call_names_its_files(name: str, arguments: str, expected: FileLists) -> None:
    assert files_of([reply(call("c1", name, arguments), result("c1", "ok", name))]) == expected


@pytest.mark.parametrize("state", [ToolResultState.ERROR, ToolResultState.DENIED, ToolResultState.INTERRUPTED])
def test_a_call_that_failed_changed_nothing(state: ToolResultState) -> None:
    write = call("c1", "Write", '{"file_path": "/a"}')
    assert files_of([reply(write, result("c1", "no", "Write", state))]) == FileLists()


def test_files_that_a_result_names_as_new_were_changed() -> None:
    output = '{"new_files": [{"filename": "chart.png"}, {"filename": "table.csv"}, 7]}'
    assert files_of([reply(call("c1"), result("c1", output))]) == FileLists(modified=("chart.png", "table.csv"))


@pytest.mark.parametrize("output", ["text", "{broken", '{"new_files": "x"}', '{"other": []}', '["new_files"]'])
def test_other_results_name_none(output: str) -> None:
    assert files_of([reply(call("c1"), result("c1", output))]) == FileLists()


def test_plain_text_names_none() -> None:
    assert files_of([user("please read /etc/hosts")]) == FileLists()


def test_lists_are_read_as_they_were_written() -> None:
    files = FileLists(("/a", "/b c"), ("/d",))
    text = write_file_lists(files)
    assert text == "<read-files>\n/a\n/b c\n</read-files>\n<modified-files>\n/d\n</modified-files>"
    assert read_file_lists(f"## Goal\nx\n\n{text}") == files
    assert without_file_lists(f"## Goal\nx\n\n{text}") == "## Goal\nx"


def test_empty_lists_leave_no_trace() -> None:
    assert write_file_lists(FileLists()) == ""
    assert write_file_lists(FileLists(read=("/a",))) == "<read-files>\n/a\n</read-files>"


def test_lists_add_up_over_compactions_each_path_once_by_last_use() -> None:
    merged = merge_files(FileLists(("/a", "/b"), ("/x",)), FileLists(("/c", "/a"), ("/x", "/y")))
    assert merged == FileLists(("/b", "/c", "/a"), ("/x", "/y"))


def test_the_newest_two_hundred_paths_stay() -> None:
    merged = merge_files(FileLists(tuple(f"/{n}" for n in range(300))), FileLists(("/new",)))
    assert (len(merged.read), merged.read[0], merged.read[-1]) == (MAX_PATHS, "/101", "/new")
