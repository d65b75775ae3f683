"""What every store of vectors keeps to, numbered; `python -m tests.index.vectors.conformance` prints the table."""

from __future__ import annotations

import asyncio
import logging
import multiprocessing
import sys
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from multiprocessing.connection import Connection
from pathlib import Path
from urllib.parse import urlsplit, urlunsplit

import numpy as np
import pytest

from assistant.config.settings import StoreBackend
from assistant.errors import IndexingError, StoreAwayError
from assistant.index.chunker import CHUNKER_VERSION
from assistant.index.vectors.protocol import Neighbour, VectorRecord, VectorSpace
from assistant.index.vectors.stores import SERVERS, open_store
from tests.fakes.children import started
from tests.index.fakes import HashEmbedder
from tests.index.homes import opened, places, write
from tests.index.vectors.sites import PASSWORD, RUN_ON, SPACE, Servers, Site

OTHER_SPACE = VectorSpace("another model", 8, 1)
ODD_KEYS = (
    'memory/it\'s "quoted".md#0',
    "memory/50%_off; DROP TABLE chunks --.md#1",
    "memory/绿茶 🍵.md#0",
    "memory/line\nbreak\tand tab.md#0",
    "memory/{braces} %s $1 \\back.md#0",
    f"memory/{'deep/' * 120}long.md#0",
    "memory/Case.md#0",
    "memory/case.md#0",
    " memory/blank .md#0 ",
)


@dataclass(frozen=True)
class Contract:
    """One thing that a store keeps to; `hold` fails where it does not."""

    number: int
    sentence: str
    hold: Callable[[Site], None]
    is_of_servers: bool

    def is_asked_of(self, backend: StoreBackend) -> bool:
        """False for what only a store on a server can keep or break."""
        return backend in SERVERS or not self.is_of_servers


CONTRACTS: list[Contract] = []


def contract(sentence: str, *, of_servers: bool = False) -> Callable[[Callable[[Site], None]], Callable[[Site], None]]:
    """Number a contract."""

    def add(hold: Callable[[Site], None]) -> Callable[[Site], None]:
        CONTRACTS.append(Contract(len(CONTRACTS) + 1, sentence, hold, of_servers))
        return hold

    return add


def record(key: str, direction: int, digest: str = "d") -> VectorRecord:
    """A vector along one axis."""
    vector = np.zeros(8, dtype=np.float32)
    vector[direction] = 1.0
    return VectorRecord(key, digest, vector)


def many(count: int) -> list[VectorRecord]:
    """Vectors in all directions, the same ones each time."""
    vectors = np.random.default_rng(0).normal(size=(count, 8)).astype(np.float32)
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    return [VectorRecord(f"k{number}", "d", vector) for number, vector in enumerate(vectors)]


@contract("The nearest come first, each with its cosine, from −1 to 1")
def _nearest_first(site: Site) -> None:
    store, records = site.open(), many(300)
    store.put(records)
    question = records[7].vector
    cosines = {one.key: float(one.vector @ question) for one in records}
    expected = sorted(cosines, key=lambda key: cosines[key], reverse=True)
    found = store.nearest(question, 300)
    assert [near.key for near in found[:20]] == expected[:20]
    assert {near.key: near.cosine for near in found} == pytest.approx(cosines, abs=1e-5)


@contract("Of chunks at one distance each is found, and no more than are asked for")
def _ties(site: Site) -> None:
    store = site.open()
    store.put([record(f"tied{number}", 0) for number in range(5)] + [record("far", 1)])
    question = record("q", 0).vector
    found = store.nearest(question, 5)
    assert sorted(near.key for near in found) == [f"tied{number}" for number in range(5)]
    assert [near.cosine for near in found] == [pytest.approx(1.0)] * 5
    assert [near.cosine for near in store.nearest(question, 2)] == [pytest.approx(1.0)] * 2


@contract("An empty store finds nothing, and what is not there can be deleted")
def _empty(site: Site) -> None:
    store = site.open()
    assert (store.nearest(record("q", 0).vector, 5), store.digests()) == ([], {})
    store.remove(["never there"])
    store.remove([])
    store.put([])


@contract("A vector that is put again takes the place of the old one")
def _put_again(site: Site) -> None:
    store = site.open()
    store.put([record("a", 0, "old"), record("b", 1)])
    store.put([record("a", 2, "new")])
    assert store.digests() == {"a": "new", "b": "d"}
    assert store.nearest(record("q", 2).vector, 1) == [Neighbour("a", pytest.approx(1.0))]


