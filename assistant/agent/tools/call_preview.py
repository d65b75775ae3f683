"""What the person is asked to allow: the exact command, or the difference a write would make."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from assistant.agent.tools.file_texts import as_utf8
from assistant.config.words import say
from assistant.text.diff import diff_hunks
from assistant.text.line_ends import with_newlines

_MAX_ADDED = 20_000
"""Only an edit of very many places adds more lines; each of those shows the same change."""
_MAX_OTHERS = 4_000
"""Of the lines that go or stay; all that is written is shown."""
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
    return with_newlines(text)


def _diff(path: Path, before: str, after: str) -> str:
    changed = diff_hunks(_lines(before), _lines(with_newlines(after)), _CONTEXT_LINES)
    if not changed:
        return say("agent", "no_change")
    header = [f"--- {path} (now)", f"+++ {path} (after)"]
    return "\n".join([*header, *_capped(changed)])


def _lines(text: str) -> list[str]:
    """Lines as an editor shows them; a last one without its newline says so."""
    if not text:
        return []
    lines = text.split("\n")
    return lines[:-1] if not lines[-1] else [*lines[:-1], f"{lines[-1]}\n{_NO_NEWLINE}"]


def _capped(lines: list[str]) -> list[str]:
    shown: list[str] = []
    added = others = 0
    for line in lines:
        is_added = line.startswith("+")
        added, others = added + is_added, others + (not is_added)
        if added <= _MAX_ADDED if is_added else others <= _MAX_OTHERS:
            shown.append(line)
    left_out = len(lines) - len(shown)
    if not left_out:
        return shown
    key = "others_go_on" if added <= _MAX_ADDED else "diff_goes_on"
    return [*shown, say("agent", key, count=left_out)]
