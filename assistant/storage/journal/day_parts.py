"""What one day file says of each conversation: a fold over the heads of its lines, put together day by day (pure)."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Literal

from assistant.messages.blocks import is_said
from assistant.storage.journal.rows import (
    BlockRow,
    DeletedRow,
    FlushRow,
    LeftRow,
    Row,
    ShownRow,
    UnwrittenRow,
    read_row,
)
from assistant.storage.journal.unwritten import ENOUGH_MESSAGES, Said, said_in
from assistant.text.json_parsing import parse_json

FIRST_TEXT_CHARS = 400
"""A title takes 60 characters of what was said first; no more of it is kept than surely has them."""
_HEAD = re.compile(rb'\{"session_id":("(?:[^"\\]|\\.)*"),"kind":"(\w+)","at":"([^"]*)"(?:,"role":"(\w+)")?')

FlushStep = Literal["begin", "unwritten", "left", "flush"]


@dataclass(frozen=True, slots=True)
class JournalSession:
    """What the rows of one conversation say of it: `last_at` is the time of its newest row."""

    session_id: str
    user_id: str
    last_at: str
    first_text: str
    block_count: int


@dataclass(slots=True)
class SaidSince:
    """A row about a flush, or the begin of the file, and what the person said from there to the next such row.

    It is counted until it is enough.
    """

    step: FlushStep
    flush_id: str
    said: Said = Said()


@dataclass(slots=True)
class DayPart:
    """What the rows of one conversation in one day file say, as far as the list needs it."""

    user_id: str = ""
    last_at: str = ""
    first_text: str = ""
    block_count: int = 0
    is_deleted: bool | None = None
    """None where the file has no row about it."""
    steps: list[SaidSince] = field(default_factory=list[SaidSince])

    @property
    def begins_flush(self) -> bool:
        """True where something became due to be written to memory."""
        return any(step.step == "unwritten" for step in self.steps)


@dataclass(slots=True)
class Flushes:
    """The flushes of one conversation that did not end; `open_id` is the one that has not begun."""

    pending_ids: set[str] = field(default_factory=set[str])
    open_id: str = ""
    said: Said = Said()
    """What the person said since the open one is due."""

    @property
    def is_due(self) -> bool:
        """True where a flush was cut off, or enough was said for one."""
        return bool(self.pending_ids - {self.open_id}) or (bool(self.open_id) and self.said.is_enough)


def fold_line(parts: dict[str, DayPart], line: bytes) -> None:
    """Take the next line of a day file into its parts by conversation; one that no reader can use changes nothing."""
    head = _HEAD.match(line)
    if not head:
        if row := read_row(line):
            _fold_row(parts, row)
        return
    quoted_id, kind, at, role = head.groups()
    try:
        session_id = str(parse_json(quoted_id))
    except ValueError:
        return
    part = parts.setdefault(session_id, DayPart())
    is_read = role == b"user" and not (part.first_text and _counted(part).is_enough)
    if kind == b"block" and part.user_id and not is_read:
        # The rest of the line would change nothing, and to parse it is what costs.
        _count(part, at.decode("utf-8", "replace"))
    elif row := read_row(line):
        _fold_row(parts, row)


def session_of(session_id: str, parts: Iterable[DayPart]) -> JournalSession | None:
    """What the parts of a conversation say together, oldest first; None where no block is in them."""
    with_blocks = [part for part in parts if part.block_count]
    if not with_blocks:
        return None
    return JournalSession(
        session_id,
        with_blocks[0].user_id,
        with_blocks[-1].last_at,
        next((part.first_text for part in with_blocks if part.first_text), ""),
        sum(part.block_count for part in with_blocks),
    )


def flushes_of(parts: Iterable[DayPart]) -> Flushes:
    """The flushes of a conversation, from its parts, oldest first."""
    flushes = Flushes()
    for part in parts:
        for step in part.steps:
            _take_step(flushes, step)
            flushes.said = _added(flushes.said, step.said)
    return flushes


def is_deleted(parts: Iterable[DayPart]) -> bool:
    """Whether the newest row about it says that the conversation is in the trash."""
    told = [part.is_deleted for part in parts if part.is_deleted is not None]
    return bool(told) and told[-1]


def _fold_row(parts: dict[str, DayPart], row: Row) -> None:
    part = parts.setdefault(row.session_id, DayPart())
    match row:
        case DeletedRow():
            part.is_deleted = not row.is_restored
        case UnwrittenRow():
            part.steps.append(SaidSince("unwritten", row.flush_id))
        case LeftRow():
            part.steps.append(SaidSince("left", row.flush_id))
        case FlushRow():
            part.steps.append(SaidSince("flush", row.compaction_id))
        case BlockRow():
            _fold_block(part, row)
        case ShownRow() if part.steps:
            # What stands again was said elsewhere; whether that is enough is worked out from all rows.
            part.steps[-1].said = Said(ENOUGH_MESSAGES)
        case _:
            pass


def _fold_block(part: DayPart, row: BlockRow) -> None:
    part.user_id = part.user_id or row.user_id
    if row.role == "user":
        if not part.first_text and is_said(row.block):
            part.first_text = row.block.text[:FIRST_TEXT_CHARS]
        if not _counted(part).is_enough:
            if not part.steps:
                part.steps.append(SaidSince("begin", ""))
            part.steps[-1].said = _added(part.steps[-1].said, said_in([row]))
    _count(part, row.at)


def _counted(part: DayPart) -> Said:
    return part.steps[-1].said if part.steps else Said()


def _count(part: DayPart, at: str) -> None:
    part.last_at = at
    part.block_count += 1


def _added(said: Said, more: Said) -> Said:
    return Said(said.messages + more.messages, said.chars + more.chars)


def _take_step(flushes: Flushes, step: SaidSince) -> None:
    match step.step:
        case "unwritten":
            flushes.pending_ids.add(step.flush_id)
            flushes.open_id, flushes.said = step.flush_id, Said()
        case "begin":
            pass
        case "left" | "flush":
            if flushes.open_id == step.flush_id:
                flushes.open_id = ""
            if step.step == "flush":
                flushes.pending_ids.discard(step.flush_id)
