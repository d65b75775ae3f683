"""The list of conversations in the journal: a fold over the heads of its lines, kept current by offset."""

from __future__ import annotations

import re
from dataclasses import dataclass, field, replace
from pathlib import Path

from assistant.messages.blocks import TextBlock
from assistant.storage.journal.files import FollowedFiles, JournalLine
from assistant.storage.journal.rows import BlockRow, DeletedRow, FlushRow, LeftRow, Row, UnwrittenRow, instant, read_row
from assistant.storage.journal.unwritten import Said, said_in
from assistant.text.json_parsing import parse_json

_HEAD = re.compile(rb'\{"session_id":("(?:[^"\\]|\\.)*"),"kind":"(\w+)","at":"([^"]*)"(?:,"role":"(\w+)")?')


@dataclass(frozen=True, slots=True)
class JournalSession:
    """What the rows of one conversation say of it: `last_at` is the time of its newest row."""

    session_id: str
    user_id: str
    last_at: str
    first_text: str
    block_count: int


@dataclass(slots=True)
class _Unwritten:
    """The flushes of one conversation that did not end; `open_id` is the one that has not begun."""

    pending_ids: set[str] = field(default_factory=set[str])
    open_id: str = ""
    said: Said = Said()
    """What the person said since the open one is due, counted until it is enough."""

    @property
    def is_due(self) -> bool:
        """True where a flush was cut off, or enough was said for one."""
        return bool(self.pending_ids - {self.open_id}) or (bool(self.open_id) and self.said.is_enough)


class JournalList:
    """Folds the day files of one folder; a second call reads only what was appended since."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._start_again()

    def sessions(self) -> list[JournalSession]:
        """The conversations that are not deleted, newest first."""
        self._read_on()
        return _newest_first([session for name, session in self._known.items() if name not in self._deleted])

    def deleted_sessions(self) -> list[JournalSession]:
        """The conversations in the trash, newest first."""
        self._read_on()
        return _newest_first([session for name, session in self._known.items() if name in self._deleted])

    def deleted_ids(self) -> set[str]:
        """The conversations whose newest `deleted` row says that they are."""
        self._read_on()
        return set(self._deleted)

    def open_flush_id(self, session_id: str) -> str:
        """The flush for which the conversation gathers what is said; empty where none is due."""
        self._read_on()
        unwritten = self._unwritten.get(session_id)
        return unwritten.open_id if unwritten else ""

    def unwritten_sessions(self) -> list[JournalSession]:
        """The conversations, not deleted, of which something is to be written to memory, newest first."""
        self._read_on()
        due = {name for name, unwritten in self._unwritten.items() if unwritten.is_due}
        return [session for session in self.sessions() if session.session_id in due]

    def _start_again(self) -> None:
        self._files = FollowedFiles(self._folder)
        self._unwritten: dict[str, _Unwritten] = {}
        self._known: dict[str, JournalSession] = {}
        self._deleted: set[str] = set()

    def _read_on(self) -> None:
        if self._files.were_rewritten():
            self._start_again()
        for line in self._files.new_lines():
            self._fold(line)

    def _fold(self, line: JournalLine) -> None:
        head = _HEAD.match(line.content)
        if not head:
            if row := read_row(line.content):
                self._fold_row(row)
            return
        quoted_id, kind, at, role = head.groups()
        try:
            session_id = str(parse_json(quoted_id))
        except ValueError:
            return
        known = self._known.get(session_id)
        is_counted = role == b"user" and self._counts_words(session_id)
        if known and kind == b"block" and (role != b"user" or known.first_text) and not is_counted:
            # The rest of the line would change nothing, and to parse it is what costs.
            self._count(known, at.decode("utf-8", "replace"))
        elif row := read_row(line.content):
            self._fold_row(row)

    def _fold_row(self, row: Row) -> None:
        if isinstance(row, DeletedRow):
            (self._deleted.discard if row.is_restored else self._deleted.add)(row.session_id)
        self._fold_unwritten(row)
        if not isinstance(row, BlockRow):
            return
        known = self._known.get(row.session_id) or JournalSession(row.session_id, row.user_id, row.at, "", 0)
        if row.role == "user" and not known.first_text and isinstance(row.block, TextBlock):
            known = replace(known, first_text=row.block.text)
        self._count(known, row.at)

    def _counts_words(self, session_id: str) -> bool:
        unwritten = self._unwritten.get(session_id)
        return unwritten is not None and bool(unwritten.open_id) and not unwritten.said.is_enough

    def _fold_unwritten(self, row: Row) -> None:
        match row:
            case UnwrittenRow():
                unwritten = self._unwritten.setdefault(row.session_id, _Unwritten())
                unwritten.pending_ids.add(row.flush_id)
                unwritten.open_id, unwritten.said = row.flush_id, Said()
            case LeftRow() | FlushRow():
                flush_id = row.flush_id if isinstance(row, LeftRow) else row.compaction_id
                if (unwritten := self._unwritten.get(row.session_id)) is None:
                    return
                if unwritten.open_id == flush_id:
                    unwritten.open_id = ""
                if isinstance(row, FlushRow):
                    unwritten.pending_ids.discard(flush_id)
            case BlockRow() if self._counts_words(row.session_id):
                unwritten, said = self._unwritten[row.session_id], said_in([row])
                unwritten.said = Said(unwritten.said.messages + said.messages, unwritten.said.chars + said.chars)
            case _:
                return

    def _count(self, known: JournalSession, at: str) -> None:
        self._known[known.session_id] = replace(known, last_at=at, block_count=known.block_count + 1)


def _newest_first(sessions: list[JournalSession]) -> list[JournalSession]:
    return sorted(sessions, key=lambda session: instant(session.last_at), reverse=True)
