"""The index's SQLite files are whole when they are opened, and gone with all that belongs to them."""

from __future__ import annotations

from pathlib import Path

import pytest

from assistant.index.text.databases import open_database, remove_database

TABLES = ("CREATE TABLE IF NOT EXISTS words (word TEXT)",)


def words_in(path: Path) -> list[str]:
    connection = open_database(path, TABLES)
    try:
        return [word for (word,) in connection.execute("SELECT word FROM words")]
    finally:
        connection.close()


@pytest.mark.parametrize("left", ["damaged", "log of another file"])
def test_a_damaged_file_is_begun_anew_without_what_belonged_to_it(tmp_path: Path, left: str) -> None:
    path = tmp_path / "index" / "words.sqlite"
    assert words_in(path) == []
    path.write_bytes(b"no database" * 1_000)
    if left == "log of another file":
        path.with_name("words.sqlite-wal").write_bytes(b"\x37\x7f\x06\x82" + bytes(4_000))
    assert words_in(path) == []
    assert words_in(path) == []


def test_what_was_written_is_there_after_opening_again(tmp_path: Path) -> None:
    path = tmp_path / "words.sqlite"
    connection = open_database(path, TABLES)
    with connection:
        connection.execute("INSERT INTO words VALUES ('tea')")
    connection.close()
    assert words_in(path) == ["tea"]


def test_removing_takes_the_log_and_a_folder_in_its_place_too(tmp_path: Path) -> None:
    path = tmp_path / "words.sqlite"
    for suffix in ("", "-wal", "-shm"):
        path.with_name(path.name + suffix).write_bytes(b"x")
    path.with_name("words.sqlite-journal").mkdir()
    remove_database(path)
    assert list(tmp_path.iterdir()) == []
