"""Servers that are started for real and break a rule each: every good tool is there, what is not is named."""

from __future__ import annotations

import asyncio
import os
import sys
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from agentscope.tool import ToolChunk

from assistant.agent.tools.mcp_file import ListedServers, ServerSettings
from assistant.agent.tools.mcp_servers import McpServers, open_servers
from assistant.messages.blocks import TextBlock
from assistant.messages.events import Notice
from tests.fakes.strange_servers import LONG_NAME
from tests.source_files import ROOT


def strange(quirk: str, marker: Path | None = None) -> ServerSettings:
    """How a server with this quirk is started."""
    arguments = ["-m", "tests.fakes.strange_servers", quirk, *([str(marker)] if marker else [])]
    return ServerSettings(command=sys.executable, args=arguments, cwd=str(ROOT))


@asynccontextmanager
async def started(**servers: ServerSettings) -> AsyncGenerator[McpServers]:
    """The servers once each has started or failed."""
    async with open_servers(ListedServers(servers, ()), ROOT) as running:
        await running.settle(60.0)
        yield running


async def answer(servers: McpServers, name: str) -> tuple[str, str]:
    """The state and the text of a call."""
    (tool,) = [tool for tool in servers.tools if tool.name == name]
    chunk = await tool(q="x")
    assert isinstance(chunk, ToolChunk)
    return chunk.state, "\n".join(block.text for block in chunk.content if isinstance(block, TextBlock))


def left_out(tool: str, reason: str) -> str:
    """The line about a tool that is not offered."""
    return f"The tool '{tool}' of the MCP server 'srv' is left out: {reason}."


NO_OBJECT = "its arguments are no object"
NO_NAME = left_out("?", "it has no name")
NO_ROW = left_out("?", "it is no description of a tool")


@pytest.mark.parametrize(
    ("quirk", "names", "problems"),
    [
        ("plain", ["ask"], []),
        ("paged", ["first", "second", "third", "fourth"], []),
        ("endless pages", ["ask"], []),
        ("twice", ["ask"], []),
        ("no schema", ["ask"], []),
        ("null schema", ["ask"], []),
        ("string schema", ["ask"], [left_out("bad", NO_OBJECT)]),
        ("list schema", ["ask"], [left_out("bad", NO_OBJECT)]),
        ("word schema", ["ask"], [left_out("bad", NO_OBJECT)]),
        ("nameless", ["ask"], [NO_NAME, NO_NAME, NO_NAME]),
        ("rows", ["ask"], [NO_ROW, NO_ROW, NO_ROW]),
        ("odd fields", ["ask"], []),
        ("empty", [], []),
        ("noise", ["ask"], []),
        ("much on stderr", ["ask"], []),
        (
            "exits at once",
            [],
            [
                "The MCP server 'srv' cannot be used: its program ended, or does not speak the protocol "
                "(it wrote: TOKEN is missing). The rest goes on without it."
            ],
        ),
    ],
)
async def test_every_good_tool_is_there_and_the_rest_is_named(
    quirk: str, names: list[str], problems: list[str]
) -> None:
    async with started(srv=strange(quirk)) as servers:
        offered = [tool.name.removeprefix("mcp__srv__") for tool in servers.tools]
        assert (offered, list(servers.problems)) == (names, problems)


@pytest.mark.parametrize(("quirk", "count"), [("names", 3), ("clash", 3)])
async def test_a_tool_is_called_by_its_own_name_whatever_it_is_offered_as(quirk: str, count: int) -> None:
    async with started(srv=strange(quirk)) as servers:
        names = [tool.name for tool in servers.tools]
        answers = [await answer(servers, name) for name in names]
    own = {"names": ["calendar.list/all events", LONG_NAME, "日历"], "clash": ["a.b", "a:b", "a_b"]}[quirk]
    assert len(set(names)) == count
    assert answers == [("success", f"answer {number} to {name}; None") for number, name in enumerate(own, 1)]


async def test_more_tools_than_a_request_holds_are_named() -> None:
    async with started(srv=strange("many")) as servers:
        (problem,) = servers.problems
        assert (len(servers.tools), "tool_149" in problem, "tool_99," in problem) == (100, True, False)


