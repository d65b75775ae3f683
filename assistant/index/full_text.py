"""index/full_text.sqlite: the chunk rows of every file, and the words in them (SQLite's FTS5)."""

from __future__ import annotations

import math
import sqlite3
import threading
from collections.abc import Generator, Iterable, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from assistant.errors import IndexingError
from assistant.index.chunker import CHUNKER_VERSION, Chunk, ChunkKind
from assistant.index.databases import remove_database
from assistant.index.dates import DateRange
from assistant.index.question import Question
from assistant.index.terms import TERMS_VERSION, spaced

_VERSION = f"1/{CHUNKER_VERSION}/{TERMS_VERSION}"
_SCHEMA = """
CREATE TABLE facts (name TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE sources (
    id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE, digest TEXT NOT NULL, stamp TEXT NOT NULL, notice TEXT NOT NULL
);
CREATE TABLE chunks (
    id INTEGER PRIMARY KEY, source_id INTEGER NOT NULL, key TEXT NOT NULL UNIQUE, digest TEXT NOT NULL,
    heading TEXT NOT NULL, first_line INTEGER NOT NULL, last_line INTEGER NOT NULL, text TEXT NOT NULL,
    kind TEXT NOT NULL, day TEXT NOT NULL, session_id TEXT NOT NULL, message_ids TEXT NOT NULL,
    is_pending INTEGER NOT NULL
);
CREATE INDEX chunks_by_source ON chunks (source_id);
CREATE INDEX chunks_by_day ON chunks (day);
CREATE INDEX chunks_without_vector ON chunks (id) WHERE kind = 'tool_result';
CREATE INDEX chunks_pending ON chunks (id) WHERE is_pending = 1;
CREATE TABLE removed_keys (key TEXT PRIMARY KEY) WITHOUT ROWID;
CREATE VIRTUAL TABLE words USING fts5 (text, content='', tokenize='porter unicode61 remove_diacritics 2');
"""
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
# Above this many chunks with a term, asking for single chunks is quicker than reading the whole list.
_SHORT_LIST = 400
_OPTIMISE_EVERY = 500
# BM25 gives a word of average frequency in an average chunk about twice its rarity at most.
_DAY_SHARE = 2.0
_CHUNK_COLUMNS = (
    "chunks.id, chunks.key, sources.name, chunks.heading, chunks.first_line, chunks.last_line, chunks.text, "
    "chunks.kind, chunks.day, chunks.session_id, chunks.message_ids"
)

_STORED_COLUMNS = (
    "id, source_id, key, digest, heading, first_line, last_line, text, kind, day, session_id, message_ids, is_pending"
)


@dataclass(frozen=True, slots=True)
class Source:
    """A file as it stood when it was indexed."""

    name: str
    digest: str
    """Hash of its bytes."""
    stamp: str
    """Times, size and inode; empty when they cannot be trusted to show a change."""
    notice: str = ""


