"""What every event of the page is wired with, and what it reads and leaves alone. No event is public."""

from __future__ import annotations

from typing import Any

import gradio as gr

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


def action_of(event: gr.EventData) -> tuple[str, str]:
    """Name and target of a card's button, as the browser says; whoever acts on them checks both."""
    return str(event.action), str(event.target_id)


def tab_of(request: gr.Request) -> str:
    """The name of the tab an event comes from, which its browser chose."""
    return str(request.session_hash or "")


def unchanged(count: int) -> Values:
    """That many components stay as they are."""
    return [gr.skip()] * count
