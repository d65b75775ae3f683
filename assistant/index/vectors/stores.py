"""Where vectors live: opens the store that the settings name, and removes what the index folder holds of vectors."""

from __future__ import annotations

import importlib.util
import secrets
import shutil
import sys
from pathlib import Path
from typing import get_args

from assistant.config.settings import StoreBackend
from assistant.config.words import say
from assistant.errors import IndexingError, SettingsError
from assistant.index.text.databases import remove_database
from assistant.index.vectors.chroma import open_in_folder, open_on_server
from assistant.index.vectors.local import LocalStore
from assistant.index.vectors.protocol import VectorSpace, VectorStore
from assistant.storage.atomic_io import replace_text

BACKENDS: tuple[StoreBackend, ...] = get_args(StoreBackend)
SERVERS: frozenset[StoreBackend] = frozenset({"chroma-server", "elasticsearch", "pgvector", "qdrant"})
"""Those that many people share; each home has its own part of them."""

_CLIENTS = {"pgvector": "psycopg[binary]", "qdrant": "qdrant-client", "elasticsearch": "elasticsearch>=9,<10"}


def open_store(
    backend: StoreBackend, folder: Path, space: VectorSpace, server_url: str = "", is_fresh: bool = False
) -> VectorStore:
    """The store of `backend`; `auto` is Chroma, or `local` on Windows and where Chroma is not installed.

    `is_fresh` puts away what is there, for a store that turned out to be damaged. Raises `IndexingError` where it
    cannot be used.
    """
    resolved = _resolved(backend)
    if resolved in SERVERS:
        store = _open_server(resolved, server_url, space, _home_mark(folder))
    elif resolved == "local":
        store = LocalStore(folder / "vectors.sqlite", space)
    else:
        return open_in_folder(folder / "chroma", space, is_fresh)
    if is_fresh:
        store.clear()
    return store


def remove_vector_files(folder: Path) -> None:
    """Delete all vectors in the index folder and their cache; they can be made again."""
    shutil.rmtree(folder / "chroma", ignore_errors=True)
    for name in ("vectors.sqlite", "embeddings.sqlite"):
        remove_database(folder / name)


def _resolved(backend: StoreBackend) -> StoreBackend:
    if backend not in BACKENDS:
        raise SettingsError(
            "MEMORY_STORE_BACKEND", say("index", "no_backend", backend=backend, names=", ".join(BACKENDS))
        )
    if backend != "auto":
        return backend
    is_local = sys.platform == "win32" or importlib.util.find_spec("chromadb") is None
    return "local" if is_local else "chroma"


def _open_server(backend: StoreBackend, url: str, space: VectorSpace, owner: str) -> VectorStore:
    """The part of `owner` on a server. The clients are extras: whoever does not use one need not have it."""
    try:
        match backend:
            case "pgvector":
                from assistant.index.vectors.postgres import PgvectorStore  # noqa: PLC0415

                return PgvectorStore(url, space, owner)
            case "qdrant":
                from assistant.index.vectors.qdrant import QdrantStore  # noqa: PLC0415

                return QdrantStore(url, space, owner)
            case "elasticsearch":
                from assistant.index.vectors.elastic import ElasticsearchStore  # noqa: PLC0415

                return ElasticsearchStore(url, space, owner)
            case _:
                return open_on_server(url, space, owner)
    except ImportError:
        package = _CLIENTS.get(backend, backend)
        raise IndexingError(say("index", "no_client", backend=backend, package=package)) from None


def _home_mark(folder: Path) -> str:
    """An id that distinguishes this home from others on one server; made once."""
    path = folder / "home_mark"
    if not path.exists():
        replace_text(path, secrets.token_hex(8))
    return path.read_text(encoding="utf-8").strip()
