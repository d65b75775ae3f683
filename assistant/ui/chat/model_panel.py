"""The Model tab: who answers, how it was found, and what to do when no language model does."""

from __future__ import annotations

from typing import TYPE_CHECKING

from markupsafe import Markup

from assistant.models.connection_report import ConnectionReport
from assistant.ui.cards import card

if TYPE_CHECKING:
    # They bring the agent library with them, which the page does not wait for.
    from assistant.assembly.assistant import Assistant
    from assistant.models.chat_model import ChatModel


def model_tab_html(assistant: Assistant, report: ConnectionReport | None) -> str:
    """The whole tab: who answers, and the switch for recall."""
    return str(model_html(assistant.model, report) + recall_html(assistant))


def model_html(model: ChatModel, report: ConnectionReport | None) -> Markup:
    """The model card; the set-up card where the built-in assistant answers."""
    if not model.is_language_model:
        return card("model_panel", setup=setup_html(model, report))
    return card("model", model=model, report=report_html(report))


def recall_html(assistant: Assistant) -> Markup:
    """The switch of recall; nothing where there is none."""
    if not assistant.can_recall:
        return Markup("")
    return card("recall_switch", is_on=assistant.is_recall_on, cost=assistant.recall_cost)


def setup_html(model: ChatModel, report: ConnectionReport | None = None) -> Markup:
    """What was tried and what to do; nothing when a language model answers."""
    if model.is_language_model:
        return Markup("")
    return card("setup", model=model, report=report_html(report))


def report_html(report: ConnectionReport | None) -> Markup:
    """The outcome of a connection test; nothing when none was made."""
    return Markup("") if report is None else card("report", is_ok=report.is_ok, text=report.text)
