"""The past as events for a reader who comes now: all of it, or all before the running turn (pure)."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass

from assistant.memory.log import MemoryChange
from assistant.messages.events import (
    ApprovalRequested,
    Event,
    MemoryChanged,
    ToolFinished,
    TurnFailed,
    TurnFinished,
    VersionsKnown,
)
from assistant.storage.journal.past_events import DatedChange, events_of_rows
from assistant.storage.journal.rows import BlockRow, Row
from assistant.storage.journal.versions import Versions


@dataclass(frozen=True, slots=True)
class RunningTurn:
    """A turn that runs: its number in the event log, and what was past when it began.

    `past_rows` is None for a turn that begins with its question. One that goes on emits only what comes: the journal
    rows there were when it went on are past, but for the ends of the calls that were parked then.
    """

    turn_id: str
    start: int
    past_rows: int | None = None
    parked_ids: frozenset[str] = frozenset()


def past_of(
    rows: Sequence[Row],
    compaction_id: str | None,
    approvals: Sequence[ApprovalRequested],
    changes: Sequence[DatedChange] = (),
) -> list[Event]:
    """The whole past while nothing runs. Calls that wait for the person are shown as cards, not as interrupted."""
    history = events_of_rows(rows, compaction_id, changes=changes)
    return _parked(history, {approval.call_id for approval in approvals}, approvals) if approvals else history


def past_before(
    rows: Sequence[Row],
    compaction_id: str | None,
    turn: RunningTurn,
    approvals: Sequence[ApprovalRequested],
    changes: Sequence[DatedChange] = (),
) -> list[Event]:
    """What comes before the events of a running turn; cards that waited when it began and still do are shown."""
    stop = _question_index(rows, turn.turn_id) if turn.past_rows is None else turn.past_rows
    history = events_of_rows(rows, compaction_id, stop, changes)
    if not turn.parked_ids:
        return history
    return _parked(history, turn.parked_ids, [card for card in approvals if card.call_id in turn.parked_ids])


def versions_known(versions: Sequence[Versions]) -> list[VersionsKnown]:
    """The events that say which parts of a conversation have several versions."""
    return [VersionsKnown(one.part, one.message_id, one.shown + 1, len(one.tails)) for one in versions]


def change_event(change: MemoryChange) -> MemoryChanged:
    """The event of a change to a memory file."""
    return MemoryChanged(change.path, change.writer, change.diff, change.change_id)


def _parked(history: Sequence[Event], call_ids: Collection[str], approvals: Sequence[ApprovalRequested]) -> list[Event]:
    """A history whose last turn waits: its calls have no end yet, and the cards come before the turn's own."""
    shown = [event for event in history if not (isinstance(event, ToolFinished) and event.call_id in call_ids)]
    turn_id = ""
    written: list[Event] = []
    while shown and isinstance(end := shown[-1], TurnFinished | TurnFailed | MemoryChanged):
        if isinstance(end, MemoryChanged):
            written.insert(0, end)
        else:
            turn_id = end.turn_id
        shown.pop()
    return [*shown, *written, *approvals, TurnFinished(turn_id, "awaiting_approval")]


def _question_index(rows: Sequence[Row], message_id: str) -> int:
    found = (index for index, row in enumerate(rows) if isinstance(row, BlockRow) and row.message_id == message_id)
    return next(found, len(rows))
