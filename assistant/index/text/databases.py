"""SQLite files of the index: opened for their one owner, emptied where they are damaged, removed whole."""

from __future__ import annotations

import shutil
import sqlite3
from collections.abc import Sequence
from pathlib import Path


def open_database(path: Path, tables: Sequence[str]) -> sqlite3.Connection:
    """The database at `path` with its tables (`CREATE TABLE IF NOT EXISTS …`); a damaged file is emptied.

    What is deleted leaves no trace in free pages, so that nothing that was forgotten can be read there.
    """
    try:
        return _connect(path, tables)
    except sqlite3.DatabaseError:
        remove_database(path)
        return _connect(path, tables)


def remove_database(path: Path) -> None:
    """Delete a SQLite file with what belongs to it."""
    for suffix in ("", "-wal", "-shm", "-journal"):
        file = path.with_name(path.name + suffix)
        if file.is_dir() and not file.is_symlink():
            shutil.rmtree(file)
        else:
            file.unlink(missing_ok=True)


def _connect(path: Path, tables: Sequence[str]) -> sqlite3.Connection:
    path.parent.mkdir(parents=True, exist_ok=True)
    connection = sqlite3.connect(path, check_same_thread=False, timeout=10.0)
    try:
        connection.execute("PRAGMA auto_vacuum = INCREMENTAL")
        connection.execute("PRAGMA journal_mode = WAL")
        connection.execute("PRAGMA synchronous = NORMAL")
        connection.execute("PRAGMA secure_delete = ON")
        connection.execute("PRAGMA journal_size_limit = 4000000")
        for table in tables:
            connection.execute(table)
        if connection.execute("PRAGMA quick_check(1)").fetchone() != ("ok",):
            raise sqlite3.DatabaseError("pages are damaged")
    except BaseException:
        connection.close()
        raise
    return connection
