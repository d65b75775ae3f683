"""What the page shows of a conversation: whole, while it streams, or a card in its place."""

from __future__ import annotations

import datetime as dt
from dataclasses import replace
from typing import TYPE_CHECKING

import gradio as gr

from assistant.config.words import say
from assistant.models.connection_report import ConnectionReport
from assistant.ui.cards import card
from assistant.ui.chat.beside import Beside
from assistant.ui.chat.compactions_list import PAGE_SIZE, compactions_html
from assistant.ui.chat.context_panel import context_html
from assistant.ui.chat.edit_box import Draft, note_html
from assistant.ui.chat.list_marks import ListMark, list_marks
from assistant.ui.chat.live import LiveView
from assistant.ui.chat.meter import meter_html
from assistant.ui.chat.model_panel import model_tab_html, setup_html
from assistant.ui.chat.model_picker import answers_as, picker_html
from assistant.ui.chat.sent_transcripts import DrawnTranscript, ShownPart
from assistant.ui.chat.sessions_panel import ListedSessions
from assistant.ui.chat.tab import Tab
from assistant.ui.components import PageUpdate
from assistant.ui.server.loading import Loaded
from assistant.ui.setup.first_run import first_run_nodes, is_first_run
from assistant.ui.transcript.nodes import Node, card_node

if TYPE_CHECKING:
    # It brings the agent library with it, which the page does not wait for.
    from assistant.assembly.assistant import Assistant
    from assistant.conversation.conversation import Conversation


def suggestions() -> tuple[str, ...]:
    """What a new conversation offers to ask."""
    return tuple(say("page", key) for key in ("suggest_me", "suggest_workspace", "suggest_remember"))


def shown_edit_box(draft: Draft, text: str) -> PageUpdate:
    """The edit box, open on a draft."""
    return PageUpdate(draft=draft, edit_box=gr.Column(visible=True), edit_note=str(note_html(draft)), edit_text=text)


def closed_edit_box() -> PageUpdate:
    """The edit box, closed."""
    return PageUpdate(draft=Draft(), edit_box=gr.Column(visible=False), edit_note="", edit_text="")


def conversation_update(
    loaded: Loaded, view: LiveView, tab: Tab, report: ConnectionReport | None, show: str = ""
) -> PageUpdate:
    """Everything that the page shows of a conversation; `show` is the key of a node to scroll to."""
    measured = view.transcript.measured
    nodes = view.nodes(tab.window) or _welcome(loaded.assistant, report)
    return PageUpdate(
        tab=tab,
        transcript=DrawnTranscript(shown_part(loaded, view, tab), nodes, show),
        top=_top(view.conversation.title, loaded.assistant, view.conversation),
        picker=picker_html(loaded.assistant, view.conversation),
        meter=str(meter_html(measured)),
        sessions=listed_sessions(loaded.assistant, tab.session_id),
        stop=_stop_html(view.is_running),
        context=str(context_html(measured, view.conversation.context_items())),
        compactions=listed_compactions(view, tab),
        model=model_tab_html(loaded.assistant, report),
    )


def news_update(
    loaded: Loaded, view: LiveView, tab: Tab, report: ConnectionReport | None, part: ShownPart
) -> PageUpdate:
    """What a tab that shows this part does not show yet; while an answer streams, only what is new."""
    before, now = part.beside, Beside.of(view, loaded.assistant)
    if (part.version, before) == (view.version, now):
        return PageUpdate()
    # The panel shows a compaction while its turn goes on.
    if not now.is_running or not before.is_running or now.compactions != before.compactions:
        return conversation_update(loaded, view, tab, report)
    update = PageUpdate(transcript=DrawnTranscript(shown_part(loaded, view, tab), view.nodes(tab.window)))
    if now.measured and now.measured != before.measured:
        update |= PageUpdate(meter=str(meter_html(now.measured)))
    if now.marks != before.marks:
        update |= PageUpdate(sessions=listed_sessions(loaded.assistant, tab.session_id))
    return update


def shown_part(loaded: Loaded, view: LiveView, tab: Tab) -> ShownPart:
    """What a tab shows once it shows all of this."""
    return ShownPart(tab.session_id, tab.window, view.version, Beside.of(view, loaded.assistant))


def empty_update(
    loaded: Loaded, report: ConnectionReport | None, problem: str = "", profile: str | None = None
) -> PageUpdate:
    """The page for a new conversation, in which a profile is to answer, or for one that has a problem to open."""
    failed = (card_node("card", card("not_loaded", error=problem)),) if problem else ()
    return _instead(failed or _welcome(loaded.assistant, report), list_marks(loaded.assistant)) | PageUpdate(
        tab=Tab(profile=profile),
        top=_top("", loaded.assistant, None, profile),
        picker=picker_html(loaded.assistant, None, profile),
        meter=str(meter_html(None)),
        sessions=listed_sessions(loaded.assistant, ""),
        stop=_stop_html(False),
        context=str(context_html(None, [])),
        compactions=str(compactions_html([], None, PAGE_SIZE, _now())),
        preview="",
        model=model_tab_html(loaded.assistant, report),
    )


def received_update(update: PageUpdate, number: str) -> PageUpdate:
    """The same update, which also says that the message of this number arrived."""
    drawn = update.get("transcript")
    if not number or not isinstance(drawn, DrawnTranscript):
        return update
    return update | PageUpdate(transcript=replace(drawn, received=number))


def card_update(content: str, *, is_loading: bool) -> PageUpdate:
    """One card in place of a conversation, while there is no assistant."""
    top = str(card("top", title="Palimpsest", model_name="", is_language_model=True, is_loading=is_loading))
    return _instead((card_node("card", content),)) | PageUpdate(top=top, meter=str(meter_html(None)))


def listed_compactions(view: LiveView, tab: Tab) -> str:
    """The compactions of a conversation, as many as the tab lists."""
    transcript = view.transcript
    return str(compactions_html(transcript.compactions, transcript.undoable, tab.compactions, _now()))


def _instead(nodes: tuple[Node, ...], marks: tuple[ListMark, ...] = ()) -> PageUpdate:
    """Something in place of a conversation, beside the list with these marks."""
    return PageUpdate(transcript=DrawnTranscript(ShownPart(beside=Beside(marks=marks)), nodes))


def _welcome(assistant: Assistant, report: ConnectionReport | None) -> tuple[Node, ...]:
    if is_first_run(assistant):
        return first_run_nodes(assistant, report)
    setup = setup_html(assistant.model, report)
    return (card_node("welcome", card("welcome", suggestions=suggestions(), setup=setup)),)


def _top(title: str, assistant: Assistant, conversation: Conversation | None, profile: str | None = None) -> str:
    name, is_language_model = answers_as(assistant, conversation, profile)
    return str(
        card(
            "top",
            title=title or say("page", "new_conversation"),
            model_name=name,
            is_language_model=is_language_model,
            is_loading=False,
        )
    )


def listed_sessions(assistant: Assistant, selected: str) -> ListedSessions:
    """The list of conversations."""
    conversations = assistant.conversations
    trashed, marks = len(conversations.trashed()), list_marks(assistant)
    return ListedSessions(conversations.summaries(), selected, _now(), trashed, marks)


def _now() -> dt.datetime:
    return dt.datetime.now(dt.UTC)


def _stop_html(is_running: bool) -> str:
    return str(card("stop")) if is_running else ""
