"""The day files of the journal, followed: each read from where the last reading ended, and a rewrite is noticed."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date
from pathlib import Path

from assistant.storage.journal.rows import read_row

_DAY_FILE = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}\.jsonl\Z")
# A copy that a sync program or an editor made: `2026-11-30 2.jsonl`, `2026-11-30.sync-conflict-….jsonl`, `….jsonl~`.
_COPY = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}|\.jsonl")
_TAIL_BYTES = 128


@dataclass(frozen=True, slots=True)
class JournalLine:
    """One line of a day file without its newline, the byte it starts at and the byte to read on from."""

    path: Path
    start: int
    stop: int
    content: bytes


@dataclass(frozen=True, slots=True)
class _Mark:
    """How far a file was read, what it looked like then, and the last bytes before that place."""

    offset: int
    inode: int
    size: int
    changed_ns: int
    tail: bytes


class FollowedFiles:
    """The day files of one folder, each read from where the last reading ended."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._marks: dict[Path, _Mark] = {}

    def were_rewritten(self) -> bool:
        """True when something that was read is not there any more: the reader starts again with a new object."""
        return any(self._was_rewritten(path, mark) for path, mark in self._marks.items())

    def new_lines(self) -> Iterator[JournalLine]:
        """What was not read yet, oldest file first. A torn tail is left for the next reading."""
        for path in day_files(self._folder):
            status = path.stat()
            mark = self._marks.get(path)
            offset = mark.offset if mark else 0
            if mark and (mark.inode, mark.size, mark.changed_ns) == (status.st_ino, status.st_size, status.st_mtime_ns):
                continue
            tail = mark.tail if mark else b""
            for line in read_lines(path, offset):
                offset = line.stop
                tail = line.content[-_TAIL_BYTES:]
                yield line
            self._marks[path] = _Mark(offset, status.st_ino, status.st_size, status.st_mtime_ns, tail)

    @staticmethod
    def _was_rewritten(path: Path, mark: _Mark) -> bool:
        if not path.is_file():
            return True
        status = path.stat()
        if (mark.inode, mark.size, mark.changed_ns) == (status.st_ino, status.st_size, status.st_mtime_ns):
            return False
        if status.st_ino != mark.inode or status.st_size < mark.offset:
            return True
        with path.open("rb") as file:
            file.seek(max(0, mark.offset - len(mark.tail) - 1))
            return mark.tail not in file.read(len(mark.tail) + 1)


def day_files(folder: Path) -> list[Path]:
    """The day files of a folder, oldest first."""
    return sorted(path for path in folder.glob("*.jsonl") if _DAY_FILE.match(path.name) and path.is_file())


def files_with_rows(folder: Path) -> list[Path]:
    """The day files and every copy of one beside them, for what must leave all of them."""
    if not folder.is_dir():
        return []
    found = (path for path in folder.iterdir() if _COPY.search(path.name) and not path.name.endswith((".tmp", ".lock")))
    return sorted(path for path in found if path.is_file() and not path.is_symlink())


def day_file(folder: Path, day: date) -> Path:
    """The file that takes the rows of a day."""
    return folder / f"{day.isoformat()}.jsonl"


def read_lines(path: Path, start: int = 0) -> Iterator[JournalLine]:
    """The lines from a byte on; blank ones are left out, and so is a tail that a crash tore."""
    with path.open("rb") as file:
        file.seek(start)
        for content in file:
            stop = start + len(content)
            if content.endswith(b"\n") or read_row(content):
                if stripped := content.removesuffix(b"\n"):
                    yield JournalLine(path, start, stop, stripped)
                start = stop


def has_whole_tail(path: Path) -> bool:
    """True when the file ends in a row that lacks nothing but its newline, as some editors leave it."""
    if not path.is_file() or not (size := path.stat().st_size):
        return False
    tail, block_bytes = b"", 1
    with path.open("rb") as file:
        while b"\n" not in tail and len(tail) < size:
            file.seek(max(0, size - block_bytes))
            tail = file.read()
            block_bytes *= 256
    return read_row(tail.rpartition(b"\n")[2]) is not None
