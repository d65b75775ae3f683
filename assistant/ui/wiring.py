"""What happens on each event of the page. No event is public, and every argument is checked by who receives it.

Each event first finds the room of whoever asks: `enter` opens it, `entered` only looks, `_speak_in` also takes on the
time zone of the browser.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import suppress

import gradio as gr

from assistant.errors import PalimpsestError
from assistant.ui.cards import card
from assistant.ui.chat.chat import tell_refusals
from assistant.ui.chat.edit_box import Draft
from assistant.ui.chat.face import Face, Tab, without_edit
from assistant.ui.chat.search_panel import find_html, index_html
from assistant.ui.event_values import QUEUED, QUICK, TYPED, Values, action_of, tab_of, unchanged
from assistant.ui.layout import Parts
from assistant.ui.memory.memory_wiring import wire_memory
from assistant.ui.server.rooms import Room, Rooms

ZONE_COOKIE = "palimpsest_zone"
"""In which the page's script tells the browser's time zone."""


def wire(demo: gr.Blocks, parts: Parts, rooms: Rooms) -> None:
    """Connect every component to the desks in the room of whoever uses it."""
    _wire_chat(demo, parts, rooms)
    wire_memory(demo, parts, rooms)
    _wire_search(parts, rooms)
    # Whatever stands in the layout is the same for everybody, so the name comes after it.
    demo.load(_tell_person, None, parts.person, **QUICK)


def _wire_chat(demo: gr.Blocks, parts: Parts, rooms: Rooms) -> None:
    outputs = parts.chat.outputs()
    tab, composer = parts.chat.tab, parts.chat.composer

    async def load(request: gr.Request) -> AsyncIterator[Values]:
        room = rooms.enter(request)
        async for face in room.chat.load(str(request.query_params.get("c", "")), tab_of(request)):
            if room.loading.loaded is not None:
                room.loading.loaded.assistant.store.clock.begin_in(_zone_name(request))
            yield face.values()

    async def send(text: str, shown: Tab, request: gr.Request) -> AsyncIterator[Values]:
        room = await _speak_in(rooms, request)
        async for values in _shown(room.chat.send(text, shown, tab_of(request))):
            yield values

    async def start_new(request: gr.Request) -> AsyncIterator[Values]:
        room = rooms.enter(request)
        async for values in _shown(room.chat.start_new(tab_of(request))):
            yield values

    demo.load(load, None, outputs, **QUEUED)
    composer.submit(send, [composer, tab], outputs, **QUEUED)
    parts.new_chat.click(start_new, None, outputs, **QUEUED)
    _wire_edit(parts, rooms)
    _wire_cards(demo, parts, rooms)


def _wire_edit(parts: Parts, rooms: Rooms) -> None:
    chat = parts.chat

    async def send_again(text: str, draft: Draft, shown: Tab, request: gr.Request) -> AsyncIterator[Values]:
        room = await _speak_in(rooms, request)
        async for values in _shown(room.chat.send_again(text, draft, shown, tab_of(request))):
            yield values

    gr.on(
        [chat.edit_text.submit, parts.send_again.click],
        send_again,
        [chat.edit_text, chat.draft, chat.tab],
        chat.outputs(),
        **QUEUED,
    )
    parts.cancel_edit.click(lambda: without_edit(Face()).values(), None, chat.outputs(), **QUICK)


def _wire_cards(demo: gr.Blocks, parts: Parts, rooms: Rooms) -> None:
    outputs, tab = parts.chat.outputs(), parts.chat.tab

    async def act(shown: Tab, request: gr.Request, event: gr.EventData) -> AsyncIterator[Values]:
        action = action_of(event)
        room = await _speak_in(rooms, request)
        async for values in _shown(room.chat.act(action.name, action.target, shown, tab_of(request))):
            yield values

    async def compact(hint: str, shown: Tab, request: gr.Request) -> AsyncIterator[Values]:
        room = await _speak_in(rooms, request)
        async for values in _shown(room.chat.compact(hint, shown, tab_of(request))):
            yield values

    async def look_ahead(shown: Tab, request: gr.Request) -> AsyncIterator[Values]:
        room = rooms.enter(request)
        async for values in _shown(room.chat.look_ahead(shown)):
            yield values

    async def tick(shown: Tab, request: gr.Request) -> Values:
        room = rooms.entered(request)
        face = room.chat.tick(shown, tab_of(request)) if room else None
        return unchanged(len(outputs)) if face is None else face.values()

    async def leave(request: gr.Request) -> None:
        if room := rooms.entered(request):
            room.chat.leave(tab_of(request))

    parts.chat_bus.select(act, tab, outputs, **QUEUED)
    compacted = parts.compact.click(compact, [parts.hint, tab], outputs, **QUEUED)
    compacted.then(lambda: "", None, parts.hint, **QUICK)
    parts.look_ahead.click(look_ahead, tab, outputs, **QUEUED)
    parts.timer.tick(tick, tab, outputs, **QUICK)
    demo.unload(leave)


def _wire_search(parts: Parts, rooms: Rooms) -> None:
    async def find(typed: str, request: gr.Request) -> object:
        try:
            return await find_html((await rooms.enter(request).loading.ready()).assistant, typed)
        except PalimpsestError as error:
            return str(card("notice", text=str(error), level="warning"))

    async def tell_index(shown: str, request: gr.Request) -> Values:
        room = rooms.entered(request)
        loaded = room.loading.loaded if room else None
        if loaded is None:
            return unchanged(2)
        state = str(index_html(await asyncio.to_thread(loaded.assistant.index.status)))
        return unchanged(2) if state == shown else [state, state]

    # `input` does not fire for what is pasted, dropped or written by an input method.
    parts.search.change(find, parts.search, parts.hits, **TYPED)
    shown = gr.State("")
    parts.timer.tick(tell_index, shown, [parts.index, shown], **QUICK)


def _tell_person(request: gr.Request) -> object:
    return str(card("person", name=request.username)) if request.username else gr.skip()


def _zone_name(request: gr.Request) -> str:
    """The time zone the browser says it is in; whoever reads it checks it."""
    return str(request.cookies.get(ZONE_COOKIE, ""))


async def _speak_in(rooms: Rooms, request: gr.Request) -> Room:
    """The room of whoever says something, which is said in their browser's zone from now on."""
    room = rooms.enter(request)
    # Where the assistant cannot be had, the conversation's side of the page says why.
    with suppress(PalimpsestError):
        (await room.loading.ready()).assistant.store.clock.follow(_zone_name(request))
    return room


async def _shown(faces: AsyncIterator[Face]) -> AsyncIterator[Values]:
    """The values of each face; a refusal is told in the tab."""
    async for face in tell_refusals(faces):
        yield face.values()
