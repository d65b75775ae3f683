"""The centre of the page: what it shows of a conversation, and what each click or message does to it."""

from __future__ import annotations

import asyncio
import datetime as dt
import html
import secrets
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

import gradio as gr

from assistant.errors import PalimpsestError
from assistant.memory.log import Origin
from assistant.models.connection_report import ConnectionReport
from assistant.ui.cards import card
from assistant.ui.context_panel import compactions_html, context_html, pin_target, preview_html
from assistant.ui.entries import Transcript
from assistant.ui.full_text import full_text_html
from assistant.ui.live import UPDATES_PER_SECOND, LiveView, LiveViews
from assistant.ui.loading import Loaded, Loading
from assistant.ui.memory_panel import WRITER
from assistant.ui.meter import meter_html
from assistant.ui.model_panel import model_html, setup_html
from assistant.ui.render import (
    MAX_WINDOW,
    ChatMessage,
    Window,
    answer_text,
    index_of_compaction,
    render_transcript,
    window_on_message,
)
from assistant.ui.safe_text import one_line
from assistant.ui.search_panel import find_question
from assistant.ui.sessions_panel import SESSION_ACTIONS, change_sessions, found_in_trash, sessions_html

if TYPE_CHECKING:
    # It brings the agent library with it, which the page does not wait for.
    from assistant.assembly import Assistant

SUGGESTIONS = (
    "What do you know about me?",
    "What is in my workspace?",
    "Remember that I prefer short answers.",
)
_FORGET = "/forget "
_SHOW = "/show"
_NO_LONGER = "That button belongs to something that is no longer pending. Nothing was done."


@dataclass(frozen=True, slots=True)
class Tab:
    """What one browser tab shows: the conversation (empty: a new one), the drawn part and the version of it."""

    session_id: str = ""
    window: Window = Window()
    shown: int = -1


Update = object
"""A new value for a component, or Gradio's own word for none."""


@dataclass(frozen=True, slots=True)
class Face:
    """New values for everything a conversation changes on the page; what is not given stays as it is."""

    tab: Update = field(default_factory=gr.skip)
    messages: Update = field(default_factory=gr.skip)
    top: Update = field(default_factory=gr.skip)
    meter: Update = field(default_factory=gr.skip)
    sessions: Update = field(default_factory=gr.skip)
    composer: Update = field(default_factory=gr.skip)
    stop: Update = field(default_factory=gr.skip)
    context: Update = field(default_factory=gr.skip)
    compactions: Update = field(default_factory=gr.skip)
    model: Update = field(default_factory=gr.skip)
    copied: Update = field(default_factory=gr.skip)
    preview: Update = field(default_factory=gr.skip)
    pane: Update = field(default_factory=gr.skip)

    def values(self) -> list[Update]:
        """The values in the order of `ChatParts.outputs`."""
        return [
            self.tab,
            self.messages,
            self.top,
            self.meter,
            self.sessions,
            self.composer,
            self.stop,
            self.context,
            self.compactions,
            self.model,
            self.copied,
            self.preview,
            self.pane,
        ]


