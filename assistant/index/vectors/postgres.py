"""Vectors in a Postgres with pgvector: a table for each home and embedder, searched exactly."""

from __future__ import annotations

import logging
import threading
from collections.abc import Generator, Sequence
from contextlib import contextmanager, suppress
from typing import LiteralString, TypeVar

import numpy as np
import numpy.typing as npt
import psycopg
from psycopg import errors, sql
from psycopg.abc import PQGen
from psycopg.conninfo import make_conninfo
from psycopg.rows import TupleRow

from assistant.config.words import say
from assistant.errors import IndexingError, StoreAwayError
from assistant.index.vectors.protocol import Neighbour, VectorRecord, VectorSpace, refuse_other_lengths
from assistant.index.vectors.store_servers import ANSWER_SECONDS

T = TypeVar("T")

log = logging.getLogger(__name__)

_NAME = "palimpsest"
# A page of Postgres has 8 kB. A vector that fits into one beside its key is read four times as fast as one beside it
# (measured with 512 dimensions: 14 and 50 ms for 10,000).
_DIMENSIONS_IN_A_PAGE = 1_536
_CONNECT_SECONDS = 5
# A search that finds the connection in use by a server that hangs must not wait as long as the one before it.
_TURN_SECONDS = 5.0
_CREATE = """
CREATE TABLE IF NOT EXISTS {table} (
    key text COLLATE "C" PRIMARY KEY, digest text NOT NULL, embedding vector({dimensions}) NOT NULL
);
ALTER TABLE {table} ALTER COLUMN embedding SET STORAGE {storage}
"""
_PUT = """
INSERT INTO {table} (key, digest, embedding)
SELECT key, digest, embedding::vector
FROM unnest(%s::text[], %s::text[], %s::text[]) AS given (key, digest, embedding)
ON CONFLICT (key) DO UPDATE SET digest = excluded.digest, embedding = excluded.embedding
"""
# The inner product of vectors of length 1 is their cosine; `<#>` gives it with the other sign.
_NEAREST = """
SELECT key, -(embedding <#> %(vector)s::vector) FROM {table}
ORDER BY embedding <#> %(vector)s::vector, key LIMIT %(count)s
"""
_TABLES = "SELECT tablename FROM pg_tables WHERE schemaname = current_schema() AND starts_with(tablename, %s)"

_REASONS_BY_STATE = {"42501": "no_permission", "53100": "disk_full", "53300": "too_often", "57014": "time_out"}
# An error of the connection has no state, its words alone tell it: those of libpq, and of a server that speaks English.
_REASONS_BY_WORDS = (
    ("password", "sign_in_refused"),
    ("authentication", "sign_in_refused"),
    ("role ", "sign_in_refused"),
    ("does not exist", "no_database"),
    ("refused", "refused"),
    ("resolve", "unknown_machine"),
    ("translate host", "unknown_machine"),
    ("certificate", "not_trusted"),
    ("timeout", "time_out"),
    ("timed out", "time_out"),
    ("closed", "broke_off"),
)


