"""What a tab shows: new values for all that a conversation changes on the page."""

from __future__ import annotations

import datetime as dt
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

import gradio as gr

from assistant.models.connection_report import ConnectionReport
from assistant.ui.cards import card
from assistant.ui.chat.compactions_list import PAGE_SIZE, compactions_html
from assistant.ui.chat.context_panel import context_html
from assistant.ui.chat.edit_box import Draft, note_html
from assistant.ui.chat.live import LiveView
from assistant.ui.chat.meter import meter_html
from assistant.ui.chat.model_panel import model_tab_html, setup_html
from assistant.ui.chat.render import ChatMessage, Window, render_transcript
from assistant.ui.chat.sessions_panel import sessions_html
from assistant.ui.server.loading import Loaded

if TYPE_CHECKING:
    # It brings the agent library with it, which the page does not wait for.
    from assistant.assembly.assistant import Assistant

SUGGESTIONS = (
    "What do you know about me?",
    "What is in my workspace?",
    "Remember that I prefer short answers.",
)


@dataclass(frozen=True, slots=True)
class Tab:
    """What one browser tab shows: the conversation (empty: a new one), the drawn part and the version of it.

    `compactions` says how many of them are listed at most.
    """

    session_id: str = ""
    window: Window = Window()
    shown: int = -1
    compactions: int = PAGE_SIZE


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
    draft: Update = field(default_factory=gr.skip)
    edit_box: Update = field(default_factory=gr.skip)
    edit_note: Update = field(default_factory=gr.skip)
    edit_text: Update = field(default_factory=gr.skip)

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
            self.draft,
            self.edit_box,
            self.edit_note,
            self.edit_text,
        ]


def with_edit(face: Face, draft: Draft, text: str) -> Face:
    """The same face with the box open on a draft."""
    return replace(face, draft=draft, edit_box=gr.Column(visible=True), edit_note=str(note_html(draft)), edit_text=text)


def without_edit(face: Face) -> Face:
    """The same face with the box closed."""
    return replace(face, draft=Draft(), edit_box=gr.Column(visible=False), edit_note="", edit_text="")


def face_of(loaded: Loaded, view: LiveView, tab: Tab, report: ConnectionReport | None) -> Face:
    """The whole face of a conversation."""
    transcript = view.transcript
    measured = transcript.measured
    messages = _messages(view, tab)
    return Face(
        tab=replace(tab, shown=view.version),
        messages=messages or [_own(_welcome(loaded.assistant, report))],
        top=_top(view.conversation.title, loaded.assistant),
        meter=str(meter_html(measured)),
        sessions=listed_sessions(loaded.assistant, tab.session_id),
        stop=_stop_html(view.is_running),
        context=str(context_html(measured, view.conversation.context_items())),
        compactions=listed_compactions(view, tab),
        model=model_tab_html(loaded.assistant, report),
    )


def streamed_face(view: LiveView, tab: Tab) -> Face:
    """What changes while an answer streams."""
    transcript = view.transcript
    return Face(
        tab=tab,
        messages=_messages(view, tab),
        meter=str(meter_html(transcript.measured)) if transcript.measured else gr.skip(),
        stop=_stop_html(view.is_running),
    )


def empty_face(loaded: Loaded, report: ConnectionReport | None, problem: str = "") -> Face:
    """The face of a new conversation, or of one that cannot be opened because of a problem."""
    content = card("not_loaded", error=problem) if problem else _welcome(loaded.assistant, report)
    return Face(
        tab=Tab(),
        messages=[_own(content)],
        top=_top("", loaded.assistant),
        meter=str(meter_html(None)),
        sessions=listed_sessions(loaded.assistant, ""),
        stop=_stop_html(False),
        context=str(context_html(None, [])),
        compactions=str(compactions_html([], None, PAGE_SIZE, _now())),
        preview="",
        model=model_tab_html(loaded.assistant, report),
    )


def quiet_face(card_html: str, is_loading: bool) -> Face:
    """One card in place of a conversation, while there is no assistant to ask."""
    top = str(card("top", title="Palimpsest", model_name="", is_language_model=True, is_loading=is_loading))
    return Face(messages=[_own(card_html)], top=top, meter=str(meter_html(None)))


def listed_compactions(view: LiveView, tab: Tab) -> str:
    """The compactions of a conversation, as many as the tab lists."""
    transcript = view.transcript
    return str(compactions_html(transcript.compactions, transcript.undoable, tab.compactions, _now()))


def _welcome(assistant: Assistant, report: ConnectionReport | None) -> str:
    return card("welcome", suggestions=SUGGESTIONS, setup=setup_html(assistant.model, report))


def _messages(view: LiveView, tab: Tab) -> list[ChatMessage]:
    # While a turn runs nothing is edited, as nothing is tried again.
    questions = [] if view.is_running else view.conversation.questions()
    editable = frozenset(question.message_id for question in questions)
    return render_transcript(view.transcript, tab.window, view.is_running, view.conversation.queued, editable)


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


def listed_sessions(assistant: Assistant, selected: str) -> str:
    """The list of conversations."""
    conversations = assistant.conversations
    return str(sessions_html(conversations.summaries(), selected, _now(), len(conversations.trashed())))


def _now() -> dt.datetime:
    return dt.datetime.now(dt.UTC)


def _stop_html(is_running: bool) -> str:
    return str(card("stop")) if is_running else ""
