"""The kinds of actions on the conversation's side: what the tab shows after each, also where it is refused."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable
from typing import TYPE_CHECKING

import gradio as gr
from markupsafe import escape

from assistant.config.words import say
from assistant.errors import PalimpsestError
from assistant.models.connection_report import ConnectionReport
from assistant.ui.chat.chat_controller import ChatController, known_ids
from assistant.ui.chat.click import Click
from assistant.ui.chat.entries import Transcript
from assistant.ui.chat.live import LiveView
from assistant.ui.chat.page_updates import listed_sessions
from assistant.ui.chat.sessions_panel import SessionsChange, trashed_toast
from assistant.ui.chat.transcript_window import Window
from assistant.ui.components import PageUpdate

if TYPE_CHECKING:
    # It brings the agent library with it, which the page does not wait for.
    from assistant.assembly.assistant import Assistant

ChatMethod = Callable[[ChatController, Click], AsyncIterator[PageUpdate]]
OnConversation = Callable[[ChatController, Click, LiveView], AsyncIterator[PageUpdate]]


def on_conversation(act: OnConversation, *, at_rest: bool = False) -> ChatMethod:
    """An action of an open conversation; refused without one, and during a turn where it needs one `at_rest`."""

    async def run(chat: ChatController, click: Click) -> AsyncIterator[PageUpdate]:
        if not click.tab.session_id:
            gr.Warning(say("page", "button_gone"))
            yield PageUpdate()
            return
        view = chat.tabs.view(click.loaded, click.tab.session_id)
        if at_rest and view.is_running:
            gr.Warning(say("page", "turn_is_running"))
            yield PageUpdate()
            return
        async for update in act(chat, click, view):
            yield update

    return run


def changing(change: Callable[[LiveView, str], bool], *, at_rest: bool = False) -> ChatMethod:
    """An action that changes the conversation, which the tab then follows; False where its target is not pending."""

    async def act(chat: ChatController, click: Click, view: LiveView) -> AsyncIterator[PageUpdate]:
        if not change(view, click.target):
            gr.Warning(say("page", "button_gone"))
        yield chat.follow(click, view)

    return on_conversation(act, at_rest=at_rest)


def showing(
    answer: Callable[[ChatController, Click, LiveView], Awaitable[PageUpdate | None]], *, at_rest: bool = False
) -> ChatMethod:
    """An action with one answer; None where its target is not pending."""

    async def act(chat: ChatController, click: Click, view: LiveView) -> AsyncIterator[PageUpdate]:
        update = await answer(chat, click, view)
        if update is not None:
            yield update
            return
        gr.Warning(say("page", "button_gone"))
        yield chat.follow(click, view)

    return on_conversation(act, at_rest=at_rest)


def moving(moved: Callable[[Transcript, Window], Window]) -> ChatMethod:
    """An action that draws another part of the conversation."""

    async def act(chat: ChatController, click: Click, view: LiveView) -> AsyncIterator[PageUpdate]:
        yield chat.follow(click, view, moved(view.transcript, click.tab.window))

    return on_conversation(act)


def listing(change: Callable[[Assistant, str], Awaitable[SessionsChange]]) -> ChatMethod:
    """An action on the list of conversations or on the trash."""

    async def act(chat: ChatController, click: Click) -> AsyncIterator[PageUpdate]:
        assistant, tab = click.loaded.assistant, click.tab
        changed = await change(assistant, click.target)
        if changed.message:
            gr.Info(str(escape(changed.message)))
        beside = PageUpdate(toast=trashed_toast(assistant, changed.trashed) if changed.trashed else "")
        if changed.dialog is not None:
            beside |= PageUpdate(dialog=changed.dialog)
        if changed.opened or tab.session_id not in {"", *known_ids(assistant)}:
            async for update in chat.open(click, changed.opened, changed.message_ids):
                yield update | beside
            return
        update = PageUpdate()
        if tab.session_id:
            update = chat.tabs.update(click.loaded, chat.tabs.view(click.loaded, tab.session_id), tab)
        yield update | beside | PageUpdate(sessions=listed_sessions(assistant, tab.session_id))

    return act


def reporting(test: Callable[[Assistant], Awaitable[ConnectionReport | None]]) -> ChatMethod:
    """An action on the model's connection, whose outcome every tab shows from now on."""

    async def act(chat: ChatController, click: Click) -> AsyncIterator[PageUpdate]:
        try:
            chat.tabs.report = await test(click.loaded.assistant)
        except PalimpsestError as error:
            chat.tabs.report = ConnectionReport(False, str(error))
        yield chat.whole(click.loaded, click.tab)

    return act
