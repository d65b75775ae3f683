"""The centre of the page: what it shows of a conversation, and what each click or message does to it."""

from __future__ import annotations

import asyncio
import datetime as dt
import html
import secrets
from collections.abc import AsyncIterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import gradio as gr

from assistant.errors import PalimpsestError
from assistant.models.connection_report import ConnectionReport
from assistant.ui.cards import card
from assistant.ui.chat.card_actions import change, moved_window, pin, undo_change
from assistant.ui.chat.compactions_list import PAGE_SIZE, summary_diff_html
from assistant.ui.chat.context_panel import preview_html
from assistant.ui.chat.edit_box import NOT_IN_CONTEXT, Draft, draft_of, question_of
from assistant.ui.chat.full_text import full_text_html
from assistant.ui.chat.live import LiveView, LiveViews
from assistant.ui.chat.model_panel import model_tab_html
from assistant.ui.chat.page_updates import (
    SUGGESTIONS,
    card_update,
    closed_edit_box,
    listed_compactions,
    listed_sessions,
    received_update,
    shown_edit_box,
)
from assistant.ui.chat.render import answer_text
from assistant.ui.chat.search_panel import find_question
from assistant.ui.chat.sent_transcripts import DrawnTranscript, SentTranscripts
from assistant.ui.chat.sessions_panel import SESSION_ACTIONS, change_sessions, found_in_trash
from assistant.ui.chat.tab import Tab
from assistant.ui.chat.tab_views import TabViews
from assistant.ui.chat.window import Window, place_of_folded, place_of_message
from assistant.ui.components import PageUpdate
from assistant.ui.safe_text import one_line
from assistant.ui.server.loading import Loaded, Loading

if TYPE_CHECKING:
    # It brings the agent library with it, which the page does not wait for.
    from assistant.assembly.assistant import Assistant

_SHOW = "/show"
_NOT_WHILE_RUNNING = ("edit", "retry", "continue")
_RUNNING = "A turn is running. Stop it, or wait until it has ended, and try again."
_NO_LONGER = "That button belongs to something that is no longer pending. Nothing was done."


