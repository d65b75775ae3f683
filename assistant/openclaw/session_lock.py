"""The `.lock` beside a session: the same file OpenClaw makes, so that each keeps out of the other's way."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Generator
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from pathlib import Path

import psutil

from assistant.errors import SessionBusyError
from assistant.openclaw.guard import LockNote, is_stale


@contextmanager
def claim_session(path: Path, now: datetime) -> Generator[None]:
    """Hold the session's `.lock`, the file OpenClaw itself makes and minds.

    Raises `SessionBusyError` when another running program holds it; a lock whose owner is gone is taken over.
    """
    lock = lock_file_of(path)
    note = read_lock(lock, now)
    if note is not None:
        if not is_stale(note, now):
            raise SessionBusyError(path.name, note.pid)
        lock.unlink(missing_ok=True)
    _create_lock(lock, path, now)
    try:
        yield
    finally:
        lock.unlink(missing_ok=True)


def lock_file_of(path: Path) -> Path:
    """Where OpenClaw locks a session."""
    return path.with_name(f"{path.name}.lock")


def read_lock(lock: Path, now: datetime) -> LockNote | None:
    """What a lock file says; None when there is none."""
    try:
        text = lock.read_text("utf-8", "replace")
        created = datetime.fromtimestamp(lock.stat().st_mtime, UTC)
    except FileNotFoundError:
        return None
    found = re.search(r'"?pid"?\s*[:=]\s*(\d+)', text) or re.fullmatch(r"\s*(\d+)\s*", text)
    pid = int(found.group(1)) if found else None
    return LockNote(pid, created, None if pid is None else psutil.pid_exists(pid))


def _create_lock(lock: Path, path: Path, now: datetime) -> None:
    note = json.dumps({"pid": os.getpid(), "createdAt": now.astimezone(UTC).isoformat(), "by": "palimpsest"})
    try:
        descriptor = os.open(lock, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600)
    except FileExistsError:
        raise SessionBusyError(path.name, None) from None
    with suppress(OSError):
        os.write(descriptor, note.encode("utf-8"))
    os.close(descriptor)
