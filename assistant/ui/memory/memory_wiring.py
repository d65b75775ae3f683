"""What happens on each event of the Memory tab. Every argument is checked by the desk that receives it."""

from __future__ import annotations

import asyncio
import html
from collections.abc import AsyncIterator
from dataclasses import dataclass

import gradio as gr

from assistant.errors import PalimpsestError
from assistant.ui.chat.chat import refusal_text
from assistant.ui.chat.face import Tab
from assistant.ui.event_values import QUEUED, QUICK, Values, action_of, tab_of, unchanged
from assistant.ui.layout import Parts
from assistant.ui.memory.memory_panel import MemoryDesk, MemoryFace, is_gone
from assistant.ui.memory.memory_tasks import Task, TaskDesk, TaskFace
from assistant.ui.memory.open_files import OpenFile, disk_line
from assistant.ui.server.loading import Loaded
from assistant.ui.server.rooms import Room, Rooms

# With the editor's words comes what the editor was given, so that they never count for another file; the words stay
# away where they are just that, for a file may have megabytes.
_HELD_JS = "async (words, tab) => [await window.palimpsest.held(words), tab]"
_UNTOUCHED = "untouched"
_WORDLESS = ("memory-history", "memory-diff", "notes-month")
_CHANGING = "The editor is just being given another file. Nothing was done; press again."


def wire_memory(demo: gr.Blocks, parts: Parts, rooms: Rooms) -> None:
    """Connect the Memory tab to the desks in the room of whoever uses it."""
    _wire_cards(parts, rooms)
    _wire_editor(demo, parts, rooms)
    _wire_save(parts, rooms)


def _wire_cards(parts: Parts, rooms: Rooms) -> None:
    memory = parts.memory

    async def act(
        words: str | None, task: Task, tab: Tab, request: gr.Request, event: gr.EventData
    ) -> AsyncIterator[Values]:
        acted = carry_out(words or "", task, tab, rooms.enter(request), tab_of(request), event)
        async for values in _tell_refusals(acted, len(outputs)):
            yield values

    async def carry_out(
        words: str, task: Task, tab: Tab, room: Room, tab_hash: str, event: gr.EventData
    ) -> AsyncIterator[Values]:
        action = action_of(event)
        loaded = (await room.loading.ready()).of(tab.session_id)
        name, target = action.name, action.target
        async with room.files.lock(tab_hash):
            file = room.files.of(tab_hash)
            if name in _WORDLESS or action.given == file.given:
                face = await _act_on_file(room.memory, loaded, name, target, file, words)
            else:
                face = MemoryFace(file, problem=_CHANGING)
            if face is not None:
                shown = gr.Tabs(selected="memory") if name in ("open-file", "open-hit") else gr.skip()
                yield [*_keep(room, tab_hash, face), *unchanged(len(memory.task_outputs())), shown]
                return
        is_known = False
        asked = _Asked(file, words, task)
        async for told in _act_on_task(room.tasks, loaded, name, target, asked):
            is_known = True
            yield [*unchanged(len(memory.outputs())), *told.values(), gr.Tabs(selected="memory")]
        if not is_known:
            face = MemoryFace(file, problem="That button belongs to another file. Nothing was done.")
            yield [*_memory_values(face), *unchanged(len(memory.task_outputs())), gr.skip()]

    outputs = [*memory.outputs(), *memory.task_outputs(), parts.tabs]
    parts.memory_bus.select(act, [memory.editor, memory.task, parts.chat.tab], outputs, **QUEUED)


async def _act_on_file(
    desk: MemoryDesk, loaded: Loaded, name: str, target: str, file: OpenFile, words: str
) -> MemoryFace | None:
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
) -> AsyncIterator[TaskFace]:
    """What a button of a task card does; nothing where it is none."""
    match name:
        case "work-close":
            yield tasks.close()
        case "tidy-file":
            async for face in tasks.tidy(loaded, target):
                yield face
        case "tidy-accept":
            yield await asyncio.to_thread(tasks.accept, loaded, asked.task, target)
        case "memory-line" if not is_gone(asked.file.home):
            path, _, number = target.rpartition(":")
            if path == asked.file.name and number.isdecimal():
                line = disk_line(asked.file, asked.words, int(number))
                yield await asyncio.to_thread(tasks.tell_line, asked.file.home or loaded, path, line)
        case _:
            face = await _forget(tasks, loaded, name, target, asked.task)
            if face is not None:
                yield face