class ChatDesk:
    """Serves every tab of the page; holds no conversation itself."""

    def __init__(self, loading: Loading, views: LiveViews) -> None:
        self._loading = loading
        self._views = views
        self._tabs = TabViews(views)
        self._transcripts = SentTranscripts()

    def sent(self, update: PageUpdate, tab_hash: str) -> PageUpdate:
        """The update as this tab is to get it: of a conversation only what the tab does not show yet."""
        drawn = update.get("transcript")
        if not isinstance(drawn, DrawnTranscript):
            return update
        return update | PageUpdate(transcript=self._transcripts.patch(tab_hash, drawn))

    async def load(self, wanted: str, tab_hash: str) -> AsyncIterator[PageUpdate]:
        """Show the page before the assistant is there, then the wanted or else the newest conversation."""
        if self._tabs.knows(tab_hash):
            # A quick hand pressed a button before the browser told that the page is there.
            yield PageUpdate()
            return
        generation = self._tabs.next_generation(tab_hash)
        if self._loading.loaded is None:
            yield card_update(card("loading"), is_loading=True)
        try:
            loaded = await self._loading.ready()
        except PalimpsestError as error:
            yield card_update(card("not_loaded", error=str(error)), is_loading=True)
            return
        if not self._tabs.is_current(tab_hash, generation):
            yield PageUpdate()
            return
        sessions = loaded.assistant.conversations.summaries()
        known = {session.session_id for session in sessions}
        session_id = wanted if wanted in known else (sessions[0].session_id if sessions else "")
        async for update in self._tabs.show(loaded, Tab(session_id), tab_hash):
            yield update

    async def send(self, text: str, tab: Tab, tab_hash: str, number: str = "") -> AsyncIterator[PageUpdate]:
        """Send a message to the conversation of this tab, or to a new one, and follow.

        The first update carries the number under which the tab sent it; what is refused goes back into the composer.
        """
        if not text.strip():
            yield PageUpdate()
            return
        try:
            loaded = await self._loading.ready()
            conversations = loaded.assistant.conversations
            conversation = conversations.open(tab.session_id) if tab.session_id else conversations.create()
            # Follow before it is asked, so that nothing it tells is missed.
            self._views.of(conversation)
            view = self._views.of((await loaded.assistant.submit(conversation, text.strip())).conversation)
        except (PalimpsestError, OSError):
            yield PageUpdate(composer=text)
            raise
        view.touch()
        tab = Tab(view.conversation.session_id)
        async for update in self._tabs.follow(loaded, view, tab, tab_hash):
            yield received_update(update, number)
            number = ""

    async def send_again(self, text: str, draft: Draft, tab: Tab, tab_hash: str) -> AsyncIterator[PageUpdate]:
        """Send an edited message in place of the old one, once the person was told what leaves the context by it."""
        loaded = await self._loading.ready()
        if not draft.message_id or draft.session_id != tab.session_id:
            gr.Warning(_NO_LONGER)
            yield closed_edit_box()
            return
        view = self._tabs.view(loaded, tab.session_id)
        question = question_of(view, draft.message_id)
        if question is None or view.is_running or not text.strip():
            gr.Warning(
                NOT_IN_CONTEXT if question is None else _RUNNING if view.is_running else "Write something first."
            )
            yield PageUpdate()
            return
        if question.later_messages != draft.later_messages:
            gr.Warning("The conversation went on meanwhile: look again at what would leave the context.")
            yield shown_edit_box(draft_of(view, question), text)
            return
        view.edit(draft.message_id, text.strip())
        async for update in self._tabs.follow(loaded, view, Tab(tab.session_id), tab_hash, beside=closed_edit_box()):
            yield update

    async def start_new(self, tab_hash: str) -> AsyncIterator[PageUpdate]:
        """Show an empty conversation; it comes into being with its first message."""
        loaded = await self._loading.ready()
        async for update in self._tabs.show(loaded, Tab(), tab_hash):
            yield update

    async def compact(self, hint: str, tab: Tab, tab_hash: str) -> AsyncIterator[PageUpdate]:
        """Compact now."""
        loaded = await self._loading.ready()
        if not tab.session_id:
            gr.Info("There is nothing to compact yet.")
            yield PageUpdate()
            return
        view = self._tabs.view(loaded, tab.session_id)
        view.conversation.compact(hint.strip())
        async for update in self._tabs.follow(loaded, view, replace(tab, window=Window()), tab_hash):
            yield update

    async def look_ahead(self, tab: Tab) -> AsyncIterator[PageUpdate]:
        """Show what compacting now would fold."""
        loaded = await self._loading.ready()
        view = self._tabs.view(loaded, tab.session_id) if tab.session_id else None
        if view is None or view.is_running:
            gr.Info("A turn is running: look again when it has ended." if view else "There is nothing to compact yet.")
            yield PageUpdate()
            return
        yield PageUpdate(preview=str(preview_html(await view.conversation.preview_compaction())))

    def tick(self, tab: Tab, tab_hash: str) -> PageUpdate:
        """What changed without this tab's doing: a turn another tab started, a memory written after the turn."""
        loaded = self._loading.loaded
        return PageUpdate() if loaded is None else self._tabs.news(loaded, tab, tab_hash)

    def leave(self, tab_hash: str) -> None:
        """Forget a tab that was closed."""
        self._tabs.leave(tab_hash)
        self._transcripts.leave(tab_hash)

    async def act(self, name: str, target: str, tab: Tab, tab_hash: str) -> AsyncIterator[PageUpdate]:
        """What a button of a card does. A target the server does not know as pending is refused."""
        if name == "send":
            number, _, text = target.partition(" ")
            async for update in self.send(text, tab, tab_hash, number):
                yield update
            return
        loaded = await self._loading.ready()
        if name == "draw-all":
            self._transcripts.send_all(tab_hash)
            yield self._whole(loaded, tab)
            return
        updates = self._change_sessions if name in SESSION_ACTIONS else self._act
        async for update in updates(loaded, name, target, tab, tab_hash):
            yield update

    async def _act(self, loaded: Loaded, name: str, target: str, tab: Tab, tab_hash: str) -> AsyncIterator[PageUpdate]:
        match name:
            case "open-session" | "open-message":
                session_id, *message_ids = target.split(" ")
                async for update in self._open(loaded, session_id, tab, tab_hash, message_ids):
                    yield update
            case "show":
                async for update in self.send(_SHOW, tab, tab_hash):
                    yield update
            case "close-text":
                yield PageUpdate(dialog="")
            case "suggest":
                yield PageUpdate(composer=_suggestion(target))
            case "recall" | "test" | "reconnect":
                yield await self._act_on_model(loaded, name, target, tab)
            case _ if not tab.session_id:
                gr.Warning(_NO_LONGER)
                yield PageUpdate()
            case _:
                view = self._tabs.view(loaded, tab.session_id)
                async for update in self._act_on(loaded, view, name, target, tab, tab_hash):
                    yield update

    async def _act_on(
        self, loaded: Loaded, view: LiveView, name: str, target: str, tab: Tab, tab_hash: str
    ) -> AsyncIterator[PageUpdate]:
        if name in _NOT_WHILE_RUNNING and view.is_running:
            gr.Warning(_RUNNING)
            yield PageUpdate()
            return
        if (shown := await self._act_at_once(loaded, view, name, target, tab)) is not None:
            yield shown
            return
        transcript = view.transcript
        if (window := moved_window(transcript, tab.window, name)) is not None:
            async for update in self._tabs.follow(loaded, view, replace(tab, window=window), tab_hash):
                yield update
            return
        if name == "transcript" and (place := place_of_folded(transcript, tab.window, target)) is not None:
            tab = replace(tab, window=place.window)
            async for update in self._tabs.follow(loaded, view, tab, tab_hash, show=str(place.entry)):
                yield update
            return
        if name == "stop":
            await view.conversation.stop()
        elif not change(view, name, target):
            gr.Warning(_NO_LONGER)
        async for update in self._tabs.follow(loaded, view, replace(tab, window=Window()), tab_hash):
            yield update

    async def _act_at_once(self, loaded: Loaded, view: LiveView, name: str, target: str, tab: Tab) -> PageUpdate | None:
        """The update after what needs no following; None for everything else."""
        match name:
            case "copy":
                return PageUpdate(copied=_copied_html(answer_text(view.transcript, target)))
            case "edit" if entry := view.transcript.question(target):
                if (question := question_of(view, target)) is not None:
                    return shown_edit_box(draft_of(view, question), entry.text)
                gr.Warning(NOT_IN_CONTEXT)
                return PageUpdate()
            case "older-compactions":
                tab = replace(tab, compactions=tab.compactions + PAGE_SIZE)
                return PageUpdate(tab=tab, compactions=listed_compactions(view, tab))
            case "summary-diff" if view.transcript.has_compaction(target):
                record = await asyncio.to_thread(view.conversation.compaction, target)
                return (
                    None
                    if record is None
                    else PageUpdate(dialog=str(summary_diff_html(record, dt.datetime.now(dt.UTC))))
                )
            case "full-text" if target in view.transcript.artifact_ids:
                text = await asyncio.to_thread(loaded.assistant.store.artifacts.read, target)
                return PageUpdate(dialog=str(full_text_html(target, text)))
            case "pin" | "unpin" if pin(view, name, target):
                return self._tabs.update(loaded, view, tab)
            case "undo-change" if target in view.transcript.change_ids:
                owner = loaded.of(tab.session_id).assistant
                await asyncio.to_thread(undo_change, owner, target, tab.session_id)
                return self._tabs.update(loaded, view, tab)
            case _:
                return None

    async def _change_sessions(
        self, loaded: Loaded, name: str, target: str, tab: Tab, tab_hash: str
    ) -> AsyncIterator[PageUpdate]:
        change = await change_sessions(loaded.assistant, name, target)
        if change.told:
            gr.Info(html.escape(change.told))
        dialog = PageUpdate() if change.dialog is None else PageUpdate(dialog=change.dialog)
        if change.opened or tab.session_id not in {"", *_known_ids(loaded.assistant)}:
            async for update in self._open(loaded, change.opened, tab, tab_hash, change.message_ids):
                yield update | dialog
            return
        update = self._tabs.update(loaded, self._tabs.view(loaded, tab.session_id), tab) if tab.session_id else dialog
        yield update | dialog | PageUpdate(sessions=listed_sessions(loaded.assistant, tab.session_id))

    async def _open(
        self, loaded: Loaded, session_id: str, tab: Tab, tab_hash: str, message_ids: Sequence[str] = ()
    ) -> AsyncIterator[PageUpdate]:
        if session_id and session_id != tab.session_id and session_id not in _known_ids(loaded.assistant):
            if trash := found_in_trash(loaded.assistant, session_id, message_ids):
                yield PageUpdate(dialog=trash)
                return
            gr.Warning(_NO_LONGER)
            yield PageUpdate()
            return
        place = None
        if message_ids:
            question_id = await asyncio.to_thread(find_question, loaded.assistant, session_id, message_ids)
            entries = self._tabs.view(loaded, session_id).transcript.entries
            place = place_of_message(entries, [question_id, *message_ids])
        tab = Tab(session_id, place.window) if place else Tab(session_id)
        async for update in self._tabs.show(loaded, tab, tab_hash, str(place.entry) if place else ""):
            yield update

    async def _act_on_model(self, loaded: Loaded, name: str, target: str, tab: Tab) -> PageUpdate:
        if name == "recall":
            loaded.assistant.is_recall_on = target == "on"
            return PageUpdate(model=model_tab_html(loaded.assistant, self._tabs.report))
        try:
            if name == "reconnect":
                await loaded.assistant.reconnect_model()
                self._tabs.report = None
            else:
                self._tabs.report = await loaded.assistant.test_connection()
        except PalimpsestError as error:
            self._tabs.report = ConnectionReport(False, str(error))
        return self._whole(loaded, tab)

    def _whole(self, loaded: Loaded, tab: Tab) -> PageUpdate:
        if not tab.session_id:
            return self._tabs.empty_update(loaded)
        return self._tabs.update(loaded, self._tabs.view(loaded, tab.session_id), tab)


async def show_refusals(updates: AsyncIterator[PageUpdate]) -> AsyncIterator[PageUpdate]:
    """The same updates; a refusal is shown in the tab and changes nothing else."""
    try:
        async for update in updates:
            yield update
    except (PalimpsestError, OSError) as error:
        # A toast takes HTML.
        gr.Warning(html.escape(one_line(_refusal_text(error), 300)))
        yield PageUpdate()


def _refusal_text(error: PalimpsestError | OSError) -> str:
    """Why nothing was done, in plain words."""
    return str(error) if isinstance(error, PalimpsestError) else f"The disk refused it: {error.strerror or error}."


def _suggestion(target: str) -> str:
    return next((text for number, text in enumerate(SUGGESTIONS) if target == str(number)), "")


def _known_ids(assistant: Assistant) -> set[str]:
    return {session.session_id for session in assistant.conversations.summaries()}


def _copied_html(text: str) -> str:
    # Copying the same answer twice must be two changes for the browser to see.
    return str(card("copied", text=text, nonce=secrets.token_hex(4)))
