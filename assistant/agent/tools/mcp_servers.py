"""The MCP servers of the owner while the home is open: started beside it, their tools asked about at every call."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Callable, Mapping
from contextlib import asynccontextmanager
from pathlib import Path

from agentscope.tool import ToolBase

from assistant.agent.tools.mcp_connection import ServerConnection
from assistant.agent.tools.mcp_file import ListedServers
from assistant.agent.tools.mcp_schemas import UnusableTool, offered_name
from assistant.agent.tools.outside_tool import OutsideTool
from assistant.config.words import say
from assistant.messages.events import Notice

PATIENCE_SECONDS = 4.0
"""How long the first turn waits for servers that are still starting; what is slower brings its tools later."""
MAX_TOOLS = 100
"""Tools from outside that are offered at most: providers refuse a request with more than 128."""


class McpServers:
    """The tools of every server that answers, and what is wrong with the others; both change while it runs."""

    def __init__(self, listed: ListedServers, start_folder: Path) -> None:
        self.on_notice: list[Callable[[Notice], None]] = []
        """Called with what a person should know of a server, as it happens."""
        self._listed_problems = listed.problems
        self._tools: dict[tuple[str, str], OutsideTool] = {}
        self._left_out: dict[str, list[str]] = {}
        self._said_slow: set[str] = set()
        self._servers = {
            name: ServerConnection(name, settings, start_folder, self._note_change)
            for name, settings in listed.servers.items()
        }
        self._is_patience_over = not self._servers

    @property
    def tools(self) -> tuple[ToolBase, ...]:
        """The tools that can be called, those of a server that is being started again too."""
        return tuple(self._tools.values())

    @property
    def problems(self) -> tuple[str, ...]:
        """What is wrong now, one line each."""
        lines = list(self._listed_problems)
        for server in self._servers.values():
            if server.state == "failed":
                lines.append(_failure_line(server))
            if server.name in self._said_slow and server.state == "starting":
                lines.append(_slow_line(server))
            lines += self._left_out.get(server.name, [])
        return tuple(lines)

    @property
    def tool_counts(self) -> Mapping[str, int]:
        """How many tools each server that answers has."""
        return {name: len(server.listed.tools) for name, server in self._servers.items() if server.state == "ready"}

    async def settle(self, patience_seconds: float | None = None) -> None:
        """Wait until each has started or failed, but not longer than this in all, and only once."""
        if self._is_patience_over:
            return
        waits = [asyncio.ensure_future(server.settled.wait()) for server in self._servers.values()]
        try:
            await asyncio.wait(waits, timeout=PATIENCE_SECONDS if patience_seconds is None else patience_seconds)
        finally:
            for wait in waits:
                wait.cancel()
        is_first, self._is_patience_over = not self._is_patience_over, True
        for server in self._servers.values() if is_first else ():
            if server.state == "starting":
                self._said_slow.add(server.name)
                self._emit(Notice(_slow_line(server), "info"))

    async def close(self) -> None:
        """End all of them."""
        await asyncio.gather(*(server.close() for server in self._servers.values()))

    def _note_change(self, server: ServerConnection) -> None:
        if server.state == "failed":
            self._emit(Notice(_failure_line(server)))
            return
        lines = self._take_tools(server)
        if lines != self._left_out.get(server.name, []):
            self._left_out[server.name] = lines
            for line in lines:
                self._emit(Notice(line))
        if server.name in self._said_slow:
            self._said_slow.discard(server.name)
            count = len(server.listed.tools)
            self._emit(Notice(say("mcp", "server_there", name=server.name, tools=_tools_words(count)), "info"))

    def _take_tools(self, server: ServerConnection) -> list[str]:
        """Offer the tools it has now under the names they had before; returns what cannot be offered, a line each."""
        names = {key: tool.name for key, tool in self._tools.items() if key[0] == server.name}
        self._tools = {key: tool for key, tool in self._tools.items() if key[0] != server.name}
        unusable = list(server.listed.unusable)
        room = MAX_TOOLS - len(self._tools)
        for tool in server.listed.tools[:room]:
            key = (server.name, tool.name)
            taken = {other.name for other in self._tools.values()}
            name = names.get(key) or offered_name(server.name, tool.name, taken)
            self._tools[key] = OutsideTool(name, tool, server)
        too_many = server.listed.tools[room:]
        lines = [_unusable_line(server, tool) for tool in unusable]
        if too_many:
            named = ", ".join(tool.name for tool in too_many)
            lines.append(say("mcp", "too_many_tools", name=server.name, max_tools=MAX_TOOLS, named=named))
        return lines

    def _emit(self, notice: Notice) -> None:
        for listener in self.on_notice:
            listener(notice)


@asynccontextmanager
async def open_servers(listed: ListedServers, start_folder: Path) -> AsyncGenerator[McpServers]:
    """Start them side by side, without waiting for any, and end them in the end."""
    servers = McpServers(listed, start_folder)
    try:
        yield servers
    finally:
        await servers.close()


def _failure_line(server: ServerConnection) -> str:
    return say("mcp", "server_unusable", name=server.name, problem=server.problem)


def _slow_line(server: ServerConnection) -> str:
    return say("mcp", "server_slow", name=server.name)


def _unusable_line(server: ServerConnection, tool: UnusableTool) -> str:
    return say("mcp", "tool_left_out", name=tool.name, server=server.name, reason=tool.reason)


def _tools_words(count: int) -> str:
    return say("mcp", "one_tool" if count == 1 else "tools", count=count)