@dataclass(frozen=True, slots=True)
class PendingChunk:
    """A chunk whose vector is still to be made."""

    key: str
    digest: str
    meaning: str


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
    """The index at `path` for its one owner; a damaged file is begun anew."""
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
            raise IndexingError(f"{self.path.name} is not open for writing.")
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
                raise _told(self.path, error) from None
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

    def rank(self, question: Question, limit: int = 200) -> list[WordHit]:
        """Chunks by BM25, best first; a day that is asked for weighs as much as the rarest word of the question."""
        scores: dict[int, float] = {}
        if phrases := [*question.terms, *question.days]:
            match = " OR ".join(_quoted(phrase) for phrase in phrases)
            scores = self._scores("", (match, limit))
            for days in question.ranges:
                within = "AND rowid IN (SELECT id FROM chunks WHERE day BETWEEN ? AND ?)"
                scores |= self._scores(within, (match, *_bounds(days), limit))
        for days in question.ranges:
            weight = _DAY_SHARE * self._day_weight(question, days)
            for chunk_id in self._ids_within(days, limit) | self._ids_of_days(days, [*scores]):
                scores[chunk_id] = scores.get(chunk_id, 0.0) + weight
        ordered = sorted(scores.items(), key=lambda item: (-item[1], item[0]))
        return [WordHit(chunk_id, score) for chunk_id, score in ordered[:limit]]

    def shares(self, question: Question, chunk_ids: Sequence[int]) -> dict[int, float]:
        """For each chunk the share of the question's terms and days that stand in it, each weighted by its rarity."""
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

    def chunks(self, chunk_ids: Sequence[int]) -> dict[int, Chunk]:
        """The rows of these chunks; one that has gone meanwhile is left out."""
        rows = self._read(
            f"SELECT {_CHUNK_COLUMNS} FROM chunks JOIN sources ON sources.id = source_id "
            f"WHERE chunks.id IN ({_marks(chunk_ids)})",
            chunk_ids,
        )
        return {int(row[0]): _chunk(row) for row in rows}

    def ids_of_keys(self, keys: Sequence[str]) -> dict[str, int]:
        """Ids of the chunks with these keys whose vectors are current."""
        rows = self._read(f"SELECT key, id FROM chunks WHERE is_pending = 0 AND key IN ({_marks(keys)})", keys)
        return {key: int(chunk_id) for key, chunk_id in rows}

    def pending(self, limit: int) -> list[PendingChunk]:
        """Chunks that still need a vector, newest first."""
        rows = self._read(
            "SELECT key, digest, heading, text FROM chunks WHERE is_pending = 1 ORDER BY id DESC LIMIT ?", (limit,)
        )
        return [
            PendingChunk(key, digest, f"{heading}\n{text}" if heading else text) for key, digest, heading, text in rows
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
            raise _told(self.path, error) from None

    def _connect_writer(self) -> sqlite3.Connection:
        self.path.parent.mkdir(parents=True, exist_ok=True)
        connection = sqlite3.connect(self.path, check_same_thread=False, isolation_level=None, timeout=10.0)
        try:
            connection.execute("PRAGMA auto_vacuum = INCREMENTAL")
            connection.execute("PRAGMA journal_mode = WAL")
            connection.execute("PRAGMA synchronous = NORMAL")
            connection.execute("PRAGMA journal_size_limit = 4000000")
            _create_schema(connection)
            if connection.execute("PRAGMA quick_check(1)").fetchone() != ("ok",):
                raise IndexingError(f"{self.path.name} cannot be used: pages are damaged.")
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
            if not _is_current(connection):
                raise IndexingError(f"{self.path.name} was made by another version of the program.")
        except BaseException:
            connection.close()
            raise
        return connection

    def _read(self, sql: str, values: Sequence[object] = ()) -> list[tuple[str, ...]]:
        with self._read_lock:
            if self._reader is None:
                raise IndexingError(f"{self.path.name} is not open.")
            try:
                return self._reader.execute(sql, tuple(values)).fetchall()
            except sqlite3.DatabaseError as error:
                raise _told(self.path, error) from None

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
                raise _told(self.path, error) from None

    def _rarity(self, count: int) -> float:
        """BM25's weight of a word that `count` chunks have."""
        return math.log(1.0 + (max(self.counts().chunks - count, 0) + 0.5) / (count + 0.5))

    def _document_count(self, term: str) -> int:
        known = self._document_counts.get(term)
        if known is None:
            known = self._count("SELECT count(*) FROM words WHERE words MATCH ?", (_quoted(term),))
            self._document_counts[term] = known
        return known

    def _day_weight(self, question: Question, days: DateRange) -> float:
        count = self._count("SELECT count(*) FROM chunks WHERE day BETWEEN ? AND ?", _bounds(days))
        words = [self._rarity(self._document_count(term)) for term in question.terms]
        return max(self._rarity(count), *words, 1.0)

    def _scores(self, condition: str, values: Sequence[object]) -> dict[int, float]:
        rows = self._read(
            f"SELECT rowid, -bm25(words) FROM words WHERE words MATCH ? {condition} ORDER BY rank LIMIT ?", values
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
        if count <= _SHORT_LIST:
            rows = self._read("SELECT rowid FROM words WHERE words MATCH ?", (_quoted(term),))
            having = {int(row[0]) for row in rows}
            return [chunk_id for chunk_id in chunk_ids if chunk_id in having]
        sql = "SELECT 1 FROM words WHERE words MATCH ? AND rowid = ?"
        return [chunk_id for chunk_id in chunk_ids if self._read(sql, (_quoted(term), chunk_id))]


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
        """Make `chunks` the whole of what is indexed of a file; what stands there already is left alone."""
        source_id = self._put_source(source)
        if any(entry.source_id == source_id for entry in self._added):
            self.write_added()
        rows = self._connection.execute(
            f"SELECT chunks.digest, {_CHUNK_COLUMNS} FROM chunks JOIN sources ON sources.id = source_id "
            "WHERE source_id = ?",
            (source_id,),
        )
        old = {row[2]: _StoredChunk(int(row[1]), row[0], _chunk(row[1:])) for row in rows}
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

    def mark_embedded(self, chunks: Iterable[PendingChunk]) -> None:
        """Note that the vectors of these chunks stand in the store, unless a chunk changed meanwhile."""
        self._connection.executemany(
            "UPDATE chunks SET is_pending = 0 WHERE key = ? AND digest = ?", [(c.key, c.digest) for c in chunks]
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


def _create_schema(connection: sqlite3.Connection) -> None:
    """Make the tables, anew when they were made by another version of the chunker or of the words."""
    if _is_current(connection):
        return
    connection.execute("BEGIN IMMEDIATE")
    for name in ("words", "facts", "sources", "chunks", "removed_keys"):
        connection.execute(f"DROP TABLE IF EXISTS {name}")
    for statement in _SCHEMA.split(";"):
        connection.execute(statement)
    connection.execute("INSERT INTO facts VALUES ('version', ?)", (_VERSION,))
    connection.execute("COMMIT")


def _is_current(connection: sqlite3.Connection) -> bool:
    if connection.execute("SELECT 1 FROM sqlite_master WHERE name = 'facts'").fetchone() is None:
        return False
    return connection.execute("SELECT value FROM facts WHERE name = 'version'").fetchone() == (_VERSION,)


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


def _quoted(phrase: str) -> str:
    return f'"{phrase}"'


def _bounds(days: DateRange) -> tuple[str, str]:
    return days.first.isoformat(), days.last.isoformat()


def _marks(values: Sequence[object]) -> str:
    return ",".join("?" * len(values))


def _told(path: Path, error: sqlite3.DatabaseError) -> Exception:
    """What to raise: the file's state in words, or the error itself where the program is wrong and not the file."""
    # The low byte is the kind, the others are its detail.
    if isinstance(error, sqlite3.ProgrammingError) or error.sqlite_errorcode & 0xFF not in _UNUSABLE:
        return error
    return IndexingError(f"{path.name} cannot be used: {error}.")


def _chunk(row: Sequence[str]) -> Chunk:
    _, key, path, heading, first_line, last_line, text, kind, day, session_id, message_ids = row
    kinds: Mapping[str, ChunkKind] = {"note": "note", "said": "said", "tool_result": "tool_result"}
    return Chunk(
        key=key,
        path=path,
        heading=heading,
        first_line=int(first_line),
        last_line=int(last_line),
        text=text,
        kind=kinds[kind],
        day=day,
        session_id=session_id,
        message_ids=tuple(message_ids.split("\n")) if message_ids else (),
    )
