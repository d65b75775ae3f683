"""Copies: verified, limited in number, and put back without losing what was there."""

from __future__ import annotations

import os
from datetime import timedelta
from pathlib import Path

import pytest

from assistant.errors import SessionBusyError, TranscriptError
from assistant.openclaw.backups import backup_path, copies_of, put_away, rescue_leftover, restore, write_backup
from assistant.openclaw.session_guard import claim_session, lock_file_of
from tests.openclaw.sessions import NOW


@pytest.fixture
def path(tmp_path: Path) -> Path:
    path = tmp_path / "s [1].jsonl"
    path.write_bytes(b"now")
    return path


def keep(path: Path, content: bytes, minutes: int, limit: int = 5) -> None:
    put_away(path, write_backup(path, [content]), NOW + timedelta(minutes=minutes), limit)


def test_the_backup_stands_beside_the_file_until_it_is_put_away(path: Path) -> None:
    assert write_backup(path, [b"a\n", b"b"]) == path.with_name("s [1].jsonl.bak")
    assert backup_path(path).read_bytes() == b"a\nb"
    copy = put_away(path, backup_path(path), NOW, 5)
    assert copy is not None and copy.read_bytes() == b"a\nb"
    assert not backup_path(path).exists()


def test_only_the_newest_copies_stay(path: Path) -> None:
    for minute in range(8):
        keep(path, f"copy {minute}".encode(), minute, limit=3)
    assert [copy.read_bytes() for copy in copies_of(path)] == [b"copy 7", b"copy 6", b"copy 5"]


def test_copies_of_one_second_do_not_overwrite_each_other(path: Path) -> None:
    keep(path, b"a", 0)
    keep(path, b"b", 0)
    assert [copy.read_bytes() for copy in copies_of(path)] == [b"b", b"a"]


def test_a_session_whose_name_begins_alike_keeps_its_own_copies(path: Path) -> None:
    other = path.with_name("s [1].20260101.jsonl")
    other.write_bytes(b"other")
    keep(other, b"theirs", 0)
    assert copies_of(path) == []


def test_without_a_limit_above_zero_none_is_kept(path: Path) -> None:
    keep(path, b"a", 0, limit=0)
    assert copies_of(path) == []


def test_the_newest_copy_is_put_back_and_what_stood_there_is_a_copy(path: Path) -> None:
    keep(path, b"old", 0)
    keep(path, b"older", -5)
    restore(path, NOW + timedelta(hours=1))
    assert path.read_bytes() == b"old"
    assert {copy.read_bytes() for copy in copies_of(path)} == {b"now", b"old", b"older"}


def test_a_named_copy_is_put_back(path: Path) -> None:
    keep(path, b"old", 0)
    keep(path, b"older", -5)
    restore(path, NOW, copies_of(path)[1].name)
    assert path.read_bytes() == b"older"


def test_a_restore_of_a_restore_is_where_one_began(path: Path) -> None:
    keep(path, b"old", 0)
    restore(path, NOW + timedelta(minutes=1))
    restore(path, NOW + timedelta(minutes=2))
    assert path.read_bytes() == b"now"


def test_a_deleted_session_can_be_put_back(path: Path) -> None:
    keep(path, b"old", 0)
    path.unlink()
    restore(path, NOW)
    assert path.read_bytes() == b"old"


def test_the_backup_of_a_killed_run_can_be_put_back(path: Path) -> None:
    write_backup(path, [b"before"])
    restore(path, NOW)
    assert path.read_bytes() == b"before"
    assert not backup_path(path).exists()


def test_without_a_copy_the_known_ones_are_named(path: Path) -> None:
    with pytest.raises(TranscriptError, match="Copies: none"):
        restore(path, NOW)
    keep(path, b"old", 0)
    with pytest.raises(TranscriptError, match=r"Copies: s \[1\]\.20260421T"):
        restore(path, NOW, "nope")


def test_a_leftover_that_is_the_file_itself_is_removed(path: Path) -> None:
    write_backup(path, [b"now"])
    path.with_name(".s [1].jsonl.new.tmp").write_bytes(b"half")
    assert "removed" in (rescue_leftover(path, NOW, 5) or "")
    assert [file.name for file in path.parent.iterdir()] == ["s [1].jsonl"]


def test_the_lock_is_the_one_openclaw_makes_and_goes_with_the_run(path: Path) -> None:
    with claim_session(path, NOW):
        assert f'"pid": {os.getpid()}' in lock_file_of(path).read_text("utf-8")
        with pytest.raises(SessionBusyError), claim_session(path, NOW):
            pass
        assert lock_file_of(path).exists()
    assert not lock_file_of(path).exists()
