"""The homes of other people beside one home, and what leads into them: names, links, hard links, words of a command."""

from __future__ import annotations

import itertools
import os
import re
from collections.abc import Iterator
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Literal

from assistant.storage.workspace import OTHER_HOMES

# What a shell takes words apart by; what is between two of these may be a path.
_BETWEEN_WORDS = re.compile(r"[\s;|&<>()`$=,\"'{}\\]+")
_QUOTES = re.compile(r"[\"'\\]")
_SLASHES = re.compile("/{2,}")
_WILD = re.compile(r"[*?\[]")

_Reach = Literal["inside", "above", "elsewhere"]


class HomesBeside:
    """The folder of other people's homes under `home`; a home that nobody shares has none."""

    def __init__(self, home: Path) -> None:
        self._home = home
        self._folder = Path(os.path.realpath(home / OTHER_HOMES))

    def has(self, path: Path) -> bool:
        """True for what is in such a home, also by a hard link from elsewhere; `path` leads where it really leads."""
        if path.is_relative_to(self._folder):
            return True
        status = status_of(path)
        if status is None or status.st_nlink < 2 or os.path.isdir(path):  # noqa: PTH112
            return False
        return (status.st_dev, status.st_ino) in self._files()

    def is_below(self, path: Path) -> bool:
        """True where such a home is under this folder, so that whoever lists all of it lists it too."""
        return self._folder.is_relative_to(path) and any(self._names())

    def is_named_in(self, command: str, start_folder: Path) -> bool:
        """True where a word of the command leads to such a home, or to a file in it, also as a pattern."""
        if not any(self._names()):
            return False
        words = _words_of(command)
        if any(OTHER_HOMES in word and self._is_written_out(word, start_folder) for word in words):
            return True
        return any(self._reach(word, start_folder) == "inside" for word in words)

    def is_below_a_word_of(self, command: str, start_folder: Path) -> bool:
        """True where a word of the command leads to a folder above such a home, so that it may list or search it."""
        return any(self._names()) and any(self._reach(word, start_folder) == "above" for word in _words_of(command))

    def linked_names(self, folder: Path) -> list[str]:
        """The names of files under `folder` that are hard links into such a home."""
        shared = {
            name: (status.st_dev, status.st_ino)
            for place, _, names in os.walk(folder)
            for name in names
            if (status := status_of(Path(place, name))) and status.st_nlink > 1
        }
        files = self._files() if shared else set[tuple[int, int]]()
        return sorted(name for name, file in shared.items() if file in files)

    def _is_written_out(self, word: str, start_folder: Path) -> bool:
        """True where the word up to its first pattern leads to such a home, from the start folder or from the home."""
        for part in {word, word.rpartition(":")[2]}:
            plain = _WILD.split(part, maxsplit=1)[0]
            # A command may go to the home first; what is where it starts is meant, if there is such a thing.
            folders = [start_folder] if os.path.exists(start_folder / plain) else [start_folder, self._home]  # noqa: PTH110
            paths = [Path(os.path.realpath(folder / plain)) for folder in folders]
            if any(path.is_relative_to(self._folder) for path in paths):
                return True
        return False

    def _reach(self, word: str, start_folder: Path) -> _Reach:
        """Where a word of a command leads, seen from the folder in which the command starts."""
        parts = Path(word).parts
        patterns = list(itertools.dropwhile(lambda part: not _WILD.search(part), parts))
        path = Path(os.path.realpath(start_folder.joinpath(*parts[: len(parts) - len(patterns)])))
        if path.is_relative_to(self._folder) or (not patterns and self.has(path)):
            return "inside"
        if not self._folder.is_relative_to(path):
            return "elsewhere"
        if ".." in patterns:
            return "above"
        ahead = self._folder.relative_to(path).parts
        if not all(_fits(part, pattern) for part, pattern in zip(ahead, patterns, strict=False)):
            return "elsewhere"
        return "inside" if "**" in patterns or (patterns and len(patterns) >= len(ahead)) else "above"

    def _names(self) -> Iterator[str]:
        try:
            yield from os.listdir(self._folder)  # noqa: PTH208
        except OSError:
            return

    def _files(self) -> set[tuple[int, int]]:
        paths = (Path(place, name) for place, _, names in os.walk(self._folder) for name in names)
        return {(one.st_dev, one.st_ino) for path in paths if (one := status_of(path)) and one.st_nlink > 1}


def _words_of(command: str) -> set[str]:
    """What may be paths in a command, with its quotes as ends of words and also without them."""
    texts = (command, _QUOTES.sub("", command))
    words = {_SLASHES.sub("/", word) for text in texts for word in _BETWEEN_WORDS.split(text)}
    return {os.path.expanduser(word) for word in words if word and _is_name(word)}  # noqa: PTH111


def _is_name(word: str) -> bool:
    """True for what a file can be called."""
    try:
        return b"\0" not in os.fsencode(word)
    except UnicodeEncodeError:
        return False


def _fits(name: str, pattern: str) -> bool:
    """True where a pattern of a shell may stand for the name of a folder, which it does not for a hidden one."""
    return pattern == "**" or (fnmatchcase(name, pattern) and (name[0] != "." or pattern[0] == "."))


def status_of(path: Path) -> os.stat_result | None:
    """What the system says of a file; None where there is none."""
    try:
        return path.stat()
    except (OSError, ValueError):
        return None
