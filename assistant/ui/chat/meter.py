"""The context bar: what fills the model's window, part by part, and where compaction starts."""

from __future__ import annotations

from dataclasses import dataclass

from markupsafe import Markup

from assistant.config.words import say
from assistant.messages.events import ContextMeasured, Part
from assistant.ui.cards import card


@dataclass(frozen=True, slots=True)
class MeterPart:
    """One stretch of the bar; `width` in percent of the window."""

    name: Part
    label: str
    tokens: int
    width: float


def meter_parts(measured: ContextMeasured) -> list[MeterPart]:
    """The stretches in the order the model sees them, empty ones left out."""
    limit = max(measured.context_limit, measured.used_tokens, 1)
    return [
        MeterPart(part.name, say("page", f"part_{part.name}"), part.tokens, round(100 * part.tokens / limit, 2))
        for part in measured.parts
        if part.tokens > 0
    ]


def meter_html(measured: ContextMeasured | None) -> Markup:
    """The bar, its figures and the mark where compaction starts."""
    if measured is None:
        return card("meter_empty")
    limit = max(measured.context_limit, 1)
    return card(
        "meter",
        parts=meter_parts(measured),
        used=measured.used_tokens,
        limit=measured.context_limit,
        threshold=measured.threshold_tokens,
        percent=round(100 * measured.used_tokens / limit),
        threshold_percent=round(min(100.0, 100 * measured.threshold_tokens / limit), 2),
        is_due=measured.used_tokens >= measured.threshold_tokens,
        shortened=measured.shortened_results,
    )
