"""Every store of vectors keeps one contract, and the page about them shows it."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from assistant.config.settings import StoreBackend
from assistant.errors import IndexingError, SettingsError
from assistant.index.vectors.stores import BACKENDS, open_store
from tests.index.vectors.conformance import CONTRACTS, Contract, table
from tests.index.vectors.sites import PASSWORD, RUN_ON, SPACE, Servers
from tests.source_files import ROOT

CASES = [
    pytest.param(one, backend, id=f"{one.number}-{backend}")
    for backend in RUN_ON
    for one in CONTRACTS
    if one.is_asked_of(backend)
]
_CLIENTS: dict[StoreBackend, tuple[str, str]] = {
    "pgvector": ("psycopg", "psycopg[binary]"),
    "qdrant": ("qdrant_client", "qdrant-client"),
    "elasticsearch": ("elasticsearch", "elasticsearch>=9,<10"),
}


@pytest.mark.parametrize(("one", "backend"), CASES)
def test_a_store_keeps_the_contract(one: Contract, backend: StoreBackend, servers: Servers, tmp_path: Path) -> None:
    with servers.site(backend, tmp_path) as site:
        one.hold(site)


def test_every_store_there_is_is_held_to_the_contract() -> None:
    assert {*RUN_ON} == {*BACKENDS} - {"auto"}


def test_the_page_about_stores_shows_the_contract_and_what_it_was_run_on() -> None:
    page = (ROOT / "docs" / "stores.md").read_text(encoding="utf-8")
    assert table(lambda one, backend: "✓" if one.is_asked_of(backend) else "–") in page
    rows = [line for line in page.splitlines() if line.startswith("| `")][1:]
    assert [(row.split("`")[1], row.split("|")[-2].strip()) for row in rows] == [*RUN_ON.items()]


def test_an_unknown_store_is_an_error_that_lists_those_there_are(tmp_path: Path) -> None:
    with pytest.raises(SettingsError, match="auto, chroma, chroma-server, elasticsearch, local, pgvector, qdrant"):
        open_store("faiss", tmp_path, SPACE)  # type: ignore[arg-type]


@pytest.mark.parametrize(("backend", "module", "package"), [(name, *client) for name, client in _CLIENTS.items()])
def test_a_client_that_is_not_installed_is_named_with_the_command_that_brings_it(
    backend: StoreBackend, module: str, package: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in [name for name in sys.modules if name.startswith("assistant.index.vectors.")]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, module, None)
    with pytest.raises(IndexingError) as caught:
        open_store(backend, tmp_path, SPACE, f"postgresql://me:{PASSWORD}@127.0.0.1:9/d")
    line = f"MEMORY_STORE_BACKEND={backend} needs a package that is not installed: pip install '{package}'"
    assert str(caught.value) == line
