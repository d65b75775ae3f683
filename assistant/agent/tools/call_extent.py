"""What allowing a call for longer than once would allow (pure but for looking at where paths lead).

It is exact and small: a command to the letter, or one file tool in one folder. Whatever differs in one character,
starts elsewhere or leads elsewhere is another extent, and is asked about.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

from assistant.agent.tools.approvals import Rules, resolved_path
from assistant.agent.tools.tool_paths import READING_TOOLS, WRITING_TOOLS
from assistant.storage.allowed_calls import SEARCHING_TOOLS, Extent
from assistant.text.visible_text import as_it_runs, split_for_reading

_FILE_TOOLS: Mapping[str, str] = {"Read": READING_TOOLS["Read"], **WRITING_TOOLS}


def extent_of(tool: str, arguments: Mapping[str, object], rules: Rules) -> Extent | None:
    """What would be allowed with this call; None for a call that is asked about every time."""
    if tool == "Bash":
        return _of_command(arguments.get("command"), rules)
    if tool in SEARCHING_TOOLS:
        return _of_search(tool, arguments, rules)
    if tool in _FILE_TOOLS:
        return _of_file(tool, arguments.get(_FILE_TOOLS[tool]), rules)
    return None


def _of_command(command: object, rules: Rules) -> Extent | None:
    """None for what is too long to be seen at once: nobody could tell later what was allowed."""
    if not isinstance(command, str) or split_for_reading(as_it_runs(command)).rest:
        return None
    return Extent("Bash", os.path.realpath(rules.start_folder), command)


def _of_file(tool: str, name: object, rules: Rules) -> Extent | None:
    """None for the home's own files, which steer the assistant, and for hidden ones, which hold keys or are obeyed."""
    path = resolved_path(name, rules)
    if path is None:
        return None
    start = Path(os.path.realpath(rules.start_folder))
    is_in_start = path.is_relative_to(start)
    if not is_in_start and path.is_relative_to(os.path.realpath(rules.home)):
        return None
    return None if _is_hidden(path.relative_to(start) if is_in_start else path) else Extent(tool, str(path.parent))


def _is_hidden(path: Path) -> bool:
    return any(part.startswith(".") for part in path.parts)


def _of_search(tool: str, arguments: Mapping[str, object], rules: Rules) -> Extent | None:
    """None for a pattern that could leave the folder, for a hidden folder, and for a search in one file."""
    folder = resolved_path(arguments.get(READING_TOOLS[tool]), rules)
    pattern = str(arguments.get("pattern", ""))
    leaves = tool == "Glob" and (os.path.isabs(pattern) or ".." in Path(pattern).parts)  # noqa: PTH117
    if folder is None or leaves or _is_hidden(folder) or not os.path.isdir(folder):  # noqa: PTH112
        return None
    return Extent(tool, str(folder))
