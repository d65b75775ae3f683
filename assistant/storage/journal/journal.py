"""The dialog journal: every block of every conversation, one JSON line each, written once and kept.

Files are `dialog/YYYY-MM-DD.jsonl`. One lock covers the folder, so that a key is written once even by two processes
around midnight.
"""

from __future__ import annotations

import logging
import re
import threading
import uuid
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import date, datetime, timedelta
from pathlib import Path

from assistant.messages.blocks import BlockKey, Msg, ToolResultBlock, is_said, iterate_blocks
from assistant.messages.hints import is_passing
from assistant.storage.artifacts import ARTIFACT_ID_KEY
from assistant.storage.atomic_io import append_lines, cut_torn_tail, hold_lock, replace_file
from assistant.storage.journal.day_parts import JournalSession
from assistant.storage.journal.files import (
    JournalLine,
    day_file,
    day_files,
    files_with_rows,
    has_whole_tail,
    read_lines,
)
from assistant.storage.journal.listing import Day, JournalList
from assistant.storage.journal.rows import (
    BlockRow,
    Row,
    UnwrittenRow,
    line_start,
    quotes,
    read_row,
    row_line,
    without_sessions,
    written_key,
    written_text,
)
from assistant.storage.journal.versions import dropped_keys
from assistant.storage.workspace import Workspace
from assistant.text.encoding import encode
from assistant.text.instant import instant
from assistant.text.known_secrets import NO_KNOWN_SECRETS, KnownSecrets

_ANY_SESSION = b'{"session_id":"'
_RECALLED = b'"kind":"recalled"'

_log = logging.getLogger(__name__)


@dataclass(slots=True)
class _SessionKeys:
    """The keys of one session in the journal, and how far each day file that has rows of it was read for them."""

    session_id: str
    start: bytes
    read_to: dict[Day, int] = field(default_factory=dict[Day, int])
    keys: set[BlockKey] = field(default_factory=set[BlockKey])


