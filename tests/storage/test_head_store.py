"""What is kept of a home from one start to the next: never more than a cache, whatever became of it or of the files."""

from __future__ import annotations

import os
import shutil
import sqlite3
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from assistant.messages.blocks import Msg, TextBlock, UserMsg
from assistant.storage.journal.journal import Journal
from assistant.storage.sessions.session_file import Session
from assistant.storage.sessions.sessions import Sessions
from assistant.storage.workspace import Workspace

NOON = datetime(2026, 5, 2, 12, 0, tzinfo=UTC)


class Start:
    """One start of the program in a home, on a day."""

    def __init__(self, root: Path, day: int = 9) -> None:
        self.workspace = Workspace(root)
        self.journal = Journal(self.workspace, lambda: NOON + timedelta(days=day))
        self.sessions = Sessions(self.workspace, self.journal, lambda: NOON + timedelta(days=day))

    def say(self, session_id: str, text: str, *, has_file: bool = True) -> None:
        """The person says something, which is due to be written to memory."""
        message = said(f"{session_id}-{text}", text)
        self.journal.commit_due(session_id, "owner", [message])
        if has_file:
            self.sessions.save(Session("owner", session_id, messages=[message]))

    def keep(self) -> None:
        """What the program does once it has read much."""
        self.sessions.rewrite_files(lambda content: content)
        self.journal.rewrite_lines(lambda line: line)

    def told(self) -> list[object]:
        """All that lists say."""
        ids = ("a", "b", "gone", "unfiled", "new")
        return [
            self.sessions.list(),
            self.sessions.trashed(),
            self.journal.sessions(),
            self.journal.deleted_ids(),
            self.journal.unwritten_sessions(),
            [self.journal.open_flush_id(session_id) for session_id in ids],
            [len(self.journal.rows(session_id)) for session_id in ids],
        ]


def said(message_id: str, text: str) -> Msg:
    return UserMsg("user", [TextBlock(id=message_id, text=text)], id=message_id)


def store_of(root: Path) -> Path:
    return Workspace(root).heads_path


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """Five days with conversations, one in the trash and one without a file, and all of it in the store."""
    root = tmp_path / "home"
    for day, session_id in enumerate(("a", "b", "gone", "a", "unfiled")):
        Start(root, day).say(session_id, f"words {day} " * 30, has_file=session_id != "unfiled")
    Start(root, 5).sessions.trash("gone")
    Start(root, 6).keep()
    return root


def _one_row(root: Path, value: str) -> None:
    with sqlite3.connect(store_of(root)) as connection:
        connection.execute("UPDATE files SET value = ?", (value,))
    connection.close()


def _other_version(root: Path) -> None:
    with sqlite3.connect(store_of(root)) as connection:
        connection.execute("DROP TABLE files")
        connection.execute("CREATE TABLE files (anything TEXT)")
        connection.execute("PRAGMA user_version = 99")
    connection.close()


def _damage(root: Path, start: int) -> None:
    content = store_of(root).read_bytes()
    store_of(root).write_bytes(content[:start] + b"\xff" * (len(content) - start))


def _replace_with_folder(root: Path) -> None:
    store_of(root).unlink()
    (store_of(root) / "in the way").mkdir(parents=True)


def _copied_home(root: Path) -> None:
    shutil.copytree(root, root.with_name("copy"))
    shutil.rmtree(root)
    root.with_name("copy").rename(root)


def _session(root: Path, name: str = "owner_a.json") -> Path:
    return Workspace(root).sessions_folder / name


def _day(root: Path, day: int = 2) -> Path:
    return Workspace(root).dialog_folder / f"2026-05-0{day}.jsonl"


def _edit(path: Path) -> None:
    path.write_bytes(path.read_bytes().replace(b"words", b"WORDS"))


def _edit_by_replacing(path: Path) -> None:
    other = path.with_name("other")
    other.write_bytes(path.read_bytes().replace(b"words", b"WORDS"))
    other.replace(path)


def _tear(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:-20])


