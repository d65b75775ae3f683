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
from assistant.ui.chat.chat import show_refusals
from assistant.ui.chat.edit_box import Draft
from assistant.ui.chat.page_updates import closed_edit_box
from assistant.ui.chat.search_panel import find_html, index_html
from assistant.ui.chat.tab import Tab
from assistant.ui.components import ChatComponents, PageComponents, PageUpdate, outputs_of
from assistant.ui.event_values import QUEUED, QUICK, TYPED, Values, action_of, tab_of
from assistant.ui.memory.memory_wiring import wire_memory
from assistant.ui.server.rooms import Room, Rooms

ZONE_COOKIE = "palimpsest_zone"
"""In which the page's script tells the browser's time zone."""


def wire(demo: gr.Blocks, page: PageComponents, rooms: Rooms) -> None:
    """Connect every component to the desks in the room of whoever uses it."""
    _wire_chat(demo, page, rooms)
    wire_memory(demo, page, rooms)
    _wire_search(page, rooms)
    # Whatever stands in the layout is the same for everybody, so the name comes after it.
    demo.load(_tell_person, None, page.person, **QUICK)


def _wire_chat(demo: gr.Blocks, page: PageComponents, rooms: Rooms) -> None:
    outputs = outputs_of(page, ChatComponents)

    async def load(request: gr.Request) -> AsyncIterator[Values]:
        room = rooms.enter(request)
        async for update in room.chat.load(str(request.query_params.get("c", "")), tab_of(request)):
            if room.loading.loaded is not None:
                room.loading.loaded.assistant.store.clock.begin_in(_zone_name(request))
            yield room.chat.sent(update, tab_of(request)).values_of(ChatComponents)

    async def start_new(request: gr.Request) -> AsyncIterator[Values]:
        room = rooms.enter(request)
        async for values in _shown(room, request, room.chat.start_new(tab_of(request))):
            yield values

    demo.load(load, None, outputs, **QUEUED)
    page.new_chat.click(start_new, None, outputs, **QUEUED)
    _wire_edit(page, rooms)
    _wire_cards(demo, page, rooms)


def _wire_edit(page: PageComponents, rooms: Rooms) -> None:
    outputs = outputs_of(page, ChatComponents)

    async def send_again(text: str, draft: Draft, shown: Tab, request: gr.Request) -> AsyncIterator[Values]:
        room = await _speak_in(rooms, request)
        async for values in _shown(room, request, room.chat.send_again(text, draft, shown, tab_of(request))):
            yield values

    gr.on(
        [page.edit_text.submit, page.send_again.click],
        send_again,
        [page.edit_text, page.draft, page.tab],
        outputs,
        **QUEUED,
    )
    page.cancel_edit.click(lambda: closed_edit_box().values_of(ChatComponents), None, outputs, **QUICK)


def _wire_cards(demo: gr.Blocks, page: PageComponents, rooms: Rooms) -> None:
    outputs, tab = outputs_of(page, ChatComponents), page.tab

    async def act(shown: Tab, request: gr.Request, event: gr.EventData) -> AsyncIterator[Values]:
        action = action_of(event)
        room = await _speak_in(rooms, request)
        async for values in _shown(room, request, room.chat.act(action.name, action.target, shown, tab_of(request))):
            yield values

    async def compact(hint: str, shown: Tab, request: gr.Request) -> AsyncIterator[Values]:
        room = await _speak_in(rooms, request)
        async for values in _shown(room, request, room.chat.compact(hint, shown, tab_of(request))):
            yield values

    async def look_ahead(shown: Tab, request: gr.Request) -> AsyncIterator[Values]:
        room = rooms.enter(request)
        async for values in _shown(room, request, room.chat.look_ahead(shown)):
            yield values

    async def tick(shown: Tab, request: gr.Request) -> Values:
        room = rooms.entered(request)
        update = room.chat.tick(shown, tab_of(request)) if room else PageUpdate()
        return (room.chat.sent(update, tab_of(request)) if room else update).values_of(ChatComponents)

    async def leave(request: gr.Request) -> None:
        if room := rooms.entered(request):
            room.chat.leave(tab_of(request))

    page.chat_actions.select(act, tab, outputs, **QUEUED)
    compacted = page.compact.click(compact, [page.hint, tab], outputs, **QUEUED)
    compacted.then(lambda: "", None, page.hint, **QUICK)
    page.look_ahead.click(look_ahead, tab, outputs, **QUEUED)
    page.timer.tick(tick, tab, outputs, **QUICK)
    demo.unload(leave)


def _wire_search(page: PageComponents, rooms: Rooms) -> None:
    async def find(typed: str, request: gr.Request) -> object:
        try:
            return await find_html((await rooms.enter(request).loading.ready()).assistant, typed)
        except PalimpsestError as error:
            return str(card("notice", text=str(error), level="warning"))

    async def tell_index(shown: str, request: gr.Request) -> Values:
        room = rooms.entered(request)
        loaded = room.loading.loaded if room else None
        if loaded is None:
            return [gr.skip(), gr.skip()]
        state = str(index_html(await asyncio.to_thread(loaded.assistant.index.status)))
        return [gr.skip(), gr.skip()] if state == shown else [state, state]

    # `input` does not fire for what is pasted, dropped or written by an input method.
    page.search.change(find, page.search, page.hits, **TYPED)
    shown = gr.State("")
    page.timer.tick(tell_index, shown, [page.index_state, shown], **QUICK)


def _tell_person(request: gr.Request) -> object:
    return str(card("person", name=request.username)) if request.username else gr.skip()


def _zone_name(request: gr.Request) -> str:
    """The time zone the browser says it is in; whoever reads it checks it."""
    return str(request.cookies.get(ZONE_COOKIE, ""))


async def _speak_in(rooms: Rooms, request: gr.Request) -> Room:
    """The room of whoever says something, which is said in their browser's zone from now on."""
    room = rooms.enter(request)
    room.has_spoken = True
    # Where the assistant cannot be had, the conversation's side of the page says why.
    with suppress(PalimpsestError):
        (await room.loading.ready()).assistant.store.clock.follow(_zone_name(request))
    return room


async def _shown(room: Room, request: gr.Request, updates: AsyncIterator[PageUpdate]) -> AsyncIterator[Values]:
    """The values of each update; a refusal is shown in the tab."""
    async for update in show_refusals(updates):
        yield room.chat.sent(update, tab_of(request)).values_of(ChatComponents)