class Journal:
    """Appends to and reads the journal of one workspace. Safe to use from several threads and processes."""

    def __init__(
        self, workspace: Workspace, now: Callable[[], datetime], known: KnownSecrets = NO_KNOWN_SECRETS
    ) -> None:
        """`now` is zone-aware: its date names the day file. The values of `known` never come into a row."""
        self._folder = workspace.dialog_folder
        self._now = now
        self._known = known
        self._guard = threading.RLock()
        self._sessions: dict[str, _SessionKeys] = {}
        self._list = JournalList(self._folder, workspace.heads_path)
        self._damaged: set[tuple[Path, int]] = set()

    @property
    def damaged_lines(self) -> int:
        """How many of the lines read so far no reader can use; they are left unchanged."""
        return len(self._damaged)

    def count_damaged(self) -> int:
        """How many lines of all files no reader can use; every line is looked at."""
        lines = (line for path in day_files(self._folder) for line in read_lines(path))
        return sum(read_row(line.content) is None for line in lines)

    def append_missing(self, session_id: str, user_id: str, messages: Sequence[Msg]) -> list[BlockKey]:
        """Write the blocks whose key is not there yet, in order, and return their keys; durable on return."""
        return self._write(self._block_rows(session_id, user_id, messages))

    def append(self, rows: Sequence[Row]) -> None:
        """Write rows, without blocks that the journal has already; durable on return."""
        self._write(rows)

    def commit(self, session_id: str, user_id: str, messages: Sequence[Msg], rows: Sequence[Row]) -> None:
        """Write the missing blocks of `messages`, then `rows`, in one append; durable on return."""
        self._write([*self._block_rows(session_id, user_id, messages), *rows])

    def commit_due(self, session_id: str, user_id: str, messages: Sequence[Msg]) -> None:
        """Write the missing blocks, with the row before them that says that memory does not have them yet."""
        blocks = self._block_rows(session_id, user_id, messages)
        is_due = bool(blocks) and not self.open_flush_id(session_id)
        self._write([*([UnwrittenRow(session_id, uuid.uuid4().hex, blocks[0].at)] if is_due else []), *blocks])

    def has(self, session_id: str, key: BlockKey) -> bool:
        """True when the journal has the block."""
        with self._guard:
            self._list.read_on()
            return written_key(key) in self._session_keys(session_id).keys

    def rows(self, session_id: str, include_dropped: bool = False) -> list[Row]:
        """All rows of a session, oldest first, one a key (the first counts).

        Blocks that left the context are left out unless `include_dropped`.
        """
        with self._guard:
            self._list.read_on()
            session = self._session_keys(session_id)
            lines = [line for day in session.read_to for line in read_lines(self._folder / day.name)]
            rows = _oldest_first([(line.path, row) for line in lines if (row := self._row_of(line, session))])
        return list(_without_repeats(rows, set() if include_dropped else dropped_keys(rows)))

    def read_on(self) -> int:
        """Take in what is new in the day files, the first time maybe a lot; a number that grows where there was any."""
        with self._guard:
            self._list.read_on()
            return self._list.version

    def knows(self, session_id: str) -> bool:
        """True when the journal has a block of this conversation, deleted or not."""
        with self._guard:
            return self._list.knows(session_id)

    def sessions(self, left_out: Collection[str] = ()) -> list[JournalSession]:
        """What the journal knows of each conversation that is not deleted, newest first, without those `left_out`."""
        with self._guard:
            return self._list.sessions(left_out)

    def open_flush_id(self, session_id: str) -> str:
        """The flush for which the conversation gathers what is said; empty where none is due."""
        with self._guard:
            return self._list.open_flush_id(session_id)

    def unwritten_sessions(self) -> list[JournalSession]:
        """The conversations, not deleted, of which something is to be written to memory, newest first."""
        with self._guard:
            return self._list.unwritten_sessions()

    def deleted_sessions(self) -> list[JournalSession]:
        """What the journal knows of each conversation in the trash, newest first."""
        with self._guard:
            return self._list.deleted_sessions()

    def deleted_ids(self) -> set[str]:
        """The ids of the conversations in the trash."""
        with self._guard:
            return self._list.deleted_ids()

    def remove_sessions(self, session_ids: set[str]) -> int:
        """Take every word of these conversations out of the files, those recalled into others too.

        Returns how many rows changed. For emptying the trash.
        """
        return self.rewrite(lambda row: without_sessions(row, session_ids))

    def quoting(self, session_ids: set[str]) -> set[str]:
        """The other conversations into which something of these was recalled."""
        lines = (line for path in day_files(self._folder) for line in read_lines(path) if _RECALLED in line.content)
        rows = (row for line in lines if (row := read_row(line.content)))
        return {row.session_id for row in rows if quotes(row, session_ids)} - session_ids

    def named_elsewhere(self, names: Collection[str], session_ids: Collection[str]) -> set[str]:
        """Those of these names of files that the rows of other conversations have: a branch has those it copied."""
        if not names:
            return set()
        # The longest first: one name may begin another.
        ordered = sorted(names, key=len, reverse=True)
        wanted = re.compile(b"|".join(re.escape(encode(name)) for name in ordered))
        starts = tuple(line_start(session_id) for session_id in session_ids)
        lines = (line.content for path in day_files(self._folder) for line in read_lines(path))
        return {found.decode() for line in lines if not line.startswith(starts) for found in wanted.findall(line)}

    def rewrite(self, change: Callable[[Row], Row | None]) -> int:
        """Put `change(row)` in place of each row, nothing where it is None; returns how many rows changed.

        Each file is replaced as a whole, damaged lines stay. A kill leaves some files done: run it again. Copies of day
        files change with them and do not count.
        """
        with self._guard, hold_lock(self._folder / "journal"):
            self._damaged.clear()
            own = day_files(self._folder)
            for path in files_with_rows(self._folder):
                if path not in own:
                    _rewrite_file(path, change)
            changed = sum(_rewrite_file(path, change) for path in own)
            self._keep_rewritten()
            return changed

    def rewrite_lines(self, change: Callable[[bytes], bytes]) -> None:
        """Put `change(line)` in place of each line, damaged ones too, and cut a torn tail.

        Each file is replaced as a whole, copies of day files too. A kill leaves some files done: run it again.
        """
        with self._guard, hold_lock(self._folder / "journal"):
            for path in files_with_rows(self._folder):
                rewrite_lines(path, change)
            self._keep_rewritten()

    def said_since(self, at: str) -> Iterator[str]:
        """What the person said after that time, in any conversation."""
        with self._guard:
            self._list.read_on()
            # A day file is named by the person's date, which may differ from that of `at` by one.
            paths = [self._folder / name for name in self._list.names() if name >= _day_before(at)]
            lines = [line.content for path in paths for line in read_lines(path) if b'"role":"user"' in line.content]
        for row in map(read_row, lines):
            if (
                isinstance(row, BlockRow)
                and row.role == "user"
                and is_said(row.block)
                and instant(row.at) > instant(at)
            ):
                yield row.block.text

    def _block_rows(self, session_id: str, user_id: str, messages: Sequence[Msg]) -> list[BlockRow]:
        at = self._now().isoformat(timespec="milliseconds")
        return [
            BlockRow(
                session_id=session_id,
                user_id=user_id,
                message_id=placed.message.id,
                role=placed.message.role,
                name=placed.message.name,
                block=placed.block,
                at=at,
                created_at=placed.message.created_at,
            )
            for placed in iterate_blocks(messages)
            if not is_passing(placed.block)
        ]

    def _write(self, rows: Sequence[Row]) -> list[BlockKey]:
        with self._guard, hold_lock(self._folder / "journal"):
            self._list.read_on()
            session_ids = {row.session_id for row in rows if isinstance(row, BlockRow)}
            standing = {session_id: self._session_keys(session_id).keys for session_id in session_ids}
            # Most blocks of a long conversation stand there already, so they are left out before all else.
            missing = (
                row
                for row in rows
                if not isinstance(row, BlockRow) or written_key(row.key) not in standing[row.session_id]
            )
            new_rows = list(_without_repeats(missing, set()))
            if new_rows:
                path = _file_to_append(self._folder, self._list.names(), self._now())
                self._list.expect_change(path.name)
                _append(path, [self._known.mask(row_line(row)) for row in new_rows])
        return [written_key(row.key) for row in new_rows if isinstance(row, BlockRow)]

    def _session_keys(self, session_id: str) -> _SessionKeys:
        """The keys of a session, read on in the days that the list has read on."""
        session_id = written_text(session_id)
        days = self._list.days_of(session_id)
        session = self._sessions.get(session_id)
        if session is None or not session.read_to.keys() <= set(days):
            session = _SessionKeys(session_id, line_start(session_id))
            self._sessions[session_id] = session
        for day in days:
            for line in read_lines(self._folder / day.name, session.read_to.get(day, 0), day.offset):
                row = self._row_of(line, session)
                if isinstance(row, BlockRow):
                    session.keys.add(row.key)
        session.read_to = {day: day.offset for day in days}
        return session

    def _keep_rewritten(self) -> None:
        """What was taken out of the files goes out of the store too."""
        self._list.read_on()
        self._list.keep()

    def _row_of(self, line: JournalLine, session: _SessionKeys) -> Row | None:
        """The row of the line if it is one of the session's; lines of other sessions are recognised without parsing."""
        if line.content.startswith(_ANY_SESSION) and not line.content.startswith(session.start):
            return None
        row = read_row(line.content)
        if row is None:
            self._damaged.add((line.path, line.start))
        return row if row and row.session_id == session.session_id else None