@contract("What was put and deleted is so after a restart")
def _after_a_restart(site: Site) -> None:
    store = site.open()
    store.put(many(300))
    store.remove([f"k{number}" for number in range(0, 300, 2)])
    store = site.open()
    assert store.digests() == {f"k{number}": "d" for number in range(1, 300, 2)}
    assert len(store.nearest(record("q", 0).vector, 150)) == 150


@contract("Vectors of another embedder stand beside these, are never found with them, and go when they are told to")
def _another_embedder(site: Site) -> None:
    site.open().put([record("a", 0)])
    store = site.open(OTHER_SPACE)
    assert (store.digests(), store.nearest(record("q", 0).vector, 5)) == ({}, [])
    store.put([record("b", 1)])
    assert site.open().digests() == {"a": "d"}
    site.open(OTHER_SPACE).drop_other_spaces()
    assert site.open(OTHER_SPACE).digests() == {"b": "d"}
    assert site.open().digests() == {}


@contract("A vector of another length is refused, and nothing of what came with it is taken")
def _another_length(site: Site) -> None:
    store = site.open()
    store.put([record("a", 0)])
    with pytest.raises(IndexingError, match="model gave vectors of another size: 3, not 8"):
        store.put([record("b", 1), VectorRecord("c", "d", np.ones(3, dtype=np.float32))])
    assert site.open().digests() == {"a": "d"}


@contract("Cleared, or begun anew, it is empty and usable")
def _begun_anew(site: Site) -> None:
    store = site.open()
    store.put(many(50))
    store.clear()
    assert (store.digests(), store.nearest(record("q", 0).vector, 5)) == ({}, [])
    store.put([record("a", 0)])
    store = site.open(is_fresh=True)
    assert store.digests() == {}
    store.put([record("b", 1)])
    assert site.open().digests() == {"b": "d"}


@contract("Two people in one place neither find nor delete what is the other's")
def _two_people(site: Site) -> None:
    ada, ben = site.open(person="ada"), site.open(person="ben")
    ada.put([record("USER.md#0", 0, "ada's"), record("memory/a.md#0", 1)])
    ben.put([record("USER.md#0", 2, "ben's")])
    assert ben.digests() == {"USER.md#0": "ben's"}
    assert ben.nearest(record("q", 0).vector, 5) == [Neighbour("USER.md#0", pytest.approx(0.0))]
    ben.remove(["USER.md#0", "memory/a.md#0"])
    ben.drop_other_spaces()
    ben.clear()
    assert site.open(person="ada").digests() == {"USER.md#0": "ada's", "memory/a.md#0": "d"}


@contract("No name of a file is too odd: quotes, line ends, emoji, 600 letters, capitals that tell two apart")
def _odd_keys(site: Site) -> None:
    store = site.open()
    store.put([record(key, number % 8) for number, key in enumerate(ODD_KEYS)])
    store = site.open()
    assert store.digests() == dict.fromkeys(ODD_KEYS, "d")
    assert sorted(near.key for near in store.nearest(record("q", 0).vector, 20)) == sorted(ODD_KEYS)
    store.remove(ODD_KEYS)
    assert store.digests() == {}


@contract("Killed while it writes, it has of each vector all or nothing, and goes on from there")
def _killed_while_it_writes(site: Site) -> None:
    ours, theirs = multiprocessing.Pipe(duplex=False)
    child = started(_put_until_killed, site.backend, site.folder / "ada", site.url, theirs)
    assert ours.poll(60), "the child has put something"
    child.kill()
    child.join()
    records = {one.key: one for one in many(2_000)}
    store = site.open()
    there = store.digests()
    assert len(there) >= ours.recv()
    assert {near.key for near in store.nearest(record("q", 0).vector, 3_000)} == there.keys()
    store.put([one for key, one in records.items() if key not in there])
    assert site.open().digests() == dict.fromkeys(records, "d")


def _put_until_killed(backend: StoreBackend, folder: Path, url: str, told: Connection) -> None:
    store = open_store(backend, folder, SPACE, url)
    records = many(2_000)
    store.put(records[:100])
    told.send(100)
    while True:
        for start in range(100, 2_000, 50):
            store.put(records[start : start + 50])


@contract("While the server is away it says so, and what it held is there when it is back", of_servers=True)
def _server_away(site: Site) -> None:
    store = site.open()
    store.put([record("a", 0)])
    site.cable.cut()
    question = record("q", 0).vector
    for ask in (lambda: store.nearest(question, 1), lambda: store.put([record("b", 1)]), store.digests):
        with pytest.raises(StoreAwayError):
            ask()
    site.cable.mend()
    assert site.open().digests() == {"a": "d"}
    assert site.open().nearest(question, 1) == [Neighbour("a", pytest.approx(1.0))]


