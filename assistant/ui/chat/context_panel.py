"""The Context tab: what the model sees, in order and with its price, and what compacting now would fold."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from markupsafe import Markup

from assistant.config.words import say
from assistant.messages.events import ContextMeasured, Part
from assistant.ui.cards import card
from assistant.ui.chat.meter import meter_parts
from assistant.ui.safe_text import one_line

if TYPE_CHECKING:
    # They bring the agent library with them, which the page does not wait for.
    from assistant.agent.compactor import CompactionPreview
    from assistant.agent.window import ContextItem

_MAX_ITEMS = 150
_MAX_PREVIEWED = 60
_PREVIEW_CHARS = 1_500


@dataclass(frozen=True, slots=True)
class _Item:
    part: Part
    label: str
    preview: str
    tokens: int
    text: str
    pin_action: str
    pin_target: str


def context_html(measured: ContextMeasured | None, items: Sequence[ContextItem]) -> Markup:
    """The parts with their tokens and every piece the model sees; the middle is left out of a very long list."""
    if measured is None:
        return card("context_empty")
    shown = list(items)
    hidden = max(0, len(shown) - _MAX_ITEMS)
    if hidden:
        shown = [*shown[: _MAX_ITEMS // 3], *shown[-(_MAX_ITEMS - _MAX_ITEMS // 3) :]]
    return card(
        "context",
        parts=meter_parts(measured),
        used=measured.used_tokens,
        limit=measured.context_limit,
        threshold=measured.threshold_tokens,
        items=[
            _Item(
                item.part,
                one_line(item.label, 60),
                one_line(item.text, 90),
                item.tokens,
                _preview(item.text),
                "unpin" if item.is_pinned else "pin" if item.is_user else "",
                pin_target(item),
            )
            for item in shown
        ],
        hidden_items=hidden,
    )


def pin_target(item: ContextItem) -> str:
    """The piece as the target of a button; empty for what cannot be pinned."""
    return f"{item.key.message_id} {item.key.kind} {item.key.block_id}" if item.key else ""


def preview_html(preview: CompactionPreview) -> Markup:
    """What compacting now would fold, oldest first."""
    shown = preview.folded[:_MAX_PREVIEWED]
    return card(
        "preview",
        preview=preview,
        kept_tokens=max(0, preview.previous_tokens - preview.folded_tokens),
        items=[(one_line(item.label, 60), one_line(item.text, 110), item.tokens) for item in shown],
        hidden_items=len(preview.folded) - len(shown),
    )


def _preview(text: str) -> str:
    if len(text) <= _PREVIEW_CHARS:
        return text
    return say("page", "text_goes_on", text=text[:_PREVIEW_CHARS], count=len(text) - _PREVIEW_CHARS)
