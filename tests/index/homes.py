"""A home to index in a test, and the index opened on it."""

from __future__ import annotations

import datetime as dt
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from pathlib import Path

from assistant.config.settings import StoreBackend
from assistant.index.chunker import JournalText
from assistant.index.memory_index import IndexSettings, MemoryIndex, SearchAnswer
from assistant.index.vectors.embeddings import Embedder

NOW = dt.datetime(2026, 11, 30, 9, tzinfo=dt.UTC)


def write(root: Path, name: str, text: str) -> Path:
    """Write a file of the home, with its folders."""
    path = root / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    return path


@asynccontextmanager
async def opened(
    root: Path,
    embedder: Embedder | None = None,
    *,
    backend: StoreBackend = "local",
    server_url: str = "",
    is_owner: bool = True,
    is_watching: bool = False,
    vector_seconds: float = 30.0,
    read_dialog: Callable[[Path], Sequence[JournalText]] = lambda path: (),
    mask: Callable[[str], str] = str,
    on_change: Callable[[frozenset[str]], None] | None = None,
) -> AsyncIterator[MemoryIndex]:
    """The index of `root`, in step with its files."""
    settings = IndexSettings(root, backend, server_url, is_owner, is_watching, vector_seconds, text_seconds=30.0)
    async with MemoryIndex(settings, embedder, read_dialog, lambda: NOW, mask, on_change) as index:
        await index.sync()
        yield index


def places(answer: SearchAnswer) -> list[tuple[str, int]]:
    """Path and first line of each hit."""
    return [(hit.path, hit.first_line) for hit in answer.hits]
