"""The first run: three choices in place of the welcome, then the first conversation."""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import replace
from typing import TYPE_CHECKING

import gradio as gr

from assistant.config.words import say, spoken_language
from assistant.errors import PalimpsestError
from assistant.models.connection_report import ConnectionReport
from assistant.ui.cards import card
from assistant.ui.chat.click import Click
from assistant.ui.components import PageUpdate
from assistant.ui.form import Form, read_form
from assistant.ui.setup import settings_view
from assistant.ui.setup.choices import chosen_row, model_choice, who_answers
from assistant.ui.transcript.nodes import Node, card_node

if TYPE_CHECKING:
    # They bring the agent library with them, which the page does not wait for.
    from assistant.assembly.assistant import Assistant
    from assistant.ui.chat.chat_controller import ChatController

_ROWS = ("language", "tools")


def is_first_run(assistant: Assistant) -> bool:
    """True in a home in which nothing was chosen and nothing said yet."""
    conversations = assistant.conversations
    return assistant.own_settings.is_first_run and not (conversations.summaries() or conversations.trashed())


def first_run_nodes(assistant: Assistant, report: ConnectionReport | None) -> tuple[Node, ...]:
    """The choices, and under them what came of trying; the form stays as it was filled in meanwhile."""
    rows = [chosen_row(assistant.settings, field) for field in _ROWS]
    form = card_node("first-run", card("first_run", who=who_answers(assistant, "first-run"), rows=rows))
    own = assistant.own_settings
    if not own.is_trying and report is None:
        return (form,)
    return (form, card_node("tried", card("tried", report=report, is_trying=own.is_trying)))


async def look_around(chat: ChatController, click: Click) -> AsyncIterator[PageUpdate]:
    """Look for model servers on this machine again."""
    if click.target == "settings":
        async for update in settings_view.open_settings(chat, replace(click, target="models")):
            yield update
        return
    await click.loaded.assistant.own_settings.look_around()
    yield chat.whole(click.loaded, click.tab)


async def begin(chat: ChatController, click: Click) -> AsyncIterator[PageUpdate]:
    """Try the chosen model, keep all three choices, and go on with them."""
    assistant, form = click.loaded.assistant, read_form(click.target)
    own = assistant.own_settings
    if own.is_trying or not own.is_owner:
        yield PageUpdate()
        return
    chat.tabs.report = None
    own.is_trying, before = True, spoken_language()
    try:
        yield chat.whole(click.loaded, click.tab)
        chat.tabs.report = await _set_up(assistant, form)
    except (PalimpsestError, OSError) as error:
        chat.tabs.report = ConnectionReport(False, str(error))
    finally:
        own.is_trying = False
    again = str(card("load_again")) if spoken_language() != before else ""
    yield chat.whole(click.loaded, replace(click.tab, session_id="")) | PageUpdate(dialog=again)


async def _set_up(assistant: Assistant, form: Form) -> ConnectionReport | None:
    """The report where the model cannot be used, or calls no tools; None where all is well."""
    own, report = assistant.own_settings, None
    changes = {field: form.said(field) for field in _ROWS if form.said(field)}
    if not own.fixes_model:
        choice = model_choice(form, assistant.settings)
        if choice.provider != "offline":
            trial = await own.try_model(choice)
            if not trial.is_usable:
                return trial.report
            report = None if trial.report.is_ok else trial.report
        changes |= choice.changes()
    await own.keep(changes)
    await assistant.take_settings()
    gr.Info(say("page_setup", "kept"))
    return report
