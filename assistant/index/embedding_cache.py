"""index/embeddings.sqlite: vectors already made, by model, dimensions and hash of the text."""

from __future__ import annotations

import threading
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import astuple
from pathlib import Path

import numpy as np
import numpy.typing as npt

from assistant.index.calibration import Calibration
from assistant.index.databases import open_database

Vector = npt.NDArray[np.float32]

# Kept although no chunk has the text now, so that an undone edit costs nothing; older ones go.
KEPT_UNUSED = 50
_IN_ONE_QUERY = 500
_TABLES = (
    "CREATE TABLE IF NOT EXISTS vectors (id INTEGER PRIMARY KEY, model TEXT NOT NULL, dimensions INTEGER NOT NULL, "
    "digest TEXT NOT NULL, vector BLOB NOT NULL, UNIQUE (model, dimensions, digest))",
    "CREATE TABLE IF NOT EXISTS calibrations (model TEXT NOT NULL, dimensions INTEGER NOT NULL, unrelated REAL, "
    "related REAL, low REAL, high REAL, low_across REAL, high_across REAL, PRIMARY KEY (model, dimensions))",
)


class EmbeddingCache:
    """Makes sure that the same text is never embedded twice by one model. A damaged file is begun anew."""

    def __init__(self, path: Path) -> None:
        self._lock = threading.Lock()
        self._connection = open_database(path, _TABLES)

    def close(self) -> None:
        """Close the file."""
        with self._lock:
            self._connection.close()

    def find(self, model: str, dimensions: int, digests: Sequence[str]) -> dict[str, Vector]:
        """The vectors that are there, by digest."""
        found: dict[str, Vector] = {}
        with self._lock:
            for start in range(0, len(digests), _IN_ONE_QUERY):
                batch = digests[start : start + _IN_ONE_QUERY]
                rows = self._connection.execute(
                    "SELECT digest, vector FROM vectors WHERE model = ? AND dimensions = ? "
                    f"AND digest IN ({','.join('?' * len(batch))})",
                    (model, dimensions, *batch),
                )
                found |= {digest: np.frombuffer(blob, dtype=np.float32) for digest, blob in rows}
        return found

    def store(self, model: str, dimensions: int, vectors: Mapping[str, Vector]) -> None:
        """Keep these vectors."""
        rows = [(model, dimensions, digest, vector.tobytes()) for digest, vector in vectors.items()]
        with self._lock, self._connection:
            self._connection.executemany(
                "INSERT OR REPLACE INTO vectors (model, dimensions, digest, vector) VALUES (?, ?, ?, ?)", rows
            )

    def find_calibration(self, model: str, dimensions: int) -> Calibration | None:
        """The numbers of a model that was calibrated before."""
        with self._lock:
            row = self._connection.execute(
                "SELECT unrelated, related, low, high, low_across, high_across FROM calibrations "
                "WHERE model = ? AND dimensions = ?",
                (model, dimensions),
            ).fetchone()
        return None if row is None else Calibration(*row)

    def store_calibration(self, model: str, dimensions: int, numbers: Calibration) -> None:
        """Keep the numbers of a model."""
        with self._lock, self._connection:
            self._connection.execute(
                "INSERT OR REPLACE INTO calibrations VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
                (model, dimensions, *astuple(numbers)),
            )

    def keep_only(self, digests: Iterable[str], spare: int = KEPT_UNUSED) -> None:
        """Drop the vectors of all other texts, but for the `spare` newest of them."""
        with self._lock, self._connection:
            self._connection.execute("CREATE TEMP TABLE IF NOT EXISTS used (digest TEXT PRIMARY KEY)")
            self._connection.execute("DELETE FROM used")
            self._connection.executemany("INSERT OR IGNORE INTO used VALUES (?)", [(digest,) for digest in digests])
            self._connection.execute(
                "DELETE FROM vectors WHERE digest NOT IN (SELECT digest FROM used) AND id NOT IN (SELECT id FROM "
                "vectors WHERE digest NOT IN (SELECT digest FROM used) ORDER BY id DESC LIMIT ?)",
                (spare,),
            )
        with self._lock:
            self._connection.execute("PRAGMA incremental_vacuum").fetchall()
            self._connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
