"""Versions of an answer or of a message, worked out from the rows of a conversation (pure).

To answer again, or to say something else, drops all that stands behind a place. What was dropped is a version of it and
can stand there again: a path through a tree, of which the context and the transcript show one.
"""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from assistant.messages.blocks import BlockKey
from assistant.messages.events import VersionedPart
from assistant.storage.journal.rows import BlockRow, DroppedRow, RecalledRow, Row, ShownRow, TurnEndRow

_START = ""
"""In place of a message id: before the first message."""


@dataclass(frozen=True, slots=True)
class Versions:
    """What has stood at one place of a conversation, oldest first.

    `message_id` is the question that was answered again, or the message that stands in place of another one. A version
    is the keys of all blocks from there to the end, as it was left; that at `shown`, which stands now, is of now.
    """

    part: VersionedPart
    message_id: str
    tails: tuple[tuple[BlockKey, ...], ...]
    shown: int


@dataclass(frozen=True, slots=True)
class ToldRows:
    """The rows of a conversation as it reads now, and the places in it that have several versions, oldest first."""

    rows: list[Row]
    versions: list[Versions]


@dataclass(slots=True)
class _Place:
    """`shown` is the number of tails while what stands there has not been left yet."""

    part: VersionedPart
    anchor: str
    """The message before it."""
    tails: list[tuple[BlockKey, ...]] = field(default_factory=list[tuple[BlockKey, ...]])
    shown: int = 0

    def leave(self, tail: tuple[BlockKey, ...]) -> None:
        """What stands here is left as it is; where nothing came of it, it is no version."""
        if tail:
            self.tails[self.shown : self.shown + 1] = [tail]


@dataclass(frozen=True, slots=True)
class _Moment:
    """Where a row was written: behind which block, and which versions of the places before it stood."""

    behind: BlockKey | None
    shown: tuple[tuple[_Place, int], ...]


def told_rows(rows: Sequence[Row]) -> ToldRows:
    """What a reader is told of all rows, those that were dropped too; without those of versions that do not stand."""
    if not any(isinstance(row, DroppedRow | ShownRow) for row in rows):
        return ToldRows(list(rows), [])
    walk = _Walk()
    moments = [walk.take(row) for row in rows]
    gone = dropped_keys(rows)
    told = [
        row
        for row, moment in zip(rows, moments, strict=True)
        if not (isinstance(row, BlockRow) and row.key in gone) and (moment is None or walk.stands(moment))
    ]
    return ToldRows(told, walk.versions())


def dropped_keys(rows: Iterable[Row]) -> set[BlockKey]:
    """The keys of the blocks that left the context, but for those that stand there again."""
    gone: set[BlockKey] = set()
    for row in rows:
        if isinstance(row, DroppedRow):
            gone |= set(row.keys)
        elif isinstance(row, ShownRow):
            gone = (gone - set(row.keys)) | set(row.left)
    return gone


def version_of_message(rows: Sequence[Row], message_id: str) -> int:
    """Which version of an answer or a message this one is part of, from 1; 0 where it stands in the conversation."""
    for place in told_rows(rows).versions:
        for number, tail in enumerate(place.tails, 1):
            if number - 1 != place.shown and any(key.message_id == message_id for key in tail):
                return number
    return 0


class _Walk:
    """Goes through the rows once. What stands is in the order in which it was written, for only an end is ever left."""

    def __init__(self) -> None:
        self._standing: dict[BlockKey, None] = {}
        self._block_counts: Counter[str] = Counter()
        """How many blocks of each message stand; a long conversation is not looked through again for each turn."""
        self._places: dict[tuple[VersionedPart, str], _Place] = {}

    def take(self, row: Row) -> _Moment | None:
        """Go on over this row; where it was written, for one that belongs to what stands there then."""
        match row:
            case BlockRow():
                self._add([row.key])
            case DroppedRow(reason="clear"):
                self._remove(list(self._standing))
                self._places.clear()
            case DroppedRow():
                self._drop(row)
            case ShownRow():
                self._show(row)
            case TurnEndRow() | RecalledRow():
                reachable = [place for place in self._places.values() if self._has(place.anchor)]
                return _Moment(self._newest_key(), tuple((place, place.shown) for place in reachable))
            case _:
                pass
        return None

    def stands(self, moment: _Moment) -> bool:
        """Whether what a row was written behind is what stands now."""
        is_there = moment.behind is None or moment.behind in self._standing
        return is_there and all(place.shown == shown for place, shown in moment.shown)

    def versions(self) -> list[Versions]:
        """The places that can be seen and have several versions."""
        found: list[Versions] = []
        for place in self._places.values():
            if not self._has(place.anchor):
                continue
            tail = self._behind(place.anchor)
            tails = [*place.tails[: place.shown], tail, *place.tails[place.shown + 1 :]]
            message_id = place.anchor if place.part == "answer" else tail[0].message_id if tail else ""
            if message_id and len(tails) > 1:
                found.append(Versions(place.part, message_id, tuple(tails), place.shown))
        return found

    def _drop(self, row: DroppedRow) -> None:
        left = set(row.keys)
        tail = tuple(key for key in self._standing if key in left)
        if not tail:
            return
        self._remove(tail)
        part: VersionedPart = "answer" if row.reason == "retry" else "message"
        newest = self._newest_key()
        anchor = newest.message_id if newest else _START
        place = self._places.setdefault((part, anchor), _Place(part, anchor))
        place.leave(tail)
        place.shown = len(place.tails)

    def _show(self, row: ShownRow) -> None:
        self._remove(row.left)
        place = next((place for place in self._places.values() if row.keys in place.tails), None)
        if place is not None:
            place.leave(row.left)
            place.shown = place.tails.index(row.keys)
        self._add(row.keys)

    def _has(self, anchor: str) -> bool:
        return anchor == _START or self._block_counts[anchor] > 0

    def _behind(self, anchor: str) -> tuple[BlockKey, ...]:
        """What stands behind a message that stands itself."""
        newer = itertools.takewhile(lambda key: key.message_id != anchor, reversed(self._standing))
        return tuple(newer)[::-1]

    def _newest_key(self) -> BlockKey | None:
        return next(reversed(self._standing), None)

    def _add(self, keys: Iterable[BlockKey]) -> None:
        for key in keys:
            if key not in self._standing:
                self._standing[key] = None
                self._block_counts[key.message_id] += 1

    def _remove(self, keys: Iterable[BlockKey]) -> None:
        for key in keys:
            if key in self._standing:
                del self._standing[key]
                self._block_counts[key.message_id] -= 1
