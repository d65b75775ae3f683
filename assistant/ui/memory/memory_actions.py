"""What the buttons of the Memory tab do: those about the open file, and those of the task cards."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass

from assistant.ui.components import PageUpdate
from assistant.ui.memory.memory_panel import MemoryController, MemoryUpdate, is_gone
from assistant.ui.memory.memory_tasks import TaskController
from assistant.ui.memory.open_files import OpenFile, disk_line
from assistant.ui.memory.task import Task
from assistant.ui.server.loading import Loaded


@dataclass(frozen=True, slots=True)
class MemoryClick:
    """A pressed button: what it is about, and what its tab has open."""

    loaded: Loaded
    target: str
    file: OpenFile
    words: str
    task: Task


@dataclass(frozen=True, slots=True)
class FileAction:
    """About a file; runs in a thread. None where its target is another file than the open one.

    With `needs_words` it is refused while the editor is given another file. `opens` brings the tab to the front.
    """

    run: Callable[[MemoryController, MemoryClick], MemoryUpdate | None]
    needs_words: bool = True
    opens: bool = False


@dataclass(frozen=True, slots=True)
class TaskAction:
    """About a task card; no update at all where its target is another file than the open one."""

    run: Callable[[TaskController, MemoryClick], AsyncIterator[PageUpdate]]


def open_file(memory: MemoryController, click: MemoryClick) -> MemoryUpdate:
    """Open a file."""
    return memory.open(click.loaded, click.target, click.file, click.words)


def open_hit(memory: MemoryController, click: MemoryClick) -> MemoryUpdate:
    """Open the file of a hit; the script shows its line."""
    return memory.open(click.loaded, click.target.rpartition(":")[0], click.file, click.words)


def open_day(memory: MemoryController, click: MemoryClick) -> MemoryUpdate:
    """Open the note of a day."""
    return memory.open_day(click.loaded, click.target, click.file, click.words)


def open_today(memory: MemoryController, click: MemoryClick) -> MemoryUpdate:
    """Open the note of today, an empty one where there is none."""
    return memory.open_today(click.loaded, click.file, click.words)


def preview(memory: MemoryController, click: MemoryClick) -> MemoryUpdate | None:
    """Show the editor's words as they read."""
    return memory.preview(click.file, click.words) if _is_open(click) else None


def end_preview(memory: MemoryController, click: MemoryClick) -> MemoryUpdate | None:
    """Show the editor alone again."""
    return memory.end_preview(click.file) if _is_open(click) else None


def toggle_month(memory: MemoryController, click: MemoryClick) -> MemoryUpdate:
    """Show the notes of a month in the list, or hide them."""
    return memory.toggle_month(click.loaded, click.target, click.file)


def reload(memory: MemoryController, click: MemoryClick) -> MemoryUpdate | None:
    """Take what is on disk."""
    return memory.reload(click.loaded, click.target, click.file) if _is_open(click) else None


def show_disk(memory: MemoryController, click: MemoryClick) -> MemoryUpdate | None:
    """Show what changed on disk."""
    return memory.show_disk(click.loaded, click.file) if _is_open(click) else None


def toggle_history(memory: MemoryController, click: MemoryClick) -> MemoryUpdate | None:
    """Show the history of the file, or hide it."""
    return memory.toggle_history(click.loaded, click.file) if _is_open(click) else None


def restore(memory: MemoryController, click: MemoryClick) -> MemoryUpdate:
    """Restore a version of the file."""
    return memory.restore(click.loaded, click.file, click.words, click.target)


def keep_mine(memory: MemoryController, click: MemoryClick) -> MemoryUpdate | None:
    """Write the editor's words over those on disk."""
    return memory.decide(click.loaded, click.file, click.words, keeps_both=False) if _is_open(click) else None


def keep_both(memory: MemoryController, click: MemoryClick) -> MemoryUpdate | None:
    """Write the editor's words beside those on disk."""
    return memory.decide(click.loaded, click.file, click.words, keeps_both=True) if _is_open(click) else None


async def close_card(tasks: TaskController, _click: MemoryClick) -> AsyncIterator[PageUpdate]:
    """Close the card."""
    yield tasks.close()


async def tidy(tasks: TaskController, click: MemoryClick) -> AsyncIterator[PageUpdate]:
    """Look for lines that could go."""
    async for update in tasks.tidy(click.loaded, click.target):
        yield update


async def accept_tidying(tasks: TaskController, click: MemoryClick) -> AsyncIterator[PageUpdate]:
    """Remove the ticked lines."""
    yield await asyncio.to_thread(tasks.accept, click.loaded, click.task, click.target)


async def list_pending(tasks: TaskController, click: MemoryClick) -> AsyncIterator[PageUpdate]:
    """List the lines that wait."""
    yield tasks.list_pending(click.loaded)


async def consolidate(tasks: TaskController, click: MemoryClick) -> AsyncIterator[PageUpdate]:
    """Look through the notes for lines to propose."""
    async for update in tasks.consolidate(click.loaded):
        yield update


async def keep_pending(tasks: TaskController, click: MemoryClick) -> AsyncIterator[PageUpdate]:
    """Write the ticked lines, each as it reads in its field."""
    yield await asyncio.to_thread(tasks.decide_pending, click.loaded, click.target, is_kept=True)


async def drop_pending(tasks: TaskController, click: MemoryClick) -> AsyncIterator[PageUpdate]:
    """Drop the ticked lines."""
    yield await asyncio.to_thread(tasks.decide_pending, click.loaded, click.target, is_kept=False)


async def show_line(tasks: TaskController, click: MemoryClick) -> AsyncIterator[PageUpdate]:
    """Who wrote the line with the cursor."""
    path, _, number = click.target.rpartition(":")
    if not is_gone(click.file.home) and path == click.file.name and number.isdecimal():
        line = disk_line(click.file, click.words, int(number))
        yield await asyncio.to_thread(tasks.show_line, click.file.home or click.loaded, path, line)


async def ask_words(tasks: TaskController, _click: MemoryClick) -> AsyncIterator[PageUpdate]:
    """Ask what to forget."""
    yield tasks.ask_words()


async def forget_change(tasks: TaskController, click: MemoryClick) -> AsyncIterator[PageUpdate]:
    """Find the lines of a memory change."""
    yield await tasks.forget_change(click.loaded, click.target)


async def find_line(tasks: TaskController, click: MemoryClick) -> AsyncIterator[PageUpdate]:
    """Find the words of a line."""
    yield await tasks.find_text(click.loaded, click.target)


async def find_words(tasks: TaskController, click: MemoryClick) -> AsyncIterator[PageUpdate]:
    """Find the typed words."""
    yield await tasks.find(click.loaded, click.target)


async def forget(tasks: TaskController, click: MemoryClick) -> AsyncIterator[PageUpdate]:
    """Forget what is ticked."""
    yield await tasks.forget(click.loaded, click.task, click.target)


def _is_open(click: MemoryClick) -> bool:
    return click.target == click.file.name
