"""AgentScope's shell and file tools as the model is offered them: with the arguments that are used and no others."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Mapping
from pathlib import Path

from agentscope.state import AgentState
from agentscope.tool import Bash, Edit, Glob, Grep, Read, ToolBase, ToolChunk, ToolMiddlewareBase, Write

from assistant.agent.readers.pdf_texts import MAX_PAGES
from assistant.agent.readers.process import read_apart
from assistant.agent.tools.own_tool import error_chunk
from assistant.agent.tools.tool_backend import ToolBackend, shell_environment
from assistant.agent.tools.tool_failures import FailureWords
from assistant.agent.tools.tool_paths import WholePaths
from assistant.config.words import say
from assistant.messages.blocks import TextBlock
from assistant.text.json_values import is_list

_MAX_LINES = 2_000
_MILLISECONDS = 120_000
"""How long a command may run unless it is said."""

_TEXT = {"type": "string"}
_NUMBER = {"type": "integer"}
_SWITCH = {"type": "boolean"}
_ARGUMENTS: Mapping[str, Mapping[str, Mapping[str, object]]] = {
    "Bash": {"command": _TEXT, "timeout": _NUMBER},
    "Read": {"file_path": _TEXT, "offset": _NUMBER, "limit": _NUMBER, "pages": _TEXT},
    "Write": {"file_path": _TEXT, "content": _TEXT},
    "Edit": {"file_path": _TEXT, "old_string": _TEXT, "new_string": _TEXT, "replace_all": _SWITCH},
    "Glob": {"pattern": _TEXT, "path": _TEXT},
    "Grep": {
        "pattern": _TEXT,
        "path": _TEXT,
        "glob": _TEXT,
        "output_mode": {"type": "string", "enum": ["content", "files_with_matches", "count"]},
        "context": _NUMBER,
        "i": _SWITCH,
    },
}
_NEEDED = ("command", "file_path", "content", "old_string", "new_string", "pattern")


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
        limit: int = _MAX_LINES,
        pages: str | None = None,
        _agent_state: AgentState | None = None,
    ) -> ToolChunk:
        """Read the file; a small model fills in 0 for what it does not need, which is taken for what is usual."""
        lines = min(limit, _MAX_LINES) if limit > 0 else _MAX_LINES
        return await super().call(file_path, max(1, offset), lines, pages or None, _agent_state)

    async def _read_text_file(  # pyright: ignore[reportIncompatibleMethodOverride]
        self, file_path: str, offset: int, limit: int, _agent_state: AgentState | None
    ) -> ToolChunk:
        """Beside the event loop: a text of short lines takes a second for each megabyte."""
        reading = super()._read_text_file(file_path, offset, limit, _agent_state)
        return await asyncio.to_thread(asyncio.run, reading)

    async def _read_pdf(self, file_path: str, pages: str | None = None) -> ToolChunk:  # pyright: ignore[reportIncompatibleMethodOverride]
        """Never in this process: a file of 31 KB can take it for many seconds, and a larger one all its memory."""
        content = await self._backend.read_file(file_path)
        found = await read_apart("pdf", content, shell_environment(), pages or "")
        match found:
            case {"texts": texts, "first": int(first), "total": int(total)} if is_list(texts):
                parts = [f"--- Page {number}/{total} ---\n{text}" for number, text in enumerate(texts, first)]
                return ToolChunk(content=[TextBlock(text="\n\n".join(parts))], is_last=True)
            case _:
                kind, total = str(found.get("problem")), found.get("total", 0)
                return error_chunk(say("agent", f"pdf_{kind}", total=total, most=MAX_PAGES, pages=pages or ""))


class PatientBash(Bash):
    """AgentScope's shell, to which no time at all means the usual time."""

    async def call(  # pyright: ignore[reportIncompatibleMethodOverride]
        self,
        command: str,
        description: str = "",
        timeout: int = _MILLISECONDS,  # noqa: ASYNC109
    ) -> AsyncGenerator[ToolChunk, None]:
        """Run the command; its output comes in one chunk."""
        async for chunk in super().call(command, description, timeout if timeout > 0 else _MILLISECONDS):
            yield chunk


class AsideWrite(Write):
    """AgentScope's Write beside the event loop: it compares the old text with the new, which can take seconds."""

    async def call(self, file_path: str, content: str, _agent_state: AgentState | None = None) -> ToolChunk:  # pyright: ignore[reportIncompatibleMethodOverride]
        """Write the file in a thread of its own, so that the page and every other conversation go on."""
        return await asyncio.to_thread(asyncio.run, super().call(file_path, content, _agent_state))


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
        edit = super().call(file_path, old_string, new_string, replace_all, _agent_state)
        return await asyncio.to_thread(asyncio.run, edit)


def make_file_tools(backend: ToolBackend, start_folder: Path) -> list[ToolBase]:
    """The six tools in a fixed order, so that two requests begin alike; the toolkit describes them."""
    middlewares: list[ToolMiddlewareBase] = [FailureWords(), WholePaths(start_folder)]
    tools: list[ToolBase] = [
        PatientBash(cwd=start_folder, backend=backend, middlewares=middlewares),
        DescribedRead(model_input_types=[], backend=backend, middlewares=middlewares),
        AsideWrite(backend=backend, middlewares=middlewares),
        AsideEdit(backend=backend, middlewares=middlewares),
        Glob(backend=backend, middlewares=middlewares),
        Grep(backend=backend, middlewares=middlewares),
    ]
    for tool in tools:
        arguments = _ARGUMENTS[tool.name]
        needed = [name for name in arguments if name in _NEEDED]
        tool.input_schema = {"type": "object", "properties": arguments, "required": needed}
    return tools
