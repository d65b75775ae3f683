"""index/embeddings.sqlite: vectors already made, by model, dimensions and hash of the text."""

from __future__ import annotations

import threading
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import astuple, dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt

from assistant.index.text.databases import open_database
from assistant.index.vectors.calibration import Calibration
from assistant.index.vectors.calibration_texts import SAMPLES_VERSION, Measurement
from assistant.index.vectors.centring import Centring

Vector = npt.NDArray[np.float32]

# Kept although no chunk has the text now, so that an undone edit costs nothing; older ones go.
KEPT_UNUSED = 50
_IN_ONE_QUERY = 500
_TABLES = (
    # Of an earlier version, without lines.
    "DROP TABLE IF EXISTS vectors",
    "CREATE TABLE IF NOT EXISTS chunk_vectors (id INTEGER PRIMARY KEY, model TEXT NOT NULL, dimensions INTEGER NOT "
    "NULL, digest TEXT NOT NULL, vector BLOB NOT NULL, line_signs BLOB NOT NULL, UNIQUE (model, dimensions, digest))",
    "CREATE TABLE IF NOT EXISTS measurements (model TEXT NOT NULL, dimensions INTEGER NOT NULL, samples INTEGER NOT "
    "NULL, question BLOB, text BLOB, unrelated REAL, related REAL, low REAL, high REAL, low_from_cjk REAL, "
    "high_from_cjk REAL, low_to_cjk REAL, high_to_cjk REAL, PRIMARY KEY (model, dimensions))",
)


@dataclass(frozen=True, slots=True, eq=False)
class ChunkVectors:
    """What an embedder made of one chunk."""

    vector: Vector
    line_signs: bytes = b""
    """Of the vectors of its lines; empty where none were made."""


class EmbeddingCache:
    """Makes sure that the same text is never embedded twice by one model. A damaged file is emptied."""

    def __init__(self, path: Path) -> None:
        self._lock = threading.Lock()
        self._connection = open_database(path, _TABLES)

    def close(self) -> None:
        """Close the file."""
        with self._lock:
            self._connection.close()

    def find(self, model: str, dimensions: int, digests: Sequence[str]) -> dict[str, ChunkVectors]:
        """The vectors that are there, by digest."""
        found: dict[str, ChunkVectors] = {}
        with self._lock:
            for start in range(0, len(digests), _IN_ONE_QUERY):
                batch = digests[start : start + _IN_ONE_QUERY]
                rows = self._connection.execute(
                    "SELECT digest, vector, line_signs FROM chunk_vectors WHERE model = ? AND dimensions = ? "
                    f"AND digest IN ({','.join('?' * len(batch))})",
                    (model, dimensions, *batch),
                )
                found |= {
                    digest: ChunkVectors(np.frombuffer(vector, dtype=np.float32), signs)
                    for digest, vector, signs in rows
                }
        return found

    def store(self, model: str, dimensions: int, vectors: Mapping[str, ChunkVectors]) -> None:
        """Keep these vectors."""
        rows = [(model, dimensions, digest, made.vector.tobytes(), made.line_signs) for digest, made in vectors.items()]
        with self._lock, self._connection:
            self._connection.executemany(
                "INSERT OR REPLACE INTO chunk_vectors (model, dimensions, digest, vector, line_signs) "
                "VALUES (?, ?, ?, ?, ?)",
                rows,
            )

    def find_measurement(self, model: str, dimensions: int) -> Measurement | None:
        """What was measured of a model before."""
        with self._lock:
            row = self._connection.execute(
                "SELECT question, text, unrelated, related, low, high, low_from_cjk, high_from_cjk, low_to_cjk, "
                "high_to_cjk FROM measurements WHERE model = ? AND dimensions = ? AND samples = ?",
                (model, dimensions, SAMPLES_VERSION),
            ).fetchone()
        if row is None:
            return None
        question, text = (np.frombuffer(blob, dtype=np.float32) for blob in row[:2])
        return Measurement(Centring(question, text), Calibration(*row[2:]))

    def store_measurement(self, model: str, dimensions: int, found: Measurement) -> None:
        """Keep what was measured of a model."""
        means = (found.centring.question.tobytes(), found.centring.text.tobytes())
        with self._lock, self._connection:
            self._connection.execute(
                f"INSERT OR REPLACE INTO measurements VALUES ({','.join('?' * 13)})",
                (model, dimensions, SAMPLES_VERSION, *means, *astuple(found.calibration)),
            )

    def keep_only(self, digests: Iterable[str], spare: int = KEPT_UNUSED) -> None:
        """Drop the vectors of all other texts, but for the `spare` newest of them."""
        with self._lock, self._connection:
            self._connection.execute("CREATE TEMP TABLE IF NOT EXISTS used (digest TEXT PRIMARY KEY)")
            self._connection.execute("DELETE FROM used")
            self._connection.executemany("INSERT OR IGNORE INTO used VALUES (?)", [(digest,) for digest in digests])
            self._connection.execute(
                "DELETE FROM chunk_vectors WHERE digest NOT IN (SELECT digest FROM used) AND id NOT IN (SELECT id FROM "
                "chunk_vectors WHERE digest NOT IN (SELECT digest FROM used) ORDER BY id DESC LIMIT ?)",
                (spare,),
            )
        with self._lock:
            self._connection.execute("PRAGMA incremental_vacuum").fetchall()
            self._connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
