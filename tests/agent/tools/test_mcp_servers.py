"""The owner's MCP servers: real ones are started, asked about and ended; a broken one is told and left out."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import psutil
import pytest

from assistant.agent.tools.mcp_file import ListedServers, ServerSettings
from assistant.agent.tools.mcp_servers import open_servers
from assistant.messages.events import ApprovalRequested, Event, Notice, ToolFinished
from assistant.models.scripted import ScriptedModel
from tests.fakes.home import call, say, scripted_assistant, text
from tests.source_files import ROOT

WEATHER = {
    "command": sys.executable,
    "args": ["-m", "tests.fakes.mcp_server"],
    "cwd": str(ROOT),
    "env": {"WEATHER_KEY": "from the file"},
}


@pytest.fixture(autouse=True)
def _patient(monkeypatch: pytest.MonkeyPatch) -> None:  # pyright: ignore[reportUnusedFunction]
    """A machine under load starts a server in more than the patience of a first turn."""
    monkeypatch.setattr("assistant.agent.tools.mcp_servers.PATIENCE_SECONDS", 60.0)


def write_file(home: Path, servers: object) -> None:
    """An mcp.json in the home."""
    home.mkdir(exist_ok=True)
    (home / "mcp.json").write_text(json.dumps({"mcpServers": servers}), encoding="utf-8")


def notices(events: list[Event]) -> list[str]:
    """What was told in plain words."""
    return [event.text for event in events if isinstance(event, Notice)]


async def test_a_tool_from_outside_is_asked_about_and_gets_no_key_of_ours(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "secret")
    write_file(home, {"weather": WEATHER})
    asking = [call("mcp__weather__forecast", json.dumps({"city": "Oslo"}), "call_1")]
    model = ScriptedModel([asking, [text("Sunny.")]])
    async with scripted_assistant(home, model) as assistant:
        conversation = assistant.conversations.create()
        events = await say(assistant, conversation, "What is the weather in Oslo?")
        asked = [event for event in events if isinstance(event, ApprovalRequested)]
        start = conversation.next_number
        conversation.answer("call_1", is_allowed=True)
        events = [numbered.event async for numbered in conversation.follow_until_idle(start)]
        (server,) = [child for child in psutil.Process().children() if "tests.fakes.mcp_server" in child.cmdline()]

    assert [(event.name, event.reason) for event in asked] == [
        ("mcp__weather__forecast", "mcp__weather__forecast is an outside tool.")
    ]
    assert [event.output for event in events if isinstance(event, ToolFinished)] == [
        "Sunny in Oslo; the key is ⟦masked: known key⟧, ours is None."
    ]
    assert not server.is_running()


@pytest.mark.parametrize("values", [{"tools": "off"}, {"max_input_length": 8_192}], ids=["tools off", "small window"])
async def test_where_there_are_no_file_tools_there_are_none_from_outside(home: Path, values: dict[str, object]) -> None:
    write_file(home, {"weather": WEATHER})
    model = ScriptedModel([[text("Hello.")]])
    async with scripted_assistant(home, model, **values) as assistant:
        await say(assistant, assistant.conversations.create(), "Hi")
    assert [name for name in model.requests[0].tools if name.startswith("mcp__")] == []


async def test_a_server_that_cannot_be_started_is_told_in_each_conversation_and_the_rest_goes_on(home: Path) -> None:
    write_file(home, {"gone": {"command": "no-such-program"}, "weather": WEATHER})
    model = ScriptedModel([[text("Hello.")]])
    async with scripted_assistant(home, model) as assistant:
        conversation = assistant.conversations.create()
        await say(assistant, conversation, "Hi")
        told = notices(list(conversation.attach().history))

    assert [text.partition(":")[0] for text in told] == ["The MCP server 'gone' cannot be used"]
    assert "mcp__weather__forecast" in model.requests[0].tools


async def test_a_server_that_says_nothing_keeps_nobody_waiting(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("assistant.agent.tools.mcp_connection.CONNECT_SECONDS", 0.5)
    silent = ServerSettings(command=sys.executable, args=["-c", "import sys; sys.stdin.read()"])
    async with open_servers(ListedServers({"silent": silent}, ()), tmp_path) as outside:
        await outside.settle()
    assert (outside.tools, [problem.partition(":")[0] for problem in outside.problems]) == (
        (),
        ["The MCP server 'silent' cannot be used"],
    )
