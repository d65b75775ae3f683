"""What the person is asked to allow: the exact command, or the difference a write would make."""

from __future__ import annotations

import difflib
from collections.abc import Mapping, Sequence
from pathlib import Path

from assistant.agent.tools.file_texts import as_utf8

_MAX_LINES = 2_000
_MAX_LINE_CHARS = 4_000
_MAX_COMPARED_LINES = 1_000
"""Comparing costs the product of both sides; a longer change is shown as lines out and lines in."""
_CONTEXT_LINES = 3
_NO_NEWLINE = "\\ No newline at end of file"


def preview(tool: str, arguments: Mapping[str, object]) -> str:
    """The command to the letter, the diff of a write (where it is long, with what is left out said), else arguments."""
    path = Path(str(arguments.get("file_path", "")))
    match tool:
        case "Bash":
            return str(arguments.get("command", ""))
        case "Write":
            return _diff(path, _text_of(path), str(arguments.get("content", "")))
        case "Edit":
            before = _text_of(path)
            old, new = str(arguments.get("old_string", "")), str(arguments.get("new_string", ""))
            count = -1 if arguments.get("replace_all") else 1
            return _diff(path, before, before.replace(old, new, count) if old else before)
        case _:
            return "\n".join(f"{name}: {value}" for name, value in arguments.items())


def _text_of(path: Path) -> str:
    try:
        if not path.is_file():
            return ""
        text = as_utf8(path.read_bytes()).decode("utf-8", "replace")
    # A path with a NUL byte or a lone surrogate is a ValueError.
    except (OSError, ValueError):
        return ""
    return text.replace("\r\n", "\n").replace("\r", "\n")


def _diff(path: Path, before: str, after: str) -> str:
    old, new = _lines(before), _lines(after.replace("\r\n", "\n").replace("\r", "\n"))
    start = _common(old, new)
    end = _common(old[start:][::-1], new[start:][::-1])
    changed = _changes(old, new, start, end)
    if not changed:
        return "(no change)"
    header = [f"--- {path} (now)", f"+++ {path} (after)"]
    return "\n".join([*header, *_capped([_shortened(line) for line in changed])])


def _changes(old: Sequence[str], new: Sequence[str], start: int, end: int) -> list[str]:
    """The hunks; `start` and `end` lines at the two ends are the same on both sides."""
    if start == len(old) == len(new):
        return []
    first = max(0, start - _CONTEXT_LINES)
    stop = max(0, end - _CONTEXT_LINES)
    was, becomes = old[first : len(old) - stop], new[first : len(new) - stop]
    if max(len(was), len(becomes)) <= _MAX_COMPARED_LINES:
        hunks = list(difflib.unified_diff(was, becomes, lineterm="", n=_CONTEXT_LINES))[2:]
        return [_moved(line, first) if line.startswith("@@ ") else line for line in hunks]
    removed, added = old[start : len(old) - end], new[start : len(new) - end]
    head = f"@@ -{start + 1},{len(removed)} +{start + 1},{len(added)} @@"
    return [head, *(f"-{line}" for line in removed), *(f"+{line}" for line in added)]


def _moved(head: str, lines: int) -> str:
    """A hunk's head with both line numbers moved down."""
    numbers = []
    for part in head.split()[1:3]:
        number, comma, count = part[1:].partition(",")
        numbers.append(f"{part[0]}{int(number) + lines}{comma}{count}")
    return f"@@ {' '.join(numbers)} @@"


def _lines(text: str) -> list[str]:
    """Lines as an editor shows them; a last one without its newline says so."""
    if not text:
        return []
    lines = text.split("\n")
    return lines[:-1] if not lines[-1] else [*lines[:-1], f"{lines[-1]}\n{_NO_NEWLINE}"]


def _common(left: Sequence[str], right: Sequence[str]) -> int:
    """How many items both begin with."""
    count = 0
    for one, other in zip(left, right, strict=False):
        if one != other:
            break
        count += 1
    return count


def _shortened(line: str) -> str:
    if len(line) <= _MAX_LINE_CHARS:
        return line
    return f"{line[:_MAX_LINE_CHARS]}… {len(line) - _MAX_LINE_CHARS} more characters of this line are not shown"


def _capped(lines: list[str]) -> list[str]:
    if len(lines) <= _MAX_LINES:
        return lines
    return [*lines[:_MAX_LINES], f"… {len(lines) - _MAX_LINES} more lines of this diff are not shown"]
