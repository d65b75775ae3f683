"""The full text of a shortened tool result, in a dialog over the page."""

from __future__ import annotations

from markupsafe import Markup

from assistant.ui.cards import card

MAX_CHARS = 200_000


def full_text_html(artifact_id: str, text: str) -> Markup:
    """The text, or its beginning where it is too long for the page, and where the rest is."""
    return card("full_text", artifact_id=artifact_id, text=text[:MAX_CHARS], chars=len(text), shown=MAX_CHARS)
