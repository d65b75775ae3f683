"""Which tool call runs at once, which asks the person, which is refused (pure but for looking at where paths lead)."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from assistant.agent.tools.other_homes import HomesBeside
from assistant.agent.tools.shell_words import CommandWord, reading_words
from assistant.agent.tools.tool_paths import READING_TOOLS, WRITING_TOOLS
from assistant.config.words import say
from assistant.storage.workspace import SECRET_FILES

Behavior = Literal["allow", "ask", "deny"]
Refusal = Literal[
    "tools_off",
    "only_reading",
    "only_reading_files",
    "only_reading_memory",
    "only_reading_commands",
    "no_path",
    "secret_reading",
    "secret_writing",
    "secret_command",
    "other_homes",
    "too_large",
    "special_reading",
    "special_writing",
]
ToolMode = Literal["ask", "read-only", "memory", "off"]

# Tools of the assistant itself: they only reach its own memory, and every write shows as a chip.
OWN_TOOLS = {"memory_search", "memory_get", "memory_save", "Skill"}
_OWN_WRITING_TOOLS = {"memory_save"}

_SECRET_WORD = re.compile(
    r"(^|[^\w.-])(\.env|mcp\.json)($|[^\w.-])|/proc/[^\s/]+/(?:task/[^\s/]+/)?(?:environ|mem|maps)\b",
    re.IGNORECASE,
)
MAX_SHOWN_CHARS, MAX_SHOWN_LINES = 1_000_000, 20_000
"""A text that is longer than this cannot be read before it is allowed, so it is not asked about."""
_PROCESS_PATH = re.compile(r"/proc/[^/]+/(?:task/[^/]+/)?(?:environ|mem|maps|cmdline|auxv|stack)\b.*")
"""What shows the keys and the memory of a running program."""


@dataclass(frozen=True, slots=True)
class Rules:
    """What the judgement depends on: the mode, the home, where relative paths start, folders the owner added."""

    mode: ToolMode
    home: Path
    start_folder: Path
    added_folders: tuple[Path, ...] = ()


@dataclass(frozen=True, slots=True)
class Verdict:
    """What happens to a call. `reason` is why it is asked, in words for the person.

    `refusal` says why it is denied: the words that the model reads are in the prompt `tool_refused`, about `subject`.
    """

    behavior: Behavior
    reason: str = ""
    refusal: Refusal | None = None
    subject: str = ""


def judge(tool: str, arguments: Mapping[str, object], rules: Rules) -> Verdict:
    """The verdict on one call. What only reads inside the home runs at once; secret files are never opened."""
    if rules.mode in ("memory", "off") and tool not in OWN_TOOLS:
        return _deny("tools_off")
    if tool in _OWN_WRITING_TOOLS and rules.mode in ("read-only", "off"):
        return _deny("only_reading_memory")
    if tool in OWN_TOOLS:
        return Verdict("allow")
    if tool in READING_TOOLS:
        return _judge_reading(arguments.get(READING_TOOLS[tool]) or ".", rules)
    if tool in WRITING_TOOLS:
        return _judge_writing(arguments, arguments.get(WRITING_TOOLS[tool]), rules)
    if tool == "Bash":
        return _judge_command(str(arguments.get("command", "")), rules)
    if rules.mode == "read-only":
        return _deny("only_reading", tool)
    return Verdict("ask", say("agent", "ask_outside_tool", tool=tool))


def resolved_path(name: object, rules: Rules) -> Path | None:
    """Where a path really leads: made absolute from the start folder, links followed; None for what no file can have.

    `~` is a name like any other: no tool expands it, and a command with one asks.
    """
    if not isinstance(name, str) or "\0" in name:
        return None
    try:
        return Path(os.path.realpath(rules.start_folder / name))
    except UnicodeEncodeError:
        return None


def _deny(refusal: Refusal, subject: str = "") -> Verdict:
    return Verdict("deny", refusal=refusal, subject=subject)


def _judge_reading(name: object, rules: Rules) -> Verdict:
    path = resolved_path(name, rules)
    if path is None:
        return _deny("no_path")
    if _is_secret(path, rules):
        return _deny("secret_reading", path.name)
    if _is_special(path):
        return _deny("special_reading", path.name)
    if _is_inside(path, rules):
        return Verdict("allow")
    return Verdict("ask", say("agent", "ask_reading_outside", path=path))


def _judge_writing(arguments: Mapping[str, object], name: object, rules: Rules) -> Verdict:
    path = resolved_path(name, rules)
    if path is None:
        return _deny("no_path")
    if _is_secret(path, rules):
        return _deny("secret_writing", path.name)
    if _is_special(path):
        return _deny("special_writing", path.name)
    if rules.mode == "read-only":
        return _deny("only_reading_files")
    if any(_is_too_large(text) for text in arguments.values() if isinstance(text, str)):
        return _deny("too_large")
    key = "ask_writing_inside" if _is_inside(path, rules) else "ask_writing_outside"
    return Verdict("ask", say("agent", key, path=path))


def _judge_command(command: str, rules: Rules) -> Verdict:
    words = reading_words(command)
    if _is_too_large(command):
        return _deny("too_large")
    if _shows_others(command, words, rules):
        return _deny("other_homes")
    if _SECRET_WORD.search(command) or any(_names_secret(word, rules) for word in words or ()):
        return _deny("secret_command")
    if words is not None and all(_is_readable(word, rules) for word in words):
        return Verdict("allow")
    if rules.mode == "read-only":
        return _deny("only_reading_commands")
    return Verdict("ask", say("agent", "ask_command"))


def _names_secret(word: CommandWord, rules: Rules) -> bool:
    path = resolved_path(word.text, rules)
    return path is not None and _is_secret(path, rules)


def _is_too_large(text: str) -> bool:
    return len(text) > MAX_SHOWN_CHARS or text.count("\n") > MAX_SHOWN_LINES


def _shows_others(command: str, words: Sequence[CommandWord] | None, rules: Rules) -> bool:
    """True for a command that would open or list what is in the homes of other people, as far as its words tell."""
    others = HomesBeside(rules.home)
    if others.is_named_in(command, rules.start_folder):
        return True
    if words is None:
        # Nobody knows what it does with a folder, so it gets none above these homes.
        return others.is_below_a_word_of(command, rules.start_folder)
    return any(_lists_others(word, others, rules) for word in words)


def _lists_others(word: CommandWord, others: HomesBeside, rules: Rules) -> bool:
    path = resolved_path(word.text, rules) if word.is_listed_deep else None
    return path is not None and others.is_below(path)


def _is_readable(word: CommandWord, rules: Rules) -> bool:
    path = resolved_path(word.text, rules)
    if path is None or _is_special(path) or (os.path.isdir(path) and not word.may_be_folder):  # noqa: PTH112
        return False
    return _is_inside(path, rules)


def _is_inside(path: Path, rules: Rules) -> bool:
    folders = (rules.home, *rules.added_folders)
    return any(path.is_relative_to(os.path.realpath(folder)) for folder in folders)


def _is_secret(path: Path, rules: Rules) -> bool:
    """True for the names of secret files anywhere, for those of the home under any other name, and for other homes."""
    if _PROCESS_PATH.fullmatch(path.as_posix()):
        return True
    if path.name.lower() in SECRET_FILES or HomesBeside(rules.home).has(path):
        return True
    secrets = (rules.home / name for name in SECRET_FILES)
    return os.path.exists(path) and any(secret.exists() and path.samefile(secret) for secret in secrets)  # noqa: PTH110


def _is_special(path: Path) -> bool:
    """True for pipes, sockets and devices. `os.path` and not `Path`, which raises on a name that is too long."""
    return os.path.exists(path) and not os.path.isfile(path) and not os.path.isdir(path)  # noqa: PTH110, PTH112, PTH113
