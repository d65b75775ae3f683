"""What every event of the page is wired with, and what it reads and leaves alone. No event is public."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import gradio as gr

from assistant.text.encoding import storable

Values = list[object]

QUEUED: dict[str, Any] = {
    "show_progress": "hidden",
    "concurrency_limit": None,
    "trigger_mode": "multiple",
    "api_visibility": "private",
}
TYPED: dict[str, Any] = {**QUEUED, "trigger_mode": "always_last"}
"""Only the newest words matter."""
QUICK: dict[str, Any] = {"show_progress": "hidden", "queue": False, "api_visibility": "private"}
"""Not queued, so nothing these do can raise a toast."""


@dataclass(frozen=True, slots=True)
class Action:
    """A card's button as the browser sends it: its name, its target, and the mark of the file in the editor."""

    name: str = ""
    target: str = ""
    given: str = ""


def action_of(event: gr.EventData) -> Action:
    """What was pressed; the caller checks all of it. No name where the browser sent something else."""
    try:
        return Action(*(storable(str(said)) for said in (event.action, event.target_id, event.given)))
    except (AttributeError, TypeError):
        return Action()


def tab_of(request: gr.Request) -> str:
    """The name of the tab an event comes from, which its browser chose."""
    return str(request.session_hash or "")
