"""A conversation as the page shows it: entries, each of which becomes one chat message."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Literal

from assistant.messages.attached import AttachedFile
from assistant.messages.events import (
    AllowanceScope,
    AllowedBy,
    ApprovalRequested,
    ContextCompressed,
    ContextMeasured,
    MemoryChanged,
    NoticeLevel,
    RecalledLine,
    Spent,
    ToolState,
    VersionsKnown,
)

RowState = ToolState | Literal["running", "waiting"]
ApprovalState = Literal["pending", "allowed", "denied", "ended"]
EndReason = Literal["completed", "interrupted", "max_steps", "output_limit", "failed"]


@dataclass(frozen=True, slots=True)
class UserEntry:
    """What the person said."""

    text: str
    message_id: str
    at: str
    attached: tuple[AttachedFile, ...] = ()


@dataclass(frozen=True, slots=True)
class TextEntry:
    """A part of the answer's text."""

    block_id: str
    text: str


@dataclass(frozen=True, slots=True)
class ThinkingRow:
    """A part of the model's thinking."""

    block_id: str
    text: str


@dataclass(frozen=True, slots=True)
class ToolRow:
    """One tool call and what came of it."""

    call_id: str
    name: str
    input: str
    state: RowState
    output: str = ""
    diff: str | None = None
    artifact_id: str | None = None
    allowed: AllowedBy | None = None


@dataclass(frozen=True, slots=True)
class RecalledWorkRow:
    """What memory handed over before the turn; `refused` has the marks of passages that were not helpful."""

    lines: tuple[RecalledLine, ...]
    tokens: int = 0
    refused: frozenset[str] = frozenset()


Row = ThinkingRow | ToolRow | RecalledWorkRow


@dataclass(frozen=True, slots=True)
class WorkEntry:
    """Thinking, calls and recalls that follow each other, as one message of folds."""

    rows: tuple[Row, ...]


@dataclass(frozen=True, slots=True)
class ApprovalEntry:
    """A call the person decides about; `scope` is how much longer than once it was allowed, `why` what denied it."""

    request: ApprovalRequested
    state: ApprovalState = "pending"
    scope: AllowanceScope | None = None
    why: str = ""


@dataclass(frozen=True, slots=True)
class CompactionEntry:
    """A compaction, undone or not."""

    event: ContextCompressed


@dataclass(frozen=True, slots=True)
class MemoryEntry:
    """Memory files written one after the other."""

    changes: tuple[MemoryChanged, ...]


@dataclass(frozen=True, slots=True)
class NoticeEntry:
    """A notice in plain words."""

    text: str
    level: NoticeLevel


@dataclass(frozen=True, slots=True)
class EndEntry:
    """How a turn ended."""

    turn_id: str
    reason: EndReason
    error: str = ""
    output_tokens: int = 0
    at: str = ""
    spent: Spent = Spent()


Entry = UserEntry | TextEntry | WorkEntry | ApprovalEntry | CompactionEntry | MemoryEntry | NoticeEntry | EndEntry


@dataclass(frozen=True, slots=True)
class Edited:
    """Made by the page: the next turn, if it begins with this text, replaces a message and everything after it.

    Without the text, a turn that begins after a refused edit would be taken for the edited one.
    """

    message_id: str
    text: str


@dataclass(frozen=True, slots=True)
class Transcript:
    """All entries, oldest first; the last measure; the turn that runs; what the page knows of the next one.

    `known_ids` has the ids of all messages and calls: to look through the entries for each new one would take time
    that grows with the square of the conversation.
    """

    entries: tuple[Entry, ...] = ()
    measured: ContextMeasured | None = None
    open_turn: str | None = None
    is_retried: bool = False
    edited: Edited | None = None
    known_ids: tuple[str, ...] = field(default=(), compare=False, repr=False)
    versions: tuple[VersionsKnown, ...] = ()

    def versions_of(self, part: str, message_id: str) -> VersionsKnown | None:
        """How many versions there are of a message, or of the answer to it; None for one alone."""
        found = (one for one in self.versions if (one.part, one.message_id) == (part, message_id))
        return next(found, None)

    @property
    def pending_calls(self) -> tuple[str, ...]:
        """The calls that wait for the person."""
        return tuple(request.call_id for request in self._pending())

    def pending(self, call_id: str) -> ApprovalRequested | None:
        """What was asked about this call, while it waits for the person."""
        return next((request for request in self._pending() if request.call_id == call_id), None)

    @property
    def compactions(self) -> tuple[ContextCompressed, ...]:
        """Every compaction, oldest first."""
        return tuple(entry.event for entry in self.entries if isinstance(entry, CompactionEntry))

    def has_compaction(self, compaction_id: str) -> bool:
        """True when the transcript has this compaction."""
        return any(event.compaction_id == compaction_id for event in self.compactions)

    @property
    def artifact_ids(self) -> frozenset[str]:
        """Every full text that a shortened result names."""
        rows = (row for entry in self.entries if isinstance(entry, WorkEntry) for row in entry.rows)
        return frozenset(row.artifact_id for row in rows if isinstance(row, ToolRow) and row.artifact_id)

    @property
    def change_ids(self) -> frozenset[str]:
        """Every memory change in the transcript."""
        entries = (entry for entry in self.entries if isinstance(entry, MemoryEntry))
        return frozenset(change.change_id for entry in entries for change in entry.changes)

    def recalled(self, mark: str) -> RecalledLine | None:
        """The passage of this mark that was handed over and not refused."""
        rows = (row for entry in self.entries if isinstance(entry, WorkEntry) for row in entry.rows)
        lines = (
            line for row in rows if isinstance(row, RecalledWorkRow) for line in row.lines if mark not in row.refused
        )
        return next((line for line in lines if line.mark == mark), None)

    def question(self, message_id: str) -> UserEntry | None:
        """The message of the person under this id."""
        entries = (entry for entry in self.entries if isinstance(entry, UserEntry) and entry.message_id == message_id)
        return next(entries, None)

    @property
    def undoable(self) -> str | None:
        """The newest compaction that was not undone, the only one that can be undone."""
        standing = [event.compaction_id for event in self.compactions if not event.is_undone]
        return standing[-1] if standing else None

    @property
    def last_end(self) -> EndEntry | None:
        """How the newest turn ended; None while one runs or waits, and before the first."""
        if self.open_turn is not None:
            return None
        for entry in reversed(self.entries):
            if isinstance(entry, EndEntry):
                return entry
            if isinstance(entry, UserEntry):
                return None
        return None

    def _pending(self) -> Iterator[ApprovalRequested]:
        """What was asked about the calls that wait for the person."""
        return (
            entry.request for entry in self.entries if isinstance(entry, ApprovalEntry) and entry.state == "pending"
        )