class ChatDesk:
    """Serves every tab of the page; holds no conversation itself."""

    def __init__(self, loading: Loading, views: LiveViews) -> None:
        self._loading = loading
        self._views = views
        # A tab shows one thing at a time: what was asked for last holds its ticket, what came before stops showing.
        self._tickets: dict[str, int] = {}
        self._following: set[str] = set()
        self._report: ConnectionReport | None = None

    async def load(self, wanted: str, tab_hash: str) -> AsyncIterator[Face]:
        """Show the page before the assistant is there, then the wanted or else the newest conversation."""
        if tab_hash in self._tickets:
            # A quick hand pressed a button before the browser told that the page is there.
            yield Face()
            return
        ticket = self._take_ticket(tab_hash)
        if self._loading.loaded is None:
            yield self._quiet_face([_own(card("loading"))], is_loading=True)
        try:
            loaded = await self._loading.ready()
        except PalimpsestError as error:
            yield self._quiet_face([_own(card("not_loaded", error=str(error)))], is_loading=True)
            return
        if not self._holds(tab_hash, ticket):
            yield Face()
            return
        sessions = loaded.assistant.conversations.summaries()
        known = {session.session_id for session in sessions}
        session_id = wanted if wanted in known else (sessions[0].session_id if sessions else "")
        async for face in self._show(loaded, Tab(session_id), tab_hash):
            yield face

    async def send(self, text: str, tab: Tab, tab_hash: str) -> AsyncIterator[Face]:
        """Send a message to the conversation of this tab, or to a new one, and follow."""
        if not text.strip():
            yield Face()
            return
        loaded = await self._loading.ready()
        conversations = loaded.assistant.conversations
        conversation = conversations.open(tab.session_id) if tab.session_id else conversations.create()
        # Follow before it is asked, so that nothing it tells is missed.
        self._views.of(conversation)
        view = self._views.of(await loaded.assistant.submit(conversation, text.strip()))
        view.touch()
        tab = Tab(view.conversation.session_id)
        async for face in self._follow(loaded, view, tab, tab_hash, clear_composer=True):
            yield face

    async def start_new(self, tab_hash: str) -> AsyncIterator[Face]:
        """Show an empty conversation; it comes into being with its first message."""
        loaded = await self._loading.ready()
        async for face in self._show(loaded, Tab(), tab_hash):
            yield face

    async def compact(self, hint: str, tab: Tab, tab_hash: str) -> AsyncIterator[Face]:
        """Compact now."""
        loaded = await self._loading.ready()
        if not tab.session_id:
            gr.Info("There is nothing to compact yet.")
            yield Face()
            return
        view = self._view(loaded, tab.session_id)
        view.conversation.compact(hint.strip())
        async for face in self._follow(loaded, view, replace(tab, window=Window()), tab_hash):
            yield face

    async def look_ahead(self, tab: Tab) -> AsyncIterator[Face]:
        """Show what compacting now would fold."""
        loaded = await self._loading.ready()
        view = self._view(loaded, tab.session_id) if tab.session_id else None
        if view is None or view.is_running:
            gr.Info("A turn is running: look again when it has ended." if view else "There is nothing to compact yet.")
            yield Face()
            return
        yield Face(preview=str(preview_html(await view.conversation.preview_compaction())))

    def tick(self, tab: Tab, tab_hash: str) -> Face | None:
        """What changed without this tab's doing: a turn another tab started, a memory written after the turn."""
        loaded = self._loading.loaded
        if loaded is None or not tab.session_id or tab_hash in self._following:
            return None
        try:
            view = self._view(loaded, tab.session_id)
        except PalimpsestError:
            # The next thing the person does in this tab tells why.
            return None
        return self._face(loaded, view, tab) if view.version != tab.shown else None

    def leave(self, tab_hash: str) -> None:
        """Forget a tab that was closed."""
        self._tickets.pop(tab_hash, None)
        self._following.discard(tab_hash)

    async def act(self, name: str, target: str, tab: Tab, tab_hash: str) -> AsyncIterator[Face]:
        """What a button of a card does. A target the server does not know as pending is refused."""
        loaded = await self._loading.ready()
        faces = self._change_sessions if name in SESSION_ACTIONS else self._act
        async for face in faces(loaded, name, target, tab, tab_hash):
            yield face

    async def _act(self, loaded: Loaded, name: str, target: str, tab: Tab, tab_hash: str) -> AsyncIterator[Face]:
        match name:
            case "open-session" | "open-message":
                session_id, *message_ids = target.split(" ")
                async for face in self._open(loaded, session_id, tab, tab_hash, message_ids):
                    yield face
            case "show":
                async for face in self.send(_SHOW, tab, tab_hash):
                    yield face
            case "close-text":
                yield Face(pane="")
            case "forget" | "suggest":
                yield Face(composer=_FORGET if name == "forget" else _suggestion(target))
            case "test" | "reconnect":
                yield await self._examine_model(loaded, name, tab)
            case _ if not tab.session_id:
                gr.Warning(_NO_LONGER)
                yield Face()
            case _:
                view = self._view(loaded, tab.session_id)
                async for face in self._act_on(loaded, view, name, target, tab, tab_hash):
                    yield face

    async def _act_on(
        self, loaded: Loaded, view: LiveView, name: str, target: str, tab: Tab, tab_hash: str
    ) -> AsyncIterator[Face]:
        if name == "copy":
            yield Face(copied=_copied_html(answer_text(view.transcript, target)))
            return
        if name == "full-text" and target in view.transcript.artifact_ids:
            text = await asyncio.to_thread(loaded.assistant.store.artifacts.read, target)
            yield Face(pane=str(full_text_html(target, text)))
            return
        if name in ("pin", "unpin") and _pin(view, name, target):
            yield self._face(loaded, view, tab)
            return
        if name == "undo-change" and target in view.transcript.change_ids:
            _undo_change(loaded.assistant, target, view.conversation.session_id)
            yield self._face(loaded, view, tab)
            return
        if (window := _moved_window(view.transcript, tab.window, name, target)) is not None:
            async for face in self._follow(loaded, view, replace(tab, window=window), tab_hash):
                yield face
            return
        if name == "stop":
            await view.conversation.stop()
        elif not _change(view, name, target):
            gr.Warning(_NO_LONGER)
        async for face in self._follow(loaded, view, replace(tab, window=Window()), tab_hash):
            yield face

    async def _change_sessions(
        self, loaded: Loaded, name: str, target: str, tab: Tab, tab_hash: str
    ) -> AsyncIterator[Face]:
        change = await change_sessions(loaded.assistant, name, target)
        if change.told:
            gr.Info(html.escape(change.told))
        pane = gr.skip() if change.pane is None else change.pane
        if change.opened or tab.session_id not in {"", *_known_ids(loaded.assistant)}:
            async for face in self._open(loaded, change.opened, tab, tab_hash, change.message_ids):
                yield replace(face, pane=pane)
            return
        face = self._face(loaded, self._view(loaded, tab.session_id), tab) if tab.session_id else Face()
        yield replace(face, pane=pane, sessions=_sessions(loaded.assistant, tab.session_id))

    async def _open(
        self, loaded: Loaded, session_id: str, tab: Tab, tab_hash: str, message_ids: Sequence[str] = ()
    ) -> AsyncIterator[Face]:
        if session_id and session_id not in _known_ids(loaded.assistant):
            if pane := found_in_trash(loaded.assistant, session_id, message_ids):
                yield Face(pane=pane)
                return
            gr.Warning(_NO_LONGER)
            yield Face()
            return
        window = Window()
        if message_ids:
            question_id = await asyncio.to_thread(find_question, loaded.assistant, session_id, message_ids)
            entries = self._view(loaded, session_id).transcript.entries
            window = window_on_message(entries, [question_id, *message_ids])
        async for face in self._show(loaded, Tab(session_id, window), tab_hash):
            yield face

    async def _show(self, loaded: Loaded, tab: Tab, tab_hash: str) -> AsyncIterator[Face]:
        problem = None
        if tab.session_id:
            try:
                view = self._view(loaded, tab.session_id)
            except PalimpsestError as error:
                problem = error
            else:
                async for followed in self._follow(loaded, view, tab, tab_hash):
                    yield followed
                return
        ticket = self._take_ticket(tab_hash)
        yield self._face_of_none(loaded, problem)
        # What this tab followed until now may have sent its last update at the same moment.
        await asyncio.sleep(2 / UPDATES_PER_SECOND)
        # Drawn anew: a click may have changed it meanwhile, and an old face would take that back.
        yield self._face_of_none(loaded, problem) if self._holds(tab_hash, ticket) else Face()

    def _face_of_none(self, loaded: Loaded, problem: PalimpsestError | None) -> Face:
        """The face without a conversation, or without the one that cannot be opened."""
        face = self._empty_face(loaded)
        return face if problem is None else replace(face, messages=[_own(card("not_loaded", error=str(problem)))])

    async def _follow(
        self, loaded: Loaded, view: LiveView, tab: Tab, tab_hash: str, clear_composer: bool = False
    ) -> AsyncIterator[Face]:
        ticket = self._take_ticket(tab_hash)
        self._following.add(tab_hash)
        tab = replace(tab, shown=view.version)
        face = self._face(loaded, view, tab)
        # The person may be writing the next message: the composer is touched only to empty it.
        # What was looked ahead to is no longer so.
        face = replace(face, preview="")
        yield replace(face, composer="") if clear_composer else face
        try:
            async for version in view.updates(tab.shown):
                if not self._holds(tab_hash, ticket):
                    break
                tab = replace(tab, shown=version)
                yield self._streamed_face(view, tab)
            # Gradio sends the last value of a run once more when it ends, over whatever was shown since.
            is_current = self._holds(tab_hash, ticket)
            yield self._face(loaded, view, replace(tab, shown=view.version)) if is_current else Face()
        finally:
            if self._holds(tab_hash, ticket):
                self._following.discard(tab_hash)

    def _take_ticket(self, tab_hash: str) -> int:
        self._following.discard(tab_hash)
        self._tickets[tab_hash] = self._tickets.get(tab_hash, 0) + 1
        return self._tickets[tab_hash]

    def _holds(self, tab_hash: str, ticket: int) -> bool:
        return self._tickets.get(tab_hash) == ticket

    def _view(self, loaded: Loaded, session_id: str) -> LiveView:
        return self._views.of(loaded.assistant.conversations.open(session_id))

    async def _examine_model(self, loaded: Loaded, name: str, tab: Tab) -> Face:
        try:
            if name == "reconnect":
                await loaded.assistant.reconnect_model()
                self._report = None
            else:
                self._report = await loaded.assistant.test_connection()
        except PalimpsestError as error:
            self._report = ConnectionReport(False, str(error))
        if not tab.session_id:
            return self._empty_face(loaded)
        return self._face(loaded, self._view(loaded, tab.session_id), tab)

    def _face(self, loaded: Loaded, view: LiveView, tab: Tab) -> Face:
        transcript = view.transcript
        measured = transcript.measured
        messages = _messages(view, tab)
        return Face(
            tab=replace(tab, shown=view.version),
            messages=messages or [_own(self._welcome(loaded.assistant))],
            top=_top(view.conversation.title, loaded.assistant),
            meter=str(meter_html(measured)),
            sessions=_sessions(loaded.assistant, tab.session_id),
            stop=_stop_html(view.is_running),
            context=str(context_html(measured, view.conversation.context_items())),
            compactions=str(compactions_html(transcript.compactions, transcript.undoable)),
            model=str(model_html(loaded.assistant.model, self._report)),
        )

    def _streamed_face(self, view: LiveView, tab: Tab) -> Face:
        transcript = view.transcript
        return Face(
            tab=tab,
            messages=_messages(view, tab),
            meter=str(meter_html(transcript.measured)) if transcript.measured else gr.skip(),
            stop=_stop_html(view.is_running),
        )

    def _empty_face(self, loaded: Loaded) -> Face:
        return Face(
            tab=Tab(),
            messages=[_own(self._welcome(loaded.assistant))],
            top=_top("", loaded.assistant),
            meter=str(meter_html(None)),
            sessions=_sessions(loaded.assistant, ""),
            stop=_stop_html(False),
            context=str(context_html(None, [])),
            compactions=str(compactions_html([], None)),
            preview="",
            model=str(model_html(loaded.assistant.model, self._report)),
        )

    def _welcome(self, assistant: Assistant) -> str:
        return card("welcome", suggestions=SUGGESTIONS, setup=setup_html(assistant.model, self._report))

    def _quiet_face(self, messages: Sequence[ChatMessage], is_loading: bool) -> Face:
        top = str(card("top", title="Palimpsest", model_name="", is_language_model=True, is_loading=is_loading))
        return Face(messages=messages, top=top, meter=str(meter_html(None)))


