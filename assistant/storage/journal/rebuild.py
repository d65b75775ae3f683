"""What is in a conversation's context, worked out from its journal rows (pure)."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, TypeVar

from assistant.compaction.record import CompactionRecord
from assistant.messages.blocks import Block, BlockKey, BlockKind, Msg, copy_with_blocks, iterate_blocks
from assistant.storage.journal.rows import BlockRow, DroppedRow, Row, UndoneRow
from assistant.storage.journal.versions import dropped_keys

NEWEST: Final = "newest"
"""In place of a compaction id: the newest record that was not taken back."""

_KINDS: Mapping[str, tuple[BlockKind, ...]] = {"user": ("text", "data"), "system": ("text",)}

_Item = TypeVar("_Item", bound=Hashable)


@dataclass(frozen=True, slots=True)
class RebuiltContext:
    """The messages in context, the summary that replaces what was folded, and the record it comes from."""

    messages: list[Msg]
    summary: str
    compaction_id: str | None


def rebuild_messages(rows: Sequence[Row], compaction_id: str | None = NEWEST) -> RebuiltContext:
    """The context that the record `compaction_id` left (None: no compaction), with all that came after it.

    Folded are the blocks that the record or one it reaches over parent ids names; records it does not reach never
    happened. Dropped blocks are not in context, nor is anything from before the last `clear`.
    """
    rows = since_clear(rows)
    record = record_of(rows, compaction_id)
    gone = {key for row in chain_of(rows, record) for key in row.keys}
    gone |= dropped_keys(rows)
    blocks = [row for row in rows if isinstance(row, BlockRow) and row.key not in gone]
    return RebuiltContext(
        messages=messages_of(blocks),
        summary=record.summary if record else "",
        compaction_id=record.compaction_id if record else None,
    )


def complete_messages(messages: Sequence[Msg], rows: Sequence[Row], compaction_id: str | None) -> list[Msg]:
    """`messages` and what the journal has beyond them in the context of `compaction_id`, each at its place.

    A block that is in both is kept as in `messages`, where it may have been shortened since. One that the journal
    lacks is kept; one that was dropped, or comes before the last `clear`, is not.
    """
    rebuilt = rebuild_messages(rows, compaction_id).messages
    kept_keys = {placed.key for placed in iterate_blocks(rebuilt)}
    known_keys = {row.key for row in rows if isinstance(row, BlockRow)}
    gone = (known_keys | dropped_keys(rows)) - kept_keys
    blocks: dict[BlockKey, Block] = {placed.key: placed.block for placed in iterate_blocks(rebuilt)}
    blocks |= {placed.key: placed.block for placed in iterate_blocks(messages) if placed.key not in gone}
    order = _merged(_order(rebuilt), _order(messages))
    heads = {message.id: message for message in [*rebuilt, *messages]}
    return [
        copy_with_blocks(heads[message_id], content)
        for message_id, keys in order.items()
        if (content := [blocks[key] for key in keys if key in blocks])
    ]


def messages_of(rows: Sequence[BlockRow]) -> list[Msg]:
    """The messages that the rows' blocks make up, in the order of their first blocks."""
    grouped: dict[str, list[BlockRow]] = {}
    for row in rows:
        # A row changed by hand may hold what the message class refuses for its role.
        if row.block.type in _KINDS.get(row.role, (row.block.type,)):
            grouped.setdefault(row.message_id, []).append(row)
    return [_message(group) for group in grouped.values()]


def since_clear(rows: Sequence[Row]) -> list[Row]:
    """The rows after the last `clear`, all of them when there is none."""
    clears = [index for index, row in enumerate(rows) if isinstance(row, DroppedRow) and row.reason == "clear"]
    return list(rows[clears[-1] + 1 :] if clears else rows)


def record_of(rows: Sequence[Row], compaction_id: str | None) -> CompactionRecord | None:
    """The record of this id; with `NEWEST` the newest one that was not taken back."""
    records = [row for row in rows if isinstance(row, CompactionRecord)]
    if compaction_id == NEWEST:
        undone = undone_ids(rows)
        standing = [record for record in records if record.compaction_id not in undone]
    else:
        standing = [record for record in records if record.compaction_id == compaction_id]
    return standing[-1] if standing else None


def chain_of(rows: Sequence[Row], record: CompactionRecord | None) -> list[CompactionRecord]:
    """The record and those it reaches over parent ids, newest first."""
    by_id = {row.compaction_id: row for row in rows if isinstance(row, CompactionRecord)}
    chain: list[CompactionRecord] = []
    while record and record not in chain:
        chain.append(record)
        record = by_id.get(record.parent_id) if record.parent_id else None
    return chain


def standing_ids(rows: Sequence[Row], compaction_id: str | None = NEWEST) -> set[str]:
    """The records that took effect and were not taken back, where the context is based on the record `compaction_id`.

    They are what each stretch between two `clear` rows ended on, and what that reaches over parent ids.
    """
    clears = [index for index, row in enumerate(rows) if isinstance(row, DroppedRow) and row.reason == "clear"]
    starts = [0, *(index + 1 for index in clears)]
    standing: set[str] = set()
    for start, stop in zip(starts, [*starts[1:], len(rows)], strict=True):
        stretch = [row for row in rows[start:stop] if not isinstance(row, DroppedRow)]
        head = compaction_id if start == starts[-1] else NEWEST
        standing |= {row.compaction_id for row in chain_of(stretch, record_of(stretch, head))}
    return standing


def undone_ids(rows: Iterable[Row]) -> set[str]:
    """The records that were taken back."""
    return {row.compaction_id for row in rows if isinstance(row, UndoneRow)}


def _message(rows: Sequence[BlockRow]) -> Msg:
    first = rows[0]
    return Msg(
        id=first.message_id,
        name=first.name,
        role=first.role,
        content=[row.block for row in rows],
        created_at=first.created_at,
        # As the message class itself dates what is whole from the start.
        finished_at=None if first.role == "assistant" else first.created_at,
    )


def _order(messages: Sequence[Msg]) -> dict[str, list[BlockKey]]:
    order: dict[str, list[BlockKey]] = {message.id: [] for message in messages}
    for placed in iterate_blocks(messages):
        order[placed.message.id].append(placed.key)
    return order


def _merged(
    leading: Mapping[str, Sequence[BlockKey]], following: Mapping[str, Sequence[BlockKey]]
) -> dict[str, list[BlockKey]]:
    message_ids = _merged_items(list(leading), list(following))
    return {name: _merged_items(leading.get(name, ()), following.get(name, ())) for name in message_ids}


def _merged_items(leading: Sequence[_Item], following: Sequence[_Item]) -> list[_Item]:
    """`leading`, and each item that only `following` has right behind the one it follows there."""
    known = set(leading)
    behind: dict[_Item | None, list[_Item]] = {}
    anchor: _Item | None = None
    for item in dict.fromkeys(following):
        if item in known:
            anchor = item
        else:
            behind.setdefault(anchor, []).append(item)
    merged = list(behind.get(None, ()))
    for item in leading:
        merged += [item, *behind.get(item, ())]
    return merged
