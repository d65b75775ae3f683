"""What happens on each event of the page. No event is public, and every argument is checked by who receives it."""

from __future__ import annotations

import asyncio
import html
from collections.abc import AsyncIterator
from contextlib import suppress
from typing import Any

import gradio as gr

from assistant.errors import PalimpsestError
from assistant.ui.cards import card
from assistant.ui.chat import tell_refusals
from assistant.ui.edit_box import Draft
from assistant.ui.face import Face, Tab, without_edit
from assistant.ui.layout import Parts
from assistant.ui.memory_panel import MemoryFace, OpenFile
from assistant.ui.rooms import Room, Rooms
from assistant.ui.search_panel import find_html, index_html

ZONE_COOKIE = "palimpsest_zone"
"""In which the page's script tells the browser's time zone."""
_Values = list[object]

_QUEUED: dict[str, Any] = {
    "show_progress": "hidden",
    "concurrency_limit": None,
    "trigger_mode": "multiple",
    "api_visibility": "private",
}
# Only the newest words matter.
_TYPED: dict[str, Any] = {**_QUEUED, "trigger_mode": "always_last"}
# Not queued, so nothing these do can raise a toast.
_QUICK: dict[str, Any] = {"show_progress": "hidden", "queue": False, "api_visibility": "private"}


def wire(demo: gr.Blocks, parts: Parts, rooms: Rooms) -> None:
    """Connect every component to the desks in the room of whoever uses it."""
    _wire_chat(demo, parts, rooms)
    _wire_memory(demo, parts, rooms)
    _wire_search(parts, rooms)
    # Whatever stands in the layout is the same for everybody, so the name comes after it.
    demo.load(_tell_person, None, parts.person, **_QUICK)


def _wire_chat(demo: gr.Blocks, parts: Parts, rooms: Rooms) -> None:
    outputs = parts.chat.outputs()
    tab, composer = parts.chat.tab, parts.chat.composer

    async def load(request: gr.Request) -> AsyncIterator[_Values]:
        room = rooms.enter(request)
        async for face in room.chat.load(str(request.query_params.get("c", "")), _tab_hash(request)):
            if room.loading.loaded is not None:
                room.loading.loaded.assistant.store.clock.begin_in(_zone_name(request))
            yield face.values()

    async def send(text: str, shown: Tab, request: gr.Request) -> AsyncIterator[_Values]:
        room = rooms.enter(request)
        await _follow_zone(room, request)
        async for face in tell_refusals(room.chat.send(text, shown, _tab_hash(request))):
            yield face.values()

    async def start_new(request: gr.Request) -> AsyncIterator[_Values]:
        async for face in tell_refusals(rooms.enter(request).chat.start_new(_tab_hash(request))):
            yield face.values()

    demo.load(load, None, outputs, **_QUEUED)
    composer.submit(send, [composer, tab], outputs, **_QUEUED)
    parts.new_chat.click(start_new, None, outputs, **_QUEUED)
    _wire_edit(parts, rooms)
    _wire_cards(demo, parts, rooms)


def _wire_edit(parts: Parts, rooms: Rooms) -> None:
    chat = parts.chat

    async def send_again(text: str, draft: Draft, shown: Tab, request: gr.Request) -> AsyncIterator[_Values]:
        desk = rooms.enter(request).chat
        async for face in tell_refusals(desk.send_again(text, draft, shown, _tab_hash(request))):
            yield face.values()

    gr.on(
        [chat.edit_text.submit, parts.send_again.click],
        send_again,
        [chat.edit_text, chat.draft, chat.tab],
        chat.outputs(),
        **_QUEUED,
    )
    parts.cancel_edit.click(lambda: without_edit(Face()).values(), None, chat.outputs(), **_QUICK)


def _wire_cards(demo: gr.Blocks, parts: Parts, rooms: Rooms) -> None:
    outputs, tab = parts.chat.outputs(), parts.chat.tab

    async def act(shown: Tab, request: gr.Request, event: gr.EventData) -> AsyncIterator[_Values]:
        name, target = _action(event)
        room = rooms.enter(request)
        await _follow_zone(room, request)
        async for face in tell_refusals(room.chat.act(name, target, shown, _tab_hash(request))):
            yield face.values()

    async def compact(hint: str, shown: Tab, request: gr.Request) -> AsyncIterator[_Values]:
        room = rooms.enter(request)
        await _follow_zone(room, request)
        async for face in tell_refusals(room.chat.compact(hint, shown, _tab_hash(request))):
            yield face.values()

    async def look_ahead(shown: Tab, request: gr.Request) -> AsyncIterator[_Values]:
        async for face in tell_refusals(rooms.enter(request).chat.look_ahead(shown)):
            yield face.values()

    async def tick(shown: Tab, request: gr.Request) -> _Values:
        room = rooms.entered(request)
        face = room.chat.tick(shown, _tab_hash(request)) if room else None
        return _unchanged(len(outputs)) if face is None else face.values()

    async def leave(request: gr.Request) -> None:
        if room := rooms.entered(request):
            room.chat.leave(_tab_hash(request))

    parts.chat_bus.select(act, tab, outputs, **_QUEUED)
    compacted = parts.compact.click(compact, [parts.hint, tab], outputs, **_QUEUED)
    compacted.then(lambda: "", None, parts.hint, **_QUICK)
    parts.look_ahead.click(look_ahead, tab, outputs, **_QUEUED)
    parts.timer.tick(tick, tab, outputs, **_QUICK)
    demo.unload(leave)


