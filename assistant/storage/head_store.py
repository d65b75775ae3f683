"""What was read in the files of a home, kept from one start to the next: a cache, the files are the truth.

One SQLite file; each row stands beside the sign of the file it was read in, so that a reader tells whether it still
holds. Where the store is missing, damaged, locked or of another version, the files are read.
"""

from __future__ import annotations

import logging
import sqlite3
from collections.abc import Collection, Generator, Mapping
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Generic, TypeVar

from pydantic import TypeAdapter, ValidationError

from assistant.storage.folder_look import FileSign

_VERSION = 1
_LOCK_SECONDS = 1.0
_TABLE = (
    "CREATE TABLE files (folder TEXT, name TEXT, inode INTEGER, size INTEGER, changed_ns INTEGER, value TEXT, "
    "PRIMARY KEY (folder, name))"
)

log = logging.getLogger(__name__)

T = TypeVar("T")


@dataclass(slots=True)
class KeptFile(Generic[T]):
    """What was read in a file that looked like this."""

    sign: FileSign
    value: T


class HeadStore(Generic[T]):
    """What is kept of the files of one folder. It holds no connection open, and never raises: the files can be read."""

    def __init__(self, path: Path, folder: str, values: TypeAdapter[list[T]]) -> None:
        """`path` is the store of the home; `values` checks what comes out of it."""
        self._path = path
        self._folder = folder
        self._values = values

    def load(self) -> dict[str, KeptFile[T]]:
        """What is kept, by the name of the file."""
        if not self._path.is_file():
            return {}
        try:
            with self._connected() as connection:
                if _version_of(connection) != _VERSION:
                    return {}
                rows = connection.execute(
                    "SELECT name, inode, size, changed_ns, value FROM files WHERE folder = ?", (self._folder,)
                ).fetchall()
            # One parse of ten thousand texts takes a fraction of ten thousand.
            values = self._values.validate_json(f"[{','.join(row[4] for row in rows)}]")
            return {row[0]: KeptFile(FileSign(*row[1:4]), value) for row, value in zip(rows, values, strict=True)}
        except sqlite3.OperationalError as error:
            log.info("the store of heads cannot be read now: %s", error)
        except (sqlite3.DatabaseError, ValidationError, ValueError, TypeError) as error:
            log.warning("the store of heads is damaged and made again: %s", error)
            self._remove()
        return {}

    def keep(self, changed: Mapping[str, KeptFile[T]], gone: Collection[str] = ()) -> None:
        """Put these in place of what is kept of these files, and let go of those that are gone."""
        if not changed and not gone:
            return
        rows = [(self._folder, name, *kept.sign, self._text(kept.value)) for name, kept in changed.items()]
        try:
            self._path.parent.mkdir(parents=True, exist_ok=True)
            with self._connected() as connection:
                connection.execute("BEGIN IMMEDIATE")
                if _version_of(connection) != _VERSION:
                    connection.execute("DROP TABLE IF EXISTS files")
                    connection.execute(_TABLE)
                    connection.execute(f"PRAGMA user_version = {_VERSION}")
                connection.executemany("INSERT OR REPLACE INTO files VALUES (?, ?, ?, ?, ?, ?)", rows)
                connection.executemany(
                    "DELETE FROM files WHERE folder = ? AND name = ?", [(self._folder, name) for name in gone]
                )
                connection.execute("COMMIT")
        except (sqlite3.OperationalError, OSError) as error:
            log.info("the store of heads cannot be written now: %s", error)
        except sqlite3.DatabaseError as error:
            log.warning("the store of heads is damaged and made again: %s", error)
            self._remove()

    def _text(self, value: T) -> str:
        return self._values.dump_json([value]).decode()[1:-1]

    @contextmanager
    def _connected(self) -> Generator[sqlite3.Connection]:
        with closing(sqlite3.connect(self._path, timeout=_LOCK_SECONDS, isolation_level=None)) as connection:
            # What was forgotten must not be readable in free pages.
            connection.execute("PRAGMA secure_delete = ON")
            yield connection

    def _remove(self) -> None:
        for suffix in ("", "-journal"):
            with suppress(OSError):
                self._path.with_name(self._path.name + suffix).unlink(missing_ok=True)


def _version_of(connection: sqlite3.Connection) -> int:
    return int(connection.execute("PRAGMA user_version").fetchone()[0])
