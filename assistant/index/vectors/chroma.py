"""Vectors in Chroma: in this process, or on a Chroma server."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

import httpx
import numpy as np
import numpy.typing as npt

from assistant.config.plain_reasons import plain_reason
from assistant.config.words import say
from assistant.errors import IndexingError
from assistant.index.vectors.protocol import Neighbour, VectorRecord, VectorSpace, refuse_other_lengths
from assistant.index.vectors.store_servers import ANSWER_SECONDS, read_address, store_failure

if TYPE_CHECKING:
    from chromadb.api import ClientAPI
    from chromadb.api.models.Collection import Collection
    from chromadb.config import Settings as ChromaSettings

# Wide enough that the 200 nearest which the fusion looks at are nearly all the true ones.
_EF_SEARCH = 200
_IN_ONE_CALL = 1_000


def open_in_folder(folder: Path, space: VectorSpace, is_fresh: bool) -> ChromaStore:
    """Chroma in this process; `is_fresh` begins with an empty folder."""
    generation = _generation(folder, is_fresh)
    return ChromaStore(lambda: _open_client(generation), space)


def open_on_server(url: str, space: VectorSpace, owner: str) -> ChromaStore:
    """The collection of `owner` on a Chroma server."""
    return ChromaStore(lambda: _connect_server(url), space, owner)


class ChromaStore:
    """A Chroma collection. Chroma is never asked to embed anything, and what it stores about a model is not trusted."""

    def __init__(self, connect: Callable[[], ClientAPI], space: VectorSpace, owner: str = "") -> None:
        """`owner` keeps the collections of several homes on one server apart."""
        self._space = space
        self._prefix = f"{owner}-chunks-" if owner else "chunks-"
        self._name = f"{owner}-{space.collection_name}" if owner else space.collection_name
        with _as_indexing_errors():
            self._client = connect()
            self._collection = self._open_collection()

    def digests(self) -> dict[str, str]:
        """Key and digest of every vector. Raises `IndexingError` when the search graph has lost some of them."""
        with _as_indexing_errors():
            count = self._collection.count()
            if not count:
                return {}
            found = self._collection.get(include=["metadatas"])
            probe = np.zeros(self._space.dimensions, dtype=np.float32)
            probe[0] = 1.0
            reached = self._collection.query(query_embeddings=[probe], n_results=count, include=[])["ids"][0]
        if len(reached) != count or len(found["ids"]) != count:
            raise IndexingError(say("index", "vectors_missing", found=len(reached), count=count))
        metadatas = found["metadatas"] or []
        return {key: str(data["digest"]) for key, data in zip(found["ids"], metadatas, strict=True)}

    def put(self, records: Sequence[VectorRecord]) -> None:
        """Add vectors, in place of those with the same keys."""
        refuse_other_lengths(records, self._space)
        for start in range(0, len(records), _IN_ONE_CALL):
            batch = records[start : start + _IN_ONE_CALL]
            with _as_indexing_errors():
                self._collection.upsert(
                    ids=[record.key for record in batch],
                    embeddings=[record.vector for record in batch],
                    metadatas=[{"digest": record.digest} for record in batch],
                )

    def remove(self, keys: Sequence[str]) -> None:
        """Delete vectors."""
        for start in range(0, len(keys), _IN_ONE_CALL):
            with _as_indexing_errors():
                self._collection.delete(ids=[*keys[start : start + _IN_ONE_CALL]])

    def nearest(self, vector: npt.NDArray[np.float32], count: int) -> list[Neighbour]:
        """The nearest chunks, by approximate search."""
        with _as_indexing_errors():
            found = self._collection.query(query_embeddings=[vector], n_results=count, include=["distances"])
        distances = found["distances"] or [[]]
        return [Neighbour(key, 1.0 - distance) for key, distance in zip(found["ids"][0], distances[0], strict=True)]

    def clear(self) -> None:
        """Delete the collection and create it again."""
        with _as_indexing_errors():
            self._client.delete_collection(self._name)
            self._collection = self._open_collection()

    def drop_other_spaces(self) -> None:
        """Delete the collections of other models."""
        with _as_indexing_errors():
            for collection in self._client.list_collections():
                if collection.name.startswith(self._prefix) and collection.name != self._name:
                    self._client.delete_collection(collection.name)

    def close(self) -> None:
        """Close the client."""
        with suppress(IndexingError), _as_indexing_errors():
            _close_client(self._client)

    def _open_collection(self) -> Collection:
        expected = {"model": self._space.model, "dimensions": self._space.dimensions}
        expected |= {"chunker_version": self._space.chunker_version}
        collection = self._get_or_create(expected)
        if {name: (collection.metadata or {}).get(name) for name in expected} == expected:
            return collection
        self._client.delete_collection(self._name)
        return self._get_or_create(expected)

    def _get_or_create(self, metadata: dict[str, str | int]) -> Collection:
        return self._client.get_or_create_collection(
            self._name,
            embedding_function=None,
            metadata=metadata,
            configuration={"hnsw": {"space": "cosine", "ef_search": _EF_SEARCH}},
        )


def _generation(folder: Path, is_fresh: bool) -> Path:
    """The folder of the newest generation, or a new one.

    Chroma keeps a folder it has opened in mind for the life of the process, so a new start needs a new name.
    """
    numbers = sorted(int(path.name) for path in folder.glob("[0-9]*") if path.name.isdecimal())
    newest = numbers[-1] if numbers else 1
    wanted = newest + 1 if is_fresh and numbers else newest
    for number in numbers:
        if number != wanted:
            shutil.rmtree(folder / str(number), ignore_errors=True)
    return folder / str(wanted)


def _open_client(folder: Path) -> ClientAPI:
    chromadb, settings = _load_chroma()
    folder.mkdir(parents=True, exist_ok=True)
    return chromadb.PersistentClient(folder, settings=settings)


def _connect_server(url: str) -> ClientAPI:
    chromadb, settings = _load_chroma()
    address = read_address(url)
    parts = urlsplit(address.url)
    is_encrypted = parts.scheme == "https"
    port = parts.port or (443 if is_encrypted else 8000)
    client = chromadb.HttpClient(parts.hostname or "", port, is_encrypted, address.headers, settings=settings)
    for session in _sessions(client):
        # Chroma itself waits for ever.
        session.timeout = ANSWER_SECONDS
    return client


def _close_client(client: ClientAPI) -> None:
    # Closing the client leaves the connections of its two sessions open; no other client shares them.
    from chromadb.api.client import Client  # noqa: PLC0415

    sessions = _sessions(client)
    if isinstance(client, Client):
        client.close()
    for session in sessions:
        session.close()


def _sessions(client: ClientAPI) -> list[httpx.Client]:
    """Those that a client has with its server; none where Chroma runs in this process."""
    from chromadb.api.client import AdminClient, Client  # noqa: PLC0415
    from chromadb.api.fastapi import FastAPI  # noqa: PLC0415

    admin = client._admin_client if isinstance(client, Client) else None  # pyright: ignore[reportPrivateUsage]
    servers = [one._server for one in (client, admin) if isinstance(one, Client | AdminClient)]  # pyright: ignore[reportPrivateUsage]
    return [server._session for server in servers if isinstance(server, FastAPI)]  # pyright: ignore[reportPrivateUsage]


def _load_chroma() -> tuple[ModuleType, ChromaSettings]:
    """Chroma and its settings. Late, because the import takes a second."""
    # onnxruntime, which comes with Chroma, would otherwise report home when something imports it.
    os.environ.setdefault("ORT_DISABLE_TELEMETRY", "1")
    import chromadb  # noqa: PLC0415
    from chromadb.config import Settings  # noqa: PLC0415

    return chromadb, Settings(anonymized_telemetry=False)


@contextmanager
def _as_indexing_errors() -> Generator[None]:
    """Whatever Chroma raises, as `IndexingError`."""
    try:
        from chromadb.errors import ChromaError  # noqa: PLC0415
    except ImportError as error:
        raise IndexingError(say("index", "no_chroma", reason=plain_reason(error))) from None
    try:
        yield
    except (ChromaError, httpx.HTTPError, OSError, ValueError, RuntimeError, KeyError) as error:
        raise store_failure(error) from None
