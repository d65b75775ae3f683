"""A tool that fails says so in words, whatever it raised."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from agentscope.state import AgentState
from agentscope.tool import ToolResponse

from assistant.agent.tools.own_tool import own_tool
from assistant.agent.tools.tool_backend import ToolBackend
from assistant.agent.tools.toolkit import build_toolkit
from assistant.messages.blocks import TextBlock, ToolCallBlock, ToolResultState


class BrokenBackend(ToolBackend):
    def __init__(self, folder: Path, error: Exception) -> None:
        super().__init__(folder, folder, lambda path: False, lambda path, text: None)
        self._error = error

    async def getcwd(self) -> str:
        raise self._error

    async def exec_shell(self, command: list[str], **_: object) -> None:  # type: ignore[override]
        raise self._error


@pytest.mark.parametrize(
    ("call_name", "arguments"),
    [
        ("Glob", '{"pattern": "*"}'),
        ("Grep", '{"pattern": "a"}'),
        ("count_words", "{}"),
    ],
)
@pytest.mark.parametrize(
    ("error", "told"),
    [
        (AssertionError(), "{name} failed: something unforeseen happened; the log has the details."),
        (ValueError("no such thing"), "no such thing"),
        (PermissionError(13, "Permission denied", "x"), "{name} failed: permission is missing."),
    ],
    ids=["without a word", "with words for the model", "with words of Python"],
)
async def test_a_failure_has_words(tmp_path: Path, call_name: str, arguments: str, error: Exception, told: str) -> None:
    async def count_words() -> None:
        raise error

    toolkit = build_toolkit(
        backend=BrokenBackend(tmp_path, error),
        start_folder=tmp_path,
        skills=None,
        language=lambda: "en",
        has_file_tools=True,
        own_tools=[own_tool(count_words, "Counts words.")],  # type: ignore[arg-type]
    )
    call = ToolCallBlock(id="call_1", name=call_name, input=arguments)
    *_, last = [chunk async for chunk in toolkit.call_tool(call, AgentState())]
    assert isinstance(last, ToolResponse)
    said = "".join(block.text for block in last.content if isinstance(block, TextBlock))
    assert (last.state, said) == (ToolResultState.ERROR, told.format(name=call_name))


@pytest.mark.parametrize(
    ("call_name", "arguments", "told"),
    [
        ("Glob", {"pattern": "*"}, "python could not be started: permission is missing."),
        ("Grep", {"pattern": "a"}, "rg could not be started: it does not exist."),
        (
            "Bash",
            {"command": "a\0b"},
            "sh could not be started: something unforeseen happened; the log has the details.",
        ),
    ],
)
async def test_a_program_that_cannot_start_is_told_in_plain_words(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, call_name: str, arguments: dict[str, str], told: str
) -> None:
    (python := tmp_path / "python").write_text("not a program", encoding="utf-8")
    monkeypatch.setattr("sys.executable", str(python))
    monkeypatch.setenv("PATH", str(tmp_path))
    said = await said_by(tmp_path, call_name, arguments)
    assert (said.endswith(told), "Errno" in said, "helper" in said) == (True, False, False)


async def test_a_search_that_fails_half_way_is_told_in_plain_words(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (python := tmp_path / "python").write_text("#!/bin/sh\necho Traceback >&2\nexit 1\n", encoding="utf-8")
    python.chmod(0o700)
    monkeypatch.setattr("sys.executable", str(python))
    told = "Glob failed: something unforeseen happened; the log has the details."
    assert await said_by(tmp_path, "Glob", {"pattern": "*"}) == told


async def said_by(folder: Path, call_name: str, arguments: dict[str, str]) -> str:
    """What the model reads of a call of a file tool."""
    toolkit = build_toolkit(
        backend=ToolBackend(folder, folder, lambda path: False, lambda path, text: None),
        start_folder=folder,
        skills=None,
        language=lambda: "en",
        has_file_tools=True,
    )
    call = ToolCallBlock(id="call_1", name=call_name, input=json.dumps(arguments))
    *_, last = [chunk async for chunk in toolkit.call_tool(call, AgentState())]
    return "".join(block.text for block in last.content if isinstance(block, TextBlock))
