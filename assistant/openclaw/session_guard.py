"""May this session be compressed now? Size, cooldown, growth, misses, a running task, and the lock file."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Generator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Literal

import psutil

from assistant.config.words import say
from assistant.errors import SessionBusyError
from assistant.openclaw.compression_options import Options
from assistant.openclaw.session_entries import Marker
from assistant.openclaw.survey import Survey

Reason = Literal["due", "below_threshold", "cooldown", "recent", "not_grown", "misses", "forced"]

GROWTH_SHARE = 1.2
MAX_MISSES = 3
# An agent that holds a lock longer than this has died with it: OpenClaw's own limit.
STALE_LOCK_MINUTES = 30
_BUSY_SECONDS = 60


@dataclass(frozen=True, slots=True)
class GuardVerdict:
    """Whether to go on, and the sentence that says why not. `is_error` asks for attention, a mere skip does not.

    `overruled` is the reason a forced run would have been refused for.
    """

    may_run: bool
    reason: Reason
    text: str = ""
    is_error: bool = False
    overruled: Reason | None = None


@dataclass(frozen=True, slots=True)
class LockNote:
    """A lock file another program left beside the session: its owner, if it says so, and its age."""

    pid: int | None
    created_at: datetime
    owner_is_running: bool | None


def judge(tokens: int, chars: int, marker: Marker | None, options: Options, now: datetime) -> GuardVerdict:
    """The guards in their order: size, five minutes, twice the threshold on the same day, growth, three misses."""
    verdict = _judge(tokens, chars, marker, options, now)
    if verdict.may_run or not options.force:
        return verdict
    return GuardVerdict(True, "forced", overruled=verdict.reason)


def is_due(tokens: float, chars: int, options: Options) -> bool:
    """True above the token threshold, or above the character threshold, the second limit."""
    return tokens > options.token_threshold or chars > options.char_threshold


def find_busy_reason(survey: Survey, modified_at: datetime, now: datetime) -> str | None:
    """Why the session must not be touched at this moment: it is in the middle of a step."""
    newest = next((at for at in reversed(survey.walk.path) if survey.lines[at].kind in ("assistant", "result")), None)
    unit = next((unit for unit in survey.units if newest in unit.lines), None)
    is_waiting = unit is not None and unit.open_calls > 0 and not survey.lines[unit.lines[0]].has_aborted
    if is_waiting and now - modified_at < timedelta(seconds=_BUSY_SECONDS):
        return say("openclaw_guard", "busy")
    return None


def is_stale(lock: LockNote, now: datetime) -> bool:
    """True for a lock whose owner is gone, or that names none and is older than any honest one."""
    if lock.owner_is_running is not None:
        return not lock.owner_is_running
    return now - lock.created_at > timedelta(minutes=STALE_LOCK_MINUTES)


@contextmanager
def claim_session(path: Path, now: datetime) -> Generator[None]:
    """Hold the session's `.lock`, the file OpenClaw itself makes and respects.

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


def _judge(tokens: int, chars: int, marker: Marker | None, options: Options, now: datetime) -> GuardVerdict:
    if not is_due(tokens, chars, options):
        return _refused(
            "below_threshold",
            tokens=tokens,
            chars=chars,
            token_threshold=options.token_threshold,
            char_threshold=options.char_threshold,
        )
    if marker is None or marker.at > now:
        return GuardVerdict(True, "due")
    return _judge_after(marker, tokens, options, now)


def _judge_after(marker: Marker, tokens: int, options: Options, now: datetime) -> GuardVerdict:
    elapsed = now - marker.at
    cooldown = timedelta(minutes=options.cooldown_minutes)
    if elapsed < cooldown:
        return _refused("cooldown", ago=_span(elapsed), left=_span(cooldown - elapsed))
    if _is_recent(marker, options, now) and tokens < 2 * options.token_threshold:
        return _refused("recent", ago=_span(elapsed), tokens=tokens)
    if tokens <= marker.tokens * GROWTH_SHARE:
        return _refused("not_grown", before=marker.tokens, tokens=tokens)
    if marker.misses >= MAX_MISSES:
        return _refused("misses", misses=marker.misses)
    return GuardVerdict(True, "due")


def _refused(reason: Reason, **values: object) -> GuardVerdict:
    return GuardVerdict(False, reason, say("openclaw_guard", reason, **values), is_error=reason == "misses")


def _is_recent(marker: Marker, options: Options, now: datetime) -> bool:
    return (now.date() - marker.at.astimezone(now.tzinfo).date()).days < options.recent_days


def _span(elapsed: timedelta) -> str:
    seconds = max(0, int(elapsed.total_seconds()))
    if seconds < 60:
        return f"{seconds} s"
    if seconds < 3600:
        return f"{seconds // 60} min {seconds % 60} s"
    return f"{seconds // 3600} h {seconds % 3600 // 60} min"


def _create_lock(lock: Path, path: Path, now: datetime) -> None:
    note = json.dumps({"pid": os.getpid(), "createdAt": now.astimezone(UTC).isoformat(), "by": "palimpsest"})
    try:
        descriptor = os.open(lock, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600)
    except FileExistsError:
        raise SessionBusyError(path.name, None) from None
    with suppress(OSError):
        os.write(descriptor, note.encode("utf-8"))
    os.close(descriptor)
