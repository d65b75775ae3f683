"""Which tool call runs at once, which asks the person, which is refused (pure but for looking at where links lead)."""

from __future__ import annotations

import difflib
import os
import re
import shlex
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from assistant.workspace import SECRET_FILES

Behavior = Literal["allow", "ask", "deny"]
ToolMode = Literal["ask", "read-only", "off"]

READING_TOOLS = {"Read", "Glob", "Grep"}
WRITING_TOOLS = {"Write", "Edit"}
# Tools of the assistant itself: they only reach its own memory, and every write shows as a chip.
OWN_TOOLS = {"memory_search", "memory_get", "memory_save", "Skill"}

# Command → options that only change what is printed. Anything else about a command asks.
_READ_ONLY_COMMANDS: Mapping[str, str] = {
    "basename": "", "cat": "nbAs", "cmp": "s", "cut": "", "date": "u", "diff": "uqwb", "dirname": "", "du": "shac",
    "file": "b", "head": "nc0123456789", "ls": "alhtrSR1dFi", "md5sum": "", "nl": "", "pwd": "LP", "realpath": "",
    "sha256sum": "", "stat": "", "tail": "nc0123456789", "wc": "lwcm",
}  # fmt: skip
_SHELL_SYNTAX = set("$`*?[]{}~<>&;|()!#\\\n\r")
_SECRET_WORD = re.compile(r"(^|[^\w.-])(\.env|mcp\.json)($|[^\w.-])")
_PREVIEW_DIFF_LINES = 2_000


@dataclass(frozen=True, slots=True)
class Rules:
    """What the judgement depends on: the mode, the home, where relative paths start, folders the owner added."""

    mode: ToolMode
    home: Path
    start_folder: Path
    added_folders: tuple[Path, ...] = ()


@dataclass(frozen=True, slots=True)
class Verdict:
    """What happens to a call, and why, in words for the person (ask) or the model (deny)."""

    behavior: Behavior
    reason: str = ""


def judge(tool: str, arguments: Mapping[str, object], rules: Rules) -> Verdict:
    """The verdict on one call. What only reads inside the home runs at once; secret files are never opened."""
    if rules.mode == "off" and tool not in OWN_TOOLS:
        return Verdict("deny", "Tools are switched off here.")
    if tool in OWN_TOOLS:
        return Verdict("allow")
    if tool in READING_TOOLS:
        return _judge_reading(arguments, rules)
    if tool in WRITING_TOOLS:
        return _judge_writing(arguments, rules)
    if tool == "Bash":
        return _judge_command(str(arguments.get("command", "")), rules)
    if rules.mode == "read-only":
        return Verdict("deny", f"{tool} is not allowed: this assistant may only read.")
    return Verdict("ask", f"{tool} is an outside tool.")


def preview(tool: str, arguments: Mapping[str, object]) -> str:
    """What the person is asked to allow: the exact command, or the diff a write would make."""
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
            return _diff(path, before, before.replace(old, new, count) if old in before else before)
        case _:
            return "\n".join(f"{name}: {value}" for name, value in arguments.items())


def _judge_reading(arguments: Mapping[str, object], rules: Rules) -> Verdict:
    name = str(arguments.get("file_path") or arguments.get("path") or ".")
    path = _resolve(name, rules)
    if _is_secret(path):
        return Verdict("deny", f"{path.name} holds secrets and is never opened.")
    if _is_inside(path, rules):
        return Verdict("allow")
    return Verdict("ask", f"It reads outside the workspace: {path}")


def _judge_writing(arguments: Mapping[str, object], rules: Rules) -> Verdict:
    path = _resolve(str(arguments.get("file_path", "")), rules)
    if _is_secret(path):
        return Verdict("deny", f"{path.name} holds secrets and is never written by a tool.")
    if rules.mode == "read-only":
        return Verdict("deny", "This assistant may only read.")
    where = "in the workspace" if _is_inside(path, rules) else "outside the workspace"
    return Verdict("ask", f"It writes a file {where}: {path}")


def _judge_command(command: str, rules: Rules) -> Verdict:
    if _SECRET_WORD.search(command):
        return Verdict("deny", "The command names a file with secrets, which is never opened.")
    if _is_reading_command(command, rules):
        return Verdict("allow")
    if rules.mode == "read-only":
        return Verdict("deny", "This assistant may only read, and this command may do more.")
    return Verdict("ask", "It runs a command on this machine.")


def _is_reading_command(command: str, rules: Rules) -> bool:
    """True when the first word is a known reading command and every other an option of it or a path inside."""
    if _SHELL_SYNTAX & set(command):
        return False
    try:
        words = shlex.split(command)
    except ValueError:
        return False
    if not words or words[0] not in _READ_ONLY_COMMANDS:
        return False
    options = set(_READ_ONLY_COMMANDS[words[0]])
    for word in words[1:]:
        if word.startswith("-"):
            if not set(word[1:]) <= options:
                return False
        elif "=" in word or not _is_readable(word, rules):
            return False
    return True


def _is_readable(word: str, rules: Rules) -> bool:
    path = _resolve(word, rules)
    return _is_inside(path, rules) and not _is_secret(path)


def _resolve(name: str, rules: Rules) -> Path:
    """Where a path really leads: made absolute from the start folder, links followed."""
    return Path(os.path.realpath(rules.start_folder / Path(name.replace("\0", "\ufffd")).expanduser()))


def _is_inside(path: Path, rules: Rules) -> bool:
    folders = (rules.home, *rules.added_folders)
    return any(path.is_relative_to(os.path.realpath(folder)) for folder in folders)


def _is_secret(path: Path) -> bool:
    return path.name.lower() in SECRET_FILES


def _text_of(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8", errors="replace")
    except OSError:
        return ""


def _diff(path: Path, before: str, after: str) -> str:
    lines = list(
        difflib.unified_diff(
            before.splitlines(), after.splitlines(), f"{path} (now)", f"{path} (after)", lineterm="", n=3
        )
    )
    if len(lines) > _PREVIEW_DIFF_LINES:
        left_out = len(lines) - _PREVIEW_DIFF_LINES
        lines = [*lines[:_PREVIEW_DIFF_LINES], f"… {left_out} more lines of this diff are not shown"]
    return "\n".join(lines) or "(no change)"
