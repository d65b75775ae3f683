"""What one compaction did, as it is kept in the journal: everything the card, an undo and the flush need."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from assistant.messages.blocks import BlockKey
from assistant.messages.events import CompactionReason, FlushState


@dataclass(frozen=True, slots=True)
class CompactionRecord:
    """One compaction. `keys` are the folded blocks, oldest first; `parent_id` names the compaction before it."""

    session_id: str
    compaction_id: str
    parent_id: str | None
    at: str
    keys: tuple[BlockKey, ...]
    previous_summary: str
    summary: str
    reason: CompactionReason
    previous_tokens: int
    after_tokens: int
    context_limit: int
    threshold_tokens: int
    folded_messages: int
    kept_turns: int
    summary_tokens: int
    fallback: bool
    """True when the digest replaces a summary by a model."""
    carried_over: tuple[str, ...] = ()
    """Titles of the sections the model left out and the previous summary filled."""
    read_files: tuple[str, ...] = ()
    modified_files: tuple[str, ...] = ()
    flush: FlushState = "pending"
    kind: Literal["compaction"] = "compaction"
