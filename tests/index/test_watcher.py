"""Changes on disk are followed, whatever an editor does to a file, and a killed program finds its way back."""

from __future__ import annotations

import asyncio
import multiprocessing
import os
import shutil
import signal
import threading
from collections.abc import Callable
from multiprocessing.connection import Connection
from pathlib import Path

import pytest

from assistant.config.settings import StoreBackend
from assistant.index.memory_index import MemoryIndex
from tests.fakes.children import started
from tests.index.fakes import HashEmbedder
from tests.index.homes import opened, places, write


async def wait_until(index: MemoryIndex, query: str, expected: list[tuple[str, int]]) -> None:
    """Return once a search finds exactly these places; the test's own time limit ends it otherwise."""
    found = places(await index.search(query))
    while found != expected:
        await asyncio.sleep(0.02)
        found = places(await index.search(query))


def save_in_place(path: Path, text: str) -> None:
    path.write_text(text, encoding="utf-8")


def save_by_replacing(path: Path, text: str) -> None:
    temporary = path.with_name(".tmp-1")
    temporary.write_text(text, encoding="utf-8")
    temporary.replace(path)


def save_by_the_rename_dance(path: Path, text: str) -> None:
    backup = path.with_name(path.name + "~")
    if path.exists():
        path.rename(backup)
    path.write_text(text, encoding="utf-8")
    backup.unlink(missing_ok=True)


@pytest.mark.parametrize("save", [save_in_place, save_by_replacing, save_by_the_rename_dance])
async def test_a_save_of_any_editor_is_found(home: Path, save: Callable[[Path, str], None]) -> None:
    path = write(home, "memory/a.md", "green tea")
    async with opened(home, is_watching=True) as index:
        save(path, "white wine")
        await wait_until(index, "wine", [("memory/a.md", 1)])
        await wait_until(index, "tea", [])
        path.unlink()
        await wait_until(index, "wine", [])


async def test_a_home_without_any_file_is_waited_for(home: Path) -> None:
    async with opened(home, is_watching=True) as index:
        write(home, "MEMORY.md", "green tea")
        await wait_until(index, "tea", [("MEMORY.md", 1)])
        write(home, "memory/topics/a.md", "white wine")
        await wait_until(index, "wine", [("memory/topics/a.md", 1)])
        write(home, "memory/topics/b.md", "black coffee")
        await wait_until(index, "coffee", [("memory/topics/b.md", 1)])


async def test_a_folder_that_is_deleted_and_made_again_is_followed(home: Path) -> None:
    write(home, "memory/a.md", "green tea")
    async with opened(home, is_watching=True) as index:
        for word in ("wine", "water", "milk"):
            shutil.rmtree(home / "memory")
            await wait_until(index, "tea", [])
            (home / "memory").mkdir()
            await wait_until(index, "tea", [])
            write(home, "memory/b.md", f"{word} and cheese")
            await wait_until(index, word, [("memory/b.md", 1)])


async def test_a_renamed_folder_is_followed(home: Path) -> None:
    write(home, "memory/old/a.md", "green tea")
    async with opened(home, is_watching=True) as index:
        (home / "memory/old").rename(home / "memory/new")
        await wait_until(index, "tea", [("memory/new/a.md", 1)])
        write(home, "memory/new/b.md", "white wine")
        await wait_until(index, "wine", [("memory/new/b.md", 1)])


async def test_changes_while_the_program_was_off_are_found(home: Path) -> None:
    write(home, "memory/a.md", "green tea")
    async with opened(home, is_watching=True):
        pass
    write(home, "memory/a.md", "white wine")
    async with opened(home, is_watching=True) as index:
        assert places(await index.search("wine")) == [("memory/a.md", 1)]
        write(home, "memory/b.md", "black coffee")
        await wait_until(index, "coffee", [("memory/b.md", 1)])


async def test_names_of_files_that_really_changed_are_told(home: Path) -> None:
    path = write(home, "memory/a.md", "green tea")
    told: asyncio.Queue[frozenset[str]] = asyncio.Queue()
    loop = asyncio.get_running_loop()
    threads: set[int] = set()

    def tell(names: frozenset[str]) -> None:
        threads.add(threading.get_ident())
        loop.call_soon_threadsafe(told.put_nowait, names)

    async with opened(home, is_watching=True, on_change=tell):
        assert await told.get() == {"memory/a.md"}
        path.touch()
        write(home, "session.json", "{}")
        write(home, "SOUL.md", "be kind")
        assert await told.get() == {"SOUL.md"}
        write(home, "memory/a.md", "white wine")
        assert await told.get() == {"memory/a.md"}
    # To log a thousand new notes takes seconds, in which the page has to answer.
    assert threading.get_ident() not in threads


async def test_a_change_in_the_middle_of_a_character_is_read_once_it_is_whole(home: Path) -> None:
    path = write(home, "memory/a.md", "绿茶")
    async with opened(home, is_watching=True) as index:
        content = "白葡萄酒很好喝".encode()
        path.write_bytes(content[:-1])
        path.write_bytes(content)
        await wait_until(index, "葡萄酒", [("memory/a.md", 1)])
        assert index.status().notices == ("Searching by words alone: no embedder is set.",)


def _index_for_ever(home: Path, backend: StoreBackend, told: Connection) -> None:
    asyncio.run(_sync_for_ever(home, backend, told))


async def _sync_for_ever(home: Path, backend: StoreBackend, told: Connection) -> None:
    told.send("begun")
    async with opened(home, HashEmbedder(), backend=backend) as index:
        told.send("open")
        while True:
            await index.sync()


def kill_while_indexing(home: Path, backend: StoreBackend, round_number: int) -> None:
    """Start a program, change files under it and kill it; the first one in the middle of its first look."""
    ours, theirs = multiprocessing.Pipe()
    child = started(_index_for_ever, home, backend, theirs)
    assert ours.recv() == "begun"
    if round_number:
        assert ours.recv() == "open"
    for number in range(0, 300, 7):
        write(home, f"memory/{number}.md", f"note about subject{number} in round{round_number}")
    (home / f"memory/{299 - round_number}.md").unlink()
    os.kill(child.pid or 0, signal.SIGKILL)
    child.join()
    ours.close()
    theirs.close()


@pytest.mark.parametrize("backend", ["local", "chroma"])
def test_killed_while_indexing_the_index_agrees_after_the_restart(home: Path, backend: StoreBackend) -> None:
    for number in range(300):
        write(home, f"memory/{number}.md", f"note about subject{number}")
    for round_number in range(3):
        kill_while_indexing(home, backend, round_number)
    asyncio.run(_check_after_restart(home, backend))


async def _check_after_restart(home: Path, backend: StoreBackend) -> None:
    async with opened(home, HashEmbedder(), backend=backend) as index:
        status = index.status()
        assert (status.files, status.chunks, status.pending, status.mode) == (297, 297, 0, "hybrid")
        assert places(await index.search("subject7 round2", 1)) == [("memory/7.md", 1)]
        assert places(await index.search("subject8", 1)) == [("memory/8.md", 1)]
        assert places(await index.search("round1", 1, 0.9)) == []
