"""The centre of the page: what it shows of a conversation, and what each click or message does to it."""

from __future__ import annotations

import asyncio
import datetime as dt
import html
from collections.abc import AsyncIterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import gradio as gr

from assistant.config.plain_reasons import plain_reason
from assistant.config.words import say
from assistant.errors import PalimpsestError
from assistant.ui.cards import card
from assistant.ui.chat.beside import Beside
from assistant.ui.chat.click import Click
from assistant.ui.chat.context_panel import preview_html
from assistant.ui.chat.drawings import Drawings, Showing
from assistant.ui.chat.edit_box import Draft, draft_of, question_of
from assistant.ui.chat.list_part import ListPart
from assistant.ui.chat.live import LiveView, LiveViews
from assistant.ui.chat.page_updates import (
    card_update,
    closed_edit_box,
    received_update,
    shown_edit_box,
)
from assistant.ui.chat.search_panel import find_question, version_of_hit
from assistant.ui.chat.sent_transcripts import DrawnTranscript, SentTranscripts, TranscriptPatch
from assistant.ui.chat.sessions_panel import ListedSessions, found_in_trash
from assistant.ui.chat.staged_files import StagedFiles
from assistant.ui.chat.tab import Tab
from assistant.ui.chat.tab_views import TabViews
from assistant.ui.chat.transcript_window import Window, place_of_message
from assistant.ui.components import PageUpdate
from assistant.ui.recent_tabs import RecentTabs
from assistant.ui.safe_text import one_line
from assistant.ui.server.loading import Loaded, Loading
from assistant.ui.setup.first_run import is_first_run

if TYPE_CHECKING:
    # It brings the agent library with it, which the page does not wait for.
    from assistant.assembly.assistant import Assistant


