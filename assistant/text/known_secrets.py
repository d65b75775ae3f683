"""Secrets the program knows by their value: found in any text, whatever brought them there (pure)."""

from __future__ import annotations

import json
from collections.abc import Iterable

MIN_SECRET_CHARS = 8
"""A shorter value stands in texts by chance."""
KNOWN_SECRET_MARK = "⟦masked: known key⟧"


class KnownSecrets:
    """The values of keys; the longest is replaced first, so that none is left in half."""

    def __init__(self, values: Iterable[str]) -> None:
        forms = {
            form for value in values if len(value) >= MIN_SECRET_CHARS for form in (value, json.dumps(value)[1:-1])
        }
        self._values = sorted(forms, key=lambda value: (-len(value), value))

    def mask(self, text: str) -> str:
        """The text with a mark in place of each value."""
        for value in self._values:
            text = text.replace(value, KNOWN_SECRET_MARK)
        return text
