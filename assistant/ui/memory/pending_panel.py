"""The card of the lines that wait before they come into memory: kept, changed or dropped one by one or all."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from markupsafe import Markup

from assistant.ui.cards import card

if TYPE_CHECKING:
    # It brings what writes memory with it, which the page does not wait for.
    from assistant.memory.waiting import WaitingLine

MAX_LINES = 100


def pending_html(lines: Sequence[WaitingLine], notice: str = "", problem: str = "") -> Markup:
    """The lines, oldest first, each with its file, what it replaces and what it rests on."""
    return card(
        "pending",
        lines=lines[:MAX_LINES],
        hidden=max(0, len(lines) - MAX_LINES),
        notice=notice,
        problem=problem,
    )
