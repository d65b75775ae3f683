"""What one transaction writes into the full-text index: the chunks of files, their words, whose vectors are made."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from assistant.index.chunker import Chunk
from assistant.index.text.chunk_rows import CHUNK_COLUMNS, PendingChunk, Source, VectorFacts, read_chunk
from assistant.index.text.terms import spaced

_OPTIMISE_EVERY = 500
_STORED_COLUMNS = (
    "id, source_id, key, digest, heading, first_line, last_line, text, kind, day, session_id, message_ids, is_pending"
)


@dataclass(frozen=True, slots=True)
class _StoredChunk:
    id: int
    digest: str
    chunk: Chunk


@dataclass(frozen=True, slots=True)
class _AddedChunk:
    id: int
    source_id: int
    chunk: Chunk


class Changes:
    """What may be done inside one transaction."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection
        self.has_new_words = False
        self._added: list[_AddedChunk] = []
        self._next_id = 0

    def put(self, source: Source, chunks: Sequence[Chunk]) -> None:
        """Make `chunks` the whole of what is indexed of a file; chunks that are there already are left unchanged."""
        source_id = self._put_source(source)
        if any(entry.source_id == source_id for entry in self._added):
            self.write_added()
        rows = self._connection.execute(
            f"SELECT chunks.digest, {CHUNK_COLUMNS} FROM chunks JOIN sources ON sources.id = source_id "
            "WHERE source_id = ?",
            (source_id,),
        )
        old = {row[2]: _StoredChunk(int(row[1]), row[0], read_chunk(row[1:])) for row in rows}
        for chunk in chunks:
            before = old.pop(chunk.key, None)
            if before is not None and before.digest == chunk.digest:
                self._move(before, chunk)
                continue
            if before is not None:
                self._drop(before)
            self._add(source_id, chunk)
        for key, before in old.items():
            self._drop(before)
            self._connection.execute("INSERT OR IGNORE INTO removed_keys VALUES (?)", (key,))

    def touch(self, source: Source) -> None:
        """Note that a file has the same content under another stamp."""
        self._put_source(source)

    def remove(self, name: str) -> None:
        """Take a file out."""
        self.put(Source(name, "", ""), ())
        self._connection.execute("DELETE FROM sources WHERE name = ?", (name,))

    def count_written(self, count: int) -> None:
        """Note that so many vectors were put into the store."""
        self._count_up("written_vectors", count)

    def mark_embedded(self, chunks: Iterable[PendingChunk], facts: Iterable[VectorFacts]) -> None:
        """Note that the store has the vectors of these chunks, unless a chunk changed meanwhile."""
        self._connection.executemany(
            "UPDATE chunks SET is_pending = 0, mean_cosine = ?, line_signs = ? WHERE key = ? AND digest = ?",
            [
                (known.mean_cosine, known.line_signs, chunk.key, chunk.digest)
                for chunk, known in zip(chunks, facts, strict=True)
            ],
        )

    def begin_space(self, name: str) -> None:
        """Note whose vectors are used from now on; what was read from those of another model is forgotten."""
        row = self._connection.execute("SELECT value FROM facts WHERE name = 'space'").fetchone()
        if row != (name,):
            self._connection.execute("UPDATE chunks SET mean_cosine = NULL, line_signs = NULL")
            self._connection.execute("INSERT OR REPLACE INTO facts VALUES ('space', ?)", (name,))

    def mark_present(self, keys: Iterable[str]) -> None:
        """Note that the vectors of these chunks are in the store; one whose mean_cosine is not known is made again."""
        self._connection.executemany(
            "UPDATE chunks SET is_pending = 0 WHERE key = ? AND mean_cosine IS NOT NULL", [(key,) for key in keys]
        )

    def mark_pending(self, keys: Iterable[str]) -> None:
        """Note that the vectors of these chunks are missing or old."""
        self._connection.executemany(
            "UPDATE chunks SET is_pending = 1 WHERE key = ? AND kind != 'tool_result'", [(key,) for key in keys]
        )

    def mark_all_pending(self) -> None:
        """Note that no vector is there."""
        self._connection.execute("UPDATE chunks SET is_pending = 1 WHERE kind != 'tool_result'")
        self._connection.execute("DELETE FROM removed_keys")
        self._connection.execute("DELETE FROM facts WHERE name = 'written_vectors'")

    def remove_keys(self, keys: Iterable[str]) -> None:
        """Note that the vectors of these keys belong to no chunk."""
        self._connection.executemany("INSERT OR IGNORE INTO removed_keys VALUES (?)", [(key,) for key in keys])

    def forget_removed(self, keys: Sequence[str]) -> None:
        """Note that the vectors of these keys are deleted."""
        self._count_up("written_vectors", len(keys))
        self._connection.executemany("DELETE FROM removed_keys WHERE key = ?", [(key,) for key in keys])

    def merge_if_due(self) -> None:
        """Merge the word lists when many chunks were dropped since the last time."""
        row = self._connection.execute("SELECT value FROM facts WHERE name = 'dropped'").fetchone()
        if row is not None and int(row[0]) >= _OPTIMISE_EVERY:
            self.merge()

    def merge(self) -> None:
        """Merge the word lists into one without dropped chunks."""
        self._connection.execute("INSERT INTO words (words) VALUES ('optimize')")
        self._connection.execute("DELETE FROM facts WHERE name = 'dropped'")

    def _put_source(self, source: Source) -> int:
        row = self._connection.execute(
            "INSERT INTO sources (name, digest, stamp, notice) VALUES (?, ?, ?, ?) ON CONFLICT (name) DO UPDATE SET "
            "digest = excluded.digest, stamp = excluded.stamp, notice = excluded.notice RETURNING id",
            (source.name, source.digest, source.stamp, source.notice),
        ).fetchone()
        return int(row[0])

    def write_added(self) -> None:
        """Write the chunks that were added since the last time: many at once cost half of one by one."""
        added, self._added = self._added, []
        if not added:
            return
        self._connection.executemany(
            f"INSERT INTO chunks ({_STORED_COLUMNS}) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
            [_stored_values(entry) for entry in added],
        )
        self._connection.executemany(
            "INSERT INTO words (rowid, text) VALUES (?, ?)", [(entry.id, _indexed(entry.chunk)) for entry in added]
        )
        self._connection.executemany("DELETE FROM removed_keys WHERE key = ?", [(entry.chunk.key,) for entry in added])

    def _add(self, source_id: int, chunk: Chunk) -> None:
        self.has_new_words = True
        if self._next_id == 0:
            self._next_id = int(self._connection.execute("SELECT coalesce(max(id), 0) FROM chunks").fetchone()[0])
        self._next_id += 1
        self._added.append(_AddedChunk(self._next_id, source_id, chunk))

    def _move(self, before: _StoredChunk, chunk: Chunk) -> None:
        if before.chunk == chunk:
            return
        self._connection.execute(
            "UPDATE chunks SET first_line = ?, last_line = ?, day = ?, message_ids = ? WHERE id = ?",
            (chunk.first_line, chunk.last_line, chunk.day, "\n".join(chunk.message_ids), before.id),
        )

    def _drop(self, before: _StoredChunk) -> None:
        self.has_new_words = True
        # A table without content is told what to take out; a row's own text gives exactly what was put in.
        self._connection.execute(
            "INSERT INTO words (words, rowid, text) VALUES ('delete', ?, ?)", (before.id, _indexed(before.chunk))
        )
        self._connection.execute("DELETE FROM chunks WHERE id = ?", (before.id,))
        self._count_up("dropped", 1)

    def _count_up(self, name: str, step: int) -> None:
        self._connection.execute(
            "INSERT INTO facts VALUES (?, ?) ON CONFLICT (name) DO UPDATE SET value = value + ?", (name, step, step)
        )


def _stored_values(entry: _AddedChunk) -> tuple[str | int, ...]:
    chunk = entry.chunk
    return (
        entry.id,
        entry.source_id,
        chunk.key,
        chunk.digest,
        chunk.heading,
        chunk.first_line,
        chunk.last_line,
        chunk.text,
        chunk.kind,
        chunk.day,
        chunk.session_id,
        "\n".join(chunk.message_ids),
        int(chunk.wants_vector),
    )


def _indexed(chunk: Chunk) -> str:
    return spaced(f"{chunk.path} > {chunk.heading}\n{chunk.text}")