class PgvectorStore:
    """A table of a Postgres. Each statement is whole or not at all, and may be sent again."""

    def __init__(self, url: str, space: VectorSpace, owner: str) -> None:
        """`owner` keeps the tables of several homes in one database apart."""
        self._url = url
        self._space = space
        self._prefix = f"{_NAME}_{owner}_"
        self._name = f"{self._prefix}{space.collection_name}"
        self._lock = threading.Lock()
        self._connection: psycopg.Connection | None = None
        try:
            self._require_extension()
            self._create()
        except IndexingError:
            self.close()
            raise

    def digests(self) -> dict[str, str]:
        """Key and digest of every vector."""
        return dict(self._run("SELECT key, digest FROM {table}"))

    def put(self, records: Sequence[VectorRecord]) -> None:
        """Add vectors, in place of those with the same keys; all of them or none."""
        refuse_other_lengths(records, self._space)
        keys, digests = [record.key for record in records], [record.digest for record in records]
        self._run(_PUT, (keys, digests, [_written(record.vector) for record in records]))

    def remove(self, keys: Sequence[str]) -> None:
        """Delete vectors."""
        self._run("DELETE FROM {table} WHERE key = ANY(%s::text[])", ([*keys],))

    def nearest(self, vector: npt.NDArray[np.float32], count: int) -> list[Neighbour]:
        """The nearest chunks, exactly; of several at one distance those first whose keys come first."""
        rows = self._run(_NEAREST, {"vector": _written(vector), "count": count})
        return [Neighbour(key, cosine) for key, cosine in rows]

    def clear(self) -> None:
        """Delete the table and create it again."""
        self._run("DROP TABLE IF EXISTS {table}")
        self._create()

    def drop_other_spaces(self) -> None:
        """Delete the tables of other models."""
        for (name,) in self._run(_TABLES, (self._prefix,)):
            if name != self._name:
                self._run("DROP TABLE IF EXISTS {other}", other=name)

    def close(self) -> None:
        """Close the connection; one that a server holds which hangs ends with the program."""
        with suppress(StoreAwayError), self._turn():
            self._hang_up()

    def _create(self) -> None:
        self._run(_CREATE)

    def _require_extension(self) -> None:
        if self._run("SELECT 1 FROM pg_type WHERE oid = to_regtype('vector')"):
            return
        try:
            self._run("CREATE EXTENSION IF NOT EXISTS vector")
        except StoreAwayError:
            raise
        except IndexingError:
            raise IndexingError(say("index", "no_vector_extension")) from None

    def _run(
        self, statement: LiteralString, values: Sequence[object] | dict[str, object] = (), other: str = ""
    ) -> list[TupleRow]:
        """The rows of a statement. A connection that broke while nobody asked is made again, once."""
        composed = sql.SQL(statement).format(
            table=sql.Identifier(self._name),
            other=sql.Identifier(other),
            dimensions=sql.Literal(self._space.dimensions),
            storage=sql.SQL("PLAIN" if self._space.dimensions <= _DIMENSIONS_IN_A_PAGE else "EXTERNAL"),
        )
        with self._turn(), _as_indexing_errors():
            is_old = self._connection is not None and not self._connection.closed
            try:
                return self._fetch(composed, values)
            except psycopg.OperationalError:
                has_broken = self._connection is not None and self._connection.closed
                self._hang_up()
                if not (is_old and has_broken):
                    raise
                return self._fetch(composed, values)

    def _fetch(self, statement: sql.Composed, values: Sequence[object] | dict[str, object]) -> list[TupleRow]:
        if self._connection is None or self._connection.closed:
            self._connection = _connect(self._url)
        # A statement of several parts takes no values.
        cursor = self._connection.execute(statement, values or None)
        return cursor.fetchall() if cursor.description else []

    def _hang_up(self) -> None:
        connection, self._connection = self._connection, None
        if connection is not None:
            connection.close()

    @contextmanager
    def _turn(self) -> Generator[None]:
        if not self._lock.acquire(timeout=_TURN_SECONDS):
            raise StoreAwayError(say("index", "store_away", reason=say("plain_reasons", "time_out")))
        try:
            yield
        finally:
            self._lock.release()


class _BoundedConnection(psycopg.Connection):
    """Waits for no answer for ever."""

    def wait(self, gen: PQGen[T], interval: float = 0.1, timeout: float | None = None) -> T:
        """What a step of the protocol gives; `timeout` is in seconds."""
        return super().wait(gen, interval, ANSWER_SECONDS if timeout is None else timeout)


def _connect(url: str) -> psycopg.Connection:
    try:
        address = make_conninfo(
            url,
            connect_timeout=_CONNECT_SECONDS,
            application_name=_NAME,
        )
    except psycopg.ProgrammingError:
        # Its words repeat the address, with the password.
        raise IndexingError(say("index", "store_address_wrong")) from None
    # A pooler between us and the server may hand each statement to another connection.
    return _BoundedConnection.connect(address, autocommit=True, prepare_threshold=None)


def _written(vector: npt.NDArray[np.float32]) -> str:
    return str(vector.tolist())


@contextmanager
def _as_indexing_errors() -> Generator[None]:
    """Whatever the client raises, as `IndexingError`."""
    try:
        yield
    except (psycopg.OperationalError, psycopg.InterfaceError) as error:
        log.info("Postgres: %s: %s", type(error).__name__, error)
        raise StoreAwayError(say("index", "store_away", reason=_reason(error))) from None
    except errors.UndefinedTable as error:
        log.info("Postgres: %s", error)
        raise IndexingError(say("index", "store_unusable", reason=say("plain_reasons", "not_there"))) from None
    except (psycopg.Error, UnicodeError) as error:
        log.info("Postgres: %s: %s", type(error).__name__, error)
        raise IndexingError(say("index", "store_unusable", reason=_reason(error))) from None


def _reason(error: Exception) -> str:
    """Why, as a part of a sentence."""
    state, text = getattr(error, "sqlstate", None), str(error).lower()
    if state in _REASONS_BY_STATE:
        return say("plain_reasons", _REASONS_BY_STATE[state])
    name = next((name for words, name in _REASONS_BY_WORDS if words in text), "unforeseen")
    return say("index" if name in ("sign_in_refused", "no_database") else "plain_reasons", name)
