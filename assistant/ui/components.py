"""The components of the page, each named once: these names are the keys of every update."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, fields
from typing import cast

import gradio as gr
from gradio.blocks import BlockContext
from gradio.components import Component

from assistant.config.words import say
from assistant.ui.cards import card
from assistant.ui.chat.edit_box import Draft
from assistant.ui.chat.tab import Tab
from assistant.ui.memory.task import Task

# Raises an event of the page, a card's button or the news; `assets/page.js` does it.
_CONNECT_JS = "window.palimpsest.connect(element.closest('#chat-actions, #memory-actions, #news').id, trigger);"

# Applies each patch that comes as the value to nodes beside the template, which stays empty.
_DRAW_JS = "window.palimpsest.transcript.connect(element, () => props.value, (draw) => watch('value', draw));"


def _html(elem_id: str, content: Callable[[], str] = str) -> gr.HTML:
    return field(
        default_factory=lambda: gr.HTML(
            content(), elem_id=elem_id, apply_default_css=False, container=False, padding=False
        )
    )


def _button(elem_id: str, *, is_primary: bool = False) -> gr.Button:
    variant = "primary" if is_primary else "secondary"
    return field(
        default_factory=lambda: gr.Button(
            say("page", f"button_{elem_id.replace('-', '_')}"), elem_id=elem_id, variant=variant
        )
    )


def _action_channel(elem_id: str) -> gr.HTML:
    return field(
        default_factory=lambda: gr.HTML(
            "", elem_id=elem_id, elem_classes=["p-action-channel"], js_on_load=_CONNECT_JS, apply_default_css=False
        )
    )


# Without slots, so that `vars` has the components by their names.
@dataclass(frozen=True)
class ChatComponents:
    """What a conversation changes on the page."""

    tab: gr.State = field(default_factory=lambda: gr.State(Tab()))
    transcript: gr.HTML = field(
        default_factory=lambda: gr.HTML(
            {}, elem_id="chat", html_template="", js_on_load=_DRAW_JS, apply_default_css=False, padding=False
        )
    )
    top: gr.HTML = _html("top", lambda: loading_top_html())
    meter: gr.HTML = _html("meter", lambda: str(card("meter_empty")))
    sessions: gr.HTML = _html("sessions")
    composer: gr.Textbox = field(
        default_factory=lambda: gr.Textbox(
            elem_id="composer",
            show_label=False,
            label=say("page", "message"),
            placeholder=say("page", "message_hint"),
            lines=1,
            max_lines=8,
            submit_btn=say("page", "send"),
            interactive=True,
            autofocus=True,
            container=False,
        )
    )
    picker: gr.HTML = _html("who-answers")
    stop: gr.HTML = _html("stop")
    context: gr.HTML = _html("context", lambda: str(card("context_empty")))
    compactions: gr.HTML = _html("compactions")
    model: gr.HTML = _html("model")
    copied: gr.HTML = _html("copied")
    preview: gr.HTML = _html("preview")
    dialog: gr.HTML = _html("dialog")
    commands: gr.HTML = _html("commands")
    toast: gr.HTML = _html("toast")
    drawing: gr.HTML = _html("drawing")
    draft: gr.State = field(default_factory=lambda: gr.State(Draft()))
    edit_box: gr.Column = field(default_factory=lambda: gr.Column(elem_id="edit", visible=False))
    edit_note: gr.HTML = _html("edit-note")
    edit_text: gr.Textbox = field(
        default_factory=lambda: gr.Textbox(
            elem_id="edit-text",
            show_label=False,
            label=say("page", "your_message"),
            lines=1,
            max_lines=10,
            container=False,
        )
    )


@dataclass(frozen=True)
class EditorComponents:
    """What the open memory file changes on the page."""

    files: gr.HTML = _html("files")
    file_head: gr.HTML = _html("file-head")
    editor: gr.Code = field(
        default_factory=lambda: gr.Code(
            language="markdown",
            wrap_lines=True,
            show_line_numbers=False,
            show_label=False,
            interactive=True,
            lines=12,
            elem_id="editor",
            buttons=[],
        )
    )
    file_banner: gr.HTML = _html("file-banner")
    history: gr.HTML = _html("history")


@dataclass(frozen=True)
class MemoryComponents(EditorComponents):
    """What a button of the Memory tab changes on the page."""

    task: gr.State = field(default_factory=lambda: gr.State(Task()))
    task_card: gr.HTML = _html("memory-work")
    tabs: gr.Tabs = field(default_factory=lambda: gr.Tabs(elem_id="tabs", selected="memory"))


@dataclass(frozen=True)
class PageComponents(ChatComponents, MemoryComponents):
    """Every component that does something. Make them outside of `gr.Blocks`; the layout places them."""

    person: gr.HTML = _html("person")
    search: gr.Textbox = field(
        default_factory=lambda: gr.Textbox(
            elem_id="search",
            show_label=False,
            label=say("page", "search"),
            placeholder=say("page", "search_hint"),
            max_lines=1,
            container=False,
        )
    )
    hits: gr.HTML = _html("hits")
    index_state: gr.HTML = _html("index-state")
    new_chat: gr.Button = _button("new-chat", is_primary=True)
    save: gr.Button = _button("save", is_primary=True)
    hint: gr.Textbox = field(
        default_factory=lambda: gr.Textbox(
            placeholder=say("page", "summary_hint"), show_label=False, elem_id="hint", max_lines=3
        )
    )
    compact: gr.Button = _button("compact")
    look_ahead: gr.Button = _button("look-ahead")
    send_again: gr.Button = _button("send-again", is_primary=True)
    cancel_edit: gr.Button = _button("cancel-edit")
    chat_actions: gr.HTML = _action_channel("chat-actions")
    memory_actions: gr.HTML = _action_channel("memory-actions")
    news: gr.HTML = _action_channel("news")


PagePart = type[ChatComponents] | type[EditorComponents]
"""The components that one kind of event changes."""


class PageUpdate(Mapping[str, object]):
    """New values for some components, by their names; all others stay as they are."""

    def __init__(self, **values: object) -> None:
        unknown = sorted(values.keys() - set(_names(PageComponents)))
        if unknown:
            raise TypeError(f"the page has no component {unknown[0]!r}; see PageComponents")
        self._values = values

    def __getitem__(self, name: str) -> object:
        return self._values[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._values)

    def __len__(self) -> int:
        return len(self._values)

    def __repr__(self) -> str:
        return f"PageUpdate({self._values!r})"

    def __or__(self, newer: PageUpdate) -> PageUpdate:
        """Both; the newer value where both have one."""
        return PageUpdate(**{**self._values, **newer})

    def values_of(self, part: PagePart) -> list[object]:
        """The values in the order of `outputs_of`."""
        return [self._values.get(name, unchanged()) for name in _names(part)]


def unchanged() -> object:
    """What an event gives for a component that stays as it is."""
    return cast(object, gr.skip())  # pyright: ignore[reportUnknownMemberType] - an unnamed dict


def outputs_of(page: PageComponents, part: PagePart) -> list[Component | BlockContext]:
    """The components of a part, as an event of Gradio takes them."""
    return [vars(page)[name] for name in _names(part)]


def loading_top_html() -> str:
    """The line above the conversation while there is no assistant."""
    return str(card("top", title="Palimpsest", model_name="", is_language_model=True, is_loading=True))


def _names(part: PagePart) -> list[str]:
    return [one.name for one in fields(part)]
