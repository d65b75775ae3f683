"""The rows of the journal: what one line says, and how it is written and read."""

from __future__ import annotations

import json
from collections.abc import Collection
from dataclasses import dataclass, replace
from typing import Annotated, Literal, TypeGuard

from pydantic import Field, TypeAdapter, ValidationError

from assistant.compaction.record import CompactionRecord
from assistant.messages.blocks import Block, BlockKey, DataBlock, TextBlock
from assistant.messages.events import FinishReason, FlushState, RecalledLine
from assistant.text.encoding import encode

DropReason = Literal["edit", "retry", "clear"]

# A line starts with these, in this order, so that a reader tells whose and what it is without parsing the rest.
_HEAD = ("session_id", "kind", "at", "role")


@dataclass(frozen=True, slots=True)
class BlockRow:
    """One block of one message; `at` is our zone-aware time, `created_at` the message's own."""

    session_id: str
    user_id: str
    message_id: str
    role: Literal["user", "assistant", "system"]
    name: str
    block: Annotated[Block, Field(discriminator="type")]
    at: str
    created_at: str
    kind: Literal["block"] = "block"

    @property
    def key(self) -> BlockKey:
        """The key of this block; the journal has one row for each key."""
        return BlockKey(self.message_id, self.block.type, self.block.id)


@dataclass(frozen=True, slots=True)
class QueuedRow:
    """A block of a message that waits for a running turn to end; its block row follows when its own turn begins."""

    session_id: str
    message_id: str
    name: str
    block: Annotated[TextBlock | DataBlock, Field(discriminator="type")]
    at: str
    created_at: str
    kind: Literal["queued"] = "queued"

    @property
    def key(self) -> BlockKey:
        """The key of the block row to come."""
        return BlockKey(self.message_id, self.block.type, self.block.id)


@dataclass(frozen=True, slots=True)
class TurnEndRow:
    """How a turn ended or why it waits; the newest row of a turn counts. `error` is empty unless the model failed."""

    session_id: str
    turn_id: str
    reason: FinishReason
    error: str
    at: str
    kind: Literal["turn_end"] = "turn_end"


@dataclass(frozen=True, slots=True)
class UndoneRow:
    """A compaction was taken back."""

    session_id: str
    compaction_id: str
    at: str
    kind: Literal["undone"] = "undone"


@dataclass(frozen=True, slots=True)
class DroppedRow:
    """Blocks that left the context; after `clear` no block before this row is in it.

    What was answered again or edited is a version of what follows, and may be shown again.
    """

    session_id: str
    keys: tuple[BlockKey, ...]
    reason: DropReason
    at: str
    kind: Literal["dropped"] = "dropped"


@dataclass(frozen=True, slots=True)
class ShownRow:
    """Another version of an answer or a message stands in the conversation: `keys` are back, and `left` has left."""

    session_id: str
    keys: tuple[BlockKey, ...]
    left: tuple[BlockKey, ...]
    at: str
    kind: Literal["shown"] = "shown"


@dataclass(frozen=True, slots=True)
class UnwrittenRow:
    """What is said from here on is to be written to memory, by the flush of this id, once the conversation is left."""

    session_id: str
    flush_id: str
    at: str
    kind: Literal["unwritten"] = "unwritten"


@dataclass(frozen=True, slots=True)
class LeftRow:
    """The conversation was left: these blocks are what the flush of an `UnwrittenRow` writes to memory."""

    session_id: str
    flush_id: str
    keys: tuple[BlockKey, ...]
    at: str
    kind: Literal["left"] = "left"


@dataclass(frozen=True, slots=True)
class FlushStartRow:
    """A model began a flush; a second row of an id says that the first try was cut off."""

    session_id: str
    flush_id: str
    at: str
    kind: Literal["flush_start"] = "flush_start"


@dataclass(frozen=True, slots=True)
class FlushRow:
    """How a flush ended, that of a compaction or of an `UnwrittenRow`; the newest row of an id counts."""

    session_id: str
    compaction_id: str
    state: FlushState
    at: str
    kind: Literal["flush"] = "flush"


@dataclass(frozen=True, slots=True)
class RecalledRow:
    """What was handed to the model from memory before a turn: for the page, never part of the context."""

    session_id: str
    lines: tuple[RecalledLine, ...]
    at: str
    tokens: int = 0
    kind: Literal["recalled"] = "recalled"


@dataclass(frozen=True, slots=True)
class RecallRefusedRow:
    """A recalled passage was not helpful: from here on its sentences are kept out of recall in this conversation."""

    session_id: str
    mark: str
    """Of the passage, for the page."""
    sentence_marks: tuple[str, ...]
    at: str
    kind: Literal["recall_refused"] = "recall_refused"


@dataclass(frozen=True, slots=True)
class ProfileChosenRow:
    """From here on this profile answers, for what is said to it is for no other server; empty for the settings' own."""

    session_id: str
    profile: str
    at: str
    kind: Literal["profile"] = "profile"


@dataclass(frozen=True, slots=True)
class DeletedRow:
    """The conversation went to the trash, or came back from it; the newest row counts."""

    session_id: str
    at: str
    is_restored: bool = False
    kind: Literal["deleted"] = "deleted"


Row = (
    BlockRow
    | QueuedRow
    | CompactionRecord
    | TurnEndRow
    | UndoneRow
    | DroppedRow
    | ShownRow
    | UnwrittenRow
    | LeftRow
    | FlushStartRow
    | FlushRow
    | RecalledRow
    | RecallRefusedRow
    | ProfileChosenRow
    | DeletedRow
)

_ROW: TypeAdapter[Row] = TypeAdapter(Annotated[Row, Field(discriminator="kind")])


def row_line(row: Row) -> str:
    """The row as one line of JSON, its head first; whatever JSON cannot hold is written as its `str`."""
    values: dict[str, object] = _ROW.dump_python(row, mode="json", fallback=str)
    head = {name: values[name] for name in _HEAD if name in values}
    return json.dumps(head | values, ensure_ascii=False, separators=(",", ":"))


def read_row(line: bytes) -> Row | None:
    """The row of a line; None when it is damaged or of a kind this program does not know."""
    try:
        return _ROW.validate_json(line)
    except ValidationError:
        return None


def without_sessions(row: Row, session_ids: Collection[str]) -> Row | None:
    """The row without a word of these conversations, recalled ones too; None where nothing else is in it."""
    if row.session_id in session_ids:
        return None
    if not quotes(row, session_ids):
        return row
    lines = tuple(line for line in row.lines if line.session_id not in session_ids)
    return replace(row, lines=lines) if lines else None


def quotes(row: Row, session_ids: Collection[str]) -> TypeGuard[RecalledRow]:
    """True where something was recalled from one of these conversations into another."""
    return isinstance(row, RecalledRow) and any(line.session_id in session_ids for line in row.lines)


def line_start(session_id: str) -> bytes:
    """How every line of a session starts that `row_line` wrote."""
    return encode('{"session_id":' + json.dumps(session_id, ensure_ascii=False) + ',"kind":"')


def written_text(text: str) -> str:
    """The text as it reads once it went through the journal: a lone surrogate becomes U+FFFD."""
    return text if text.isascii() else encode(text).decode()


def written_key(key: BlockKey) -> BlockKey:
    """The key as it reads once it went through the journal."""
    if key.message_id.isascii() and key.block_id.isascii():
        return key
    return BlockKey(written_text(key.message_id), key.kind, written_text(key.block_id))
