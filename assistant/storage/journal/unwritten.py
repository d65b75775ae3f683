"""What of a conversation a flush has still to write to memory, worked out from its journal rows (pure)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from assistant.compaction.record import CompactionRecord
from assistant.messages.blocks import BlockKey, is_said
from assistant.storage.journal.rebuild import standing_ids
from assistant.storage.journal.rows import (
    BlockRow,
    DroppedRow,
    FlushRow,
    FlushStartRow,
    LeftRow,
    Row,
    ShownRow,
    UnwrittenRow,
)
from assistant.storage.journal.versions import dropped_keys

ENOUGH_MESSAGES = 2
ENOUGH_CHARS = 200
"""So much has to be said by the person before it is worth a flush."""


@dataclass(frozen=True, slots=True)
class Unwritten:
    """What one flush has to write to memory: blocks of a conversation, and what a compaction made of them.

    `cut_starts` says how often its flush began in another process and did not end.
    """

    session_id: str
    flush_id: str
    keys: tuple[BlockKey, ...]
    summary: str = ""
    previous_summary: str = ""
    cut_starts: int = 0


@dataclass(frozen=True, slots=True)
class Said:
    """How much the person said."""

    messages: int = 0
    chars: int = 0

    @property
    def is_enough(self) -> bool:
        """True where it is worth a flush."""
        return self.messages >= ENOUGH_MESSAGES or self.chars >= ENOUGH_CHARS


def folded_stretch(record: CompactionRecord, rows: Sequence[Row]) -> Unwritten:
    """What a compaction folded, without what another flush has written, or will when the conversation was left."""
    ended = _ended_ids(rows) - {record.compaction_id}
    others = (row for row in rows if isinstance(row, CompactionRecord) and row.compaction_id in ended)
    taken = _left_keys(rows) | {key for other in others for key in other.keys}
    return Unwritten(
        record.session_id,
        record.compaction_id,
        tuple(key for key in record.keys if key not in taken),
        record.summary,
        record.previous_summary,
        _starts(rows)[record.compaction_id],
    )


def pending_stretches(rows: Sequence[Row], compaction_id: str | None) -> list[Unwritten]:
    """The flushes that did not end, oldest first; the context is based on the record `compaction_id`.

    A compaction that never took effect, or was taken back, is left out: a later one will fold the same messages.
    """
    ended = _ended_ids(rows)
    standing = standing_ids(rows, compaction_id)
    starts = _starts(rows)
    found: dict[str, Unwritten] = {}
    for row in rows:
        if isinstance(row, CompactionRecord) and row.compaction_id in standing - ended:
            found[row.compaction_id] = folded_stretch(row, rows)
        elif isinstance(row, LeftRow) and row.flush_id not in ended:
            found[row.flush_id] = Unwritten(row.session_id, row.flush_id, row.keys, cut_starts=starts[row.flush_id])
    return list(found.values())


def left_stretch(rows: Sequence[Row], compaction_id: str | None) -> Unwritten | None:
    """What was said since the last flush, for one that has not begun; None where that is not worth it.

    `rows` have the dropped blocks too: what the person cleared away was said, what they edited was not.
    """
    opened = _open_row(rows)
    if opened is None:
        return None
    flushed = standing_ids(rows, compaction_id) | _ended_ids(rows)
    records = (row for row in rows if isinstance(row, CompactionRecord) and row.compaction_id in flushed)
    taken = {key for record in records for key in record.keys} | _left_keys(rows)
    since = rows[rows.index(opened) :]
    new = {row.key for row in since if isinstance(row, BlockRow)}
    # A version that stands again may never have been written.
    new |= {key for row in since if isinstance(row, ShownRow) for key in row.keys}
    blocks = [row for row in said_blocks(rows) if row.key in new - taken]
    if not said_in(blocks).is_enough:
        return None
    return Unwritten(opened.session_id, opened.flush_id, tuple(row.key for row in blocks))


def said_blocks(rows: Sequence[Row]) -> list[BlockRow]:
    """The blocks of what was said, that which was cleared away too, without what was edited or answered again."""
    gone = dropped_keys(row for row in rows if not (isinstance(row, DroppedRow) and row.reason == "clear"))
    return [row for row in rows if isinstance(row, BlockRow) and row.key not in gone]


def said_in(rows: Iterable[Row]) -> Said:
    """How much the person said in these rows."""
    texts: dict[str, int] = {}
    for row in rows:
        if isinstance(row, BlockRow) and row.role == "user" and is_said(row.block):
            texts[row.message_id] = texts.get(row.message_id, 0) + len(row.block.text)
    return Said(len(texts), sum(texts.values()))


def _open_row(rows: Sequence[Row]) -> UnwrittenRow | None:
    closed = {row.flush_id for row in rows if isinstance(row, LeftRow)} | _ended_ids(rows)
    newest = (row for row in reversed(rows) if isinstance(row, UnwrittenRow) and row.flush_id not in closed)
    return next(newest, None)


def _left_keys(rows: Iterable[Row]) -> set[BlockKey]:
    return {key for row in rows if isinstance(row, LeftRow) for key in row.keys}


def _ended_ids(rows: Iterable[Row]) -> set[str]:
    return {row.compaction_id for row in rows if isinstance(row, FlushRow)}


def _starts(rows: Iterable[Row]) -> Counter[str]:
    return Counter(row.flush_id for row in rows if isinstance(row, FlushStartRow))
