"""Looks at the home, the model and the machine, and says what is right and what to do about the rest."""

from __future__ import annotations

import json
import os
import platform
import shutil
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from importlib.metadata import version
from typing import Literal

from assistant.agent.tools.mcp_file import NO_SERVERS, read_servers
from assistant.agent.tools.mcp_servers import open_servers
from assistant.assembly.home import open_store
from assistant.assembly.known_keys import KeySource
from assistant.config.plain_reasons import plain_reason
from assistant.config.settings import Settings, variables_of
from assistant.config.words import say
from assistant.errors import PalimpsestError
from assistant.messages.tokens import qwen_encoding
from assistant.models.chat_model import connect_available
from assistant.storage.ownership import current_owner
from assistant.storage.workspace import MEMORY_FILES, Workspace
from assistant.text.known_secrets import KnownSecrets

MCP_SECONDS = 20.0
"""How long the servers of mcp.json may take to start."""
_PACKAGES = ("agentscope", "gradio", "chromadb")


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that was looked at. `warning` does not stop the assistant from working."""

    name: str
    state: Literal["ok", "warning", "error"]
    text: str


async def examine(settings: Settings) -> list[Finding]:
    """Everything that was looked at, in the order a person would ask."""
    known = KnownSecrets(KeySource(settings).values)
    found = [
        Finding("python", "ok", f"{platform.python_version()} on {platform.system()} {platform.machine()}"),
        Finding("packages", "ok", ", ".join(f"{name} {version(name)}" for name in _PACKAGES)),
        _home(settings),
        await _model(settings),
        *await _mcp_servers(settings),
        _search_tool(),
        _vocabulary(),
    ]
    # A server of mcp.json may repeat in its error what it was given.
    return [replace(finding, text=known.mask(finding.text)) for finding in found]


def findings_text(findings: list[Finding]) -> str:
    """The findings as lines."""
    marks = {"ok": "✓", "warning": "!", "error": "✗"}
    return "\n".join(f"{marks[finding.state]} {finding.name}: {finding.text}" for finding in findings)


def findings_json(findings: list[Finding]) -> str:
    """The findings as one JSON list."""
    return json.dumps([asdict(finding) for finding in findings], ensure_ascii=False)


def _home(settings: Settings) -> Finding:
    try:
        store = open_store(settings)
        count = len(store.sessions.list())
        damaged = store.journal.count_damaged()
    except (PalimpsestError, OSError) as error:
        return Finding("home", "error", str(error))
    if reason := _why_unusable(store.workspace):
        return Finding("home", "error", say("storage", "home_unusable", root=settings.home, reason=reason))
    if links := _links_in(store.workspace):
        return Finding("home", "warning", say("cli", "links_in_home", home=settings.home, names=", ".join(links)))
    if damaged:
        return Finding("home", "warning", say("cli", "damaged_lines", home=settings.home, count=damaged))
    return Finding("home", "ok", say("cli", "home_found", home=settings.home, count=count))


def _why_unusable(workspace: Workspace) -> str:
    """Why nothing can be kept in the home, as a part of a sentence; empty where all is well."""
    if not os.access(workspace.root, os.W_OK):
        return say("plain_reasons", "no_permission")
    try:
        current_owner(workspace)
    except OSError as error:
        return plain_reason(error)
    return ""


def _links_in(workspace: Workspace) -> list[str]:
    """The folders and memory files of the home that are links; none of them is followed."""
    paths = [*workspace.folders[1:], *(workspace.root / name for name in MEMORY_FILES)]
    return [path.name for path in paths if path.is_symlink()]


async def _model(settings: Settings) -> Finding:
    try:
        chat = await connect_available(settings)
    except PalimpsestError as error:
        return Finding("model", "error", str(error))
    await chat.close()
    text = say("cli", "model_found", name=chat.name, tokens=chat.window_tokens, how=" ".join((chat.how, *chat.limits)))
    return Finding("model", "ok" if chat.is_language_model and not chat.limits else "warning", text)


async def _mcp_servers(settings: Settings) -> list[Finding]:
    """The servers of mcp.json, started once to see what they offer; nothing where there is no such file."""
    workspace = Workspace(settings.home)
    listed = read_servers(workspace.mcp_path, variables_of(settings.home))
    if not settings.has_machine_tools or listed == NO_SERVERS:
        return []
    async with open_servers(listed, workspace.files_folder) as servers:
        await servers.settle(MCP_SECONDS)
        return [_servers_finding(servers.tool_counts, servers.problems)]


def _servers_finding(tool_counts: Mapping[str, int], problems: Sequence[str]) -> Finding:
    counted = [
        say("cli", "mcp_one" if count == 1 else "mcp_many", name=name, count=count)
        for name, count in tool_counts.items()
    ]
    usable = ", ".join(counted)
    text = " ".join([f"{usable}.", *problems]) if usable and problems else usable or " ".join(problems)
    return Finding("MCP servers", "warning" if problems else "ok", text)


def _search_tool() -> Finding:
    if shutil.which("rg"):
        return Finding("ripgrep", "ok", say("cli", "rg_found"))
    return Finding("ripgrep", "warning", say("cli", "rg_missing"))


def _vocabulary() -> Finding:
    if qwen_encoding() is not None:
        return Finding("token counts", "ok", say("cli", "tokens_exact"))
    return Finding("token counts", "warning", say("cli", "tokens_by_bytes"))
