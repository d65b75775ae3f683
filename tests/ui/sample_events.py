"""Events as the page gets them: a measure and a compaction."""

from __future__ import annotations

from assistant.compaction.record import CompactionRecord
from assistant.messages.events import CompactionReason, ContextCompressed, ContextMeasured, ContextPart, Part

WINDOW = 128_000
THRESHOLD = 89_600
AT = "2026-11-30T14:05:00+01:00"

SUMMARY = """## Goal
Move the dentist appointment to Friday and keep the afternoon free.

## Key decisions
- Friday 15:30, tram 12 to Langstrasse, back by 17:00.
- 周五下午不安排会议。

## Next steps
- Confirm by telephone on Wednesday."""


def measured(used: int) -> ContextMeasured:
    """A full window of all kinds of parts."""
    fixed: tuple[tuple[Part, int], ...] = (
        ("system", 1_850),
        ("soul", 240),
        ("user", 310),
        ("memory", 620),
        ("tools", 2_900),
        ("summary", 1_480),
    )
    parts = tuple(ContextPart(name, tokens) for name, tokens in fixed)
    rest = used - sum(part.tokens for part in parts)
    return ContextMeasured(used, THRESHOLD, WINDOW, (*parts, ContextPart("messages", rest)))


def compaction(compaction_id: str, summary: str = SUMMARY, reason: CompactionReason = "automatic") -> ContextCompressed:
    """A compaction's event."""
    return ContextCompressed(
        compaction_id=compaction_id,
        reason=reason,
        previous_tokens=91_200,
        after_tokens=23_700,
        context_limit=WINDOW,
        threshold_tokens=THRESHOLD,
        folded_messages=46,
        kept_turns=3,
        summary=summary,
        summary_tokens=1_480,
        fallback=False,
        flush="done",
        carried_over=("Key context",),
        at=AT,
    )


def record_of(event: ContextCompressed, previous_summary: str) -> CompactionRecord:
    """The journal's record of a compaction."""
    return CompactionRecord(
        session_id="s1",
        compaction_id=event.compaction_id,
        parent_id=None,
        at=event.at,
        keys=(),
        previous_summary=previous_summary,
        summary=event.summary,
        reason=event.reason,
        previous_tokens=event.previous_tokens,
        after_tokens=event.after_tokens,
        context_limit=event.context_limit,
        threshold_tokens=event.threshold_tokens,
        folded_messages=event.folded_messages,
        kept_turns=event.kept_turns,
        summary_tokens=event.summary_tokens,
        fallback=event.fallback,
    )