async def tell_refusals(faces: AsyncIterator[Face]) -> AsyncIterator[Face]:
    """The same faces; a refusal is told in the tab and leaves it as it is."""
    try:
        async for face in faces:
            yield face
    except PalimpsestError as error:
        # A toast takes HTML.
        gr.Warning(html.escape(one_line(str(error), 300)))
        yield Face()


def _change(view: LiveView, name: str, target: str) -> bool:
    """Do what the button says; False when its target is not pending."""
    transcript = view.transcript
    last_end = transcript.last_end
    match name:
        case "allow" | "deny" if target in transcript.pending_calls:
            view.answer(target, name == "allow")
        case "undo" if target == transcript.undoable:
            view.conversation.undo()
        case "retry" if last_end and target == last_end.turn_id and not view.is_running:
            view.retry()
        case "continue" if last_end and target == last_end.turn_id and not view.is_running:
            view.conversation.continue_turn()
        case _:
            return False
    return True


def _suggestion(target: str) -> str:
    return next((text for number, text in enumerate(SUGGESTIONS) if target == str(number)), "")


def _pin(view: LiveView, name: str, target: str) -> bool:
    """Pin or unpin a piece of the context; False when it is not there any more."""
    conversation = view.conversation
    items = [item for item in conversation.context_items() if item.is_user or item.is_pinned]
    key = next((item.key for item in items if item.key and pin_target(item) == target), None)
    if key is None:
        return False
    if name == "pin":
        conversation.pin(key)
    else:
        conversation.unpin(key)
    conversation.measure()
    view.touch()
    return True


