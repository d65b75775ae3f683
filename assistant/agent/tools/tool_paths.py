"""Which path a call of a file tool means, and what is said where nothing is there."""

from __future__ import annotations

import os
from collections.abc import AsyncGenerator, Callable, Mapping
from pathlib import Path, PurePath
from typing import Any

from agentscope.tool import ToolBase, ToolChunk, ToolMiddlewareBase

from assistant.agent.tools.own_tool import error_chunk
from assistant.config.words import say

READING_TOOLS: Mapping[str, str] = {"Read": "file_path", "Glob": "path", "Grep": "path"}
"""Tool → the one argument that names its path. Another argument of that kind is not looked at by the tool either."""
WRITING_TOOLS: Mapping[str, str] = {"Write": "file_path", "Edit": "file_path"}
_PATH_ARGUMENTS: Mapping[str, str] = {**READING_TOOLS, **WRITING_TOOLS}
_MAKES_FILES = "Write"


class WholePaths(ToolMiddlewareBase):
    """Gives a tool the whole path of what a call names; the model reads which path was tried where nothing is there."""

    def __init__(self, start_folder: Path) -> None:
        self._start_folder = start_folder

    async def on_tool_call(  # pyright: ignore[reportIncompatibleMethodOverride]
        self,
        tool: ToolBase,
        input_kwargs: dict[str, Any],
        next_handler: Callable[..., AsyncGenerator[ToolChunk, None]],
    ) -> AsyncGenerator[ToolChunk, None]:
        """Every chunk as it comes."""
        arguments = with_whole_path(tool.name, input_kwargs, self._start_folder)
        path = arguments.get(_PATH_ARGUMENTS.get(tool.name, ""))
        if tool.name != _MAKES_FILES and path and isinstance(path, str) and not os.path.exists(path):  # noqa: ASYNC240, PTH110
            yield error_chunk(say("agent", "nothing_there", tool=tool.name, path=path))
            return
        async for chunk in next_handler(**arguments):
            yield chunk


def with_whole_path(tool: str, arguments: Mapping[str, object], start_folder: Path) -> dict[str, object]:
    """The arguments with the path that the tool will use; they stay as they are for a tool that takes no path."""
    whole = dict(arguments)
    name = _PATH_ARGUMENTS.get(tool, "")
    path, pattern = whole.get(name), whole.get("pattern")
    if path and isinstance(path, str):
        whole[name] = whole_path(path, start_folder, may_be_new=tool == _MAKES_FILES)
    elif tool == "Glob" and isinstance(pattern, str):
        whole["pattern"] = _below(pattern, start_folder)
    return whole


def whole_path(path: str, start_folder: Path, may_be_new: bool = False) -> str:
    """A relative path starts in `start_folder`, whether it begins with that folder's name or not.

    What is not there may be named from the home around it, as memory files are cited, unless it is to be made.
    """
    whole = os.path.join(start_folder, _below(path, start_folder))  # noqa: PTH118
    cited = os.path.join(start_folder.parent, path)  # noqa: PTH118
    is_cited = not may_be_new and not os.path.exists(whole) and os.path.exists(cited)  # noqa: PTH110
    return cited if is_cited else whole


def _below(path: str, start_folder: Path) -> str:
    """The path without the name of the start folder before it, unless a folder of that name is in there."""
    parts = PurePath(path).parts
    is_named = parts[:1] == (start_folder.name,) and not (start_folder / start_folder.name).exists()
    return os.path.join("", *parts[1:]) if is_named else path  # noqa: PTH118