async def _forget(tasks: TaskDesk, loaded: Loaded, name: str, target: str, task: Task) -> TaskFace | None:
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


def _wire_editor(demo: gr.Blocks, parts: Parts, rooms: Rooms) -> None:
    outputs = parts.memory.outputs()
    inputs = [parts.memory.editor, parts.chat.tab]

    async def load(request: gr.Request) -> AsyncIterator[Values]:
        room, tab_hash = rooms.enter(request), tab_of(request)
        try:
            loaded = await room.loading.ready()
            async with room.files.lock(tab_hash):
                yield _keep(room, tab_hash, await asyncio.to_thread(room.memory.poll, loaded, OpenFile(), None))
        except PalimpsestError:
            # The conversation's side of the page says why.
            yield unchanged(len(outputs))

    async def poll(sent: str | None, tab: Tab, request: gr.Request) -> Values:
        room, tab_hash = rooms.entered(request), tab_of(request)
        loaded = room.loading.loaded if room else None
        if room is None or loaded is None:
            return unchanged(len(outputs))
        async with room.files.lock(tab_hash):
            file, held = room.files.of(tab_hash), _held(sent)
            if file.name and held.given != file.given:
                # The answer to an earlier event has not reached the browser yet.
                return unchanged(len(outputs))
            return _keep(
                room, tab_hash, await asyncio.to_thread(_look, room.memory, loaded.of(tab.session_id), file, held)
            )

    async def leave(request: gr.Request) -> None:
        if room := rooms.entered(request):
            room.files.leave(tab_of(request))

    demo.load(load, None, outputs, **QUEUED)
    parts.timer.tick(poll, inputs, outputs, js=_HELD_JS, **QUICK)
    demo.unload(leave)


def _wire_save(parts: Parts, rooms: Rooms) -> None:
    outputs = parts.memory.outputs()

    async def save(sent: str | None, tab: Tab, request: gr.Request) -> AsyncIterator[Values]:
        saved = carry_out(_held(sent), rooms.enter(request), tab_of(request))
        async for values in _tell_refusals(saved, len(outputs)):
            yield values

    async def carry_out(held: _Held, room: Room, tab_hash: str) -> AsyncIterator[Values]:
        loaded = await room.loading.ready()
        async with room.files.lock(tab_hash):
            file = room.files.of(tab_hash)
            if held.given != file.given:
                yield _memory_values(MemoryFace(file, problem=_CHANGING))
            else:
                yield _keep(room, tab_hash, await asyncio.to_thread(room.memory.save, loaded, file, held.words))

    parts.save.click(save, [parts.memory.editor, parts.chat.tab], outputs, js=_HELD_JS, **QUEUED)


async def _tell_refusals(acted: AsyncIterator[Values], count: int) -> AsyncIterator[Values]:
    """The same values; a refusal is told and leaves the tab as it is."""
    try:
        async for values in acted:
            yield values
    except (PalimpsestError, OSError) as error:
        gr.Warning(html.escape(refusal_text(error)))
        yield unchanged(count)


def _keep(room: Room, tab_hash: str, face: MemoryFace) -> Values:
    """The values of a face, whose file is the tab's from now on."""
    room.files.keep(tab_hash, face.file)
    return _memory_values(face)


@dataclass(frozen=True, slots=True)
class _Held:
    """What an editor was given last, by its mark, and its words where they are others."""

    given: str = ""
    words: str | None = None


def _held(sent: str | None) -> _Held:
    given, _, rest = (sent or "").partition("\n")
    kind, _, words = rest.partition("\n")
    return _Held(given, None if kind == _UNTOUCHED else words)


def _look(desk: MemoryDesk, loaded: Loaded, file: OpenFile, held: _Held) -> MemoryFace:
    if not file.name and held.given:
        # The room was closed meanwhile, or the program began anew: what was typed is in the browser alone.
        return desk.take_up(loaded, file, held.given, held.words)
    return desk.poll(loaded, file, held.words)


def _memory_values(face: MemoryFace) -> Values:
    if face.problem:
        gr.Warning(html.escape(face.problem))
    texts = [face.files, face.head, face.text, face.banner, face.history]
    return [gr.skip() if text is None else text for text in texts]
