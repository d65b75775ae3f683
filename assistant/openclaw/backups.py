"""Copies of a session from before it was shrunk: `.bak` during the run, the older ones in a folder with a limit."""

from __future__ import annotations

import glob
import operator
import os
import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path

from assistant.config.words import say
from assistant.errors import TranscriptError
from assistant.storage.atomic_io import replace_file, sync_folder

COPIES_FOLDER = "compressor-copies"
DEFAULT_KEEP_COPIES = 5


@dataclass(frozen=True, slots=True)
class FileStamp:
    """Size and time of a file: a program that writes to it changes one of them."""

    size_bytes: int
    modified_ns: int

    @property
    def modified_at(self) -> datetime:
        """The time of the last change."""
        return datetime.fromtimestamp(self.modified_ns / 1e9, UTC)


def stamp_of(path: Path) -> FileStamp:
    """The stamp of a file as it is now."""
    status = path.stat()
    return FileStamp(status.st_size, status.st_mtime_ns)


def backup_path(path: Path) -> Path:
    """Where the copy is while a session is being shrunk: `<id>.jsonl.bak`."""
    return path.with_name(f"{path.name}.bak")


def write_backup(path: Path, lines: Sequence[bytes]) -> Path:
    """Write what was read from `path` beside it, and read it back. Raises `TranscriptError` when the copy differs."""
    backup = backup_path(path)
    temporary = backup.with_name(f".{backup.name}.{os.getpid()}.tmp")
    try:
        write_synced(temporary, lines, path.stat().st_mode & 0o777)
        if not is_same(temporary, lines):
            raise TranscriptError(say("openclaw_errors", "copy_differs", name=backup.name))
        temporary.replace(backup)
    finally:
        temporary.unlink(missing_ok=True)
    return backup


def write_synced(path: Path, lines: Sequence[bytes], mode: int) -> None:
    """Write a new file line by line and wait until it is on the disk."""
    descriptor = os.open(path, os.O_CREAT | os.O_TRUNC | os.O_WRONLY | getattr(os, "O_BINARY", 0), mode)
    with os.fdopen(descriptor, "wb") as file:
        file.writelines(lines)
        file.flush()
        os.fsync(file.fileno())


def is_same(path: Path, lines: Sequence[bytes]) -> bool:
    """True when the file holds exactly these lines; each but the last ends with its line feed."""
    if path.stat().st_size != sum(map(len, lines)):
        return False
    with path.open("rb") as file:
        return all(map(operator.eq, file, lines))


def put_away(path: Path, backup: Path, at: datetime, keep_copies: int) -> Path | None:
    """Move the verified `.bak` among the older copies, of which the newest `keep_copies` stay; None when none do."""
    if keep_copies < 1:
        backup.unlink()
        return None
    folder = path.parent / COPIES_FOLDER
    folder.mkdir(exist_ok=True)
    copy = _copy_path(folder, path, at)
    while copy.exists():
        at += timedelta(microseconds=1)
        copy = _copy_path(folder, path, at)
    backup.replace(copy)
    sync_folder(folder)
    for old in copies_of(path)[keep_copies:]:
        old.unlink(missing_ok=True)
    return copy


def copies_of(path: Path) -> list[Path]:
    """The older copies of a session, newest first."""
    pattern = re.compile(re.escape(path.stem) + r"\.\d{8}T\d{12}Z\.jsonl\Z")
    folder = path.parent / COPIES_FOLDER
    found = [copy for copy in folder.glob("*.jsonl") if pattern.match(copy.name)] if folder.is_dir() else []
    return sorted(found, key=lambda copy: copy.name, reverse=True)


def rescue_leftover(path: Path, now: datetime, keep_copies: int) -> str | None:
    """Deal with a `.bak` that a killed run left; what was done, as a sentence.

    The copy is the file before that run. Where the session still is that file it is superfluous, else it joins the
    older copies.
    """
    backup = backup_path(path)
    for stray in path.parent.glob(f".{glob.escape(path.name)}.*.tmp"):
        stray.unlink(missing_ok=True)
    if not backup.exists():
        return None
    if path.exists() and backup.read_bytes() == path.read_bytes():
        backup.unlink()
        return say("openclaw_errors", "leftover_removed", name=backup.name)
    copy = put_away(path, backup, now, max(keep_copies, 1))
    return say(
        "openclaw_errors",
        "leftover_kept",
        name=backup.name,
        copy=copy.name if copy else say("openclaw_errors", "nothing"),
    )


def restore(path: Path, now: datetime, copy_name: str | None = None, keep_copies: int = DEFAULT_KEEP_COPIES) -> Path:
    """Put an older copy, by default the newest, back in place; what is there now becomes a copy itself.

    Returns the copy that was restored. Raises `TranscriptError` when there is none.
    """
    rescue_leftover(path, now, keep_copies)
    copies = copies_of(path)
    chosen = next((copy for copy in copies if copy_name in (None, copy.name)), None)
    if chosen is None:
        known = ", ".join(copy.name for copy in copies) or say("openclaw_errors", "none")
        raise TranscriptError(
            say("openclaw_errors", "no_such_copy", name=path.name, copy_name=copy_name or "", known=known)
        )
    content = chosen.read_bytes()
    if path.exists() and path.read_bytes() != content:
        with path.open("rb") as file:
            current = file.readlines()
        backup = write_backup(path, current)
        put_away(path, backup, now, max(keep_copies, 2))
    replace_file(path, content)
    return chosen


def _copy_path(folder: Path, path: Path, at: datetime) -> Path:
    return folder / f"{path.stem}.{at.astimezone(UTC).strftime('%Y%m%dT%H%M%S%fZ')}.jsonl"
