"""The connection to one MCP server, read with more patience than the protocol's own library has."""

from __future__ import annotations

import os
import threading
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass
from typing import Any

import httpx2
from agentscope.mcp import HttpMCPConfig, MCPClient, StdioMCPConfig
from mcp import Client as SDKClient
from mcp import MCPError, StdioServerParameters, stdio_client
from mcp.client.session import IncomingMessage
from mcp.client.sse import sse_client
from mcp.client.streamable_http import streamable_http_client
from mcp.shared._httpx_utils import McpHttpClientFactory
from mcp.types import CONNECTION_CLOSED, PaginatedRequestParams, ToolListChangedNotification
from pydantic import PrivateAttr, ValidationError

from assistant.agent.tools.mcp_schemas import ListedTool, UnusableTool, read_tool
from assistant.models.http_client import certificates_for
from assistant.models.proxies import proxy_of
from assistant.text.json_values import is_list

_MAX_PAGES = 100
_PING_SECONDS = 5.0
_HTTP_SECONDS = 30.0
_SILENCE_SECONDS = 300.0
_KEPT_BYTES = 2_000
_SESSION_OVER = ("session terminated", "session not found", "connection closed")


@dataclass(frozen=True, slots=True)
class ListedTools:
    """The tools of a server, and those it lists that cannot be offered."""

    tools: tuple[ListedTool, ...] = ()
    unusable: tuple[UnusableTool, ...] = ()


class PatientClient(MCPClient):
    """AgentScope's client, which lists every page, takes lists and results that are odd, and keeps the last words.

    The library checks a whole answer against the protocol and refuses all of it for one item.
    """

    _last_words: _LastWords | None = PrivateAttr(default=None)
    _on_other_tools: Callable[[], None] | None = PrivateAttr(default=None)
    _refusal: int = PrivateAttr(default=0)

    @property
    def refusal(self) -> int:
        """The status of the last request over HTTP where it is one of an error, else 0."""
        return self._refusal

    def when_tools_change(self, on_other_tools: Callable[[], None]) -> None:
        """Call this whenever the server says that its tools are other ones."""
        self._on_other_tools = on_other_tools

    def _create_sdk_client(self) -> SDKClient:
        """The client of AgentScope, which hears what the server says unasked."""
        client = super()._create_sdk_client()
        client.message_handler = self._hear
        return client

    async def _hear(self, message: IncomingMessage) -> None:
        if isinstance(message, ToolListChangedNotification) and self._on_other_tools:
            self._on_other_tools()

    def _create_http_client(self) -> AbstractAsyncContextManager[Any]:
        """The transport of AgentScope, over the proxy and with the certificates of this machine."""
        config = self.mcp_config
        assert isinstance(config, HttpMCPConfig)
        make_client = _client_maker(config.url, self._note_status)
        timeout_seconds = config.timeout or _HTTP_SECONDS
        if self._is_sse:
            return sse_client(config.url, config.headers, timeout_seconds, httpx_client_factory=make_client)
        return _streamable_http(make_client(config.headers, httpx2.Timeout(timeout_seconds)), config.url)

    @property
    def last_words(self) -> str:
        """The last line that the server's program wrote on its standard error."""
        return self._last_words.line() if self._last_words else ""

    def _create_stdio_transport(self) -> AbstractAsyncContextManager[Any]:
        """The transport of AgentScope, but what the program writes on standard error is not ours to print."""
        assert isinstance(self.mcp_config, StdioMCPConfig)
        config = self.mcp_config
        self._last_words = _LastWords()
        return _with_standard_error(
            StdioServerParameters(
                command=config.command,
                args=config.args or [],
                env=config.env,
                cwd=str(config.cwd) if config.cwd else None,
                encoding="utf-8",
                encoding_error_handler=config.encoding_error_handler,
            ),
            self._last_words,
        )

    async def _note_status(self, response: httpx2.Response) -> None:
        # The library tells an error of HTTP in a sentence of its own.
        if response.request.method == "POST":
            self._refusal = response.status_code if response.is_error else 0

    async def list_all(self) -> ListedTools:
        """The tools of every page, in the server's order; a name that comes twice counts once."""
        found: dict[str, ListedTool] = {}
        unusable: list[UnusableTool] = []
        cursor: str | None = None
        seen: set[str] = set()
        for _ in range(_MAX_PAGES):
            page = await self._page(cursor)
            rows = page.get("tools")
            for row in rows if is_list(rows) else []:
                tool = read_tool(row)
                if isinstance(tool, UnusableTool):
                    unusable.append(tool)
                else:
                    found.setdefault(tool.name, tool)
            following = page.get("nextCursor")
            if not isinstance(following, str) or not following or following in seen:
                break
            seen.add(following)
            cursor = following
        return ListedTools(tuple(found.values()), tuple(unusable))

    async def call(self, name: str, arguments: dict[str, object], timeout_seconds: float) -> dict[str, object]:
        """The result of a tool, as the server sent it. Raises `MCPError` where it refuses or is gone."""
        return await self._request("tools/call", {"name": name, "arguments": arguments}, timeout_seconds)

    async def is_alive(self) -> bool:
        """False where the connection is over; a server that answers nothing else counts as alive."""
        try:
            await self._request("ping", {}, _PING_SECONDS)
        except MCPError as error:
            return not is_over(error)
        return True

    async def _page(self, cursor: str | None) -> dict[str, object]:
        assert self._client is not None
        try:
            page = await self._client.session.list_tools(params=PaginatedRequestParams(cursor=cursor))
        except ValidationError:
            return await self._request("tools/list", {"cursor": cursor} if cursor else {}, None)
        return page.model_dump(by_alias=True, mode="json", exclude_none=True)

    async def _request(
        self, method: str, params: dict[str, object], timeout_seconds: float | None
    ) -> dict[str, object]:
        """The answer to a request as it came, unlike the library's own call, which checks it."""
        assert self._client is not None
        session = self._client.session
        data: dict[str, Any] = {"method": method, "params": params}
        options: Any = {} if timeout_seconds is None else {"timeout": timeout_seconds}
        session._stamp(data, options)  # pyright: ignore[reportPrivateUsage]
        return await session._dispatcher.send_raw_request(method, data["params"], options)  # pyright: ignore[reportPrivateUsage]