class ChatController:
    """Serves every tab of the page; holds no conversation itself."""

    def __init__(self, loading: Loading, views: LiveViews) -> None:
        self._loading = loading
        self._views = views
        self.tabs = TabViews(views)
        self.lists = RecentTabs[ListPart]()
        """The part of the list of conversations that each tab shows."""
        self._transcripts = SentTranscripts()
        self._drawings = Drawings()
        self._readers: dict[str, object] = {}
        self.staged = StagedFiles()
        """The files that wait to be sent."""

    def sent(self, update: PageUpdate, tab_hash: str) -> PageUpdate:
        """The update as this tab is to get it: of a conversation what it does not show yet, of the list its part."""
        listed = update.get("sessions")
        if isinstance(listed, ListedSessions):
            update |= PageUpdate(sessions=str(listed.html(self.lists.get(tab_hash) or ListPart())))
        tab = update.get("tab")
        if isinstance(tab, Tab):
            update |= PageUpdate(drawing=str(card("drawing", number=self._drawings.draw(tab_hash, tab))))
        drawn = update.get("transcript")
        if not isinstance(drawn, DrawnTranscript):
            return update
        # A tab is told its name, by which it asks for news, and whether words come.
        patch = self._transcripts.of_event(tab_hash, drawn, tab=tab_hash, live=drawn.part.beside.is_running)
        return update | PageUpdate(transcript=patch)

    async def words(self, tab_hash: str, version: int) -> AsyncIterator[TranscriptPatch]:
        """The conversation of a tab that shows this version (0: it missed one), patch by patch until its turn ends.

        A patch says where something `beside` the conversation changed, which an event of the page brings. Nothing comes
        for a tab that shows none, nor any more once it shows another one or begins to read a second time.
        """
        loaded, part = self._loading.loaded, self._transcripts.part(tab_hash)
        if loaded is None or part is None or not part.session_id:
            return
        try:
            view = self.tabs.view(loaded, part.session_id)
        except PalimpsestError:
            # The next request of this tab reports why.
            return
        if not self._transcripts.can_go_on(tab_hash, version):
            self._transcripts.send_all(tab_hash)
        reader = self._readers[tab_hash] = object()
        told = None
        try:
            async for is_last in _with_first_and_last(view.updates(view.version)):
                now = self._transcripts.part(tab_hash)
                if self._readers.get(tab_hash) is not reader or now is None or now.session_id != part.session_id:
                    return
                beside = Beside.of(view, loaded.assistant)
                is_news = is_last or beside not in (now.beside, told)
                told = beside
                # What is shown beside the conversation stays as it is until the page asks for it.
                drawn = DrawnTranscript(replace(now, version=view.version), view.nodes(now.window))
                yield self._transcripts.patch(
                    tab_hash, drawn, live=False if is_last else None, beside=True if is_news else None
                )
        finally:
            if self._readers.get(tab_hash) is reader:
                del self._readers[tab_hash]

    async def load(self, wanted: str, tab_hash: str) -> AsyncIterator[PageUpdate]:
        """Show the page before the assistant is there, then the wanted or else the newest conversation."""
        if self.tabs.knows(tab_hash):
            # A button was pressed before the event of the loaded page arrived.
            yield PageUpdate()
            return
        generation = self.tabs.next_generation(tab_hash)
        if self._loading.loaded is None:
            yield card_update(card("loading"), is_loading=True)
            if early := await self._loading.list_meanwhile():
                yield PageUpdate(sessions=ListedSessions(early, None, dt.datetime.now(dt.UTC)))
        try:
            loaded = await self._loading.ready()
        except PalimpsestError as error:
            yield card_update(card("not_loaded", error=str(error)), is_loading=True)
            return
        if is_first_run(loaded.assistant):
            await loaded.assistant.own_settings.look_around()
        if not self.tabs.is_current(tab_hash, generation):
            # Something was said or opened while this was looked for.
            yield PageUpdate()
            return
        sessions = loaded.assistant.conversations.summaries()
        known = {session.session_id for session in sessions}
        if wanted and wanted not in known:
            gr.Warning(say("page", "no_such_address"))
        session_id = wanted if wanted in known else (sessions[0].session_id if sessions else "")
        yield self.tabs.show(loaded, Tab(session_id), tab_hash)

    async def send(
        self, text: str, tab: Tab, tab_hash: str, number: str = "", file_ids: Sequence[str] = ()
    ) -> AsyncIterator[PageUpdate]:
        """Send a message, with files that this tab has given, to its conversation, or to a new one, and follow.

        The update carries the number under which the tab sent it; what is refused goes back into the composer.
        """
        if not text.strip() and not file_ids:
            yield PageUpdate()
            return
        try:
            loaded = await self._loading.ready()
            files = self.staged.chosen(tab_hash, file_ids)
            conversations = loaded.assistant.conversations
            conversation = conversations.open(tab.session_id) if tab.session_id else conversations.create()
            if not tab.session_id and tab.profile is not None:
                conversation.choose_profile(tab.profile)
            # Follow before the message is sent, so that no event is missed.
            self._views.of(conversation)
            submitted = await loaded.assistant.submit(conversation, text.strip(), files)
            view = self._views.of(submitted.conversation)
        except (PalimpsestError, OSError):
            yield PageUpdate(composer=text)
            raise
        view.touch()
        tab = Tab(view.conversation.session_id)
        update = self.tabs.follow(loaded, view, tab, tab_hash)
        if submitted.is_taken:
            self.staged.remove(tab_hash, file_ids)
            update = received_update(update, number)
        yield update

    async def send_again(self, text: str, draft: Draft, tab: Tab, tab_hash: str) -> AsyncIterator[PageUpdate]:
        """Send an edited message in place of the old one, once the person has seen what leaves the context with it."""
        loaded = await self._loading.ready()
        if not draft.message_id or draft.session_id != tab.session_id:
            gr.Warning(say("page", "button_gone"))
            yield closed_edit_box()
            return
        view = self.tabs.view(loaded, tab.session_id)
        question = question_of(view, draft.message_id)
        if question is None or view.is_running or not text.strip():
            gr.Warning(
                say("page", "not_in_context")
                if question is None
                else say("page", "turn_is_running")
                if view.is_running
                else say("page", "write_first")
            )
            yield PageUpdate()
            return
        if question.later_messages != draft.later_messages:
            gr.Warning(say("page", "preview_outdated"))
            yield shown_edit_box(draft_of(view, question), text)
            return
        view.edit(draft.message_id, text.strip())
        yield self.tabs.follow(loaded, view, Tab(tab.session_id), tab_hash) | closed_edit_box()

    async def start_new(self, tab_hash: str) -> AsyncIterator[PageUpdate]:
        """Show an empty conversation; it comes into being with its first message."""
        loaded = await self._loading.ready()
        yield self.tabs.show(loaded, Tab(), tab_hash)

    async def compact(self, hint: str, tab: Tab, tab_hash: str) -> AsyncIterator[PageUpdate]:
        """Compact now."""
        loaded = await self._loading.ready()
        if not tab.session_id:
            gr.Info(say("page", "nothing_to_compact"))
            yield PageUpdate()
            return
        view = self.tabs.view(loaded, tab.session_id)
        view.conversation.compact(hint.strip())
        yield self.tabs.follow(loaded, view, replace(tab, window=Window()), tab_hash)

    async def look_ahead(self, tab: Tab) -> AsyncIterator[PageUpdate]:
        """Show what compacting now would fold."""
        loaded = await self._loading.ready()
        view = self.tabs.view(loaded, tab.session_id) if tab.session_id else None
        if view is None or view.is_running:
            gr.Info(say("page", "preview_later") if view else say("page", "nothing_to_compact"))
            yield PageUpdate()
            return
        yield PageUpdate(preview=str(preview_html(await view.conversation.preview_compaction())))

    def has_news(self, loaded: Loaded, tab_hash: str, shown: Showing | None = None) -> bool:
        """Whether something changed without this tab's doing: a turn of another tab, memory written after one.

        So it is where the tab goes on showing something else than it was sent.
        """
        # A tab that reads the words of a turn is told there.
        part = None if tab_hash in self._readers else self._transcripts.part(tab_hash)
        if part is None:
            return False
        is_lost = self._drawings.is_lost(tab_hash, shown, self._transcripts.version(tab_hash))
        return is_lost or self.tabs.has_news(loaded, tab_hash, part)

    def news(self, loaded: Loaded, tab: Tab, tab_hash: str) -> PageUpdate:
        """What this tab does not show yet."""
        if (lost := self._drawings.take_lost(tab_hash)) is not None:
            self._transcripts.send_all(tab_hash)
            try:
                return self.whole(loaded, lost)
            except PalimpsestError:
                # The next request of this tab reports why.
                return PageUpdate()
        return self.tabs.news(loaded, tab, tab_hash, self._transcripts.part(tab_hash))

    def session_of(self, tab_hash: str) -> str:
        """The conversation that a tab shows; empty for none."""
        part = self._transcripts.part(tab_hash)
        return "" if part is None else part.session_id

    def leave(self, tab_hash: str) -> None:
        """Forget a tab that was closed."""
        self.tabs.leave(tab_hash)
        self.lists.forget(tab_hash)
        self._transcripts.leave(tab_hash)
        self._drawings.leave(tab_hash)
        self.staged.leave(tab_hash)

    async def loaded(self) -> Loaded:
        """The assistant, once it is there; raises what loading raised."""
        return await self._loading.ready()

    def follow(self, click: Click, view: LiveView, window: Window | None = None, show: str = "") -> PageUpdate:
        """The conversation that was clicked in: this part of it (None: its end), scrolled to the node `show`."""
        tab = replace(click.tab, window=window or Window())
        return self.tabs.follow(click.loaded, view, tab, click.tab_hash, show)

    async def open(self, click: Click, session_id: str, message_ids: Sequence[str] = ()) -> AsyncIterator[PageUpdate]:
        """Show a conversation, at these messages where there are any; one in the trash is shown there."""
        loaded = click.loaded
        if session_id and session_id != click.tab.session_id and session_id not in known_ids(loaded.assistant):
            trash = found_in_trash(loaded.assistant, session_id, message_ids)
            if not trash:
                gr.Warning(say("page", "button_gone"))
            yield PageUpdate(dialog=trash) if trash else PageUpdate()
            return
        place = None
        if message_ids:
            question_id = await asyncio.to_thread(find_question, loaded.assistant, session_id, message_ids)
            entries = self.tabs.view(loaded, session_id).transcript.entries
            place = place_of_message(entries, [question_id, *message_ids])
            if number := await asyncio.to_thread(version_of_hit, loaded.assistant, session_id, message_ids):
                gr.Info(say("page", "hit_in_version", number=number))
        tab = Tab(session_id, place.window) if place else Tab(session_id)
        yield self.tabs.show(loaded, tab, click.tab_hash, str(place.entry) if place else "")

    def whole(self, loaded: Loaded, tab: Tab) -> PageUpdate:
        """Everything that a tab shows."""
        if not tab.session_id:
            return self.tabs.empty_update(loaded, tab)
        return self.tabs.update(loaded, self.tabs.view(loaded, tab.session_id), tab)

    def draw_all(self, click: Click) -> PageUpdate:
        """Everything that a tab shows, for a browser that lost what it was sent."""
        self._transcripts.send_all(click.tab_hash)
        return self.whole(click.loaded, click.tab)


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
    return str(error) if isinstance(error, PalimpsestError) else say("page", "disk_refused", reason=plain_reason(error))


async def _with_first_and_last(versions: AsyncIterator[int]) -> AsyncIterator[bool]:
    """Once before the first version, once for each, and once more, as True, when there is no other."""
    yield False
    async for _ in versions:
        yield False
    yield True


def known_ids(assistant: Assistant) -> set[str]:
    """The conversations of the list."""
    return {session.session_id for session in assistant.conversations.summaries()}