def _wire_memory(demo: gr.Blocks, parts: Parts, rooms: Rooms) -> None:
    outputs = [*parts.memory.outputs(), parts.tabs]
    inputs = [parts.memory.file, parts.memory.editor]

    async def act(file: OpenFile, editor: str | None, request: gr.Request, event: gr.EventData) -> _Values:
        room, text = rooms.enter(request), editor or ""
        loaded, desk = await room.loading.ready(), room.memory
        match _action(event):
            case ("open-file" | "open-hit") as name, target:
                path = target.rpartition(":")[0] if name == "open-hit" else target
                face = desk.open(loaded, path, file, text)
                return [*_memory_values(face), gr.Tabs(selected="memory")]
            case "memory-reload", name if name == file.name:
                face = desk.reload(loaded, name, file)
            case "memory-diff", name if name == file.name:
                face = desk.show_diff(loaded, file, text)
            case "memory-history", name if name == file.name:
                face = desk.toggle_history(loaded, file)
            case "memory-restore", change_id:
                face = desk.restore(loaded, file, text, change_id)
            case "memory-overwrite", name if name == file.name:
                face = desk.save(loaded, file, text, overwrite=True)
            case _:
                face = MemoryFace(file, problem="That button belongs to another file. Nothing was done.")
        return [*_memory_values(face), gr.skip()]

    parts.memory_bus.select(act, inputs, outputs, **_QUEUED)
    _wire_editor(demo, parts, rooms)


def _wire_editor(demo: gr.Blocks, parts: Parts, rooms: Rooms) -> None:
    outputs = parts.memory.outputs()
    inputs = [parts.memory.file, parts.memory.editor]

    async def save(file: OpenFile, editor: str | None, request: gr.Request) -> _Values:
        room = rooms.enter(request)
        return _memory_values(room.memory.save(await room.loading.ready(), file, editor or ""))

    async def load(request: gr.Request) -> AsyncIterator[_Values]:
        try:
            room = rooms.enter(request)
            yield _memory_values(room.memory.poll(await room.loading.ready(), OpenFile(), ""))
        except PalimpsestError:
            # The conversation's side of the page says why.
            yield _unchanged(len(outputs))

    async def poll(file: OpenFile, editor: str | None, request: gr.Request) -> _Values:
        room = rooms.entered(request)
        loaded = room.loading.loaded if room else None
        if room is None or loaded is None:
            return _unchanged(len(outputs))
        return _memory_values(room.memory.poll(loaded, file, editor or ""))

    demo.load(load, None, outputs, **_QUEUED)
    parts.save.click(save, inputs, outputs, **_QUEUED)
    parts.timer.tick(poll, inputs, outputs, **_QUICK)


def _wire_search(parts: Parts, rooms: Rooms) -> None:
    async def find(typed: str, request: gr.Request) -> object:
        try:
            return await find_html((await rooms.enter(request).loading.ready()).assistant, typed)
        except PalimpsestError as error:
            return str(card("notice", text=str(error), level="warning"))

    async def tell_index(shown: str, request: gr.Request) -> _Values:
        room = rooms.entered(request)
        loaded = room.loading.loaded if room else None
        if loaded is None:
            return _unchanged(2)
        state = str(index_html(await asyncio.to_thread(loaded.assistant.index.status)))
        return _unchanged(2) if state == shown else [state, state]

    # `input` does not fire for what is pasted, dropped or written by an input method.
    parts.search.change(find, parts.search, parts.hits, **_TYPED)
    shown = gr.State("")
    parts.timer.tick(tell_index, shown, [parts.index, shown], **_QUICK)


def _memory_values(face: MemoryFace) -> _Values:
    if face.problem:
        gr.Warning(html.escape(face.problem))
    texts = [face.files, face.head, face.text, face.banner, face.history]
    return [face.file, *(gr.skip() if text is None else text for text in texts)]


def _tell_person(request: gr.Request) -> object:
    return str(card("person", name=request.username)) if request.username else gr.skip()


def _action(event: gr.EventData) -> tuple[str, str]:
    """Name and target of a card's button, as the browser says; whoever acts on them checks both."""
    return str(event.action), str(event.target_id)


def _zone_name(request: gr.Request) -> str:
    """The time zone the browser says it is in; whoever reads it checks it."""
    return str(request.cookies.get(ZONE_COOKIE, ""))


async def _follow_zone(room: Room, request: gr.Request) -> None:
    """What is said now is said in this browser's zone."""
    # Where the assistant cannot be had, the conversation's side of the page says why.
    with suppress(PalimpsestError):
        (await room.loading.ready()).assistant.store.clock.follow(_zone_name(request))


def _tab_hash(request: gr.Request) -> str:
    return str(request.session_hash or "")


def _unchanged(count: int) -> _Values:
    return [gr.skip()] * count