def is_over(error: MCPError) -> bool:
    """True where the error says that the connection is over, and not that the server refuses something."""
    words = error.message.lower()
    return any(part in words for part in _SESSION_OVER) or (error.code == CONNECTION_CLOSED and not words)


def _client_maker(url: str, on_response: Callable[[httpx2.Response], Awaitable[None]]) -> McpHttpClientFactory:
    """What makes a client as the transports want it, which needs no proxy for a server on this machine."""

    def make(
        headers: dict[str, str] | None = None, timeout: httpx2.Timeout | None = None, auth: httpx2.Auth | None = None
    ) -> httpx2.AsyncClient:
        return httpx2.AsyncClient(
            headers=headers,
            timeout=timeout or httpx2.Timeout(_HTTP_SECONDS, read=_SILENCE_SECONDS),
            auth=auth,
            proxy=proxy_of(url) or None,
            verify=certificates_for(url),
            trust_env=False,
            event_hooks={"response": [on_response]},
        )

    return make


@asynccontextmanager
async def _streamable_http(client: httpx2.AsyncClient, url: str) -> AsyncGenerator[Any]:
    async with client, streamable_http_client(url=url, http_client=client) as streams:
        yield streams


@asynccontextmanager
async def _with_standard_error(server: StdioServerParameters, last_words: _LastWords) -> AsyncGenerator[Any]:
    try:
        async with stdio_client(server, last_words.file) as streams:
            yield streams
    finally:
        last_words.close()


class _LastWords:
    """The end of what a program writes on its standard error."""

    def __init__(self) -> None:
        reading, writing = os.pipe()
        self.file = os.fdopen(writing, "w", encoding="utf-8", errors="replace")
        self._kept = bytearray()
        threading.Thread(target=self._read, args=(reading,), name="mcp standard error", daemon=True).start()

    def line(self) -> str:
        """The last line that is not empty."""
        lines = bytes(self._kept).decode("utf-8", "replace").split("\n")
        return next((line.strip() for line in reversed(lines) if line.strip()), "")

    def close(self) -> None:
        """Write no more; the reader ends with the last program that has the other end."""
        self.file.close()

    def _read(self, descriptor: int) -> None:
        with os.fdopen(descriptor, "rb", buffering=0) as pipe:
            while piece := pipe.read(65_536):
                self._kept += piece
                del self._kept[:-_KEPT_BYTES]
