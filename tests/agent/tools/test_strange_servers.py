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
from tests.fakes.strange_http_servers import StrangeHttpServer
from tests.fakes.strange_servers import HUGE_CHARS, LONG_NAME
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
        ("pages in a circle", ["ask_a", "ask_b", "ask_c"], []),
        ("always another page", ["ask"], []),
        ("noise", ["ask"], []),
        ("old", ["ask"], []),
        ("no capabilities", ["ask"], []),
        ("stays", ["ask"], []),
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


@pytest.mark.parametrize(
    ("quirk", "text"),
    [
        ("talks on stdout", "answer 1 to ask; None"),
        ("floods stderr", "answer 1 to ask; None"),
        ("notifies", "answer 1 to ask; None"),
        ("asks the client", "answer 1 to ask; None"),
        ("answers twice", "first"),
        ("answers another", "answer 1 to ask; None"),
        ("broken bytes", "answer 1 to ask; None"),
        ("huge result", "0123456789" * (HUGE_CHARS // 10)),
    ],
)
async def test_a_call_is_answered_whatever_else_a_server_says(quirk: str, text: str) -> None:
    async with started(srv=strange(quirk)) as servers:
        state, said = await answer(servers, "mcp__srv__ask")
        again, _ = await answer(servers, "mcp__srv__ask")
    assert (state, said == text, again) == ("success", True, "success")


async def test_a_result_without_content_is_an_empty_one() -> None:
    async with started(srv=strange("no content")) as servers:
        assert (await answer(servers, "mcp__srv__ask"))[0] == "success"


async def test_an_error_as_a_result_is_one() -> None:
    async with started(srv=strange("an error as a result")) as servers:
        assert await answer(servers, "mcp__srv__ask") == ("error", "the disk is full")


async def test_answers_out_of_order_come_to_their_calls() -> None:
    async with started(srv=strange("out of order")) as servers:
        (tool,) = servers.tools
        chunks = await asyncio.gather(tool(q="first"), tool(q="second"))
    texts = [block.text for chunk in chunks for block in chunk.content]  # type: ignore[union-attr]
    assert texts == [
        'answer to {"name": "ask", "arguments": {"q": "first"}}',
        "answer 2 to ask; None",
    ]


async def test_tools_that_a_server_changes_are_read_again() -> None:
    async with started(srv=strange("changes its tools")) as servers:
        before = [tool.name for tool in servers.tools]
        await answer(servers, "mcp__srv__ask")
        async with asyncio.timeout(60):
            while len(servers.tools) == len(before):
                await asyncio.sleep(0)
        after = [tool.name for tool in servers.tools]
        assert (await answer(servers, "mcp__srv__more"))[0] == "success"
    assert (before, after) == (["mcp__srv__ask"], ["mcp__srv__ask", "mcp__srv__more"])


async def test_a_server_that_says_its_tools_changed_for_ever_is_asked_ever_later(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    pauses: list[float] = []
    real = asyncio.sleep

    async def sleep(seconds: float) -> None:
        pauses.append(seconds)
        await real(0)

    monkeypatch.setattr("assistant.agent.tools.mcp_connection.asyncio.sleep", sleep)
    async with started(srv=strange("says changed for ever")) as servers:
        await answer(servers, "mcp__srv__ask")
        async with asyncio.timeout(60):
            while len([pause for pause in pauses if pause]) < 4:
                await real(0.01)
        assert [tool.name for tool in servers.tools] == ["mcp__srv__ask"]
    assert [pause for pause in pauses if pause][:4] == [1.0, 2.0, 4.0, 8.0]


@pytest.mark.parametrize("quirk", ["plain", "streams"])
async def test_a_server_over_http_is_used_whatever_proxy_is_set(quirk: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:9")
    monkeypatch.setenv("ALL_PROXY", "socks5://127.0.0.1:9")
    with StrangeHttpServer(quirk) as server:
        async with started(srv=ServerSettings(url=server.url)) as servers:
            assert await answer(servers, "mcp__srv__ask") == ("success", "over HTTP")


@pytest.mark.parametrize(
    ("quirk", "reason"),
    [
        ("wants a key", "{origin} wants a key or a sign-in (HTTP 401)"),
        ("forbids", "{origin} wants a key or a sign-in (HTTP 403)"),
        ("is not there", "{origin} answers with HTTP 404"),
        ("is broken", "{origin} answers with HTTP 500"),
        ("is away", "{origin} answers with HTTP 503"),
        ("is a web page", "what answers at {origin} is no MCP server"),
    ],
)
async def test_a_server_over_http_that_cannot_be_used_says_why(quirk: str, reason: str) -> None:
    with StrangeHttpServer(quirk) as server:
        origin = server.url.removesuffix("/mcp")
        async with started(srv=ServerSettings(url=server.url)) as servers:
            expected = f"The MCP server 'srv' cannot be used: {reason.format(origin=origin)}. "
            assert servers.problems == (f"{expected}The rest goes on without it.",)


async def test_a_stream_that_closes_before_the_answer_is_a_call_that_stopped() -> None:
    with StrangeHttpServer("closes its stream") as server:
        async with started(srv=ServerSettings(url=server.url)) as servers:
            state, said = await answer(servers, "mcp__srv__ask")
    assert (state, said.startswith("The server srv ")) == ("error", True)
