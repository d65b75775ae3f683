"""The owner's MCP servers: real ones are started, asked about and ended; a broken one is told and left out."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import psutil
import pytest

from assistant.agent.tools.mcp_servers import ListedServers, ServerSettings, open_servers, read_servers
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


def write_file(home: Path, servers: object) -> None:
    """An mcp.json in the home."""
    home.mkdir(exist_ok=True)
    (home / "mcp.json").write_text(json.dumps({"mcpServers": servers}), encoding="utf-8")


def notices(events: list[Event]) -> list[str]:
    """What was told in plain words."""
    return [event.text for event in events if isinstance(event, Notice)]


def test_a_home_without_the_file_lists_nothing(tmp_path: Path) -> None:
    assert read_servers(tmp_path / "mcp.json") == ListedServers({}, ())


def test_servers_are_read_in_the_form_other_programs_use(tmp_path: Path) -> None:
    write_file(
        tmp_path,
        {
            "files": {"command": "npx", "args": ["-y", "server"], "env": {"KEY": "1"}, "type": "stdio"},
            "web": {"url": "https://example.org/mcp", "headers": {"Authorization": "Bearer 1"}},
            "off": {"command": "npx", "disabled": True},
        },
    )
    assert read_servers(tmp_path / "mcp.json") == ListedServers(
        {
            "files": ServerSettings(command="npx", args=["-y", "server"], env={"KEY": "1"}),
            "web": ServerSettings(url="https://example.org/mcp", headers={"Authorization": "Bearer 1"}),
        },
        (),
    )


@pytest.mark.parametrize(
    ("entry", "reason"),
    [
        ({"command": "a", "url": "https://example.org"}, "it needs either a command or a url."),
        ({}, "it needs either a command or a url."),
        ({"url": "ftp://example.org"}, "its url must begin with http:// or https://."),
        ({"command": "a", "args": "b"}, "args: Input should be a valid list."),
        ("a", "Input should be a valid dictionary or instance of ServerSettings."),
    ],
    ids=["both", "neither", "another scheme", "a text for a list", "no entry"],
)
def test_an_entry_that_cannot_be_is_told_and_the_rest_is_read(tmp_path: Path, entry: object, reason: str) -> None:
    write_file(tmp_path, {"odd": entry, "fine": {"command": "npx"}})
    assert read_servers(tmp_path / "mcp.json") == ListedServers(
        {"fine": ServerSettings(command="npx")}, (f"The MCP server 'odd' in mcp.json cannot be used: {reason}",)
    )


def test_a_name_no_tool_could_have_is_told(tmp_path: Path) -> None:
    write_file(tmp_path, {"my server": {"command": "npx"}})
    listed = read_servers(tmp_path / "mcp.json")
    assert (listed.servers, [problem[:35] for problem in listed.problems]) == (
        {},
        ["The MCP server 'my server' cannot b"],
    )


@pytest.mark.parametrize("content", [b"{", b"[]", b'{"mcpServers": 1}', b"\xff\xfe"])
def test_a_file_that_cannot_be_used_is_told(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "mcp.json").write_bytes(content)
    listed = read_servers(tmp_path / "mcp.json")
    assert (listed.servers, [problem.partition(":")[0] for problem in listed.problems]) == (
        {},
        ["mcp.json cannot be used"],
    )


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
        "Sunny in Oslo; the key is from the file, ours is None."
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
    monkeypatch.setattr("assistant.agent.tools.mcp_servers.CONNECT_SECONDS", 0.5)
    silent = ServerSettings(command=sys.executable, args=["-c", "import sys; sys.stdin.read()"])
    async with open_servers(ListedServers({"silent": silent}, ()), tmp_path) as outside:
        pass
    assert (outside.tools, [problem.partition(":")[0] for problem in outside.problems]) == (
        (),
        ["The MCP server 'silent' cannot be used"],
    )
