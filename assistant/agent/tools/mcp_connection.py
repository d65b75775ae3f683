"""The life of one MCP server: it starts beside everything else, and is started again, with a limit, when it died."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Literal
from urllib.parse import urlsplit

import httpx2
from agentscope.mcp import HttpMCPConfig, StdioMCPConfig
from mcp import MCPError

from assistant.agent.tools.mcp_client import ListedTools, PatientClient, is_over
from assistant.agent.tools.mcp_file import ServerSettings
from assistant.config.plain_reasons import is_group
from assistant.config.words import say
from assistant.errors import PalimpsestError

CONNECT_SECONDS = 120.0
"""How long a server may take to start. Nobody waits for it."""
CALL_SECONDS = 600.0
"""How long a call may take."""
MAX_RESTARTS = 5
"""How often a server that dies is started again within `RESTART_WINDOW_SECONDS`."""
RESTART_WINDOW_SECONDS = 600.0
_RETRY_PAUSES_SECONDS = (2.0, 15.0, 60.0, 300.0)
_CLOSE_SECONDS = 5.0
_NO_ANSWER = "Unexpected content type"
_RELIST_SECONDS, _LONGEST_RELIST_SECONDS = 0.5, 300.0
_QUOTE_CHARS = 200

log = logging.getLogger(__name__)

State = Literal["starting", "ready", "failed"]
Failure = Literal["stopped", "gone", "refused", "silent"]


@dataclass(frozen=True, slots=True)
class CallOutcome:
    """What a call brought: the result as the server sent it, or why there is none, with the server's own words."""

    result: Mapping[str, object]
    failure: Failure | None = None
    words: str = ""


class ServerConnection:
    """One server that mcp.json lists, from its start to the end of the program."""

    def __init__(
        self, name: str, settings: ServerSettings, start_folder: Path, on_change: Callable[[ServerConnection], None]
    ) -> None:
        """`on_change` is called when its state, its tools or its problem are other ones."""
        self.name = name
        self.state: State = "starting"
        self.listed = ListedTools()
        self.problem = ""
        """Why it cannot be used now."""
        self._settings = settings
        self._start_folder = start_folder
        self._on_change = on_change
        self._client: PatientClient | None = None
        self._lock = asyncio.Lock()
        self._deaths: list[float] = []
        self._reading: asyncio.Task[None] | None = None
        self._are_tools_old = False
        self._task = asyncio.create_task(self._start_patiently(), name=f"MCP server {name}")
        self.settled = asyncio.Event()
        """Set once it is ready or has failed for the first time."""

    async def call(self, tool: str, arguments: dict[str, object]) -> CallOutcome:
        """Call one of its tools; a server that has died since is started first. A call is never made twice."""
        client = await self._living_client()
        if client is None:
            return CallOutcome({}, "gone", self.problem)
        try:
            return CallOutcome(await client.call(tool, arguments, CALL_SECONDS))
        except MCPError as error:
            if not is_over(error):
                is_late = "timed out" in error.message.lower()
                return CallOutcome({}, "silent" if is_late else "refused", error.message)
        except Exception:
            # A server of somebody else may break in any way; the turn goes on.
            log.warning("the MCP server %s broke off", self.name, exc_info=True)
        await self._let_go(client)
        return CallOutcome({}, "stopped", client.last_words[:_QUOTE_CHARS])

    async def close(self) -> None:
        """End the server."""
        for task in (self._task, self._reading):
            if task is not None:
                task.cancel()
                with suppress(asyncio.CancelledError):
                    await task
        if self._client is not None:
            await _end(self._client)

    async def _living_client(self) -> PatientClient | None:
        async with self._lock:
            if self._client is not None and await self._is_alive(self._client):
                return self._client
            if self._client is not None:
                await self._let_go(self._client)
            if self.state == "ready" and self._may_restart() and await self._start() == "later":
                self._task = asyncio.create_task(self._start_patiently(), name=f"MCP server {self.name}")
            return self._client

    async def _is_alive(self, client: PatientClient) -> bool:
        try:
            return await client.is_alive()
        except Exception:
            log.warning("the MCP server %s does not answer any more", self.name, exc_info=True)
            return False

    def _may_restart(self) -> bool:
        now = asyncio.get_running_loop().time()
        self._deaths = [time for time in self._deaths if now - time < RESTART_WINDOW_SECONDS]
        if len(self._deaths) < MAX_RESTARTS:
            self._deaths.append(now)
            return True
        minutes = RESTART_WINDOW_SECONDS / 60
        self._fail(say("mcp", "restarted_too_often", count=MAX_RESTARTS + 1, minutes=minutes))
        return False

    async def _let_go(self, client: PatientClient) -> None:
        if self._client is client:
            self._client = None
            await _end(client)

    async def _start_patiently(self) -> None:
        """Start it; where that fails try again after a while, each time a longer one, and then give up."""
        for pause_seconds in (*_RETRY_PAUSES_SECONDS, None):
            outcome = await self._start()
            self.settled.set()
            if outcome != "later" or pause_seconds is None:
                return
            await asyncio.sleep(pause_seconds)

    async def _start(self) -> Literal["ready", "later", "never"]:
        """Start it and read its tools; `never` where another try would fail for the same reason."""
        client = _make_client(self.name, self._settings, self._start_folder)
        is_ready = False
        try:
            async with asyncio.timeout(CONNECT_SECONDS):
                await client.connect()
                self.listed = await client.list_all()
            is_ready = True
        except Exception as error:
            # A server of somebody else may fail in any way; the assistant goes on without it.
            log.warning("the MCP server %s cannot be used", self.name, exc_info=True)
            self._fail(_reason(error, self._settings, client))
            is_hopeless = any(isinstance(one, FileNotFoundError | PermissionError) for one in _causes(error))
            return "never" if is_hopeless else "later"
        finally:
            if not is_ready:
                await _end(client)
        client.when_tools_change(lambda: self._read_tools_again(client))
        self._client, self.state, self.problem = client, "ready", ""
        self._on_change(self)
        return "ready"

    def _read_tools_again(self, client: PatientClient) -> None:
        """Read the tools once more, as the server says that they changed."""
        self._are_tools_old = True
        if self._reading is None or self._reading.done():
            self._reading = asyncio.create_task(self._keep_reading(client), name=f"tools of {self.name}")

    async def _keep_reading(self, client: PatientClient) -> None:
        """Read until nothing is said to have changed meanwhile, ever later where a server says so for nothing."""
        pause_seconds = _RELIST_SECONDS
        while self._are_tools_old and self._client is client:
            self._are_tools_old = False
            try:
                listed = await client.list_all()
            except Exception:
                # The tools of before stay; a server that died is found out by the next call.
                log.warning("the tools of the MCP server %s cannot be read again", self.name, exc_info=True)
                return
            if listed == self.listed:
                pause_seconds = min(2 * pause_seconds, _LONGEST_RELIST_SECONDS)
            elif self._client is client:
                self.listed, pause_seconds = listed, _RELIST_SECONDS
                self._on_change(self)
            await asyncio.sleep(pause_seconds)

    def _fail(self, reason: str) -> None:
        is_new = (self.state, self.problem) != ("failed", reason)
        self.state, self.problem = "failed", reason
        if is_new:
            self._on_change(self)