DISAGREEMENTS: dict[str, Callable[[Path], object]] = {
    "nothing happened": lambda root: None,
    "an older home has no store": lambda root: store_of(root).unlink(),
    "the folder of the store is gone": lambda root: shutil.rmtree(store_of(root).parent),
    "the store is of another version": _other_version,
    "the store is empty": lambda root: store_of(root).write_bytes(b""),
    "the store is no database": lambda root: store_of(root).write_bytes(b"no database at all " * 900),
    "the store was cut off": lambda root: os.truncate(store_of(root), 5000),
    "the store is damaged in its middle": lambda root: _damage(root, 4096),
    "a folder stands where the store was": _replace_with_folder,
    "rows hold something else": lambda root: _one_row(root, '{"a": 1}'),
    "rows hold no JSON": lambda root: _one_row(root, "]["),
    "rows hold two values": lambda root: _one_row(root, "null,null"),
    "a kill came between a file and the store": lambda root: Start(root).say("new", "more"),
    "an older version said more": lambda root: Start(root, 0).say("a", "on the first day"),
    "a context was edited in place": lambda root: _edit(_session(root)),
    "a context was replaced": lambda root: _edit_by_replacing(_session(root)),
    "a context was cut off": lambda root: _tear(_session(root)),
    "a context was removed": lambda root: _session(root).unlink(),
    "a context was doubled by a sync program": lambda root: shutil.copy(_session(root), _session(root, "a 2.json")),
    "a context came in from elsewhere": lambda root: _session(root, "owner_new.json").write_bytes(
        _session(root).read_bytes().replace(b'"session_id":"a"', b'"session_id":"new"')
    ),
    "the trash was emptied by hand": lambda root: shutil.rmtree(Workspace(root).trash_folder),
    "a day was edited in place": lambda root: _edit(_day(root)),
    "a day was replaced": lambda root: _edit_by_replacing(_day(root)),
    "a day was cut off": lambda root: _tear(_day(root)),
    "a day was removed": lambda root: _day(root).unlink(),
    "the day of a deletion was removed": lambda root: _day(root, 7).unlink(),
    "a day was doubled by a sync program": lambda root: shutil.copy(
        _day(root), _day(root).with_name("2026-05-02 2.jsonl")
    ),
    "a day was put back from elsewhere": lambda root: shutil.copy(_day(root), _day(root, 1)),
    "all contexts are gone": lambda root: shutil.rmtree(Workspace(root).sessions_folder),
    "all days are gone": lambda root: shutil.rmtree(Workspace(root).dialog_folder),
    "the whole home was copied": _copied_home,
}


@pytest.mark.parametrize("disagree", DISAGREEMENTS.values(), ids=DISAGREEMENTS.keys())
def test_whatever_happened_lists_say_what_the_files_do(home: Path, disagree: Callable[[Path], object]) -> None:
    disagree(home)
    first, again = Start(home).told(), Start(home).told()
    Start(home).keep()
    kept = Start(home).told()
    for path in store_of(home).parent.rglob("*"):
        if path.is_file():
            path.unlink()
    assert [first, again, kept] == [Start(home).told()] * 3


def test_what_is_kept_is_believed_of_files_that_look_the_same(home: Path) -> None:
    before = Start(home).told()
    for path in (_session(home), _session(home, "owner_b.json"), _day(home)):
        status = path.stat()
        path.write_bytes(path.read_bytes().replace(b"words", b"WORDS"))
        os.utime(path, ns=(status.st_atime_ns, status.st_mtime_ns))
    assert Start(home).told()[:3] == before[:3]
    store_of(home).unlink()
    assert Start(home).told()[:3] != before[:3]


def test_two_starts_at_once_leave_a_store_that_agrees_with_the_files(home: Path) -> None:
    one, other = Start(home), Start(home)
    one.say("new", "from one")
    other.say("b", "from the other")
    one.keep()
    other.say("new", "more from the other")
    other.keep()
    assert Start(home).told() == one.told() == other.told()


def test_a_store_that_another_process_writes_keeps_nobody_from_the_list(home: Path) -> None:
    before = Start(home).told()
    with sqlite3.connect(store_of(home), isolation_level=None) as connection:
        connection.execute("BEGIN EXCLUSIVE")
        start = Start(home)
        assert start.told() == before
        start.keep()
        connection.execute("COMMIT")
    connection.close()
    assert Start(home).told() == before


def test_a_home_that_cannot_be_written_is_listed(home: Path) -> None:
    before = Start(home).told()
    store_of(home).unlink()
    store_of(home).parent.rmdir()
    store_of(home).parent.write_text("a file in the way of the folder")
    assert Start(home).told() == before


def test_what_was_taken_out_of_the_files_is_not_in_the_store_either(home: Path) -> None:
    start = Start(home)
    start.sessions.rename("b", "a title to forget")
    start.keep()
    assert b"words 0" in store_of(home).read_bytes()
    assert b"a title to forget" in store_of(home).read_bytes()

    start.sessions.rewrite_files(lambda content: content.replace(b"a title to forget", b"------"))
    start.journal.rewrite_lines(lambda line: line.replace(b"words 0", b"------"))
    assert b"words 0" not in store_of(home).read_bytes()
    assert b"a title to forget" not in store_of(home).read_bytes()


def test_deleted_conversations_leave_the_store_when_the_trash_is_emptied(home: Path) -> None:
    assert b"words 2" in store_of(home).read_bytes()
    assert Start(home).sessions.empty_trash(lambda ids: None) == {"gone"}
    assert b"words 2" not in store_of(home).read_bytes()
    assert Start(home).sessions.trashed() == []
