"""What happens on each event of the page. No event is public, and every argument is checked by who receives it."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator

import gradio as gr

from assistant.errors import PalimpsestError
from assistant.ui.cards import card
from assistant.ui.chat import ChatDesk, Tab, tell_refusals
from assistant.ui.event_values import QUEUED, QUICK, TYPED, Values, action_of, unchanged
from assistant.ui.layout import Parts
from assistant.ui.live import LiveViews
from assistant.ui.loading import Loading
from assistant.ui.memory_wiring import wire_memory
from assistant.ui.search_panel import find_html, index_html


def wire(demo: gr.Blocks, parts: Parts, loading: Loading, views: LiveViews) -> None:
    """Connect every component to the desks."""
    _wire_chat(demo, parts, ChatDesk(loading, views))
    wire_memory(demo, parts, loading)
    _wire_search(parts, loading)


def _wire_chat(demo: gr.Blocks, parts: Parts, desk: ChatDesk) -> None:
    outputs = parts.chat.outputs()
    tab, composer = parts.chat.tab, parts.chat.composer

    async def load(request: gr.Request) -> AsyncIterator[Values]:
        async for face in desk.load(str(request.query_params.get("c", "")), _tab_hash(request)):
            yield face.values()

    async def send(text: str, shown: Tab, request: gr.Request) -> AsyncIterator[Values]:
        async for face in tell_refusals(desk.send(text, shown, _tab_hash(request))):
            yield face.values()

    async def start_new(request: gr.Request) -> AsyncIterator[Values]:
        async for face in tell_refusals(desk.start_new(_tab_hash(request))):
            yield face.values()

    demo.load(load, None, outputs, **QUEUED)
    composer.submit(send, [composer, tab], outputs, **QUEUED)
    parts.new_chat.click(start_new, None, outputs, **QUEUED)
    _wire_cards(demo, parts, desk)


def _wire_cards(demo: gr.Blocks, parts: Parts, desk: ChatDesk) -> None:
    outputs, tab = parts.chat.outputs(), parts.chat.tab

    async def act(shown: Tab, request: gr.Request, event: gr.EventData) -> AsyncIterator[Values]:
        name, target = action_of(event)
        async for face in tell_refusals(desk.act(name, target, shown, _tab_hash(request))):
            yield face.values()

    async def compact(hint: str, shown: Tab, request: gr.Request) -> AsyncIterator[Values]:
        async for face in tell_refusals(desk.compact(hint, shown, _tab_hash(request))):
            yield face.values()

    async def look_ahead(shown: Tab) -> AsyncIterator[Values]:
        async for face in tell_refusals(desk.look_ahead(shown)):
            yield face.values()

    async def tick(shown: Tab, request: gr.Request) -> Values:
        face = desk.tick(shown, _tab_hash(request))
        return unchanged(len(outputs)) if face is None else face.values()

    async def leave(request: gr.Request) -> None:
        desk.leave(_tab_hash(request))

    parts.chat_bus.select(act, tab, outputs, **QUEUED)
    compacted = parts.compact.click(compact, [parts.hint, tab], outputs, **QUEUED)
    compacted.then(lambda: "", None, parts.hint, **QUICK)
    parts.look_ahead.click(look_ahead, tab, outputs, **QUEUED)
    parts.timer.tick(tick, tab, outputs, **QUICK)
    demo.unload(leave)


def _wire_search(parts: Parts, loading: Loading) -> None:
    async def find(typed: str) -> object:
        try:
            return await find_html((await loading.ready()).assistant, typed)
        except PalimpsestError as error:
            return str(card("notice", text=str(error), level="warning"))

    async def tell_index(shown: str) -> Values:
        loaded = loading.loaded
        if loaded is None:
            return unchanged(2)
        state = str(index_html(await asyncio.to_thread(loaded.assistant.index.status)))
        return unchanged(2) if state == shown else [state, state]

    # `input` does not fire for what is pasted, dropped or written by an input method.
    parts.search.change(find, parts.search, parts.hits, **TYPED)
    shown = gr.State("")
    parts.timer.tick(tell_index, shown, [parts.index, shown], **QUICK)


def _tab_hash(request: gr.Request) -> str:
    return str(request.session_hash or "")
