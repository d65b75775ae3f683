"""Files that are whole at any moment: replace a file, append lines, cut a torn tail, hold a lock."""

from __future__ import annotations

import os
import re
import secrets
import stat
from collections.abc import Generator, Iterable
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO

from filelock import FileLock, Timeout

from assistant.config.words import say
from assistant.errors import WorkspaceError
from assistant.text.encoding import encode

LOCK_WAIT_SECONDS = 10.0
_TEMPORARY_NAME = re.compile(r"\..+\.[0-9a-f]{12}\.tmp", re.DOTALL)


def read_plain_file(path: Path, max_bytes: int | None = None) -> bytes:
    """The content of a file. Raises `OSError` for a pipe or device, which may never end, and for a larger file."""
    # A pipe without a writer would hold the thread that opens it.
    descriptor = os.open(path, os.O_RDONLY | getattr(os, "O_BINARY", 0) | getattr(os, "O_NONBLOCK", 0))
    try:
        status = os.fstat(descriptor)
        if not stat.S_ISREG(status.st_mode):
            raise OSError(say("storage", "no_plain_file", path=path))
        if max_bytes is not None and status.st_size > max_bytes:
            raise OSError(say("storage", "file_too_large", path=path, size=status.st_size, max_bytes=max_bytes))
        with os.fdopen(descriptor, "rb", closefd=False) as file:
            return file.read()
    finally:
        os.close(descriptor)


def replace_file(path: Path, content: bytes) -> None:
    """Put `content` in place of `path`: after a crash the old file is there or the new one, whole.

    The permission bits of an existing file are kept; a new one is readable by its owner only.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    mode = path.stat().st_mode & 0o777 if path.exists() else 0o600
    temporary = path.with_name(f".{path.name}.{secrets.token_hex(6)}.tmp")
    try:
        _write_synced(temporary, content, os.O_CREAT | os.O_EXCL | os.O_WRONLY, mode)
        temporary.replace(path)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise
    sync_folder(path.parent)


def remove_left_over(folder: Path, older_than: float) -> int:
    """Remove what a kill left of a `replace_file` in this folder before that time (seconds since the epoch).

    A younger one may still be written by another process. Returns how many went; what cannot be removed stays.
    """
    removed = 0
    with suppress(FileNotFoundError, NotADirectoryError, PermissionError):
        for path in left_over_files(folder, older_than):
            with suppress(OSError):
                path.unlink()
                removed += 1
    return removed


def left_over_files(folder: Path, older_than: float) -> list[Path]:
    """What a kill left of a `replace_file` in this folder before that time; each may hold a whole old file."""
    with os.scandir(folder) as entries:
        return [
            Path(entry.path)
            for entry in entries
            if _TEMPORARY_NAME.fullmatch(entry.name)
            and entry.is_file(follow_symlinks=False)
            and entry.stat(follow_symlinks=False).st_mtime < older_than
        ]


def replace_text(path: Path, text: str) -> None:
    """`replace_file` for text, encoded by `encode`."""
    replace_file(path, encode(text))


def append_lines(path: Path, lines: Iterable[str]) -> None:
    """Append each line with a newline and fsync once. The caller holds the file's lock.

    A tail without newline, left by a crash in the middle of a write, is cut first.
    """
    content = b"".join(encode(line) + b"\n" for line in lines)
    if not content:
        return
    is_new = not path.exists()
    path.parent.mkdir(parents=True, exist_ok=True)
    cut_torn_tail(path)
    size = path.stat().st_size if path.exists() else 0
    try:
        _write_synced(path, content, os.O_CREAT | os.O_APPEND | os.O_WRONLY, 0o600)
    except OSError:
        _truncate(path, size)
        raise
    if is_new:
        sync_folder(path.parent)


def cut_torn_tail(path: Path) -> bytes:
    """Cut what follows the last newline and return it: empty when the file is whole or missing."""
    if not path.exists() or not (size := path.stat().st_size):
        return b""
    with path.open("r+b") as file:
        file.seek(size - 1)
        if file.read(1) == b"\n":
            return b""
        keep = _end_of_last_line(file, size)
        file.seek(keep)
        torn = file.read()
        file.truncate(keep)
        os.fsync(file.fileno())
    return torn


@contextmanager
def hold_lock(path: Path, wait_seconds: float = LOCK_WAIT_SECONDS) -> Generator[None]:
    """Hold the inter-process lock that belongs to `path` (a `.lock` file beside it).

    Raises `WorkspaceError` when another process keeps it longer than `wait_seconds`.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    try:
        with FileLock(lock_path(path), timeout=wait_seconds, fallback_to_soft=False):
            yield
    except Timeout:
        raise WorkspaceError(say("storage", "written_by_another", name=path.name)) from None


def lock_path(path: Path) -> Path:
    """The path of the lock file of `path`."""
    return path.with_name(f".{path.name}.lock")


def sync_folder(folder: Path) -> None:
    """Make a rename or a new name in `folder` durable; a no-op where folders cannot be opened (Windows)."""
    with suppress(PermissionError):
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)


def _write_synced(path: Path, content: bytes, flags: int, mode: int) -> None:
    descriptor = os.open(path, flags | getattr(os, "O_BINARY", 0), mode)
    try:
        view = memoryview(content)
        while view:
            view = view[os.write(descriptor, view) :]
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _truncate(path: Path, size: int) -> None:
    with suppress(OSError), path.open("r+b") as file:
        file.truncate(size)


def _end_of_last_line(file: BinaryIO, size: int, block_bytes: int = 65536) -> int:
    position = size
    while position > 0:
        start = max(0, position - block_bytes)
        file.seek(start)
        found = file.read(position - start).rfind(b"\n")
        if found >= 0:
            return start + found + 1
        position = start
    return 0
