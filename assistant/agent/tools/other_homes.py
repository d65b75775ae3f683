"""The homes of other people beside one home, and what leads into them: names, links, hard links, words of a command."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from pathlib import Path

from assistant.storage.workspace import OTHER_HOMES

# What a shell takes words apart by; what is between two of these may be a path.
_BETWEEN_WORDS = re.compile(r"[\s;|&<>()`$=,\"'{}\\]+")
_WILD = re.compile(r"[*?\[]")


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
        """True where a word of the command, as far as it is no pattern, leads to such a home."""
        words = (word for word in _BETWEEN_WORDS.split(command) if OTHER_HOMES in word)
        return any(self._is_reached(word, start_folder) for word in words)

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

    def _is_reached(self, word: str, start_folder: Path) -> bool:
        for part in {word, word.rpartition(":")[2]}:
            plain = _WILD.split(part, maxsplit=1)[0]
            # A command may go to the home first; what is where it starts is meant, if there is such a thing.
            folders = [start_folder] if os.path.exists(start_folder / plain) else [start_folder, self._home]  # noqa: PTH110
            paths = [Path(os.path.realpath(folder / plain)) for folder in folders]
            if any(path.is_relative_to(self._folder) for path in paths):
                return any(self._names())
        return False

    def _names(self) -> Iterator[str]:
        try:
            yield from os.listdir(self._folder)  # noqa: PTH208
        except OSError:
            return

    def _files(self) -> set[tuple[int, int]]:
        paths = (Path(place, name) for place, _, names in os.walk(self._folder) for name in names)
        return {(one.st_dev, one.st_ino) for path in paths if (one := status_of(path)) and one.st_nlink > 1}


def status_of(path: Path) -> os.stat_result | None:
    """What the system says of a file; None where there is none."""
    try:
        return path.stat()
    except (OSError, ValueError):
        return None
