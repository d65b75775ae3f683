"""Shell commands that are known to only read, taken apart into the words that name files (pure)."""

from __future__ import annotations

import os
import shlex
from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class CommandWord:
    """A word of a command that may name a file, whether that may be a folder, and whether all below it is listed."""

    text: str
    may_be_folder: bool
    is_listed_deep: bool = False


# Command → options that only change what is printed. Anything else about a command asks.
_FOLDER_COMMANDS: Mapping[str, str] = {
    "basename": "", "dirname": "", "du": "shac", "file": "b", "ls": "alhtrSR1dFi", "pwd": "LP", "realpath": "",
    "stat": "",
}  # fmt: skip
# A folder among their operands would make some of them (diff, cmp) read the files in it, links included.
_FILE_COMMANDS: Mapping[str, str] = {
    "cat": "nbAs", "cmp": "s", "cut": "", "diff": "uqwb", "head": "nc0123456789", "md5sum": "", "nl": "",
    "sha256sum": "", "tail": "nc0123456789", "wc": "lwcm",
}  # fmt: skip
_SHELL_SYNTAX = set("$`*?[]{}~<>&;|()!#\\\n\r")


def reading_words(command: str) -> list[CommandWord] | None:
    """The words of a command that is known to only read, options left out; None for any other command.

    Without expansions, quotes are all that a shell and `shlex` have to see alike.
    """
    # cmd.exe reads words in its own way.
    if os.name == "nt" or _SHELL_SYNTAX & set(command):
        return None
    try:
        words = shlex.split(command)
    except ValueError:
        return None
    if words and words[0] == "date":
        # Any other operand sets the clock.
        return [] if all(word == "-u" or word.startswith("+") for word in words[1:]) else None
    if words and words[0] in _FOLDER_COMMANDS:
        return _operands(words[1:], _FOLDER_COMMANDS[words[0]], may_be_folder=True, is_deep=_is_deep(words))
    if words and words[0] in _FILE_COMMANDS:
        return _operands(words[1:], _FILE_COMMANDS[words[0]], may_be_folder=False)
    return None


def _is_deep(words: list[str]) -> bool:
    """True for a command that goes through all folders below those it names."""
    return words[0] == "du" or (words[0] == "ls" and any(word[:1] == "-" and "R" in word for word in words))


def _operands(
    words: list[str], options: str, *, may_be_folder: bool, is_deep: bool = False
) -> list[CommandWord] | None:
    operands: list[CommandWord] = []
    for word in words:
        if word.startswith("-"):
            if not set(word[1:]) <= set(options):
                return None
        elif "=" in word:
            return None
        else:
            operands.append(CommandWord(word, may_be_folder, is_deep))
    return operands
