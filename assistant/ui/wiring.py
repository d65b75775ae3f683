"""What happens on each event of the page. No event is public, and every argument is checked by who receives it.

Each event first finds the user session of its request: `enter` opens it, `entered` only looks, `_enter_in_zone` also
takes on the time zone of the browser.
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import suppress

import gradio as gr

from assistant.errors import PalimpsestError
from assistant.ui.actions import act_in_chat
from assistant.ui.cards import card
from assistant.ui.chat.chat_controller import show_refusals
from assistant.ui.chat.edit_box import Draft
from assistant.ui.chat.page_updates import closed_edit_box
from assistant.ui.chat.search_panel import find_html, index_state_html
from assistant.ui.chat.tab import Tab
from assistant.ui.components import ChatComponents, PageComponents, PageUpdate, outputs_of, unchanged
from assistant.ui.event_values import QUEUED, QUICK, TYPED, Values, action_of, tab_of
from assistant.ui.memory.memory_wiring import wire_memory
from assistant.ui.server.user_sessions import UserSession, UserSessions

ZONE_COOKIE = "palimpsest_zone"
"""The cookie in which the page's script sends the browser's time zone."""


def wire(demo: gr.Blocks, page: PageComponents, users: UserSessions) -> None:
    """Connect every component to the controllers of the user session of each request."""
    _wire_chat(demo, page, users)
    wire_memory(demo, page, users)
    _wire_search(page, users)
    # The layout is the same for everybody, so the name comes after it.
    demo.load(_show_person, None, page.person, **QUICK)


def _wire_chat(demo: gr.Blocks, page: PageComponents, users: UserSessions) -> None:
    outputs = outputs_of(page, ChatComponents)

    async def load(request: gr.Request) -> AsyncIterator[Values]:
        user = users.enter(request)
        async for update in user.chat.load(_asked(request, "c"), tab_of(request)):
            if user.loading.loaded is not None:
                user.loading.loaded.assistant.store.clock.begin_in(_zone_name(request))
            yield user.chat.sent(update, tab_of(request)).values_of(ChatComponents)

    async def start_new(request: gr.Request) -> Values:
        user = users.enter(request)
        return await _shown(user, request, user.chat.start_new(tab_of(request)))

    demo.load(load, None, outputs, **QUEUED)
    page.new_chat.click(start_new, None, outputs, **QUEUED)
    _wire_edit(page, users)
    _wire_cards(page, users)


def _wire_edit(page: PageComponents, users: UserSessions) -> None:
    outputs = outputs_of(page, ChatComponents)

    async def send_again(text: str, draft: Draft, shown: Tab, request: gr.Request) -> Values:
        user = await _enter_in_zone(users, request)
        return await _shown(user, request, user.chat.send_again(text, draft, shown, tab_of(request)))

    gr.on(  # pyright: ignore[reportUnknownMemberType]
        [page.edit_text.submit, page.send_again.click],
        send_again,
        [page.edit_text, page.draft, page.tab],
        outputs,
        **QUEUED,
    )
    page.cancel_edit.click(lambda: closed_edit_box().values_of(ChatComponents), None, outputs, **QUICK)


def _wire_cards(page: PageComponents, users: UserSessions) -> None:
    outputs, tab = outputs_of(page, ChatComponents), page.tab

    async def act(shown: Tab, request: gr.Request, event: gr.EventData) -> Values:
        action = action_of(event)
        user = await _enter_in_zone(users, request)
        updates = act_in_chat(user.chat, action.name, action.target, shown, tab_of(request))
        return await _shown(user, request, updates)

    async def compact(hint: str, shown: Tab, request: gr.Request) -> Values:
        user = await _enter_in_zone(users, request)
        return await _shown(user, request, user.chat.compact(hint, shown, tab_of(request)))

    async def look_ahead(shown: Tab, request: gr.Request) -> Values:
        user = users.enter(request)
        return await _shown(user, request, user.chat.look_ahead(shown))

    async def show_news(shown: Tab, request: gr.Request) -> Values:
        user = users.entered(request)
        loaded = user.loading.loaded if user else None
        if user is None or loaded is None:
            return PageUpdate().values_of(ChatComponents)
        return user.chat.sent(user.chat.news(loaded, shown, tab_of(request)), tab_of(request)).values_of(ChatComponents)

    page.chat_actions.select(act, tab, outputs, **QUEUED)
    compacted = page.compact.click(compact, [page.hint, tab], outputs, **QUEUED)
    compacted.then(lambda: "", None, page.hint, **QUICK)
    page.look_ahead.click(look_ahead, tab, outputs, **QUEUED)
    page.news.select(show_news, tab, outputs, **QUICK)


def _wire_search(page: PageComponents, users: UserSessions) -> None:
    async def find(typed: str, request: gr.Request) -> object:
        try:
            return await find_html((await users.enter(request).loading.ready()).assistant, typed)
        except PalimpsestError as error:
            return str(card("notice", text=str(error), level="warning"))

    async def show_index_state(request: gr.Request) -> object:
        user = users.entered(request)
        if user is None or user.loading.loaded is None:
            return unchanged()
        state = await index_state_html(user.loading.loaded)
        user.index_states.keep(tab_of(request), state)
        return state

    # `input` does not fire for what is pasted, dropped or written by an input method.
    page.search.change(find, page.search, page.hits, **TYPED)
    page.news.select(show_index_state, None, page.index_state, **QUICK)


def _show_person(request: gr.Request) -> object:
    return str(card("person", name=request.username)) if request.username else unchanged()


def _asked(request: gr.Request, name: str) -> str:
    """A value of the page's address; empty where it has none. Gradio does not say what its requests hold."""
    return str(request.query_params.get(name, ""))  # pyright: ignore[reportUnknownMemberType, reportUnknownArgumentType]


def _zone_name(request: gr.Request) -> str:
    """The time zone that the browser sends; the clock checks it."""
    return str(request.cookies.get(ZONE_COOKIE, ""))  # pyright: ignore[reportUnknownMemberType, reportUnknownArgumentType]


async def _enter_in_zone(users: UserSessions, request: gr.Request) -> UserSession:
    """The user of whoever says something, which is said in their browser's zone from now on."""
    user = users.enter(request)
    user.has_spoken = True
    # Where the assistant cannot be had, the conversation's side of the page says why.
    with suppress(PalimpsestError):
        (await user.loading.ready()).assistant.store.clock.follow(_zone_name(request))
    return user


async def _shown(user: UserSession, request: gr.Request, updates: AsyncIterator[PageUpdate]) -> Values:
    """The values of all updates at once, as Gradio sends the last of several twice; a refusal is shown in the tab."""
    shown = PageUpdate()
    async for update in show_refusals(updates):
        shown |= update
    return user.chat.sent(shown, tab_of(request)).values_of(ChatComponents)
