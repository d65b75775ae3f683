"""A past conversation as the events of a running one, made from its journal rows (pure)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import assert_never

from assistant.compaction.record import CompactionRecord
from assistant.messages.attached_blocks import attached_files, picture_name
from assistant.messages.blocks import (
    DataBlock,
    HintBlock,
    TextBlock,
    ThinkingBlock,
    ToolCallBlock,
    ToolCallState,
    ToolResultBlock,
    ToolResultState,
    block_text,
    result_text,
)
from assistant.messages.events import (
    ContextCompressed,
    Event,
    FinishReason,
    FlushState,
    MemoryChanged,
    Recalled,
    RecallRefused,
    TextDelta,
    ThinkingDelta,
    ToolFinished,
    ToolStarted,
    ToolState,
    TurnFailed,
    TurnFinished,
    TurnStarted,
    allowed_by,
)
from assistant.storage.artifacts import ARTIFACT_ID_KEY
from assistant.storage.journal.rebuild import NEWEST, standing_ids, undone_ids
from assistant.storage.journal.rows import BlockRow, FlushRow, RecalledRow, RecallRefusedRow, Row, TurnEndRow
from assistant.storage.message_healing import INTERRUPTED_OUTPUT
from assistant.text.instant import instant

_STATES: dict[ToolResultState, ToolState] = {
    ToolResultState.SUCCESS: "success",
    ToolResultState.ERROR: "error",
    ToolResultState.DENIED: "denied",
    ToolResultState.INTERRUPTED: "interrupted",
    ToolResultState.RUNNING: "interrupted",
}


@dataclass(frozen=True, slots=True)
class DatedChange:
    """A memory file was written on behalf of the conversation: when, and the event that says so."""

    at: str
    event: MemoryChanged


def events_of_rows(
    rows: Sequence[Row],
    compaction_id: str | None = NEWEST,
    stop: int | None = None,
    changes: Sequence[DatedChange] = (),
) -> list[Event]:
    """The conversation as events, oldest first, or the first `stop` rows of it.

    `compaction_id` is the record its context is based on; `changes` are what was written to memory, oldest first.

    A record that was taken back is told with `is_undone`; one that never took effect (a kill before the commit) is
    left out. A call without a result ends as interrupted, unless the conversation waits for the person's approval.
    """
    if stop is not None and stop < len(rows):
        changes = [change for change in changes if instant(change.at) <= instant(rows[stop].at)]
    teller = _Teller(rows, compaction_id, changes)
    for row in rows[:stop]:
        teller.tell(row)
    teller.end(is_last=True)
    return teller.events


class _Teller:
    """Goes through the rows once; `_aside` holds events between blocks until their turn is known."""

    def __init__(self, rows: Sequence[Row], compaction_id: str | None, changes: Sequence[DatedChange]) -> None:
        self.events: list[Event] = []
        standing = standing_ids(rows, compaction_id)
        # Of an Undo that was cut off before its commit the journal knows, and yet the record stands.
        self._undone = undone_ids(rows) - standing
        self._happened = self._undone | standing
        self._flushes: dict[str, FlushState] = {
            row.compaction_id: row.state for row in rows if isinstance(row, FlushRow)
        }
        self._turn: TurnStarted | None = None
        self._open_calls: dict[str, ToolCallBlock] = {}
        self._newest: BlockRow | None = None
        self._ended: TurnEndRow | None = None
        self._aside: list[Event] = []
        self._changes = list(changes)
        self._newest_at = ""

    def tell(self, row: Row) -> None:
        """Add the events of this row, and before them those of what was written to memory until then."""
        self._take_changes(row)
        if isinstance(row, BlockRow):
            if row.role == "user":
                self._tell_user(row)
            elif row.role == "assistant":
                self._tell_assistant(row)
        elif isinstance(row, CompactionRecord) and row.compaction_id in self._happened:
            flush = self._flushes.get(row.compaction_id, row.flush)
            self._aside.append(compressed_event(row, flush, is_undone=row.compaction_id in self._undone))
        elif isinstance(row, RecalledRow):
            self._aside.append(Recalled(row.lines, row.tokens))
        elif isinstance(row, RecallRefusedRow):
            self._aside.append(RecallRefused(row.mark))
        elif isinstance(row, TurnEndRow) and self._turn:
            self._ended = row

    def end(self, is_last: bool = False) -> None:
        """Close the turn that is open; events after its last block follow its end."""
        if self._turn and self._newest:
            is_parked = is_last and any(
                call.state in (ToolCallState.ASKING, ToolCallState.SUBMITTED) for call in self._open_calls.values()
            )
            reason: FinishReason = "awaiting_approval" if is_parked else self._reason(self._newest)
            if not is_parked:
                self.events += [
                    ToolFinished(call.id, call.name, "interrupted", INTERRUPTED_OUTPUT)
                    for call in self._open_calls.values()
                ]
            self.events.append(self._end_of(self._turn.turn_id, reason, self._newest.at))
        self.events += self._aside
        if is_last:
            self.events += [change.event for change in self._changes]
        self._aside = []
        self._open_calls = {}
        self._turn = None
        self._ended = None

    def _take_changes(self, row: Row) -> None:
        """What a step wrote follows the step: its rows come to the journal together, after they happened."""
        is_question = isinstance(row, BlockRow) and row.role == "user"
        if not is_question and row.at == self._newest_at:
            return
        until = row.at if is_question else self._newest_at
        self._newest_at = row.at
        while self._changes and until and instant(self._changes[0].at) <= instant(until):
            self._aside.append(self._changes.pop(0).event)

    def _end_of(self, turn_id: str, reason: FinishReason, at: str) -> Event:
        if self._ended is None:
            return TurnFinished(turn_id, reason, at=at)
        if self._ended.error:
            return TurnFailed(turn_id, self._ended.error, self._ended.at)
        is_parked = "awaiting_approval" in (reason, self._ended.reason)
        return TurnFinished(turn_id, reason if is_parked else self._ended.reason, at=self._ended.at)

    def _reason(self, newest: BlockRow) -> FinishReason:
        is_answered = newest.role == "assistant" and not isinstance(newest.block, ToolCallBlock | ToolResultBlock)
        return "completed" if is_answered and not self._open_calls else "interrupted"

    def _tell_user(self, row: BlockRow) -> None:
        attached = attached_files([row.block])
        said = [] if attached or picture_name(row.block) else [block_text(row.block)]
        if self._turn and self._turn.message_id == row.message_id and self.events[-1] == self._turn:
            said, attached = [self._turn.text, *said], (*self._turn.attached, *attached)
            self.events.pop()
        else:
            self.end()
        turn_id = row.message_id
        self._begin(TurnStarted(turn_id, row.message_id, "\n".join(said), row.at, attached), row)

    def _tell_assistant(self, row: BlockRow) -> None:
        if self._turn is None:
            self._begin(TurnStarted(row.message_id, row.message_id, "", row.at), row)
        self.events += self._aside
        self._aside = []
        self._newest = row
        self._ended = None
        block = row.block
        match block:
            case TextBlock():
                self.events.append(TextDelta(block.id, block.text))
            case ThinkingBlock():
                self.events.append(ThinkingDelta(block.id, block.thinking))
            case ToolCallBlock():
                self._open_calls[block.id] = block
                self.events.append(ToolStarted(block.id, block.name, block.input))
            case ToolResultBlock():
                self._open_calls.pop(block.id, None)
                self.events.append(_finished(block))
            case DataBlock():
                self.events.append(TextDelta(block.id, block_text(block)))
            case HintBlock():
                pass
            case _:
                assert_never(block)

    def _begin(self, turn: TurnStarted, row: BlockRow) -> None:
        self._turn = turn
        self._newest = row
        self.events.append(turn)


def compressed_event(row: CompactionRecord, flush: FlushState, *, is_undone: bool) -> ContextCompressed:
    """The event of a compaction; `flush` is how far its flush has come."""
    return ContextCompressed(
        compaction_id=row.compaction_id,
        reason=row.reason,
        previous_tokens=row.previous_tokens,
        after_tokens=row.after_tokens,
        context_limit=row.context_limit,
        threshold_tokens=row.threshold_tokens,
        folded_messages=row.folded_messages,
        kept_turns=row.kept_turns,
        summary=row.summary,
        summary_tokens=row.summary_tokens,
        fallback=row.fallback,
        flush=flush,
        carried_over=row.carried_over,
        at=row.at,
        is_undone=is_undone,
    )


def _finished(block: ToolResultBlock) -> ToolFinished:
    diff, artifact_id = block.metadata.get("diff"), block.metadata.get(ARTIFACT_ID_KEY)
    return ToolFinished(
        call_id=block.id,
        name=block.name,
        state=_STATES[ToolResultState(block.state)],
        output=result_text(block),
        diff=diff if isinstance(diff, str) else None,
        artifact_id=artifact_id if isinstance(artifact_id, str) else None,
        allowed=allowed_by(block.metadata),
    )
