"""Three stores of vectors keep one contract; what is damaged is noticed."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pytest

from assistant.errors import IndexingError, SettingsError
from assistant.index.vectors.chroma import Backend, open_store
from assistant.index.vectors.protocol import Neighbour, VectorRecord, VectorSpace, VectorStore
from tests.fakes.children import started

SPACE = VectorSpace("model", 8, 1)
Open = Callable[..., VectorStore]


def record(key: str, direction: int, digest: str = "d") -> VectorRecord:
    vector = np.zeros(8, dtype=np.float32)
    vector[direction] = 1.0
    return VectorRecord(key, digest, vector)


def many(count: int) -> list[VectorRecord]:
    vectors = np.random.default_rng(0).normal(size=(count, 8)).astype(np.float32)
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    return [VectorRecord(f"k{number}", "d", vector) for number, vector in enumerate(vectors)]


@pytest.fixture(scope="module")
def server_url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """A real Chroma server on loopback."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    folder = tmp_path_factory.mktemp("server")
    command = Path(sys.executable).with_name("chroma")
    arguments = [str(command), "run", "--path", str(folder), "--host", "127.0.0.1", "--port", str(port)]
    process = subprocess.Popen(arguments, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        for _ in range(600):
            with socket.socket() as probe:
                probe.settimeout(0.1)
                if probe.connect_ex(("127.0.0.1", port)) == 0:
                    break
            assert process.poll() is None, "the server ended"
            threading.Event().wait(0.05)
        yield f"http://127.0.0.1:{port}"
    finally:
        process.terminate()
        process.wait()


@pytest.fixture(params=["local", "chroma", "chroma-server"])
def open_it(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Open]:
    """Opens the same store again and again, as restarts do."""
    backend: Backend = request.param
    url = request.getfixturevalue("server_url") if backend == "chroma-server" else ""
    opened: list[VectorStore] = []

    def open_one(space: VectorSpace = SPACE, is_fresh: bool = False) -> VectorStore:
        while opened:
            opened.pop().close()
        opened.append(open_store(backend, tmp_path / "index", space, url, is_fresh))
        return opened[-1]

    yield open_one
    while opened:
        opened.pop().close()


def test_the_nearest_come_first_with_their_cosine(open_it: Open) -> None:
    store = open_it()
    mixed = np.array([0.6, 0.8, 0, 0, 0, 0, 0, 0], dtype=np.float32)
    store.put([record("a", 0), record("b", 1), record("c", 2)])
    assert store.nearest(mixed, 2) == [Neighbour("b", pytest.approx(0.8)), Neighbour("a", pytest.approx(0.6))]
    assert [near.key for near in store.nearest(mixed, 10)] == ["b", "a", "c"]


def test_an_empty_store_finds_nothing(open_it: Open) -> None:
    store = open_it()
    assert (store.nearest(record("q", 0).vector, 5), store.digests()) == ([], {})
    store.remove(["never there"])


def test_a_vector_put_again_takes_the_place_of_the_old_one(open_it: Open) -> None:
    store = open_it()
    store.put([record("a", 0, "old"), record("b", 1)])
    store.put([record("a", 2, "new")])
    assert store.digests() == {"a": "new", "b": "d"}
    assert store.nearest(record("q", 2).vector, 1) == [Neighbour("a", pytest.approx(1.0))]


def test_what_was_put_and_removed_is_so_after_a_restart(open_it: Open) -> None:
    store = open_it()
    store.put(many(300))
    store.remove([f"k{number}" for number in range(0, 300, 2)])
    store = open_it()
    assert store.digests() == {f"k{number}": "d" for number in range(1, 300, 2)}
    assert len(store.nearest(record("q", 0).vector, 150)) == 150


def test_another_model_gets_vectors_of_its_own_beside_the_old_ones(open_it: Open) -> None:
    open_it().put([record("a", 0)])
    other = VectorSpace("another model", 8, 1)
    store = open_it(other)
    assert store.digests() == {}
    store.put([record("b", 1)])
    assert open_it().digests() == {"a": "d"}
    open_it(other).drop_other_spaces()
    assert open_it(other).digests() == {"b": "d"}
    assert open_it().digests() == {}


def test_cleared_and_begun_anew_it_is_empty_and_usable(open_it: Open) -> None:
    store = open_it()
    store.put(many(50))
    store.clear()
    assert store.digests() == {}
    store.put([record("a", 0)])
    store = open_it(is_fresh=True)
    assert store.digests() == {}
    store.put([record("b", 1)])
    assert open_it().digests() == {"b": "d"}


def test_a_vector_of_another_size_is_refused_and_never_filled_up(tmp_path: Path) -> None:
    store = open_store("chroma", tmp_path, SPACE)
    store.put([record("a", 0)])
    with pytest.raises(IndexingError):
        store.put([VectorRecord("b", "d", np.ones(3, dtype=np.float32))])
    store.close()


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


def test_an_unknown_store_is_an_error_that_lists_those_there_are(tmp_path: Path) -> None:
    with pytest.raises(SettingsError, match="auto, chroma, chroma-server, local"):
        open_store("faiss", tmp_path, SPACE)  # type: ignore[arg-type]
    with pytest.raises(SettingsError, match="MEMORY_STORE_URL"):
        open_store("chroma-server", tmp_path, SPACE)


def test_a_server_that_is_not_there_is_told_of(tmp_path: Path) -> None:
    with pytest.raises(IndexingError):
        open_store("chroma-server", tmp_path, SPACE, "http://127.0.0.1:9")
