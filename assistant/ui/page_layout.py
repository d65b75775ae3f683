"""Where the components are: the conversation, a panel on either side of it."""

from __future__ import annotations

import gradio as gr
from gradio import themes
from gradio.blocks import Block

from assistant.config.words import say
from assistant.ui.cards import asset, card
from assistant.ui.components import PageComponents


def lay_out(page: PageComponents, banner: str, max_file_bytes: int) -> None:
    """Place all components; `banner` is shown over the conversation, empty for none."""
    _place(page.tab, page.draft, page.task)
    _place_left(page)
    with gr.Column(elem_id="centre"):
        if banner:
            _html(banner, "banner")
        with gr.Row(elem_id="bar"):
            _html(str(card("open_left")), "open-left")
            _place(page.top)
            _html(str(card("open_right")), "open-right")
        _place(page.meter, page.transcript)
        _place_composer(page, max_file_bytes)
    _place_right(page)
    _place(page.copied, page.drawing, page.dialog, page.toast, page.chat_actions, page.memory_actions, page.news)


def _place_left(page: PageComponents) -> None:
    with gr.Column(elem_id="left", elem_classes=["p-side"]):
        _html(str(card("brand")), "brand")
        _place(page.new_chat, page.search, page.hits, page.index_state)
        # Apart from the list, which is drawn anew while somebody types.
        _html(str(card("list_filter")), "list-filter")
        _html(str(card("list_says")), "list-says")
        _place(page.sessions, page.person)
        _html(str(card("settings_button")), "open-settings")


def _place_right(page: PageComponents) -> None:
    with gr.Column(elem_id="right", elem_classes=["p-side"]):
        _html(str(card("close_right")), "close-right")
        _place(page.tabs)
        with page.tabs:
            with gr.Tab(say("page", "tab_memory"), id="memory", elem_id="tab-memory"):
                _place(
                    page.task_card, page.files, page.file_head, page.file_banner, page.editor, page.save, page.history
                )
            with gr.Tab(say("page", "tab_context"), id="context", elem_id="tab-context"):
                _place(page.hint)
                with gr.Row(elem_id="compact-row"):
                    _place(page.compact, page.look_ahead)
                _place(page.preview, page.compactions, page.context)
            with gr.Tab(say("page", "tab_model"), id="model", elem_id="tab-model"):
                _place(page.model)


def _place_composer(page: PageComponents, max_file_bytes: int) -> None:
    """The field for a message, and the box above it in which one is edited."""
    _place(page.edit_box)
    with page.edit_box:
        _place(page.edit_note, page.edit_text)
        with gr.Row(elem_id="edit-row"):
            _place(page.send_again, page.cancel_edit)
    _place(page.commands)
    with gr.Row(elem_id="compose"):
        _html(str(card("attached_row")), "attached")
        _html(str(card("attach_button", max_bytes=max_file_bytes)), "attach")
        _place(page.composer, page.stop, page.picker)


def theme() -> themes.Base:
    """Fonts that ship with Gradio, so that nothing is fetched from elsewhere; colours are in `assets/tokens.css`."""
    return themes.Base(
        primary_hue="teal",
        neutral_hue="stone",
        font=[themes.LocalFont("IBM Plex Sans"), "Noto Sans CJK SC", "system-ui", "sans-serif"],
        font_mono=[themes.LocalFont("IBM Plex Mono"), "ui-monospace", "Menlo", "monospace"],
    )


def head() -> str:
    """Styles and script of the page, inline: one request less, and the guard lets nothing else in."""
    styles = "".join(asset(f"{name}.css") for name in ("tokens", "page", "cards", "transcript", "attachments"))
    scripts = "".join(
        asset(f"{name}.js")
        for name in (
            "appearance",
            "panels",
            "page",
            "keys",
            "focus",
            "attachments",
            "conversations",
            "picker",
            "transcript",
            "waiting",
        )
    )
    return (
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<style>{styles}</style><script>{scripts}</script>"
    )


def _place(*components: Block) -> None:
    for component in components:
        component.render()


def _html(value: str, elem_id: str) -> gr.HTML:
    return gr.HTML(value, elem_id=elem_id, apply_default_css=False, container=False, padding=False)
