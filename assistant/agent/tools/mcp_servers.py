"""The MCP servers the owner lists in mcp.json: started with the assistant, their tools asked about at every call."""

from __future__ import annotations

import asyncio
import logging
import re
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Self

from agentscope.mcp import HttpMCPConfig, MCPClient, StdioMCPConfig
from agentscope.tool import ToolBase
from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from assistant.storage.atomic_io import read_plain_file

CONNECT_SECONDS = 20.0
"""How long all of them may take to start; one that is slower is left out."""
CALL_SECONDS = 600.0
"""How long a call may take."""
_CLOSE_SECONDS = 5.0
_MAX_FILE_BYTES = 1_000_000
_NAME = re.compile(r"[A-Za-z0-9_-]{1,40}\Z")

log = logging.getLogger(__name__)


class ServerSettings(BaseModel):
    """One entry of `mcpServers`, in the form that other programs use too: a command to start, or an address."""

    model_config = ConfigDict(extra="ignore")

    command: str = ""
    args: list[str] = []
    env: dict[str, str] = {}
    cwd: str = ""
    url: str = ""
    headers: dict[str, str] = {}
    disabled: bool = False

    @model_validator(mode="after")
    def _must_be_reachable_one_way(self) -> Self:
        if bool(self.command) == bool(self.url):
            raise ValueError("it needs either a command or a url")
        if self.url and not self.url.startswith(("http://", "https://")):
            raise ValueError("its url must begin with http:// or https://")
        return self


class _File(BaseModel):
    model_config = ConfigDict(extra="ignore")

    servers: Annotated[dict[str, object], Field(alias="mcpServers")] = {}


@dataclass(frozen=True, slots=True)
class ListedServers:
    """What mcp.json lists: the servers that can be tried, by name, and what is wrong with the rest, one line each."""

    servers: dict[str, ServerSettings]
    problems: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class McpTools:
    """The tools of every server that answers, and what became of the others, one line each."""

    tools: tuple[ToolBase, ...] = ()
    problems: tuple[str, ...] = ()


def read_servers(path: Path) -> ListedServers:
    """The servers in mcp.json that are not switched off; none where there is no such file."""
    try:
        file = _File.model_validate_json(read_plain_file(path, _MAX_FILE_BYTES)) if path.exists() else _File()
    except OSError as error:
        return ListedServers({}, (f"mcp.json cannot be read ({error}), so no MCP server is used.",))
    except ValidationError as error:
        return ListedServers({}, (f"mcp.json cannot be used: {_first_reason(error)}. No MCP server is used.",))
    servers: dict[str, ServerSettings] = {}
    problems: list[str] = []
    for name, entry in file.servers.items():
        try:
            settings = ServerSettings.model_validate(entry)
        except ValidationError as error:
            problems.append(f"The MCP server {name!r} in mcp.json cannot be used: {_first_reason(error)}.")
            continue
        if not _NAME.match(name):
            problems.append(f"The MCP server {name!r} cannot be used: its name may have letters, digits, _ and - only.")
        elif not settings.disabled:
            servers[name] = settings
    return ListedServers(servers, tuple(problems))


@asynccontextmanager
async def open_servers(listed: ListedServers, start_folder: Path) -> AsyncGenerator[McpTools]:
    """Start them side by side, and end them in the end. One that does not answer is reported and delays nobody."""
    clients = {name: _client(name, settings, start_folder) for name, settings in listed.servers.items()}
    try:
        started = await asyncio.gather(*(_start(name, client) for name, client in clients.items()))
        yield McpTools(
            tuple(tool for one in started for tool in one.tools),
            (*listed.problems, *(problem for one in started for problem in one.problems)),
        )
    finally:
        await asyncio.gather(*(_end(client) for client in clients.values()))


async def _start(name: str, client: MCPClient) -> McpTools:
    try:
        async with asyncio.timeout(CONNECT_SECONDS):
            await client.connect()
            return McpTools(tuple(await client.list_tools()))
    except TimeoutError:
        reason = f"it did not answer within {CONNECT_SECONDS:.0f} s"
    except Exception as error:
        # A server of somebody else may fail in any way; the assistant goes on without it.
        log.warning("the MCP server %s cannot be used", name, exc_info=True)
        reason = f"{type(error).__name__}: {_innermost(error)}"
    return McpTools(problems=(f"The MCP server {name!r} cannot be used: {reason}. The rest goes on without it.",))


async def _end(client: MCPClient) -> None:
    if not client.is_connected:
        return
    try:
        async with asyncio.timeout(_CLOSE_SECONDS):
            await client.close()
    except TimeoutError:
        log.warning("the MCP server %s did not end within %.0f s", client.name, _CLOSE_SECONDS)


def _client(name: str, settings: ServerSettings, start_folder: Path) -> MCPClient:
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
    return MCPClient(name=name, is_stateful=True, mcp_config=config, execution_timeout=CALL_SECONDS)


def _first_reason(error: ValidationError) -> str:
    first = error.errors()[0]
    place = ".".join(str(part) for part in first["loc"])
    reason = first["msg"].removeprefix("Value error, ")
    return f"{place}: {reason}" if place else reason


def _innermost(error: BaseException) -> BaseException:
    """What went wrong, out of the groups that concurrent parts wrap it in."""
    return _innermost(error.exceptions[0]) if isinstance(error, BaseExceptionGroup) else error