@contract("While the server is away a search answers by words and says so; back, it is caught up", of_servers=True)
def _search_while_away(site: Site) -> None:
    asyncio.run(_search_through_an_outage(site))


async def _search_through_an_outage(site: Site) -> None:
    home, embedder = site.folder / "home", HashEmbedder()
    write(home, "memory/a.md", "green tea")
    async with opened(home, embedder, backend=site.backend, server_url=site.url) as index:
        assert (await index.search("green tea")).notices == ()
        site.cable.cut()
        write(home, "memory/b.md", "black coffee")
        await index.sync()
        answer = await index.search("black coffee")
        assert places(answer) == [("memory/b.md", 1)]
        (notice,) = answer.notices
        assert notice.startswith("Searching by words alone for now: The server of the vector store cannot be reached: ")
        assert index.status().mode == "text"
        site.cable.mend()
        await index.sync()
        answer = await index.search("black coffee")
        assert (places(answer), answer.notices) == ([("memory/b.md", 1)], ())
        assert (index.status().mode, index.status().pending) == ("hybrid", 0)
    # Each once as a note and once as a question.
    assert sorted(embedder.embedded) == ["black coffee", "black coffee", "green tea", "green tea"]


@contract("A forget that cannot reach the server says so; nothing of it is left once it can", of_servers=True)
def _forget_while_away(site: Site) -> None:
    asyncio.run(_forget_through_an_outage(site))


async def _forget_through_an_outage(site: Site) -> None:
    home = site.folder / "home"
    path = write(home, "memory/a.md", "# Door\nthe code is 4711\n\n# Tea\ngreen tea\n")
    async with opened(home, HashEmbedder(), backend=site.backend, server_url=site.url) as index:
        site.cable.cut()
        path.write_text("# Tea\ngreen tea\n", encoding="utf-8")
        with pytest.raises(IndexingError, match="cannot be reached"):
            await index.purge()
        site.cable.mend()
        await index.purge()
        assert index.status().chunks == 1
    space = VectorSpace("hash", 16, CHUNKER_VERSION)
    store = open_store(site.backend, home / "index", space, site.url)
    assert len(store.digests()) == 1
    store.close()


@contract("The password of its address is in no error and no line of the log", of_servers=True)
def _password_is_hidden(site: Site) -> None:
    told: list[str] = []
    handler = logging.Handler()
    handler.emit = lambda one: told.append(f"{one.getMessage()} {one.exc_info}")  # type: ignore[method-assign]
    root = logging.getLogger()
    level = root.level
    root.addHandler(handler)
    root.setLevel(logging.DEBUG)
    try:
        site.cable.cut()
        for url in _addresses_with_a_password(site):
            with pytest.raises(IndexingError) as caught:
                open_store(site.backend, site.folder / "ada", SPACE, url)
            told.append(f"{caught.value} {caught.value!r}")
    finally:
        root.removeHandler(handler)
        root.setLevel(level)
        site.cable.mend()
    assert [text for text in told if PASSWORD in text] == []


def _addresses_with_a_password(site: Site) -> list[str]:
    parts = urlsplit(site.url)
    whole = urlunsplit(parts._replace(netloc=f"me:{PASSWORD}@127.0.0.1:{site.cable.port}"))
    return [whole, f"{whole}?unknown_{PASSWORD}={PASSWORD}", whole.replace("@", " @")]


def table(mark: Callable[[Contract, StoreBackend], str]) -> str:
    """The contracts as a table of Markdown, with a mark for each store."""
    lines = [f"| | contract | {' | '.join(f'`{name}`' for name in RUN_ON)} |", f"|---|---|{'---|' * len(RUN_ON)}"]
    for one in CONTRACTS:
        marks = " | ".join(mark(one, backend) for backend in RUN_ON)
        lines.append(f"| {one.number} | {one.sentence} | {marks} |")
    return "\n".join(lines)


def main() -> int:
    """Hold every store to every contract and print what came of it; 1 where one was broken."""
    broken: list[str] = []
    servers = Servers()

    def run(one: Contract, backend: StoreBackend) -> str:
        if not one.is_asked_of(backend):
            return "–"
        with (
            tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder,
            servers.site(backend, Path(folder)) as site,
        ):
            try:
                one.hold(site)
            except (AssertionError, IndexingError) as error:
                broken.append(f"{one.number} {backend}: {error}")
                return "✗"
        return "✓"

    try:
        print(table(run))
    finally:
        servers.close()
    print("\n".join(broken))
    return 1 if broken else 0


if __name__ == "__main__":
    sys.exit(main())
