"""What happens on each event of the Memory tab. Every argument is checked by the desk that receives it."""

from __future__ import annotations

import asyncio
import html
from collections.abc import AsyncIterator
from dataclasses import dataclass

import gradio as gr

from assistant.errors import PalimpsestError
from assistant.ui.chat.chat import show_refusals
from assistant.ui.chat.tab import Tab
from assistant.ui.components import EditorComponents, MemoryComponents, PageComponents, PageUpdate, outputs_of
from assistant.ui.event_values import QUEUED, QUICK, Values, action_of, tab_of
from assistant.ui.memory.memory_panel import MemoryDesk, MemoryUpdate, is_gone
from assistant.ui.memory.memory_tasks import TaskDesk
from assistant.ui.memory.open_files import OpenFile, disk_line
from assistant.ui.memory.task import Task
from assistant.ui.server.loading import Loaded
from assistant.ui.server.rooms import Room, Rooms

# With the editor's words comes what the editor was given, so that they never count for another file; the words stay
# away where they are just that, for a file may have megabytes.
_HELD_JS = "async (words, tab) => [await window.palimpsest.held(words), tab]"
_UNTOUCHED = "untouched"
_WORDLESS = ("memory-history", "memory-diff", "notes-month")
_OPENING = ("open-file", "open-hit")
_OTHER_FILE = "That button belongs to another file. Nothing was done."
_CHANGING = "The editor is just being given another file. Nothing was done; press again."


def wire_memory(demo: gr.Blocks, page: PageComponents, rooms: Rooms) -> None:
    """Connect the Memory tab to the desks in the room of whoever uses it."""
    _wire_cards(page, rooms)
    _wire_editor(demo, page, rooms)
    _wire_save(page, rooms)


def _wire_cards(page: PageComponents, rooms: Rooms) -> None:
    async def act(
        words: str | None, task: Task, tab: Tab, request: gr.Request, event: gr.EventData
    ) -> AsyncIterator[Values]:
        acted = carry_out(words or "", task, tab, rooms.enter(request), tab_of(request), event)
        async for update in show_refusals(acted):
            yield update.values_of(MemoryComponents)

    async def carry_out(
        words: str, task: Task, tab: Tab, room: Room, tab_hash: str, event: gr.EventData
    ) -> AsyncIterator[PageUpdate]:
        action = action_of(event)
        loaded = (await room.loading.ready()).of(tab.session_id)
        name, target = action.name, action.target
        async with room.files.lock(tab_hash):
            file = room.files.of(tab_hash)
            if name in _WORDLESS or action.given == file.given:
                update = await _act_on_file(room.memory, loaded, name, target, file, words)
            else:
                update = MemoryUpdate(file, problem=_CHANGING)
            if update is not None:
                yield _keep(room, tab_hash, update) | (_to_memory() if name in _OPENING else PageUpdate())
                return
        is_known = False
        asked = _Asked(file, words, task)
        async for told in _act_on_task(room.tasks, loaded, name, target, asked):
            is_known = True
            yield told | _to_memory()
        if not is_known:
            gr.Warning(_OTHER_FILE)
            yield PageUpdate()

    page.memory_actions.select(act, [page.editor, page.task, page.tab], outputs_of(page, MemoryComponents), **QUEUED)


def _to_memory() -> PageUpdate:
    """The Memory tab comes to the front."""
    return PageUpdate(tabs=gr.Tabs(selected="memory"))


async def _act_on_file(
    desk: MemoryDesk, loaded: Loaded, name: str, target: str, file: OpenFile, words: str
) -> MemoryUpdate | None:
    """What a button about files does; None where it is none, or one of another file."""
    match name:
        case "open-file" | "open-hit":
            path = target.rpartition(":")[0] if name == "open-hit" else target
            return await asyncio.to_thread(desk.open, loaded, path, file, words)
        case "notes-day":
            return await asyncio.to_thread(desk.open_day, loaded, target, file, words)
        case "notes-month":
            return await asyncio.to_thread(desk.toggle_month, loaded, target, file)
        case "memory-reload" if target == file.name:
            return await asyncio.to_thread(desk.reload, loaded, target, file)
        case "memory-diff" if target == file.name:
            return await asyncio.to_thread(desk.show_disk, loaded, file)
        case "memory-history" if target == file.name:
            return await asyncio.to_thread(desk.toggle_history, loaded, file)
        case "memory-restore":
            return await asyncio.to_thread(desk.restore, loaded, file, words, target)
        case "memory-overwrite" | "memory-both" if target == file.name:
            return await asyncio.to_thread(desk.decide, loaded, file, words, keeps_both=name == "memory-both")
        case _:
            return None


@dataclass(frozen=True, slots=True)
class _Asked:
    """What one tab shows while a button of a task card is pressed."""

    file: OpenFile
    words: str
    task: Task


