"""Events folded into the entries of a conversation (pure).

Safe to repeat for what has an id: a call, a compaction or a memory change that comes twice is kept once, so that
a past conversation and the live turn can overlap.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from typing import assert_never

from assistant.messages.events import (
    AllowanceScope,
    ApprovalRequested,
    CompactionUndone,
    ContextCompressed,
    ContextMeasured,
    Event,
    FlushFinished,
    MemoryChanged,
    Notice,
    Recalled,
    RecallRefused,
    TextDelta,
    TextRetracted,
    ThinkingDelta,
    ToolFinished,
    ToolOutput,
    ToolStarted,
    TurnFailed,
    TurnFinished,
    TurnStarted,
    VersionShown,
    VersionsKnown,
)
from assistant.ui.chat.entries import (
    ApprovalEntry,
    ApprovalState,
    CompactionEntry,
    Edited,
    EndEntry,
    Entry,
    MemoryEntry,
    NoticeEntry,
    RecalledWorkRow,
    Row,
    TextEntry,
    ThinkingRow,
    ToolRow,
    Transcript,
    UserEntry,
    WorkEntry,
)

_ROWS_PER_ENTRY = 8


@dataclass(frozen=True, slots=True)
class Retried:
    """Made by the page: the next turn answers the newest message again and replaces its answer so far."""


@dataclass(frozen=True, slots=True)
class Answered:
    """Made by the page: the person decided about a call whose result is not there yet."""

    call_id: str
    allow: bool
    scope: AllowanceScope | None = None
    why: str = ""


def fold_all(transcript: Transcript, events: Iterable[Event]) -> Transcript:
    """The transcript after all these events."""
    for event in events:
        transcript = fold(transcript, event)
    return transcript


def fold(transcript: Transcript, event: Event | Retried | Edited | Answered) -> Transcript:  # noqa: C901 - one match over the union
    """The transcript after one event."""
    match event:
        case Retried():
            return replace(transcript, is_retried=True)
        case Edited():
            return replace(transcript, edited=event)
        case Answered():
            return _settle_approval(transcript, event)
        case TurnStarted():
            return _start_turn(transcript, event)
        case TextDelta(block_id=block_id, text=text):
            return _add_text(transcript, block_id, text)
        case ThinkingDelta(block_id=block_id, text=text):
            return _add_thinking(transcript, block_id, text)
        case TextRetracted(block_id=block_id, chars=chars):
            return _retract_text(transcript, block_id, chars)
        case ToolStarted(call_id=call_id, name=name, input=input_text):
            return _start_call(transcript, call_id, name, input_text)
        case ToolOutput(call_id=call_id, text=text):
            return _change_call(
                transcript, call_id, lambda row: replace(row, state="running", output=row.output + text)
            )
        case ToolFinished():
            return _finish_call(transcript, event)
        case ApprovalRequested():
            return _request_approval(transcript, event)
        case Recalled(lines=lines, tokens=tokens):
            return _add_row(transcript, RecalledWorkRow(lines, tokens)) if lines else transcript
        case RecallRefused(mark=mark):
            return _refuse_recall(transcript, mark)
        case ContextMeasured():
            return replace(transcript, measured=event)
        case ContextCompressed():
            return _add_compaction(transcript, event)
        case CompactionUndone(compaction_id=compaction_id):
            return _mark_undone(transcript, compaction_id)
        case FlushFinished():
            return _settle_flush(transcript, event)
        case MemoryChanged():
            return _add_change(transcript, event)
        case Notice(text=text, level=level):
            # A second try that was refused is none.
            return _append(replace(transcript, is_retried=False), NoticeEntry(text, level))
        case TurnFinished():
            return _finish_turn(transcript, event)
        case TurnFailed(turn_id=turn_id, error=error, at=at):
            return _end(transcript, EndEntry(turn_id, "failed", error=error, at=at))
        case VersionsKnown():
            others = [
                one for one in transcript.versions if (one.part, one.message_id) != (event.part, event.message_id)
            ]
            return replace(transcript, versions=(*others, event))
        case VersionShown():
            # What stands from there on is read anew by whoever follows.
            return transcript
        case _:
            assert_never(event)


def close_cut_turn(transcript: Transcript) -> Transcript:
    """Mark a turn that never ended as interrupted, in a past conversation that no turn runs in."""
    if transcript.open_turn is None:
        return transcript
    return _end(transcript, EndEntry(transcript.open_turn, "interrupted"))


def _append(transcript: Transcript, entry: Entry) -> Transcript:
    return replace(transcript, entries=(*transcript.entries, entry))


def _replace_at(transcript: Transcript, index: int, entry: Entry) -> Transcript:
    entries = transcript.entries
    return replace(transcript, entries=(*entries[:index], entry, *entries[index + 1 :]))


def _find_last(transcript: Transcript, matches: Callable[[Entry], bool]) -> int | None:
    for index in range(len(transcript.entries) - 1, -1, -1):
        if matches(transcript.entries[index]):
            return index
    return None


def _start_turn(transcript: Transcript, event: TurnStarted) -> Transcript:
    is_retried, edited = transcript.is_retried, transcript.edited
    transcript = replace(transcript, open_turn=event.turn_id, is_retried=False, edited=None)
    if edited is not None and edited.text == event.text:
        transcript = _drop_from(transcript, edited.message_id)
    if not event.text:
        return _drop_answer(transcript) if is_retried else _drop_end(transcript)
    if event.message_id in transcript.known_ids and _find_question(transcript, event.message_id) is not None:
        return _drop_answer(transcript)
    entry = UserEntry(event.text, event.message_id, event.at, event.attached)
    return _append(_with_known_id(transcript, event.message_id), entry)


def _with_known_id(transcript: Transcript, known_id: str) -> Transcript:
    return replace(transcript, known_ids=(*transcript.known_ids, known_id))


def _find_question(transcript: Transcript, message_id: str) -> int | None:
    return _find_last(transcript, lambda entry: isinstance(entry, UserEntry) and entry.message_id == message_id)


def _drop_end(transcript: Transcript) -> Transcript:
    # A turn that goes on has not ended: its card with Continue or Retry would be offered twice.
    index = _find_last(transcript, lambda entry: isinstance(entry, (EndEntry, UserEntry)))
    if index is None or not isinstance(transcript.entries[index], EndEntry):
        return transcript
    return replace(transcript, entries=(*transcript.entries[:index], *transcript.entries[index + 1 :]))


def _drop_answer(transcript: Transcript) -> Transcript:
    index = _find_last(transcript, lambda entry: isinstance(entry, UserEntry))
    return transcript if index is None else _drop_behind(transcript, index + 1)


def _drop_from(transcript: Transcript, message_id: str) -> Transcript:
    index = _find_question(transcript, message_id)
    return transcript if index is None else _drop_behind(transcript, index)


def _drop_behind(transcript: Transcript, start: int) -> Transcript:
    # What was compacted or written to memory meanwhile is not undone with the words.
    kept = [entry for entry in transcript.entries[start:] if isinstance(entry, (CompactionEntry, MemoryEntry))]
    return replace(transcript, entries=(*transcript.entries[:start], *kept))


def _settle_flush(transcript: Transcript, event: FlushFinished) -> Transcript:
    return _change_compaction(transcript, event.compaction_id, lambda told: replace(told, flush=event.state))


def _add_text(transcript: Transcript, block_id: str, text: str) -> Transcript:
    last = transcript.entries[-1] if transcript.entries else None
    if isinstance(last, TextEntry) and last.block_id == block_id:
        return _replace_at(transcript, len(transcript.entries) - 1, TextEntry(block_id, last.text + text))
    return _append(transcript, TextEntry(block_id, text))


def _add_thinking(transcript: Transcript, block_id: str, text: str) -> Transcript:
    last = transcript.entries[-1] if transcript.entries else None
    if isinstance(last, WorkEntry):
        row = last.rows[-1]
        if isinstance(row, ThinkingRow) and row.block_id == block_id:
            rows = (*last.rows[:-1], ThinkingRow(block_id, row.text + text))
            return _replace_at(transcript, len(transcript.entries) - 1, WorkEntry(rows))
    return _add_row(transcript, ThinkingRow(block_id, text))


def _retract_text(transcript: Transcript, block_id: str, chars: int) -> Transcript:
    """The beginning of a text as a fold of thinking before the rest of it."""
    index = _find_last(transcript, lambda entry: isinstance(entry, TextEntry) and entry.block_id == block_id)
    if index is None:
        return transcript
    entry = transcript.entries[index]
    assert isinstance(entry, TextEntry)
    rest = entry.text[chars:].lstrip()
    thought = WorkEntry((ThinkingRow(f"{block_id}-thought", entry.text[:chars].rstrip()),))
    answer = (TextEntry(block_id, rest),) if rest else ()
    return replace(
        transcript, entries=(*transcript.entries[:index], thought, *answer, *transcript.entries[index + 1 :])
    )


def _add_row(transcript: Transcript, row: Row) -> Transcript:
    last = transcript.entries[-1] if transcript.entries else None
    if isinstance(last, WorkEntry) and len(last.rows) < _ROWS_PER_ENTRY:
        return _replace_at(transcript, len(transcript.entries) - 1, WorkEntry((*last.rows, row)))
    return _append(transcript, WorkEntry((row,)))


def _holds_call(entry: Entry, call_id: str) -> bool:
    return isinstance(entry, WorkEntry) and any(
        isinstance(row, ToolRow) and row.call_id == call_id for row in entry.rows
    )


def _start_call(transcript: Transcript, call_id: str, name: str, input_text: str) -> Transcript:
    is_known = call_id in transcript.known_ids
    if is_known and _find_last(transcript, lambda entry: _holds_call(entry, call_id)) is not None:
        return transcript
    return _add_row(_with_known_id(transcript, call_id), ToolRow(call_id, name, input_text, "running"))


def _change_call(transcript: Transcript, call_id: str, change: Callable[[ToolRow], ToolRow]) -> Transcript:
    index = _find_last(transcript, lambda entry: _holds_call(entry, call_id))
    if index is None:
        return transcript
    entry = transcript.entries[index]
    assert isinstance(entry, WorkEntry)
    rows = tuple(change(row) if isinstance(row, ToolRow) and row.call_id == call_id else row for row in entry.rows)
    return _replace_at(transcript, index, WorkEntry(rows))


def _finish_call(transcript: Transcript, event: ToolFinished) -> Transcript:
    transcript = _start_call(transcript, event.call_id, event.name, "")
    transcript = _change_call(
        transcript,
        event.call_id,
        lambda row: replace(
            row,
            state=event.state,
            output=event.output,
            diff=event.diff,
            artifact_id=event.artifact_id,
            allowed=event.allowed,
        ),
    )
    index = _find_approval(transcript, event.call_id)
    if index is None:
        return transcript
    entry = transcript.entries[index]
    assert isinstance(entry, ApprovalEntry)
    match event.state:
        case "success" | "error":
            state: ApprovalState = "allowed"
        case "denied":
            state = "denied"
        case "interrupted":
            state = entry.state if entry.state != "pending" else "ended"
    return _replace_at(transcript, index, replace(entry, state=state))


def _find_approval(transcript: Transcript, call_id: str) -> int | None:
    # It is behind its call. To look further back would cost the square of a long conversation.
    index = _find_last(transcript, lambda entry: _asks_for(entry, call_id) or _holds_call(entry, call_id))
    return index if index is not None and _asks_for(transcript.entries[index], call_id) else None


def _asks_for(entry: Entry, call_id: str) -> bool:
    return isinstance(entry, ApprovalEntry) and entry.request.call_id == call_id


def _request_approval(transcript: Transcript, event: ApprovalRequested) -> Transcript:
    transcript = _start_call(transcript, event.call_id, event.name, event.input)
    transcript = _change_call(transcript, event.call_id, lambda row: replace(row, state="waiting"))
    if (index := _find_approval(transcript, event.call_id)) is not None:
        return _replace_at(transcript, index, ApprovalEntry(event))
    return _append(transcript, ApprovalEntry(event))


def _settle_approval(transcript: Transcript, answered: Answered) -> Transcript:
    index = _find_approval(transcript, answered.call_id)
    if index is None:
        return transcript
    entry = transcript.entries[index]
    assert isinstance(entry, ApprovalEntry)
    state: ApprovalState = "allowed" if answered.allow else "denied"
    transcript = _replace_at(transcript, index, replace(entry, state=state, scope=answered.scope, why=answered.why))
    if not answered.allow:
        return transcript
    return _change_call(transcript, answered.call_id, lambda row: replace(row, state="running"))


def _add_compaction(transcript: Transcript, event: ContextCompressed) -> Transcript:
    index = _find_compaction(transcript, event.compaction_id)
    if index is None:
        return _append(transcript, CompactionEntry(event))
    return _replace_at(transcript, index, CompactionEntry(event))


def _refuse_recall(transcript: Transcript, mark: str) -> Transcript:
    for index, entry in enumerate(transcript.entries):
        if isinstance(entry, WorkEntry) and any(_has_passage(row, mark) for row in entry.rows):
            rows = tuple(
                replace(row, refused=row.refused | {mark})
                if isinstance(row, RecalledWorkRow) and _has_passage(row, mark)
                else row
                for row in entry.rows
            )
            transcript = _replace_at(transcript, index, WorkEntry(rows))
    return transcript


def _has_passage(row: Row, mark: str) -> bool:
    return isinstance(row, RecalledWorkRow) and any(line.mark == mark for line in row.lines)


def _mark_undone(transcript: Transcript, compaction_id: str) -> Transcript:
    return _change_compaction(transcript, compaction_id, lambda told: replace(told, is_undone=True))


def _change_compaction(
    transcript: Transcript, compaction_id: str, change: Callable[[ContextCompressed], ContextCompressed]
) -> Transcript:
    index = _find_compaction(transcript, compaction_id)
    entry = None if index is None else transcript.entries[index]
    if index is None or not isinstance(entry, CompactionEntry):
        return transcript
    return _replace_at(transcript, index, CompactionEntry(change(entry.event)))


def _find_compaction(transcript: Transcript, compaction_id: str) -> int | None:
    return _find_last(
        transcript, lambda entry: isinstance(entry, CompactionEntry) and entry.event.compaction_id == compaction_id
    )


def _add_change(transcript: Transcript, event: MemoryChanged) -> Transcript:
    known = _find_last(
        transcript,
        lambda entry: (
            isinstance(entry, MemoryEntry) and any(change.change_id == event.change_id for change in entry.changes)
        ),
    )
    if known is not None:
        return transcript
    last = transcript.entries[-1] if transcript.entries else None
    if isinstance(last, MemoryEntry):
        return _replace_at(transcript, len(transcript.entries) - 1, MemoryEntry((*last.changes, event)))
    return _append(transcript, MemoryEntry((event,)))


def _finish_turn(transcript: Transcript, event: TurnFinished) -> Transcript:
    if event.reason == "awaiting_approval":
        return replace(transcript, open_turn=None)
    return _end(
        transcript,
        EndEntry(
            event.turn_id,
            event.reason,
            output_tokens=event.output_tokens,
            at=event.at,
            spent=event.spent,
        ),
    )


def _end(transcript: Transcript, end: EndEntry) -> Transcript:
    # What still ran when the turn ended did not finish; nothing may spin for ever. What ended before is settled.
    last_end = _find_last(transcript, lambda entry: isinstance(entry, EndEntry))
    start = 0 if last_end is None else last_end + 1
    settled = (_settled(entry) for entry in transcript.entries[start:])
    return replace(transcript, entries=(*transcript.entries[:start], *settled, end), open_turn=None)


def _settled(entry: Entry) -> Entry:
    if isinstance(entry, WorkEntry) and any(_is_open(row) for row in entry.rows):
        return WorkEntry(
            tuple(
                replace(row, state="interrupted") if isinstance(row, ToolRow) and _is_open(row) else row
                for row in entry.rows
            )
        )
    if isinstance(entry, ApprovalEntry) and entry.state == "pending":
        return replace(entry, state="ended")
    return entry


def _is_open(row: Row) -> bool:
    return isinstance(row, ToolRow) and row.state in ("running", "waiting")
