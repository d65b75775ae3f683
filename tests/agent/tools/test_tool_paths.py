"""A path may be relative everywhere, with or without the name of the folder it starts in."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from assistant.agent.tools.approvals import Rules, judge
from assistant.agent.tools.tool_paths import with_whole_path
from assistant.messages.events import ToolFinished
from assistant.models.scripted import ScriptedModel
from tests.fakes.home import call, say, scripted_assistant, text, until
from tests.index.homes import write


@pytest.fixture
def files(tmp_path: Path) -> Path:
    """The folder where paths start."""
    (folder := tmp_path / "files").mkdir()
    return folder


@pytest.mark.parametrize(
    ("tool", "name"),
    [("Read", "file_path"), ("Write", "file_path"), ("Edit", "file_path"), ("Glob", "path"), ("Grep", "path")],
)
@pytest.mark.parametrize("path", ["deep/plan.md", "files/deep/plan.md", "./files/deep/plan.md"])
def test_a_relative_path_becomes_the_one_that_the_tool_uses(files: Path, tool: str, name: str, path: str) -> None:
    whole = {name: str(files / "deep" / "plan.md"), "content": "x"}
    assert with_whole_path(tool, {name: path, "content": "x"}, files) == whole
    assert with_whole_path(tool, whole, files) == whole


@pytest.mark.parametrize(
    ("tool", "arguments"),
    [
        ("Bash", {"file_path": "plan.md"}),
        ("memory_get", {"path": "memory/2026-11-30.md"}),
        ("Glob", {"pattern": "**/*.md", "path": ""}),
        ("Grep", {"pattern": "files/x"}),
        ("Read", {"file_path": 7}),
    ],
)
def test_all_else_stays_as_it_is(files: Path, tool: str, arguments: dict[str, object]) -> None:
    assert with_whole_path(tool, arguments, files) == arguments


@pytest.mark.parametrize(
    ("tool", "name"), [("Read", "file_path"), ("Edit", "file_path"), ("Glob", "path"), ("Grep", "path")]
)
def test_what_is_in_the_home_alone_may_be_named_from_there(files: Path, tool: str, name: str) -> None:
    cited = write(files.parent, "memory/2026-11-30.md", "- Rained.\n")
    assert with_whole_path(tool, {name: "memory/2026-11-30.md"}, files) == {name: str(cited)}
    own = write(files, "memory/2026-11-30.md", "- Mine.\n")
    assert with_whole_path(tool, {name: "memory/2026-11-30.md"}, files) == {name: str(own)}


def test_a_new_file_goes_where_paths_start(files: Path) -> None:
    write(files.parent, "USER.md", "# User\n")
    assert with_whole_path("Write", {"file_path": "USER.md"}, files) == {"file_path": str(files / "USER.md")}


@pytest.mark.parametrize("name", [".env", "mcp.json", "users/ada/USER.md"])
def test_what_no_tool_may_open_is_not_opened_by_a_name_from_the_home_either(home: Path, name: str) -> None:
    write(home, name, "KEY=1")
    (home / "files").mkdir()
    rules = Rules("ask", home, home / "files")
    assert judge("Read", with_whole_path("Read", {"file_path": name}, home / "files"), rules).behavior == "deny"


def test_a_pattern_may_begin_with_the_name_of_the_folder(files: Path) -> None:
    assert with_whole_path("Glob", {"pattern": "files/**/*.md"}, files) == {"pattern": "**/*.md"}


def test_a_folder_of_that_name_in_the_folder_is_meant_where_there_is_one(files: Path) -> None:
    (files / "files").mkdir()
    assert with_whole_path("Read", {"file_path": "files/a"}, files) == {"file_path": str(files / "files" / "a")}


@pytest.mark.parametrize("path", ["total.py", "files/total.py"])
@pytest.mark.parametrize(
    ("tool", "arguments", "shown"),
    [
        ("Read", {"file_path": "{path}"}, "print(0)"),
        ("Grep", {"pattern": "print", "path": "{path}", "output_mode": "content"}, "print(0)"),
        ("Glob", {"pattern": "{path}"}, "total.py"),
    ],
)
async def test_a_file_is_found_by_either_name(
    home: Path, path: str, tool: str, arguments: dict[str, str], shown: str
) -> None:
    write(home, "files/total.py", "print(0)\n")
    filled = {name: value.format(path=path) for name, value in arguments.items()}
    assert shown in await result_of(home, tool, filled)


@pytest.mark.parametrize("path", ["no.py", "files/no.py"])
@pytest.mark.parametrize("tool", ["Read", "Grep", "Glob", "Edit"])
async def test_the_path_that_was_tried_is_named(home: Path, tool: str, path: str) -> None:
    name = "file_path" if tool in ("Read", "Edit") else "path"
    more = {"old_string": "a", "new_string": "b"} if tool == "Edit" else {"pattern": "a"} if name == "path" else {}
    tried = home / "files" / "no.py"
    assert await result_of(home, tool, {name: path, **more}) == f"{tool} failed: there is nothing at {tried}."


async def result_of(home: Path, tool: str, arguments: dict[str, str]) -> str:
    """What the model reads of one call, which is allowed where the person is asked."""
    model = ScriptedModel([[call(tool, json.dumps(arguments), "call_1")], [text("Done.")]])
    async with scripted_assistant(home, model) as assistant:
        conversation = assistant.conversations.create()
        events = await say(assistant, conversation, "Look at the file")
        for asked in conversation.approvals():
            start = conversation.next_number
            conversation.answer(asked.call_id, True)
            events.append(await until(conversation, ToolFinished, start))
    (finished,) = [event for event in events if isinstance(event, ToolFinished)]
    return finished.output
