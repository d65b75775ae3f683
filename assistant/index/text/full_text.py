"""index/full_text.sqlite: the chunk rows of every file, and the words in them (SQLite's FTS5)."""

from __future__ import annotations

import math
import sqlite3
import threading
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from assistant.config.plain_reasons import plain_reason
from assistant.config.words import say
from assistant.errors import IndexingError
from assistant.index.chunker import Chunk
from assistant.index.dates import DateRange
from assistant.index.question import SearchQuestion
from assistant.index.text.changes import Changes
from assistant.index.text.chunk_rows import (
    CHUNK_COLUMNS,
    EmbeddedChunk,
    PendingChunk,
    Source,
    create_schema,
    is_current,
    read_chunk,
)
from assistant.index.text.databases import remove_database

_UNUSABLE = frozenset(
    {
        sqlite3.SQLITE_CORRUPT,
        sqlite3.SQLITE_NOTADB,
        sqlite3.SQLITE_IOERR,
        sqlite3.SQLITE_CANTOPEN,
        sqlite3.SQLITE_FULL,
        sqlite3.SQLITE_BUSY,
        sqlite3.SQLITE_READONLY,
    }
)
# To look one chunk up among those with a term costs as much as going through so many of them.
_ROWS_A_LOOKUP = 300
# With these many chunks, and this share of all, the best 50 of 10,000 and of 100,000 are the same as without a limit,
# and 98 in 100 of the best 200.
_ENOUGH_CHUNKS = 300
_ENOUGH_SHARE = 0.01
# A chunk with nothing but a word nearly as rare may still be among the best.
_MUCH_LESS_RARE = 0.75
# BM25 gives a word of average frequency in an average chunk about twice its rarity at most.
_DAY_SHARE = 2.0


@dataclass(frozen=True, slots=True)
class WordHit:
    """A chunk that shares words, or a day, with the question; the higher the score the better."""

    chunk_id: int
    score: float


@dataclass(frozen=True, slots=True)
class IndexCounts:
    """What the index holds."""

    files: int
    chunks: int
    pending: int
    """Chunks whose vector is still to be made."""
    with_vector: int
    """Chunks that have a vector or will have one."""
    written_vectors: int
    """Vectors put and deleted since the store was begun: each leaves something behind in it."""


def open_full_text(path: Path) -> FullText:
    """The index at `path` for its one owner; a damaged file is replaced by an empty one."""
    try:
        return FullText(path)
    except IndexingError:
        remove_database(path)
        return FullText(path)


