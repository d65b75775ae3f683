"""The tables of index/full_text.sqlite, and the values of their rows."""

from __future__ import annotations

import sqlite3
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from assistant.index.chunker import CHUNKER_VERSION, Chunk, ChunkKind
from assistant.index.text.terms import TERMS_VERSION
from assistant.index.vectors.calibration_texts import SAMPLES_VERSION

_VERSION = f"5/{CHUNKER_VERSION}/{TERMS_VERSION}/{SAMPLES_VERSION}"
_SCHEMA = """
CREATE TABLE facts (name TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE sources (
    id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE, digest TEXT NOT NULL, stamp TEXT NOT NULL, notice TEXT NOT NULL
);
CREATE TABLE chunks (
    id INTEGER PRIMARY KEY, source_id INTEGER NOT NULL, key TEXT NOT NULL UNIQUE, digest TEXT NOT NULL,
    heading TEXT NOT NULL, first_line INTEGER NOT NULL, last_line INTEGER NOT NULL, text TEXT NOT NULL,
    kind TEXT NOT NULL, day TEXT NOT NULL, session_id TEXT NOT NULL, message_ids TEXT NOT NULL,
    is_pending INTEGER NOT NULL, mean_cosine REAL, line_signs BLOB
);
CREATE INDEX chunks_by_source ON chunks (source_id);
CREATE INDEX chunks_by_day ON chunks (day);
CREATE INDEX chunks_without_vector ON chunks (id) WHERE kind = 'tool_result';
CREATE INDEX chunks_pending ON chunks (id) WHERE is_pending = 1;
CREATE INDEX chunks_embedded ON chunks (key, mean_cosine) WHERE is_pending = 0;
CREATE TABLE removed_keys (key TEXT PRIMARY KEY) WITHOUT ROWID;
CREATE VIRTUAL TABLE words USING fts5 (text, content='', tokenize='porter unicode61 remove_diacritics 2');
"""
CHUNK_COLUMNS = (
    "chunks.id, chunks.key, sources.name, chunks.heading, chunks.first_line, chunks.last_line, chunks.text, "
    "chunks.kind, chunks.day, chunks.session_id, chunks.message_ids"
)


@dataclass(frozen=True, slots=True)
class Source:
    """A file as it was when it was indexed."""

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
    text: str


@dataclass(frozen=True, slots=True)
class VectorFacts:
    """What is kept of a chunk's vectors beside the chunk."""

    mean_cosine: float
    """How near its vector is to just any question."""
    line_signs: bytes
    """Of the vectors of its lines; empty where they have none."""


@dataclass(frozen=True, slots=True)
class EmbeddedChunk:
    """A chunk whose vector is made."""

    id: int
    mean_cosine: float
    """How near its vector is to just any question."""


def create_schema(connection: sqlite3.Connection) -> None:
    """Create the tables, again when they were made by another version of the chunker or of the words."""
    if is_current(connection):
        return
    connection.execute("BEGIN IMMEDIATE")
    for name in ("words", "facts", "sources", "chunks", "removed_keys"):
        connection.execute(f"DROP TABLE IF EXISTS {name}")
    for statement in _SCHEMA.split(";"):
        connection.execute(statement)
    connection.execute("INSERT INTO facts VALUES ('version', ?)", (_VERSION,))
    connection.execute("COMMIT")


def is_current(connection: sqlite3.Connection) -> bool:
    """True when the tables are there, made by this version of the chunker and of the words."""
    if connection.execute("SELECT 1 FROM sqlite_master WHERE name = 'facts'").fetchone() is None:
        return False
    return connection.execute("SELECT value FROM facts WHERE name = 'version'").fetchone() == (_VERSION,)


def read_chunk(row: Sequence[str]) -> Chunk:
    """The chunk in a row of `CHUNK_COLUMNS`."""
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
