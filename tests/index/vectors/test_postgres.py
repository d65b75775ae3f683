"""What only a Postgres can do to its vectors: hang, restart, lack its extension, refuse a name."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path

import psycopg
import pytest

from assistant.errors import IndexingError, StoreAwayError
from assistant.index.vectors.protocol import Neighbour
from assistant.index.vectors.stores import open_store
from tests.index.vectors.conformance import record
from tests.index.vectors.sites import SPACE, Servers, Site


@pytest.fixture
def site(servers: Servers, tmp_path: Path) -> Iterator[Site]:
    """A Postgres behind a relay."""
    with servers.site("pgvector", tmp_path) as opened:
        yield opened


def test_a_connection_that_broke_while_nobody_asked_is_made_again(site: Site) -> None:
    store = site.open()
    store.put([record("a", 0)])
    site.cable.cut()
    site.cable.mend()
    assert store.nearest(record("q", 0).vector, 1) == [Neighbour("a", pytest.approx(1.0))]


def test_a_server_that_hangs_is_not_waited_for_for_ever(site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    store = site.open()
    monkeypatch.setattr("assistant.index.vectors.postgres.ANSWER_SECONDS", 0.2)
    site.cable.stall()
    with pytest.raises(StoreAwayError, match="it took too long"):
        store.digests()


def test_nobody_waits_long_behind_a_question_to_a_server_that_hangs(
    site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = site.open()
    monkeypatch.setattr("assistant.index.vectors.postgres._TURN_SECONDS", 0.05)
    site.cable.stall()
    asking = threading.Thread(target=lambda: suppressed(store.digests))
    asking.start()
    try:
        while not store._lock.locked():  # type: ignore[attr-defined]
            threading.Event().wait(0.01)
        with pytest.raises(StoreAwayError, match="it took too long"):
            store.nearest(record("q", 0).vector, 1)
        store.close()
    finally:
        site.cable.cut()
        asking.join()
        site.cable.mend()


def suppressed(ask: Callable[[], object]) -> None:
    """A question whose failure does not matter."""
    with suppress(IndexingError):
        ask()


def test_the_table_goes_and_comes_back_when_it_was_dropped_behind_us(site: Site) -> None:
    store = site.open()
    with psycopg.connect(site.url, autocommit=True) as other:
        other.execute(f'DROP TABLE "{_table_of(other, site)}"')  # type: ignore[arg-type]
    with pytest.raises(IndexingError, match="it does not exist") as caught:
        store.digests()
    assert not isinstance(caught.value, StoreAwayError)
    assert site.open(is_fresh=True).digests() == {}


def test_a_database_without_pgvector_is_told_with_the_way_out(site: Site) -> None:
    with psycopg.connect(site.url, autocommit=True) as admin:
        admin.execute("CREATE DATABASE bare")
        admin.execute("CREATE ROLE visitor LOGIN")
        try:
            url = site.url.replace("postgres:", "visitor:").replace("/postgres", "/bare")
            with pytest.raises(IndexingError, match="its administrator runs CREATE EXTENSION vector once"):
                open_store("pgvector", site.folder, SPACE, url)
        finally:
            admin.execute("DROP DATABASE bare")
            admin.execute("DROP ROLE visitor")


@pytest.mark.parametrize(
    ("old", "new", "reason"),
    [
        ("/postgres:", "/nobody:", "the name or the password was refused"),
        ("/postgres", "/nowhere", "there is no such database"),
        ("/postgres", "/postgres?pasword=x", "MEMORY_STORE_URL is not an address"),
    ],
    ids=["name", "database", "parameter"],
)
def test_a_wrong_address_is_told_in_plain_words(site: Site, old: str, new: str, reason: str) -> None:
    head, _, tail = site.url.rpartition(old)
    with pytest.raises(IndexingError, match=reason):
        open_store("pgvector", site.folder, SPACE, head + new + tail)


def _table_of(connection: psycopg.Connection, site: Site) -> str:
    mark = (site.folder / "ada" / "home_mark").read_text(encoding="utf-8")
    row = connection.execute("SELECT tablename FROM pg_tables WHERE tablename LIKE %s", (f"%{mark}%",)).fetchone()
    assert row is not None
    return str(row[0])
