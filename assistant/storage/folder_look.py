"""The files of one folder as they look now, with as few questions to the disk as that takes."""

from __future__ import annotations

import os
import stat
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import NamedTuple

SETTLED_NANOSECONDS = 2_000_000_000
"""What changed this shortly before it was looked at may change again within one tick of the disk's clock."""
_LOOK_SECONDS = 5.0
_GROWING = 3
_MOST = 2**63 - 1
"""Of an inode as much as a database keeps in a number; some file systems have larger ones."""


class FileSign(NamedTuple):
    """What tells that a file is still the one that was read."""

    inode: int
    size: int
    changed_ns: int


class FolderLook:
    """Looks at a folder again and again; thousands of files that rest cost no system call each.

    A file that is new, was replaced, or changed within the last seconds is seen at once, and so is what comes into the
    last few by name, as rows do into the newest days; what was written in place into another, five seconds later at
    most.
    """

    def __init__(self, folder: Path, is_wanted: Callable[[str], bool]) -> None:
        """`is_wanted` says which names count."""
        self._folder = folder
        self._is_wanted = is_wanted
        self._signs: dict[str, FileSign] = {}
        self._to_ask: set[str] = set()
        self._asked_all_at = float("-inf")

    def signs(self) -> Mapping[str, FileSign]:
        """The files by name; none where there is no such folder."""
        asks_all = time.monotonic() - self._asked_all_at >= _LOOK_SECONDS
        if asks_all:
            self._asked_all_at = time.monotonic()
        found: dict[str, FileSign] = {}
        try:
            with os.scandir(self._folder) as entries:
                for entry in entries:
                    if not self._is_wanted(entry.name):
                        continue
                    known = self._signs.get(entry.name)
                    if known is None or asks_all or entry.name in self._to_ask or not _seems_same(entry, known):
                        known = sign_of(entry.path)
                    if known is not None:
                        found[entry.name] = known
        except (FileNotFoundError, NotADirectoryError):
            found = {}
        now = time.time_ns()
        self._to_ask = {name for name, sign in found.items() if now - sign.changed_ns < SETTLED_NANOSECONDS}
        self._to_ask.update(sorted(found)[-_GROWING:])
        self._signs = found
        return found

    def expect_change(self, name: str) -> None:
        """This program wrote the file just now."""
        self._to_ask.add(name)


def sign_of(path: str | Path) -> FileSign | None:
    """How a file looks now; None where there is none, or something else of that name."""
    try:
        status = os.stat(path)  # noqa: PTH116 - a path object for each of ten thousand files costs more than the call
    except OSError:
        return None
    if not stat.S_ISREG(status.st_mode):
        return None
    return FileSign(status.st_ino & _MOST, status.st_size, status.st_mtime_ns)


def _seems_same(entry: os.DirEntry[str], known: FileSign) -> bool:
    """What a listing tells without another question."""
    if os.name == "nt":
        # A listing has size and time there, and no inode.
        status = entry.stat()
        return (status.st_size, status.st_mtime_ns) == (known.size, known.changed_ns)
    return entry.inode() & _MOST == known.inode