async def _act_on_task(
    tasks: TaskDesk, loaded: Loaded, name: str, target: str, asked: _Asked
) -> AsyncIterator[PageUpdate]:
    """What a button of a task card does; nothing where it is none."""
    match name:
        case "work-close":
            yield tasks.close()
        case "tidy-file":
            async for update in tasks.tidy(loaded, target):
                yield update
        case "tidy-accept":
            yield await asyncio.to_thread(tasks.accept, loaded, asked.task, target)
        case "memory-line" if not is_gone(asked.file.home):
            path, _, number = target.rpartition(":")
            if path == asked.file.name and number.isdecimal():
                line = disk_line(asked.file, asked.words, int(number))
                yield await asyncio.to_thread(tasks.tell_line, asked.file.home or loaded, path, line)
        case _:
            update = await _forget(tasks, loaded, name, target, asked.task)
            if update is not None:
                yield update


async def _forget(tasks: TaskDesk, loaded: Loaded, name: str, target: str, task: Task) -> PageUpdate | None:
    match name:
        case "forget-words":
            return tasks.ask_words()
        case "forget-change":
            return await tasks.forget_change(loaded, target)
        case "forget-line":
            return await tasks.find_text(loaded, target)
        case "forget-find":
            return await tasks.find(loaded, target)
        case "forget-now":
            return await tasks.forget(loaded, task, target)
        case _:
            return None


def _wire_editor(demo: gr.Blocks, page: PageComponents, rooms: Rooms) -> None:
    outputs, inputs = outputs_of(page, EditorComponents), [page.editor, page.tab]

    async def load(request: gr.Request) -> AsyncIterator[Values]:
        room, tab_hash = rooms.enter(request), tab_of(request)
        try:
            loaded = await room.loading.ready()
            async with room.files.lock(tab_hash):
                first = await asyncio.to_thread(room.memory.poll, loaded, OpenFile(), None)
                yield _keep(room, tab_hash, first).values_of(EditorComponents)
        except PalimpsestError:
            # The conversation's side of the page says why.
            yield PageUpdate().values_of(EditorComponents)

    async def poll(sent: str | None, tab: Tab, request: gr.Request) -> Values:
        room = rooms.entered(request)
        loaded = room.loading.loaded if room else None
        if room is None or loaded is None:
            return PageUpdate().values_of(EditorComponents)
        update = await look(room, loaded.of(tab.session_id), tab_of(request), _held(sent))
        return update.values_of(EditorComponents)

    async def look(room: Room, loaded: Loaded, tab_hash: str, held: _Held) -> PageUpdate:
        async with room.files.lock(tab_hash):
            file = room.files.of(tab_hash)
            if file.name and held.given != file.given:
                # The answer to an earlier event has not reached the browser yet.
                return PageUpdate()
            return _keep(room, tab_hash, await asyncio.to_thread(_look, room.memory, loaded, file, held))

    async def leave(request: gr.Request) -> None:
        if room := rooms.entered(request):
            room.files.leave(tab_of(request))

    demo.load(load, None, outputs, **QUEUED)
    page.timer.tick(poll, inputs, outputs, js=_HELD_JS, **QUICK)
    demo.unload(leave)


def _wire_save(page: PageComponents, rooms: Rooms) -> None:
    async def save(sent: str | None, tab: Tab, request: gr.Request) -> AsyncIterator[Values]:
        async for update in show_refusals(carry_out(_held(sent), rooms.enter(request), tab_of(request))):
            yield update.values_of(EditorComponents)

    async def carry_out(held: _Held, room: Room, tab_hash: str) -> AsyncIterator[PageUpdate]:
        loaded = await room.loading.ready()
        async with room.files.lock(tab_hash):
            file = room.files.of(tab_hash)
            if held.given != file.given:
                gr.Warning(_CHANGING)
                yield PageUpdate()
            else:
                yield _keep(room, tab_hash, await asyncio.to_thread(room.memory.save, loaded, file, held.words))

    outputs = outputs_of(page, EditorComponents)
    page.save.click(save, [page.editor, page.tab], outputs, js=_HELD_JS, **QUEUED)


def _keep(room: Room, tab_hash: str, update: MemoryUpdate) -> PageUpdate:
    """What changes on the page; the file of the update is the tab's from now on."""
    room.files.keep(tab_hash, update.file)
    if update.problem:
        gr.Warning(html.escape(update.problem))
    return update.page


@dataclass(frozen=True, slots=True)
class _Held:
    """What an editor was given last, by its mark, and its words where they are others."""

    given: str = ""
    words: str | None = None


def _held(sent: str | None) -> _Held:
    given, _, rest = (sent or "").partition("\n")
    kind, _, words = rest.partition("\n")
    return _Held(given, None if kind == _UNTOUCHED else words)


def _look(desk: MemoryDesk, loaded: Loaded, file: OpenFile, held: _Held) -> MemoryUpdate:
    if not file.name and held.given:
        # The room was closed meanwhile, or the program began anew: what was typed is in the browser alone.
        return desk.take_up(loaded, file, held.given, held.words)
    return desk.poll(loaded, file, held.words)