def _undo_change(assistant: Assistant, change_id: str, session_id: str) -> None:
    # It is told in the conversation as any other change.
    if assistant.notes.undo(change_id, Origin(WRITER, session_id)) is None:
        gr.Info("Nothing of that change is left: it was undone or written over before.")


def _moved_window(transcript: Transcript, window: Window, name: str, target: str) -> Window | None:
    match name:
        case "earlier" if window.size < MAX_WINDOW:
            return replace(window, size=window.size + Window().size)
        case "earlier":
            end = len(transcript.entries) if window.end is None else window.end
            return Window(end=max(Window().size, end - window.size + 5))
        case "latest":
            return Window()
        case "transcript":
            index = index_of_compaction(transcript.entries, target)
            return None if index is None else Window(end=index + 1)
        case _:
            return None


def _messages(view: LiveView, tab: Tab) -> list[ChatMessage]:
    return render_transcript(view.transcript, tab.window, view.is_running, view.conversation.queued)


def _own(content: str) -> ChatMessage:
    return ChatMessage(role="assistant", content=str(content))


def _top(title: str, assistant: Assistant) -> str:
    model = assistant.model
    return str(
        card(
            "top",
            title=title or "New conversation",
            model_name=model.name,
            is_language_model=model.is_language_model,
            is_loading=False,
        )
    )


def _sessions(assistant: Assistant, selected: str) -> str:
    conversations = assistant.conversations
    trashed_count = len(conversations.trashed())
    return str(sessions_html(conversations.summaries(), selected, dt.datetime.now(dt.UTC), trashed_count))


def _known_ids(assistant: Assistant) -> set[str]:
    return {session.session_id for session in assistant.conversations.summaries()}


def _copied_html(text: str) -> str:
    # Copying the same answer twice must be two changes for the browser to see.
    return str(card("copied", text=text, nonce=secrets.token_hex(4)))


def _stop_html(is_running: bool) -> str:
    return str(card("stop")) if is_running else ""
