"""A compaction record as the journal holds it, for tests that look at what it folds and never at its figures."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from assistant.compaction.record import CompactionRecord
from assistant.messages.blocks import Msg, block_keys


def folding(
    compaction_id: str, parent_id: str | None, messages: Sequence[Msg], at: str, **changes: object
) -> CompactionRecord:
    """The record of conversation `s` that folds these messages whole; `changes` replace single fields."""
    record = CompactionRecord(
        session_id="s",
        compaction_id=compaction_id,
        parent_id=parent_id,
        at=at,
        keys=tuple(block_keys(messages)),
        previous_summary="",
        summary=f"summary {compaction_id}",
        reason="automatic",
        previous_tokens=900,
        after_tokens=300,
        context_limit=1_000,
        threshold_tokens=700,
        folded_messages=len(messages),
        kept_turns=1,
        summary_tokens=100,
        fallback=False,
    )
    return replace(record, **changes)