def rewrite_lines(path: Path, change: Callable[[bytes], bytes]) -> None:
    """Put `change(line)` in place of each line of a file of rows and cut a torn tail; the file is replaced whole."""
    lines = list(read_lines(path))
    contents = [change(line.content) for line in lines]
    is_torn = path.stat().st_size > (lines[-1].stop if lines else 0)
    if is_torn or contents != [line.content for line in lines]:
        replace_file(path, b"".join(content + b"\n" for content in contents))


def artifact_ids_of(rows: Iterable[Row]) -> list[str]:
    """Ids of the full texts that the tool results of these rows name, each once, oldest first."""
    blocks = [row.block for row in rows if isinstance(row, BlockRow)]
    named = [block.metadata.get(ARTIFACT_ID_KEY) for block in blocks if isinstance(block, ToolResultBlock)]
    return list(dict.fromkeys(name for name in named if isinstance(name, str)))


def _file_to_append(folder: Path, names: Sequence[str], now: datetime) -> Path:
    """The file of the day; that of a later day where the clock was set back since, so that what is new comes last.

    A person who travelled has an earlier day too, but no later moment.
    """
    today = day_file(folder, now.date())
    for path in (folder / name for name in reversed(names) if name > today.name):
        rows = [row for line in read_lines(path) if (row := read_row(line.content))]
        if rows and max(instant(row.at) for row in rows) > now.timestamp():
            return path
    return today


def _append(path: Path, lines: Iterable[str]) -> None:
    if has_whole_tail(path):
        with path.open("ab") as file:
            file.write(b"\n")
    if torn := cut_torn_tail(path):
        _log.warning("%s ended in %d bytes of a write that was cut off; they were removed.", path.name, len(torn))
    append_lines(path, lines)


def _day_before(at: str) -> str:
    return (date.fromisoformat(at[:10]) - timedelta(days=1)).isoformat()


def _oldest_first(rows: Sequence[tuple[Path, Row]]) -> list[Row]:
    """By time, but within one file as appended: a clock set back must not part what was written in order."""
    timed: list[tuple[float, Row]] = []
    newest: dict[Path, float] = {}
    for path, row in rows:
        newest[path] = max(newest.get(path, float("-inf")), instant(row.at))
        timed.append((newest[path], row))
    return [row for _, row in sorted(timed, key=lambda pair: pair[0])]


def _without_repeats(rows: Iterable[Row], left_out: set[BlockKey]) -> Iterable[Row]:
    seen: set[tuple[str, BlockKey]] = set()
    for row in rows:
        if isinstance(row, BlockRow):
            key = row.key
            if key in left_out or (row.session_id, key) in seen:
                continue
            seen.add((row.session_id, key))
        yield row


def _rewrite_file(path: Path, change: Callable[[Row], Row | None]) -> int:
    contents: list[bytes] = []
    changed = 0
    for line in read_lines(path):
        row = read_row(line.content)
        new_row = change(row) if row else None
        if row and new_row != row:
            changed += 1
            if new_row:
                contents.append(encode(row_line(new_row)))
        else:
            contents.append(line.content)
    if changed:
        replace_file(path, b"".join(content + b"\n" for content in contents))
    return changed
