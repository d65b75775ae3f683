"""Exact search over vectors kept in index/vectors.sqlite and held in memory."""

from __future__ import annotations

import sqlite3
import threading
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import numpy.typing as npt

from assistant.config.plain_reasons import plain_reason
from assistant.config.words import say
from assistant.errors import IndexingError
from assistant.index.text.databases import open_database
from assistant.index.vectors.blas import use_one_thread
from assistant.index.vectors.protocol import Neighbour, VectorRecord, VectorSpace, refuse_other_lengths

_TABLES = (
    "CREATE TABLE IF NOT EXISTS vectors (space TEXT NOT NULL, key TEXT NOT NULL, digest TEXT NOT NULL, "
    "vector BLOB NOT NULL, PRIMARY KEY (space, key))",
)


class LocalStore:
    """Exact search over vectors kept in SQLite and held in memory."""

    def __init__(self, path: Path, space: VectorSpace) -> None:
        use_one_thread()
        self._path = path
        self._space = space
        self._lock = threading.Lock()
        self._connection = open_database(path, _TABLES)
        self._rows: dict[str, int] = {}
        self._keys: list[str] = []
        self._digests: dict[str, str] = {}
        self._matrix = np.zeros((0, space.dimensions), dtype=np.float32)
        self._load()

    def digests(self) -> dict[str, str]:
        """Key and digest of every vector."""
        with self._lock:
            return dict(self._digests)

    def put(self, records: Sequence[VectorRecord]) -> None:
        """Add vectors, in place of those with the same keys."""
        refuse_other_lengths(records, self._space)
        rows = [(self._space.collection_name, r.key, r.digest, r.vector.tobytes()) for r in records]
        self._write("INSERT OR REPLACE INTO vectors (space, key, digest, vector) VALUES (?, ?, ?, ?)", rows)
        with self._lock:
            for record in records:
                self._place(record)

    def remove(self, keys: Sequence[str]) -> None:
        """Delete vectors."""
        rows = [(self._space.collection_name, key) for key in keys]
        self._write("DELETE FROM vectors WHERE space = ? AND key = ?", rows)
        with self._lock:
            for key in keys:
                self._take_out(key)

    def nearest(self, vector: npt.NDArray[np.float32], count: int) -> list[Neighbour]:
        """The nearest chunks, exactly."""
        with self._lock:
            size = len(self._keys)
            cosines = self._matrix[:size] @ vector
            wanted = min(count, size)
            if not wanted:
                return []
            best = np.argpartition(-cosines, wanted - 1)[:wanted]
            ordered: list[int] = best[np.argsort(-cosines[best], kind="stable")].tolist()
            return [Neighbour(self._keys[row], float(cosines[row])) for row in ordered]

    def clear(self) -> None:
        """Delete every vector of this space."""
        self._write("DELETE FROM vectors WHERE space = ?", [(self._space.collection_name,)])
        self._load()
        self._give_back()

    def drop_other_spaces(self) -> None:
        """Delete the vectors of other models."""
        self._write("DELETE FROM vectors WHERE space != ?", [(self._space.collection_name,)])
        self._give_back()

    def close(self) -> None:
        """Close the file."""
        self._connection.close()

    def _load(self) -> None:
        rows = self._connection.execute(
            "SELECT key, digest, vector FROM vectors WHERE space = ?", (self._space.collection_name,)
        ).fetchall()
        self._keys = [key for key, _, _ in rows]
        self._rows = {key: row for row, key in enumerate(self._keys)}
        self._digests = {key: digest for key, digest, _ in rows}
        content = b"".join(vector for _, _, vector in rows)
        self._matrix = np.frombuffer(content, dtype=np.float32).reshape(len(rows), self._space.dimensions).copy()

    def _place(self, record: VectorRecord) -> None:
        row = self._rows.get(record.key)
        if row is None:
            row = self._rows[record.key] = len(self._keys)
            self._keys.append(record.key)
            if row == len(self._matrix):
                room = np.zeros((max(64, row // 4), self._space.dimensions), dtype=np.float32)
                self._matrix = np.concatenate((self._matrix, room))
        self._matrix[row] = record.vector
        self._digests[record.key] = record.digest

    def _take_out(self, key: str) -> None:
        """The last row moves into the gap, so that rows never outnumber vectors."""
        row = self._rows.pop(key, None)
        if row is None:
            return
        del self._digests[key]
        last = self._keys.pop()
        if row < len(self._keys):
            self._keys[row] = last
            self._rows[last] = row
            self._matrix[row] = self._matrix[len(self._keys)]

    def _write(self, sql: str, rows: Sequence[Sequence[object]]) -> None:
        try:
            with self._lock, self._connection:
                self._connection.executemany(sql, rows)
        except sqlite3.DatabaseError as error:
            raise IndexingError(
                say("index", "not_writable", name=self._path.name, reason=plain_reason(error))
            ) from None

    def _give_back(self) -> None:
        with self._lock:
            self._connection.execute("PRAGMA incremental_vacuum").fetchall()