def _make_client(name: str, settings: ServerSettings, start_folder: Path) -> PatientClient:
    config = (
        HttpMCPConfig(url=settings.url, headers=settings.headers or None)
        if settings.url
        # The server gets the variables every program needs and those that are listed for it, so no key of ours.
        else StdioMCPConfig(
            command=settings.command,
            args=settings.args,
            env=settings.env or None,
            cwd=settings.cwd or start_folder,
            encoding_error_handler="replace",
        )
    )
    return PatientClient(name=name, is_stateful=True, mcp_config=config, execution_timeout=CALL_SECONDS)


async def _end(client: PatientClient) -> None:
    if not client.is_connected:
        return
    try:
        async with asyncio.timeout(_CLOSE_SECONDS):
            await client.close()
    except TimeoutError:
        log.warning("the MCP server %s did not end within %.0f s", client.name, _CLOSE_SECONDS)


def _reason(error: BaseException, settings: ServerSettings, client: PatientClient) -> str:
    """Why a server did not start, in plain words."""
    if client.refusal:
        return _status_reason(client.refusal, settings.url)
    return _reason_of(error, settings, client.last_words)


def _reason_of(error: BaseException, settings: ServerSettings, last_words: str) -> str:
    said = say("mcp", "last_words", words=last_words[:_QUOTE_CHARS]) if last_words else ""
    for cause in _causes(error):
        match cause:
            case FileNotFoundError():
                return say("mcp", "no_program", program=settings.command)
            case PermissionError():
                return say("mcp", "program_refused", program=settings.command)
            case httpx2.HTTPStatusError():
                return _status_reason(cause.response.status_code, settings.url)
            case PalimpsestError():
                return str(cause).removesuffix(".")
            case MCPError() if not (is_over(cause) or cause.message.startswith(_NO_ANSWER)):
                return say("mcp", "connection_refused", words=cause.message[:_QUOTE_CHARS])
            case TimeoutError():
                return say("mcp", "no_answer", seconds=CONNECT_SECONDS, said=said)
            case httpx2.TransportError():
                return say("mcp", "nothing_answers", url=_origin(settings.url))
            case _:
                pass
    if settings.url:
        return say("mcp", "no_mcp_server", url=_origin(settings.url))
    return say("mcp", "program_ended", said=said)


def _status_reason(status: int, url: str) -> str:
    if status in (401, 403):
        return say("mcp", "wants_key", url=_origin(url), status=status)
    return say("mcp", "answers_with", url=_origin(url), status=status)


def _origin(url: str) -> str:
    """The address without its path and query, which can hold a key."""
    parts = urlsplit(url)
    return f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}"


def _causes(error: BaseException) -> Iterator[BaseException]:
    """The errors in the groups that concurrent parts wrap them in, and what each came from."""
    if is_group(error):
        for inner in error.exceptions:
            yield from _causes(inner)
        return
    seen: BaseException | None = error
    while seen is not None:
        yield seen
        seen = seen.__cause__ or seen.__context__
