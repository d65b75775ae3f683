"""A store in the home that is damaged is noticed and begun anew."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest

from assistant.errors import IndexingError
from assistant.index.vectors.stores import open_store
from tests.fakes.children import started
from tests.index.vectors.conformance import many, record
from tests.index.vectors.sites import SPACE


def test_chroma_notices_that_its_graph_is_lost(tmp_path: Path) -> None:
    store = open_store("chroma", tmp_path, SPACE)
    store.put(many(1500))
    store.close()
    folders = [path.parent for path in tmp_path.rglob("header.bin")]
    assert folders, "the graph is on disk"
    for folder in folders:
        shutil.rmtree(folder)
    # Another process, for Chroma keeps what it has opened.
    child = started(_end_by_what_is_noticed, tmp_path)
    child.join(60)
    assert child.exitcode == 7


def _end_by_what_is_noticed(folder: Path) -> None:
    try:
        open_store("chroma", folder, SPACE).digests()
    except IndexingError:
        os._exit(7)
    os._exit(0)


@pytest.mark.parametrize("damage", ["header", "truncated", "emptied"])
def test_chroma_with_a_damaged_database_is_refused_and_begun_anew(tmp_path: Path, damage: str) -> None:
    store = open_store("chroma", tmp_path, SPACE)
    store.put(many(100))
    store.close()
    path = next(tmp_path.rglob("chroma.sqlite3"))
    content = path.read_bytes()
    damaged = {"header": b"\xff" * 4096 + content[4096:], "truncated": content[: len(content) // 2], "emptied": b""}
    path.write_bytes(damaged[damage])
    try:
        store = open_store("chroma", tmp_path, SPACE)
        assert store.digests() == {}
    except IndexingError:
        store = open_store("chroma", tmp_path, SPACE, is_fresh=True)
    store.put([record("a", 0)])
    assert store.digests() == {"a": "d"}
    store.close()


def test_local_vectors_with_a_damaged_file_are_begun_anew(tmp_path: Path) -> None:
    (tmp_path / "vectors.sqlite").write_bytes(b"no database" * 1000)
    store = open_store("local", tmp_path, SPACE)
    assert store.digests() == {}
    store.close()
