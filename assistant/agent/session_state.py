"""Journal → session file → the agent's state: the one order in which a conversation changes on disk.

Nothing here awaits, so no cancellation can fall between two of its steps. Where a step fails, the state before stands.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import datetime

from agentscope.state import AgentState

from assistant.agent.hooks.recall import without_recall
from assistant.compaction.pins import Pin, pins_to_quote, write_summary_message
from assistant.compaction.record import CompactionRecord
from assistant.config.prompts import Language
from assistant.errors import CompactionError
from assistant.messages.blocks import BlockKey, Msg, TextBlock, UserMsg, block_keys, block_text, copy_with_blocks
from assistant.messages.events import FinishReason, RecalledLine
from assistant.storage.journal.journal import Journal
from assistant.storage.journal.rebuild import complete_messages, since_clear
from assistant.storage.journal.rows import (
    BlockRow,
    DroppedRow,
    DropReason,
    QueuedRow,
    RecalledRow,
    Row,
    TurnEndRow,
    UndoneRow,
)
from assistant.storage.sessions.session_file import Session
from assistant.storage.sessions.sessions import Sessions


class SessionKeeper:
    """Keeps one conversation on disk in step with its agent's state."""

    def __init__(
        self,
        session: Session,
        state: AgentState,
        journal: Journal,
        sessions: Sessions,
        now: Callable[[], datetime],
        language: Callable[[], Language],
    ) -> None:
        self.session = session
        self.state = state
        self._journal = journal
        self._sessions = sessions
        self._now = now
        self._language = language
        self._known_pins: dict[BlockKey, Pin] = {}
        state.session_id = session.session_id
        self._swap(session)

    def queue(self, message: Msg) -> None:
        """A message that has to wait is on disk at once; `waiting` finds it until its turn begins."""
        rows = [
            QueuedRow(self.session.session_id, message.id, message.name, block, self.at(), message.created_at)
            for block in message.content
            if isinstance(block, TextBlock)
        ]
        self._journal.append(rows)

    def waiting(self) -> list[Msg]:
        """The queued messages whose turn never began, oldest first."""
        rows = since_clear(self._journal.rows(self.session.session_id, include_dropped=True))
        gone = {row.key for row in rows if isinstance(row, BlockRow)}
        gone |= {key for row in rows if isinstance(row, DroppedRow) for key in row.keys}
        return [_message_of(row) for row in rows if isinstance(row, QueuedRow) and row.key not in gone]

    def start_turn(self, *messages: Msg) -> None:
        """The user's message stands in the journal, and then in the context, before anything is done with it."""
        # What healing put into the context comes first: it belongs to an older message.
        self._journal.append_missing(self.session.session_id, self.session.user_id, [*self.state.context, *messages])
        self.state.context.extend(messages)

    def keep(self) -> None:
        """Every block so far is in the journal, and the session file holds the context as it is."""
        self._journal.append_missing(self.session.session_id, self.session.user_id, self.state.context)
        self._save(self._current())

    def recall(self, lines: tuple[RecalledLine, ...]) -> None:
        """The journal says what is handed over for the turn that begins; it is never part of the conversation."""
        self._journal.append([RecalledRow(self.session.session_id, lines, self.at())])

    def end_turn(self, turn_id: str, reason: FinishReason, error: str = "") -> None:
        """Like `keep`, and the journal says how the turn ended; what was recalled for it leaves the context."""
        self.state.context = without_recall(self.state.context)
        row = TurnEndRow(self.session.session_id, turn_id, reason, error, self.at())
        self._journal.commit(self.session.session_id, self.session.user_id, self.state.context, [row])
        self._save(self._current())

    def commit_compaction(self, record: CompactionRecord, messages: Sequence[Msg]) -> None:
        """The record and all it folded are in the journal, then the session file and the state hold what is left."""
        self._journal.commit(self.session.session_id, self.session.user_id, self.state.context, [record])
        after = replace(
            self._current(), messages=list(messages), summary=record.summary, compaction_id=record.compaction_id
        )
        self._save(after)
        self._swap(after)

    def replace_messages(self, messages: Sequence[Msg]) -> None:
        """The same blocks, some of them shortened; what they said in full is in the journal or an artifact already."""
        self.keep()
        self.state.context = list(messages)

    def undo_compaction(self, fit: Callable[[Sequence[Msg], str], list[Msg]]) -> CompactionRecord:
        """Take the newest compaction back and return it.

        `fit` gets the messages and the summary that would stand then, and returns the messages as they can stand in the
        context; it raises `CompactionError` to refuse.
        """
        row = self.newest_compaction()
        if row is None:
            raise CompactionError("Nothing to undo: this conversation has not been compacted.")
        self._journal.append_missing(self.session.session_id, self.session.user_id, self.state.context)
        messages = fit(complete_messages(self.state.context, self._rows(), row.parent_id), row.previous_summary)
        undone = UndoneRow(self.session.session_id, row.compaction_id, self.at())
        self._journal.commit(self.session.session_id, self.session.user_id, self.state.context, [undone])
        after = replace(self._current(), messages=messages, summary=row.previous_summary, compaction_id=row.parent_id)
        self._save(after)
        self._swap(after)
        return row

    def newest_compaction(self) -> CompactionRecord | None:
        """The record under the present summary; None when there is none."""
        for row in reversed(self._rows()):
            if isinstance(row, CompactionRecord) and row.compaction_id == self.session.compaction_id:
                return row
        return None

    def drop(self, keys: Sequence[BlockKey], reason: DropReason) -> None:
        """Blocks leave the context for good; the journal keeps them and says that they left."""
        self._write_dropped(keys, reason)
        gone = set(keys)
        messages = [_without(message, gone) for message in self.state.context]
        self._leave(replace(self._current(), messages=[message for message in messages if message.content]))

    def clear(self) -> None:
        """Everything leaves the context, the summary too."""
        self._write_dropped(block_keys(self.state.context), "clear")
        self._leave(replace(self._current(), messages=[], summary="", compaction_id=None))

    def rename(self, title: str) -> None:
        """Give the conversation a title."""
        after = replace(self._current(), title=title)
        self._save(after)

    def pin(self, keys: Sequence[BlockKey]) -> None:
        """These blocks, and no others, are pinned from now on."""
        after = replace(self._current(), pins=tuple(keys))
        self._save(after)
        self._swap(after)

    def pins_of(self, keys: Sequence[BlockKey]) -> list[Pin]:
        """The blocks of these keys as pins, in the order of the keys; a key the journal does not know is left out."""
        if not self._known_pins.keys() >= set(keys):
            # A row never changes, so the journal is read for pins that are new, not at every check.
            rows = self._journal.rows(self.session.session_id, include_dropped=True)
            found = [row for row in rows if isinstance(row, BlockRow) and row.key in keys]
            self._known_pins |= {row.key: Pin(row.key, row.role, row.at, block_text(row.block)) for row in found}
        return [self._known_pins[key] for key in keys if key in self._known_pins]

    def render_summary(self, summary: str, messages: Sequence[Msg]) -> str:
        """What the model reads before the messages: the summary, and the pins that are not among them."""
        pins = self.pins_of(self.session.pins)
        return write_summary_message(summary, pins_to_quote(pins, messages), self._language())

    def at(self) -> str:
        """The time now, as rows and records write it."""
        return self._now().isoformat(timespec="milliseconds")

    def _write_dropped(self, keys: Sequence[BlockKey], reason: DropReason) -> None:
        row = DroppedRow(self.session.session_id, tuple(keys), reason, self.at())
        self._journal.commit(self.session.session_id, self.session.user_id, self.state.context, [row])

    def _leave(self, after: Session) -> None:
        """A `dropped` row counts without the session file, so the state follows it even where the file cannot."""
        self.session = after
        self._swap(after)
        self._save(after)

    def _current(self) -> Session:
        rest = self.state.model_dump(
            mode="json",
            # What the Read tool cached is read again when needed; it can be many megabytes.
            exclude={"context": True, "summary": True, "tool_context": {"read_file_cache"}},
        )
        return replace(self.session, messages=list(self.state.context), agent_state=rest, updated_at=self.at())

    def _save(self, session: Session) -> None:
        self._sessions.save(session)
        self.session = session

    def _swap(self, session: Session) -> None:
        self.state.context = list(session.messages)
        self.state.summary = self.render_summary(session.summary, self.state.context)

    def _rows(self) -> list[Row]:
        return self._journal.rows(self.session.session_id)


def _message_of(row: QueuedRow) -> Msg:
    return UserMsg(row.name, [row.block], id=row.message_id, created_at=row.created_at)


def _without(message: Msg, gone: set[BlockKey]) -> Msg:
    kept = [block for block in message.content if BlockKey(message.id, block.type, block.id) not in gone]
    return message if len(kept) == len(message.content) else copy_with_blocks(message, kept)
