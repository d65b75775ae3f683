"""The compactions of a conversation: the list in the panel, and how one changed the summary."""

from __future__ import annotations

import datetime as dt
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from markupsafe import Markup

from assistant.messages.events import ContextCompressed
from assistant.text.visible_text import with_visible_controls
from assistant.ui.cards import card
from assistant.ui.chat.summary_diff import ComparedLine, Piece, compare_summaries, without_long_runs
from assistant.ui.times import moment_label

if TYPE_CHECKING:
    # It brings the agent library with it, which the page does not wait for.
    from assistant.compaction.record import CompactionRecord

PAGE_SIZE = 20
_MAX_LINES = 1_000


@dataclass(frozen=True, slots=True)
class _Listed:
    event: ContextCompressed
    when: str


def compactions_html(events: Sequence[ContextCompressed], undoable: str | None, shown: int, now: dt.datetime) -> Markup:
    """The newest `shown` compactions, newest first; only the newest that is not undone yet can be undone."""
    listed = [_Listed(event, moment_label(event.at, now)) for event in reversed(events[-shown:])]
    hidden = len(events) - len(listed)
    return card("compactions", items=listed, undoable=undoable or "", hidden=hidden, more=min(hidden, PAGE_SIZE))


def summary_diff_html(record: CompactionRecord, now: dt.datetime) -> Markup:
    """How a compaction changed the summary, in a dialog over the page."""
    compared = compare_summaries(record.previous_summary, record.summary)
    shown = without_long_runs(compared)
    return card(
        "summary_diff",
        lines=[_drawn(line) for line in shown[:_MAX_LINES]],
        hidden=max(0, len(shown) - _MAX_LINES),
        when=moment_label(record.at, now),
        is_first=not record.previous_summary.strip(),
        is_same=all(line.kind == "same" for line in compared),
        is_digest=record.fallback,
        added=sum(line.kind == "plus" for line in compared),
        removed=sum(line.kind == "minus" for line in compared),
    )


def _drawn(line: ComparedLine) -> ComparedLine:
    pieces = (Piece(with_visible_controls(piece.text), piece.is_changed) for piece in line.pieces)
    return ComparedLine(line.kind, tuple(pieces))
