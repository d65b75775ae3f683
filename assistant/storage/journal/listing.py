"""The list of conversations in the journal: what each day file says of them, kept current by offset and over starts."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable
from dataclasses import dataclass, field
from pathlib import Path

from pydantic import TypeAdapter

from assistant.storage.folder_look import FileSign, FolderLook
from assistant.storage.head_store import HeadStore, KeptFile
from assistant.storage.journal.day_parts import (
    DayPart,
    JournalSession,
    flushes_of,
    fold_line,
    is_deleted,
    session_of,
)
from assistant.storage.journal.files import is_day_file, read_lines
from assistant.text.instant import instant

_TAIL_BYTES = 128
_KEPT_BEHIND_BYTES = 1_000_000
"""So much of the day files a start may read again, rather than write to the store with each row."""


@dataclass(slots=True, eq=False)
class Day:
    """A day file as far as it was read; a rewritten file is another object."""

    name: str
    sign: FileSign
    offset: int = 0
    tail: bytes = b""
    """The last bytes of the line before `offset`."""
    parts: dict[str, DayPart] = field(default_factory=dict[str, DayPart])
    """By conversation."""


@dataclass(slots=True)
class _KeptDay:
    offset: int
    tail: str
    parts: dict[str, DayPart]


_KEPT_DAYS = TypeAdapter(list[_KeptDay])


class JournalList:
    """Folds the day files of one folder; a second call reads only what was appended since, a second start too."""

    def __init__(self, folder: Path, store_path: Path) -> None:
        self._folder = folder
        self._look = FolderLook(folder, is_day_file)
        self._store = HeadStore(store_path, folder.name, _KEPT_DAYS)
        self._days: dict[str, Day] = {}
        self._day_names: defaultdict[str, set[str]] = defaultdict(set)
        """The days of each conversation."""
        self.version = 0
        """Grows with whatever the list learns."""
        self._deleted: set[str] = set()
        self._deleted_version = -1
        self._is_loaded = False
        self._not_kept: set[str] = set()
        self._behind_bytes = 0

    def names(self) -> list[str]:
        """The names of the day files, oldest first, as the last `read_on` found them."""
        return sorted(self._days)

    def days_of(self, session_id: str) -> list[Day]:
        """The day files that have rows of a conversation, oldest first, as the last `read_on` found them."""
        return [self._days[name] for name in sorted(self._day_names.get(session_id, ()))]

    def knows(self, session_id: str) -> bool:
        """Whether blocks of this conversation are in the journal."""
        self.read_on()
        return session_of(session_id, self._parts(session_id)) is not None

    def sessions(self, left_out: Collection[str] = ()) -> list[JournalSession]:
        """The conversations that are not deleted, newest first, but for those that are `left_out`."""
        deleted = self.deleted_ids()
        return self._newest_first(name for name in self._day_names if name not in deleted and name not in left_out)

    def deleted_sessions(self) -> list[JournalSession]:
        """The conversations in the trash, newest first."""
        return self._newest_first(self.deleted_ids())

    def deleted_ids(self) -> set[str]:
        """The conversations whose newest `deleted` row says that they are."""
        self.read_on()
        if self._deleted_version != self.version:
            told = {
                session_id
                for day in self._days.values()
                for session_id, part in day.parts.items()
                if part.is_deleted is not None
            }
            self._deleted = {session_id for session_id in told if is_deleted(self._parts(session_id))}
            self._deleted_version = self.version
        return set(self._deleted)

    def open_flush_id(self, session_id: str) -> str:
        """The flush for which the conversation gathers what is said; empty where none is due."""
        self.read_on()
        return flushes_of(self._parts(session_id)).open_id

    def unwritten_sessions(self) -> list[JournalSession]:
        """The conversations, not deleted, of which something is to be written to memory, newest first."""
        deleted = self.deleted_ids()
        begun = {name for day in self._days.values() for name, part in day.parts.items() if part.begins_flush}
        return self._newest_first(name for name in begun - deleted if flushes_of(self._parts(name)).is_due)

    def read_on(self) -> None:
        """Take in what was appended, rewritten or removed since the last time."""
        signs = self._look.signs()
        if not self._is_loaded:
            self._is_loaded = True
            self._load()
        for name in self._days.keys() - signs.keys():
            self._forget(name)
        for name in sorted(signs):
            day = self._days.get(name)
            if day is None or day.sign != signs[name]:
                self._read_day(name, signs[name])
        if self._behind_bytes >= _KEPT_BEHIND_BYTES:
            self.keep()

    def expect_change(self, name: str) -> None:
        """This program wrote that day file just now."""
        self._look.expect_change(name)

    def keep(self) -> None:
        """Bring the store in step with what was read."""
        days = {name: self._days[name] for name in self._not_kept if name in self._days}
        kept = {
            name: KeptFile(day.sign, _KeptDay(day.offset, day.tail.decode("latin-1"), day.parts))
            for name, day in days.items()
        }
        self._store.keep(kept, self._not_kept - days.keys())
        self._not_kept.clear()
        self._behind_bytes = 0

    def _load(self) -> None:
        for name, kept in self._store.load().items():
            day = kept.value
            tail = day.tail.encode("latin-1", "replace")
            self._take(Day(name, kept.sign, day.offset, tail, day.parts))

    def _take(self, day: Day) -> None:
        self.version += 1
        self._days[day.name] = day
        for session_id in day.parts:
            self._day_names[session_id].add(day.name)

    def _forget(self, name: str) -> None:
        self.version += 1
        day = self._days.pop(name)
        self._not_kept.add(name)
        # What is in no file any more is not kept any longer.
        self._behind_bytes += _KEPT_BEHIND_BYTES
        for session_id in day.parts:
            names = self._day_names[session_id]
            names.discard(name)
            if not names:
                del self._day_names[session_id]

    def _read_day(self, name: str, sign: FileSign) -> None:
        day = self._days.get(name)
        if day is not None and _was_rewritten(self._folder / name, day, sign):
            self._forget(name)
            day = None
        if day is None:
            day = Day(name, sign)
        start = day.offset
        for line in read_lines(self._folder / name, day.offset):
            fold_line(day.parts, line.content)
            day.offset, day.tail = line.stop, line.content[-_TAIL_BYTES:]
        day.sign = sign
        self._take(day)
        self._not_kept.add(name)
        self._behind_bytes += day.offset - start

    def _parts(self, session_id: str) -> list[DayPart]:
        return [self._days[name].parts[session_id] for name in sorted(self._day_names.get(session_id, ()))]

    def _newest_first(self, session_ids: Iterable[str]) -> list[JournalSession]:
        found = [session for name in session_ids if (session := session_of(name, self._parts(name)))]
        return sorted(found, key=lambda session: instant(session.last_at), reverse=True)


def _was_rewritten(path: Path, day: Day, sign: FileSign) -> bool:
    """Whether something that was read is not there any more."""
    if sign.inode != day.sign.inode or sign.size < day.offset:
        return True
    with path.open("rb") as file:
        file.seek(max(0, day.offset - len(day.tail) - 1))
        return day.tail not in file.read(len(day.tail) + 1)
