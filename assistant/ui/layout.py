"""Where everything stands: two sidebars, the conversation between them."""

from __future__ import annotations

from dataclasses import dataclass

import gradio as gr
from gradio import themes
from gradio.blocks import BlockContext
from gradio.components import Component

from assistant.ui.cards import asset, card
from assistant.ui.chat.edit_box import Draft
from assistant.ui.chat.face import Tab
from assistant.ui.memory.memory_tasks import Task

# Raises what a card's button means; `assets/page.js` calls it from the one click listener.
_BUS = "window.palimpsest.connect(element.closest('#chat-bus, #memory-bus').id, trigger);"


@dataclass(frozen=True, slots=True)
class ChatParts:
    """What a conversation changes on the page."""

    tab: gr.State
    messages: gr.Chatbot
    top: gr.HTML
    meter: gr.HTML
    sessions: gr.HTML
    composer: gr.Textbox
    stop: gr.HTML
    context: gr.HTML
    compactions: gr.HTML
    model: gr.HTML
    copied: gr.HTML
    preview: gr.HTML
    pane: gr.HTML
    draft: gr.State
    edit_box: gr.Column
    edit_note: gr.HTML
    edit_text: gr.Textbox

    def outputs(self) -> list[Component | BlockContext]:
        """The components in the order of `Face.values`."""
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


@dataclass(frozen=True, slots=True)
class MemoryParts:
    """What the Memory tab changes on the page."""

    files: gr.HTML
    head: gr.HTML
    editor: gr.Code
    banner: gr.HTML
    history: gr.HTML
    work: gr.HTML
    task: gr.State

    def outputs(self) -> list[Component]:
        """The components in the order the wiring fills them."""
        return [self.files, self.head, self.editor, self.banner, self.history]

    def task_outputs(self) -> list[Component]:
        """The components in the order of `TaskFace.values`."""
        return [self.task, self.work]


@dataclass(frozen=True, slots=True)
class Parts:
    """Every component that does something."""

    chat: ChatParts
    memory: MemoryParts
    person: gr.HTML
    search: gr.Textbox
    hits: gr.HTML
    index: gr.HTML
    tabs: gr.Tabs
    new_chat: gr.Button
    save: gr.Button
    hint: gr.Textbox
    compact: gr.Button
    look_ahead: gr.Button
    send_again: gr.Button
    cancel_edit: gr.Button
    chat_bus: gr.HTML
    memory_bus: gr.HTML
    timer: gr.Timer


def lay_out(banner: str) -> Parts:
    """Make all components; `banner` stands over the conversation, empty for none."""
    tab, draft = gr.State(Tab()), gr.State(Draft())
    with gr.Sidebar(position="left", width=272, elem_id="left"):
        _html(str(card("brand")), "brand")
        new_chat = gr.Button("New chat", elem_id="new-chat", variant="primary")
        search = gr.Textbox(
            elem_id="search",
            show_label=False,
            label="Search",
            placeholder="Search memory and conversations",
            max_lines=1,
            container=False,
        )
        hits, index = _html("", "hits"), _html("", "index-state")
        sessions = _html("", "sessions")
        person = _html("", "person")
    with gr.Sidebar(position="right", width=400, elem_id="right"), gr.Tabs(elem_id="tabs", selected="memory") as tabs:
        with gr.Tab("Memory", id="memory"):
            work, task = _html("", "memory-work"), gr.State(Task())
            files, head, notice = _html("", "files"), _html("", "file-head"), _html("", "file-banner")
            editor = gr.Code(
                language="markdown",
                wrap_lines=True,
                show_line_numbers=False,
                show_label=False,
                interactive=True,
                lines=12,
                elem_id="editor",
                buttons=[],
            )
            save = gr.Button("Save", elem_id="save", variant="primary")
            history = _html("", "history")
        with gr.Tab("Context", id="context"):
            hint = gr.Textbox(
                placeholder="What must the summary keep? (optional)", show_label=False, elem_id="hint", max_lines=3
            )
            with gr.Row(elem_id="compact-row"):
                compact = gr.Button("Compact now", elem_id="compact")
                look_ahead = gr.Button("Preview", elem_id="look-ahead")
            preview = _html("", "preview")
            compactions, context = _html("", "compactions"), _html(str(card("context_empty")), "context")
        with gr.Tab("Model", id="model"):
            model = _html("", "model")
    with gr.Column(elem_id="centre"):
        if banner:
            _html(banner, "banner")
        top = _html(_loading_top(), "top")
        meter = _html(str(card("meter_empty")), "meter")
        messages = gr.Chatbot(
            elem_id="chat",
            show_label=False,
            label="Conversation",
            layout="bubble",
            buttons=[],
            allow_tags=False,
            reasoning_tags=[],
            feedback_options=None,
            line_breaks=True,
        )
        with gr.Column(elem_id="edit", visible=False) as edit_box:
            edit_note = _html("", "edit-note")
            edit_text = gr.Textbox(
                elem_id="edit-text", show_label=False, label="Your message", lines=1, max_lines=10, container=False
            )
            with gr.Row(elem_id="edit-row"):
                send_again = gr.Button("Send again", elem_id="send-again", variant="primary")
                cancel_edit = gr.Button("Cancel", elem_id="cancel-edit")
        with gr.Row(elem_id="compose"):
            composer = gr.Textbox(
                elem_id="composer",
                show_label=False,
                label="Message",
                placeholder="Write a message…",
                lines=1,
                max_lines=8,
                submit_btn="Send",
                autofocus=True,
                container=False,
            )
            stop = _html("", "stop")
    copied, pane = _html("", "copied"), _html("", "pane")
    chat_bus, memory_bus = _bus("chat-bus"), _bus("memory-bus")
    return Parts(
        ChatParts(
            tab,
            messages,
            top,
            meter,
            sessions,
            composer,
            stop,
            context,
            compactions,
            model,
            copied,
            preview,
            pane,
            draft,
            edit_box,
            edit_note,
            edit_text,
        ),
        MemoryParts(files, head, editor, notice, history, work, task),
        person,
        search,
        hits,
        index,
        tabs,
        new_chat,
        save,
        hint,
        compact,
        look_ahead,
        send_again,
        cancel_edit,
        chat_bus,
        memory_bus,
        gr.Timer(2.0),
    )


def theme() -> themes.Base:
    """Fonts that ship with Gradio, so that nothing is fetched from elsewhere; colours stand in `assets/page.css`."""
    return themes.Base(
        primary_hue="teal",
        neutral_hue="stone",
        font=[themes.LocalFont("IBM Plex Sans"), "Noto Sans CJK SC", "system-ui", "sans-serif"],
        font_mono=[themes.LocalFont("IBM Plex Mono"), "ui-monospace", "Menlo", "monospace"],
    )


def head() -> str:
    """Styles and script of the page, inline: one request less, and the guard lets nothing else in."""
    return (
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<style>{asset('page.css')}</style><script>{asset('page.js')}</script>"
    )


def sign_in_message() -> str:
    """What stands above the form; with the styles, for Gradio gives the page before the sign-in no head of ours."""
    return f"<style>{asset('page.css')}</style>{card('sign_in')}"


def _loading_top() -> str:
    return str(card("top", title="Palimpsest", model_name="", is_language_model=True, is_loading=True))


def _html(value: str, elem_id: str) -> gr.HTML:
    return gr.HTML(value, elem_id=elem_id, apply_default_css=False, container=False, padding=False)


def _bus(elem_id: str) -> gr.HTML:
    return gr.HTML("", elem_id=elem_id, elem_classes=["p-bus"], js_on_load=_BUS, apply_default_css=False)
