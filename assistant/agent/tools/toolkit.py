"""The agent's tools: AgentScope's own shell and file tools on our backend, skills, and what is passed in."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import cast

from agentscope.state import AgentState
from agentscope.tool import (
    BackendBase,
    Bash,
    Edit,
    Glob,
    Grep,
    Read,
    ToolBase,
    ToolChunk,
    Toolkit,
    ToolMiddlewareBase,
    Write,
)

from assistant.agent.tools.approvals import Rules
from assistant.agent.tools.mcp_servers import McpServers
from assistant.agent.tools.outside_tool import OutsideTool
from assistant.agent.tools.pdf_pages import MAX_PAGES, read_pages
from assistant.agent.tools.skills import SkillLoader
from assistant.agent.tools.tool_backend import ToolBackend, shell_environment
from assistant.agent.tools.tool_failures import FailureWords
from assistant.compaction.shorten.artifact_reference import ArtifactReader
from assistant.config.prompts import render
from assistant.config.words import Language, say
from assistant.messages.blocks import TextBlock, ToolResultState
from assistant.storage.artifacts import Artifacts
from assistant.text.json_values import is_list
from assistant.text.known_secrets import KnownSecrets


@dataclass(frozen=True, slots=True)
class AgentTools:
    """What the agent of one conversation works with."""

    toolkit: LiveToolkit
    rules: Rules
    """Which calls run at once, which ask the person, and which are refused."""
    artifacts: Artifacts
    artifact_reader: ArtifactReader
    """The tool that opens the full text of a shortened result."""
    known: KnownSecrets
    """What is taken out of every result."""


class DescribedRead(Read):
    """AgentScope's Read with a description of ours (its own is a property that cannot be set)."""

    _description = ""

    @property
    def description(self) -> str:  # pyright: ignore[reportIncompatibleVariableOverride]
        """What the model reads about the tool."""
        return self._description

    @description.setter
    def description(self, text: str) -> None:
        self._description = text

    async def call(  # pyright: ignore[reportIncompatibleMethodOverride]
        self,
        file_path: str,
        offset: int = 1,
        limit: int = 2000,
        pages: str | None = None,
        _agent_state: AgentState | None = None,
    ) -> ToolChunk:
        """Read the file; a relative path starts where commands start."""
        return await super().call(absolute_path(self._backend, file_path), offset, limit, pages, _agent_state)

    async def _read_pdf(self, file_path: str, pages: str | None = None) -> ToolChunk:  # pyright: ignore[reportIncompatibleMethodOverride]
        """Never in this process: a file of 31 KB can take it for many seconds, and a larger one all its memory."""
        found = await read_pages(await self._backend.read_file(file_path), pages, shell_environment())
        match found:
            case {"texts": texts, "first": int(first), "total": int(total)} if is_list(texts):
                parts = [f"--- Page {number}/{total} ---\n{text}" for number, text in enumerate(texts, first)]
                return ToolChunk(content=[TextBlock(text="\n\n".join(parts))], is_last=True)
            case _:
                key, total = str(found.get("problem")), found.get("total", 0)
                problem = say("agent", key, total=total, most=MAX_PAGES, pages=pages or "")
                return ToolChunk(content=[TextBlock(text=problem)], state=ToolResultState.ERROR, is_last=True)


class AsideWrite(Write):
    """AgentScope's Write beside the event loop: it compares the old text with the new, which can take seconds."""

    async def call(self, file_path: str, content: str, _agent_state: AgentState | None = None) -> ToolChunk:  # pyright: ignore[reportIncompatibleMethodOverride]
        """Write the file in a thread of its own, so that the page and every other conversation go on."""
        path = absolute_path(self._backend, file_path)
        return await asyncio.to_thread(asyncio.run, super().call(path, content, _agent_state))


class AsideEdit(Edit):
    """AgentScope's Edit beside the event loop, for the same reason."""

    async def call(  # pyright: ignore[reportIncompatibleMethodOverride]
        self,
        file_path: str,
        old_string: str,
        new_string: str,
        replace_all: bool = False,
        _agent_state: AgentState | None = None,
    ) -> ToolChunk:
        """Edit the file in a thread of its own, so that the page and every other conversation go on."""
        path = absolute_path(self._backend, file_path)
        edit = super().call(path, old_string, new_string, replace_all, _agent_state)
        return await asyncio.to_thread(asyncio.run, edit)


def absolute_path(backend: BackendBase, path: str) -> str:
    """The path as AgentScope's tools take it; a relative one starts where commands start."""
    return backend.absolute(path) if isinstance(backend, ToolBackend) else path


class LiveToolkit(Toolkit):
    """AgentScope's toolkit with the tools of servers as they are now: a slow server brings its tools later."""

    def __init__(self, tools: list[ToolBase], skills: SkillLoader | None, outside: McpServers | None) -> None:
        super().__init__(tools=tools, skills_or_loaders=[skills] if skills else [])
        self._outside = outside

    async def get_tool_schemas(self, groups: list[str] | None = None) -> list[dict[str, object]]:
        """What the model is offered."""
        await self._take_outside_tools()
        # AgentScope does not say what is in a schema.
        asked = super().get_tool_schemas(groups)  # pyright: ignore[reportUnknownMemberType, reportUnknownVariableType]
        return cast(list[dict[str, object]], await asked)

    async def check_tool_available(self, tool_name: str, activated_groups: list[str]) -> ToolBase:
        """The tool that a call names, which a person may have allowed before this process began."""
        await self._take_outside_tools()
        return await super().check_tool_available(tool_name, activated_groups)

    async def _take_outside_tools(self) -> None:
        if self._outside is None:
            return
        await self._outside.settle()
        (group,) = self.tool_groups
        own = [tool for tool in group.tools if not isinstance(tool, OutsideTool)]
        group.tools = [*own, *self._outside.tools]


def build_toolkit(
    *,
    backend: ToolBackend,
    start_folder: Path,
    skills: SkillLoader | None,
    language: Language,
    has_file_tools: bool,
    own_tools: Sequence[ToolBase] = (),
    outside: McpServers | None = None,
) -> LiveToolkit:
    """The toolkit of one conversation. Each agent needs its own: AgentScope adds and removes tools while it replies.

    Without file tools there are no skills, which are read and carried out with them, and no tools from outside.
    """
    tools: list[ToolBase] = list(own_tools)
    if has_file_tools:
        tools += _file_tools(backend, start_folder, language)
    return LiveToolkit(tools, skills if has_file_tools else None, outside if has_file_tools else None)


def _file_tools(backend: ToolBackend, start_folder: Path, language: Language) -> list[ToolBase]:
    middlewares: list[ToolMiddlewareBase] = [FailureWords()]
    tools: list[ToolBase] = [
        Bash(cwd=start_folder, backend=backend, middlewares=middlewares),
        DescribedRead(model_input_types=[], backend=backend, middlewares=middlewares),
        AsideWrite(backend=backend, middlewares=middlewares),
        AsideEdit(backend=backend, middlewares=middlewares),
        Glob(backend=backend, middlewares=middlewares),
        Grep(backend=backend, middlewares=middlewares),
    ]
    for tool in tools:
        tool.description = render(f"tool_{tool.name.lower()}", language)
    return tools
