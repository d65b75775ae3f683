"""The day files of the journal: which they are, and their lines."""

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


@dataclass(frozen=True, slots=True)
class JournalLine:
    """One line of a day file without its newline, the byte it starts at and the byte to read on from."""

    path: Path
    start: int
    stop: int
    content: bytes


def day_files(folder: Path) -> list[Path]:
    """The day files of a folder, oldest first."""
    return sorted(path for path in folder.glob("*.jsonl") if is_day_file(path.name) and path.is_file())


def is_day_file(name: str) -> bool:
    """True for the name of a file that takes the rows of a day."""
    return _DAY_FILE.match(name) is not None


def files_with_rows(folder: Path) -> list[Path]:
    """The day files and every copy of one beside them, for what must leave all of them."""
    if not folder.is_dir():
        return []
    found = (path for path in folder.iterdir() if _COPY.search(path.name) and not path.name.endswith((".tmp", ".lock")))
    return sorted(path for path in found if path.is_file() and not path.is_symlink())


def day_file(folder: Path, day: date) -> Path:
    """The file that takes the rows of a day."""
    return folder / f"{day.isoformat()}.jsonl"


def read_lines(path: Path, start: int = 0, end: int | None = None) -> Iterator[JournalLine]:
    """The lines from a byte on, up to another; blank ones are left out, and so is a tail that a crash tore."""
    if end is not None and start >= end:
        return
    with path.open("rb") as file:
        file.seek(start)
        for content in file:
            stop = start + len(content)
            if end is not None and stop > end:
                return
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