class FullText:
    """Chunk rows and their words. One writer and one reader connection, so that a search never waits for a sync.

    Any method raises `IndexingError` when the file is damaged; deleting it and a new sync brings everything back.
    """

    def __init__(self, path: Path, is_writable: bool = True) -> None:
        self.path = path
        self._is_writable = is_writable
        self._document_counts: dict[str, int] = {}
        self._counts: IndexCounts | None = None
        self._write_lock = threading.Lock()
        self._read_lock = threading.Lock()
        self._writer: sqlite3.Connection | None = None
        # None between a file that was given up and the next `recover`.
        self._reader: sqlite3.Connection | None = None
        with self._write_lock, self._read_lock:
            self._reader = self._open()

    def close(self) -> None:
        """Close both connections and leave one file."""
        with self._write_lock, self._read_lock:
            self._close()

    def begin_anew(self) -> None:
        """Throw everything away; the next sync reads every file again."""
        with self._write_lock, self._read_lock:
            self._close()
            remove_database(self.path)
            self._reader = self._open()

    def recover(self) -> None:
        """Open the file again, and begin a new one when it is damaged."""
        with self._write_lock, self._read_lock:
            self._close()
            try:
                self._reader = self._open()
            except IndexingError:
                remove_database(self.path)
                self._reader = self._open()

    def sources(self) -> dict[str, Source]:
        """Every indexed file by its name."""
        rows = self._read("SELECT name, digest, stamp, notice FROM sources")
        return {name: Source(name, digest, stamp, notice) for name, digest, stamp, notice in rows}

    def notices(self) -> list[str]:
        """What the person should know about single files."""
        return [row[0] for row in self._read("SELECT notice FROM sources WHERE notice != '' ORDER BY name")]

    def counts(self) -> IndexCounts:
        """What the index holds now."""
        if self._counts is None:
            chunks = self._count("SELECT count(*) FROM chunks")
            written = self._read("SELECT value FROM facts WHERE name = 'written_vectors'")
            self._counts = IndexCounts(
                files=self._count("SELECT count(*) FROM sources"),
                chunks=chunks,
                pending=self._count("SELECT count(*) FROM chunks WHERE is_pending = 1"),
                with_vector=chunks - self._count("SELECT count(*) FROM chunks WHERE kind = 'tool_result'"),
                written_vectors=int(written[0][0]) if written else 0,
            )
        return self._counts

    @contextmanager
    def changing(self) -> Generator[Changes]:
        """One transaction: all of it is kept, or after a crash nothing."""
        if self._writer is None:
            raise IndexingError(say("index", "not_for_writing", name=self.path.name))
        with self._write_lock:
            try:
                self._writer.execute("BEGIN IMMEDIATE")
                changes = Changes(self._writer)
                try:
                    yield changes
                    changes.write_added()
                except BaseException:
                    # A disk that is full has rolled back already.
                    if self._writer.in_transaction:
                        self._writer.execute("ROLLBACK")
                    raise
                self._writer.execute("COMMIT")
            except sqlite3.DatabaseError as error:
                raise _index_error(self.path, error) from None
            self._counts = None
            if changes.has_new_words:
                self._document_counts = {}

    def tidy(self) -> None:
        """Give pages of removed chunks back and merge the word lists once enough has been removed."""
        with self.changing() as changes:
            changes.merge_if_due()
        self._maintain("PRAGMA incremental_vacuum", "PRAGMA wal_checkpoint(TRUNCATE)")

    def scrub(self) -> None:
        """Leave no trace of removed text in the file."""
        with self.changing() as changes:
            changes.merge()
        self._maintain("VACUUM", "PRAGMA wal_checkpoint(TRUNCATE)")

    def rank(self, question: SearchQuestion, limit: int = 200) -> list[WordHit]:
        """Chunks by BM25, best first; a day that is asked for weighs as much as the rarest word of the question."""
        scores: dict[int, float] = {}
        if phrases := [*question.terms, *question.days]:
            match = _any_of(phrases)
            rare = self._rare_phrases(phrases)
            if len(rare) < len(phrases):
                within = "AND +rowid IN (SELECT rowid FROM words WHERE words MATCH ?)"
                scores = self._scores(within, (match, _any_of(rare), limit))
            else:
                scores = self._scores("", (match, limit))
            for days in question.ranges:
                within = "AND +rowid IN (SELECT id FROM chunks WHERE day BETWEEN ? AND ?)"
                scores |= self._scores(within, (match, *_bounds(days), limit))
        for days in question.ranges:
            weight = _DAY_SHARE * self._day_weight(question, days)
            for chunk_id in self._ids_within(days, limit) | self._ids_of_days(days, [*scores]):
                scores[chunk_id] = scores.get(chunk_id, 0.0) + weight
        ordered = sorted(scores.items(), key=lambda item: (-item[1], item[0]))
        return [WordHit(chunk_id, score) for chunk_id, score in ordered[:limit]]

    def shares(self, question: SearchQuestion, chunk_ids: Sequence[int]) -> dict[int, float]:
        """For each chunk the share of the question's terms and days that are in it, each weighted by its rarity."""
        total = 0.0
        found = dict.fromkeys(chunk_ids, 0.0)
        for term in question.terms:
            count = self._document_count(term)
            total += (weight := self._rarity(count))
            for chunk_id in self._ids_with(term, count, chunk_ids):
                found[chunk_id] += weight
        for days in question.ranges:
            total += (weight := self._day_weight(question, days))
            for chunk_id in self._ids_of_days(days, chunk_ids):
                found[chunk_id] += weight
        return {chunk_id: value / total if total else 0.0 for chunk_id, value in found.items()}

    def weights(self, question: SearchQuestion) -> dict[str, float]:
        """How much each term of the question says: the rarer it is, the more."""
        return {term: self._rarity(self._document_count(term)) for term in question.terms}

    def chunks(self, chunk_ids: Sequence[int]) -> dict[int, Chunk]:
        """The rows of these chunks; one that has gone meanwhile is left out."""
        rows = self._read(
            f"SELECT {CHUNK_COLUMNS} FROM chunks JOIN sources ON sources.id = source_id "
            f"WHERE chunks.id IN ({_marks(chunk_ids)})",
            chunk_ids,
        )
        return {int(row[0]): read_chunk(row) for row in rows}

    def embedded(self, keys: Sequence[str]) -> dict[str, EmbeddedChunk]:
        """The chunks with these keys whose vectors are current."""
        if not keys:
            return {}
        rows = self._read(
            # Named, or SQLite takes the index of the keys alone and reads each chunk with its text.
            "SELECT key, id, mean_cosine FROM chunks INDEXED BY chunks_embedded "
            f"WHERE is_pending = 0 AND key IN ({_marks(keys)})",
            keys,
        )
        return {key: EmbeddedChunk(int(chunk_id), float(common)) for key, chunk_id, common in rows}

    def line_signs(self, chunk_ids: Sequence[int]) -> dict[int, bytes]:
        """The signs of the lines of these chunks, for those that have them."""
        rows: list[tuple[int, bytes]] = self._fetch(
            "SELECT id, line_signs FROM chunks WHERE is_pending = 0 AND line_signs != x'' "
            f"AND id IN ({_marks(chunk_ids)})",
            chunk_ids,
        )
        return dict(rows)

    def pending(self, limit: int) -> list[PendingChunk]:
        """Chunks that still need a vector, newest first."""
        rows = self._read(
            "SELECT key, digest, heading, text FROM chunks WHERE is_pending = 1 ORDER BY id DESC LIMIT ?", (limit,)
        )
        return [
            PendingChunk(key, digest, f"{heading}\n{text}" if heading else text, text)
            for key, digest, heading, text in rows
        ]

    def removed_keys(self, limit: int) -> list[str]:
        """Keys whose vectors are still to be deleted."""
        return [row[0] for row in self._read("SELECT key FROM removed_keys LIMIT ?", (limit,))]

    def vector_digests(self) -> dict[str, str]:
        """Key and hash of every chunk that has or needs a vector."""
        rows = self._read("SELECT key, digest FROM chunks WHERE kind != 'tool_result'")
        return {row[0]: row[1] for row in rows}

    def _close(self) -> None:
        for connection in (self._reader, self._writer):
            if connection is not None:
                connection.close()
        self._reader = self._writer = None
        self._counts = None
        self._document_counts = {}

    def _open(self) -> sqlite3.Connection:
        try:
            if self._is_writable:
                self._writer = self._connect_writer()
            return self._connect_reader()
        except sqlite3.DatabaseError as error:
            raise _index_error(self.path, error) from None

    def _connect_writer(self) -> sqlite3.Connection:
        self.path.parent.mkdir(parents=True, exist_ok=True)
        connection = sqlite3.connect(self.path, check_same_thread=False, isolation_level=None, timeout=10.0)
        try:
            connection.execute("PRAGMA auto_vacuum = INCREMENTAL")
            connection.execute("PRAGMA journal_mode = WAL")
            connection.execute("PRAGMA synchronous = NORMAL")
            connection.execute("PRAGMA journal_size_limit = 4000000")
            create_schema(connection)
            if connection.execute("PRAGMA quick_check(1)").fetchone() != ("ok",):
                raise IndexingError(say("index", "pages_damaged", name=self.path.name))
        except BaseException:
            connection.close()
            raise
        return connection

    def _connect_reader(self) -> sqlite3.Connection:
        # Not mode=ro: a reader of a write-ahead log must be able to make its shared memory file.
        address = f"{self.path.absolute().as_uri()}?mode=rw"
        connection = sqlite3.connect(address, uri=True, check_same_thread=False, isolation_level=None, timeout=10.0)
        try:
            connection.execute("PRAGMA query_only = 1")
            if not is_current(connection):
                raise IndexingError(say("index", "other_version", name=self.path.name))
        except BaseException:
            connection.close()
            raise
        return connection

    def _read(self, sql: str, values: Sequence[object] = ()) -> list[tuple[str, ...]]:
        return self._fetch(sql, values)

    def _fetch(self, sql: str, values: Sequence[object]) -> list[Any]:
        with self._read_lock:
            if self._reader is None:
                raise IndexingError(say("index", "not_open", name=self.path.name))
            try:
                return self._reader.execute(sql, tuple(values)).fetchall()
            except sqlite3.DatabaseError as error:
                raise _index_error(self.path, error) from None

    def _count(self, sql: str, values: Sequence[object] = ()) -> int:
        return int(self._read(sql, values)[0][0])

    def _maintain(self, *statements: str) -> None:
        with self._write_lock:
            if self._writer is None:
                return
            try:
                for statement in statements:
                    self._writer.execute(statement).fetchall()
            except sqlite3.DatabaseError as error:
                raise _index_error(self.path, error) from None

    def _rarity(self, count: int) -> float:
        """BM25's weight of a word that `count` chunks have."""
        return math.log(1.0 + (max(self.counts().chunks - count, 0) + 0.5) / (count + 0.5))

    def _document_count(self, term: str) -> int:
        known = self._document_counts.get(term)
        if known is None:
            known = self._count("SELECT count(*) FROM words WHERE words MATCH ?", (_quoted(term),))
            self._document_counts[term] = known
        return known

    def _day_weight(self, question: SearchQuestion, days: DateRange) -> float:
        count = self._count("SELECT count(*) FROM chunks WHERE day BETWEEN ? AND ?", _bounds(days))
        words = [self._rarity(self._document_count(term)) for term in question.terms]
        return max(self._rarity(count), *words, 1.0)

    def _rare_phrases(self, phrases: Sequence[str]) -> list[str]:
        """The rarest phrases, until enough chunks have one of them: BM25 need not weigh a chunk with none of these."""
        counts = {phrase: self._document_count(phrase) for phrase in phrases}
        enough = max(_ENOUGH_CHUNKS, _ENOUGH_SHARE * self.counts().chunks)
        rare: list[str] = []
        reached, rarity = 0, math.inf
        for phrase in sorted(phrases, key=counts.__getitem__):
            following = self._rarity(counts[phrase])
            if reached >= enough and following < _MUCH_LESS_RARE * rarity:
                break
            rare.append(phrase)
            reached, rarity = reached + counts[phrase], following
        return rare

    def _scores(self, condition: str, values: Sequence[object]) -> dict[int, float]:
        rows = self._read(
            # Not `ORDER BY rank`, which would weigh the chunks before the condition throws them out.
            f"SELECT rowid, -bm25(words) AS score FROM words WHERE words MATCH ? {condition} "
            "ORDER BY score DESC, rowid LIMIT ?",
            values,
        )
        return {int(row[0]): float(row[1]) for row in rows}

    def _ids_within(self, days: DateRange, limit: int) -> set[int]:
        rows = self._read("SELECT id FROM chunks WHERE day BETWEEN ? AND ? LIMIT ?", (*_bounds(days), limit))
        return {int(row[0]) for row in rows}

    def _ids_of_days(self, days: DateRange, chunk_ids: Sequence[int]) -> set[int]:
        rows = self._read(
            f"SELECT id FROM chunks WHERE day BETWEEN ? AND ? AND id IN ({_marks(chunk_ids)})",
            (*_bounds(days), *chunk_ids),
        )
        return {int(row[0]) for row in rows}

    def _ids_with(self, term: str, count: int, chunk_ids: Sequence[int]) -> list[int]:
        if not count:
            return []
        # With the plus sign the list is read once, without it each chunk is looked up in it.
        column = "+rowid" if count <= _ROWS_A_LOOKUP * len(chunk_ids) else "rowid"
        sql = f"SELECT rowid FROM words WHERE words MATCH ? AND {column} IN ({_marks(chunk_ids)})"
        return [int(row[0]) for row in self._read(sql, (_quoted(term), *chunk_ids))]


def _any_of(phrases: Sequence[str]) -> str:
    return " OR ".join(map(_quoted, phrases))


def _quoted(phrase: str) -> str:
    return f'"{phrase}"'


def _bounds(days: DateRange) -> tuple[str, str]:
    return days.first.isoformat(), days.last.isoformat()


def _marks(values: Sequence[object]) -> str:
    return ",".join("?" * len(values))


def _index_error(path: Path, error: sqlite3.DatabaseError) -> Exception:
    """What to raise: the file's state in words, or the error itself where the program is wrong and not the file."""
    # The low byte is the kind, the others are its detail.
    if isinstance(error, sqlite3.ProgrammingError) or error.sqlite_errorcode & 0xFF not in _UNUSABLE:
        return error
    return IndexingError(say("index", "unusable", name=path.name, reason=plain_reason(error)))
