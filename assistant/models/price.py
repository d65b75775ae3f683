"""What a model costs, as the card of its server says it."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

from assistant.messages.events import Spent
from assistant.text.json_values import is_object


@dataclass(frozen=True, slots=True)
class Price:
    """US dollars for one token that is read, that is read from a cache, and that is written."""

    input_usd: float
    cached_usd: float
    output_usd: float

    def of(self, spent: Spent) -> float:
        """What these tokens cost, in US dollars; what it costs to fill a cache is not in it."""
        # A server may count more from its cache than it was given.
        cached = min(spent.cached_tokens, spent.input_tokens)
        read = spent.input_tokens - cached
        return read * self.input_usd + cached * self.cached_usd + spent.output_tokens * self.output_usd


def read_price(row: Mapping[str, object]) -> Price | None:
    """The price on a model's row in a list of models, in the form of OpenRouter and those that follow it; else None.

    A model that costs nothing has a price of 0.
    """
    pricing = row.get("pricing")
    if not is_object(pricing):
        return None
    read, written = _dollars(pricing.get("prompt")), _dollars(pricing.get("completion"))
    if read is None or written is None:
        return None
    cached = _dollars(pricing.get("input_cache_read"))
    return Price(read, read if cached is None else cached, written)


def _dollars(value: object) -> float | None:
    """None for anything but an amount; OpenRouter writes -1 where the price depends on who answers."""
    if not isinstance(value, str | int | float) or isinstance(value, bool):
        return None
    try:
        amount = float(value)
    except ValueError:
        return None
    return amount if math.isfinite(amount) and amount >= 0 else None