async def test_the_same_tool_of_two_servers_has_two_names() -> None:
    async with started(a=strange("plain"), a__b=strange("plain")) as servers:
        assert {tool.name for tool in servers.tools} == {"mcp__a__ask", "mcp__a__b__ask"}


async def test_an_odd_result_is_read() -> None:
    async with started(srv=strange("odd result")) as servers:
        assert await answer(servers, "mcp__srv__ask") == ("success", "plain words")


async def test_a_refusal_is_told_by_the_servers_own_words() -> None:
    async with started(srv=strange("refuses")) as servers:
        expected = ("error", "The server srv refused this call: q must be longer")
        assert await answer(servers, "mcp__srv__ask") == expected


async def test_a_server_that_dies_in_a_call_is_there_for_the_next_one(tmp_path: Path) -> None:
    async with started(srv=strange("dies once", tmp_path / "died")) as servers:
        answers = [await answer(servers, "mcp__srv__ask") for _ in range(2)]
    assert answers == [
        (
            "error",
            "The server srv stopped during this call (it wrote: it was too much). Whether the call had an effect is "
            "not known. The next call starts the server again.",
        ),
        ("success", "answer 1 to ask; None"),
    ]


async def test_a_server_that_dies_between_two_calls_is_started_before_the_next(tmp_path: Path) -> None:
    async with started(srv=strange("dies between", tmp_path / "died")) as servers:
        answers = [await answer(servers, "mcp__srv__ask") for _ in range(2)]
    assert answers == [("success", "answer 1 to ask; None")] * 2


async def test_a_server_that_always_dies_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("assistant.agent.tools.mcp_connection.MAX_RESTARTS", 1)
    async with started(srv=strange("always dies")) as servers:
        states = [(await answer(servers, "mcp__srv__ask"))[1].partition(" (")[0] for _ in range(4)]
        problems = servers.problems
    gone = "it stopped 2 times within 10 minutes and is not started again"
    assert states == [
        "The server srv stopped during this call",
        "The server srv stopped during this call",
        f"The server srv cannot be used: {gone}.",
        f"The server srv cannot be used: {gone}.",
    ]
    assert problems == (f"The MCP server 'srv' cannot be used: {gone}. The rest goes on without it.",)


async def test_nobody_waits_for_a_slow_server_and_its_tools_come_when_it_is_there(tmp_path: Path) -> None:
    there = tmp_path / "there"
    os.mkfifo(there)
    async with open_servers(ListedServers({"srv": strange("slow", there)}, ()), ROOT) as servers:
        said: list[str] = []
        arrived = asyncio.Event()

        def note(notice: Notice) -> None:
            said.append(notice.text)
            if servers.tools:
                arrived.set()

        servers.on_notice.append(note)
        await servers.settle(0.05)
        before = [tool.name for tool in servers.tools]
        await asyncio.to_thread(there.write_bytes, b"")
        await arrived.wait()
        after = [tool.name for tool in servers.tools]
    assert (before, after) == ([], ["mcp__srv__ask"])
    assert said == [
        "The MCP server 'srv' is still starting; its tools come when it is there.",
        "The MCP server 'srv' is there now, with one tool.",
    ]


@pytest.mark.parametrize(
    ("settings", "reason"),
    [
        (ServerSettings(command="no-such-program"), "its program 'no-such-program' was not found"),
        (ServerSettings(command=str(ROOT / "README.md")), f"its program '{ROOT / 'README.md'}' may not be run"),
        (ServerSettings(url="http://127.0.0.1:9/mcp?key=secret"), "nothing answers at http://127.0.0.1:9"),
    ],
    ids=["not found", "no program", "nothing there"],
)
async def test_a_server_that_cannot_start_is_named_in_plain_words(settings: ServerSettings, reason: str) -> None:
    async with started(srv=settings) as servers:
        assert servers.problems == (f"The MCP server 'srv' cannot be used: {reason}. The rest goes on without it.",)
