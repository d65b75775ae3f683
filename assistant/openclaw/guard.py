"""May this session be compressed now? Size, cooldown, growth, misses, and whether somebody is writing to it."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Literal

from assistant.openclaw.marker import Marker
from assistant.openclaw.options import Options
from assistant.openclaw.survey import Survey

Reason = Literal["due", "below_threshold", "cooldown", "recent", "not_grown", "misses", "forced"]

GROWTH_SHARE = 1.2
MAX_MISSES = 3
# An agent that holds a lock longer than this has died with it: OpenClaw's own limit.
STALE_LOCK_MINUTES = 30
_BUSY_SECONDS = 60

COMPLETE_TEXT = "Compression complete. {tokens} tokens remaining."
# As the skill words it; other programs look for this very text.
NOTHING_TO_FREE_TEXT = "Session主要由高优先级内容组成，无法进一步压缩。建议增大阈值或手动清理。"


@dataclass(frozen=True, slots=True)
class Verdict:
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


def judge(tokens: int, chars: int, marker: Marker | None, options: Options, now: datetime) -> Verdict:
    """The guards in their order: size, five minutes, twice the threshold on the same day, growth, three misses."""
    verdict = _judge(tokens, chars, marker, options, now)
    if verdict.may_run or not options.force:
        return verdict
    return Verdict(True, "forced", overruled=verdict.reason)


def is_due(tokens: float, chars: int, options: Options) -> bool:
    """True above the token threshold, or above the character threshold that stands behind it."""
    return tokens > options.token_threshold or chars > options.char_threshold


def find_busy_reason(survey: Survey, modified_at: datetime, now: datetime) -> str | None:
    """Why the session must not be touched at this moment: it is in the middle of a step."""
    newest = next((at for at in reversed(survey.walk.path) if survey.lines[at].kind in ("assistant", "result")), None)
    unit = next((unit for unit in survey.units if newest in unit.lines), None)
    is_waiting = unit is not None and unit.open_calls > 0 and not survey.lines[unit.lines[0]].has_aborted
    if is_waiting and now - modified_at < timedelta(seconds=_BUSY_SECONDS):
        return "a tool call was made less than a minute ago and has no result yet: a task is running."
    return None


def is_stale(lock: LockNote, now: datetime) -> bool:
    """True for a lock whose owner is gone, or that names none and is older than any honest one."""
    if lock.owner_is_running is not None:
        return not lock.owner_is_running
    return now - lock.created_at > timedelta(minutes=STALE_LOCK_MINUTES)


def _judge(tokens: int, chars: int, marker: Marker | None, options: Options, now: datetime) -> Verdict:
    if not is_due(tokens, chars, options):
        return Verdict(
            False,
            "below_threshold",
            f"{tokens:,} tokens, {chars:,} characters: below the threshold of {options.token_threshold:,} tokens"
            f" and {options.char_threshold:,} characters. Nothing to do.",
        )
    if marker is None or marker.at > now:
        return Verdict(True, "due")
    return _judge_after(marker, tokens, options, now)


def _judge_after(marker: Marker, tokens: int, options: Options, now: datetime) -> Verdict:
    elapsed = now - marker.at
    if elapsed < timedelta(minutes=options.cooldown_minutes):
        left = timedelta(minutes=options.cooldown_minutes) - elapsed
        return Verdict(
            False,
            "cooldown",
            f"Compressed {_span(elapsed)} ago; the next time is in {_span(left)}. Use --force to do it now.",
        )
    if _is_recent(marker, options, now) and tokens < 2 * options.token_threshold:
        return Verdict(
            False,
            "recent",
            f"Compressed {_span(elapsed)} ago and with {tokens:,} tokens still under twice the threshold."
            " Use --force to do it now.",
        )
    if tokens <= marker.tokens * GROWTH_SHARE:
        return Verdict(
            False,
            "not_grown",
            f"Grown from {marker.tokens:,} to {tokens:,} tokens since the last compression, no more than 20 %."
            " Use --force to do it now.",
        )
    if marker.misses >= MAX_MISSES:
        return Verdict(
            False,
            "misses",
            f"The target was missed {marker.misses} times in a row: stopped. Choose another mode, a smaller"
            " --keep-tail, or --force.",
            is_error=True,
        )
    return Verdict(True, "due")


def _is_recent(marker: Marker, options: Options, now: datetime) -> bool:
    return (now.date() - marker.at.astimezone(now.tzinfo).date()).days < options.recent_days


def _span(elapsed: timedelta) -> str:
    seconds = max(0, int(elapsed.total_seconds()))
    if seconds < 60:
        return f"{seconds} s"
    if seconds < 3600:
        return f"{seconds // 60} min {seconds % 60} s"
    return f"{seconds // 3600} h {seconds % 3600 // 60} min"
