"""Secrets the program knows by their value: found in any text, whatever brought them there (pure)."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator

from assistant.text.encoding import encode
from assistant.text.redaction import MaskedText, mask_secrets

MIN_SECRET_CHARS = 8
"""A shorter value is in texts by chance."""
MIN_WORD_CHARS = 12
"""A value that is one word of small letters, such as `disabled`, is in texts by chance unless it is as long as this."""
KNOWN_SECRET_MARK = "⟦masked: known key⟧"
KNOWN_SECRET_KIND = "known key"

# What is typed where a program insists on a key and none is needed.
_NO_KEY = re.compile(r"(?:sk-)?(?:no|not|none|empty|dummy|fake|your)[-_ ]?.*|lm-studio|placeholder|changeme.*", re.I)
_PLACE = re.compile(r"[/~.][\w./~-]*|[A-Za-z]:\\.*|https?://[^@]*")
_WORD = re.compile(r"[a-z]+|[A-Z]+")

Values = Callable[[], frozenset[str]]


def is_secret_value(value: str) -> bool:
    """False for a value that is in ordinary texts: too short, a plain word, a path, a placeholder for a key."""
    if len(value) < MIN_SECRET_CHARS or _NO_KEY.fullmatch(value) or _PLACE.fullmatch(value):
        return False
    return len(set(value)) > 3 and (len(value) >= MIN_WORD_CHARS or not _WORD.fullmatch(value))


class KnownSecrets:
    """What takes the values of keys out of texts; the longest is replaced first, so that none is left in half."""

    def __init__(self, values: Values = frozenset) -> None:
        """`values` is asked at every text; it gives the same object while nothing has changed."""
        self._values = values
        self._seen: frozenset[str] = frozenset()
        self._forms: list[tuple[str, bytes]] = []

    def mask(self, text: str) -> str:
        """The text with a mark in place of each value, also where it is part of a JSON text."""
        for form, _ in self._current():
            text = text.replace(form, KNOWN_SECRET_MARK)
        return text

    def mask_bytes(self, content: bytes) -> bytes:
        """The same for an encoded text."""
        for _, form in self._current():
            content = content.replace(form, KNOWN_SECRET_MARK.encode())
        return content

    def mask_all(self, text: str) -> MaskedText:
        """The text without known values and without what has the shape of a secret."""
        known = self.mask(text)
        masked = mask_secrets(known)
        return masked if known == text else MaskedText(masked.text, (KNOWN_SECRET_KIND, *masked.kinds))

    def _current(self) -> list[tuple[str, bytes]]:
        values = self._values()
        if values is not self._seen:
            forms = {form for value in values if is_secret_value(value) for form in _forms(value)}
            self._forms = [(form, encode(form)) for form in sorted(forms, key=lambda form: (-len(form), form))]
            self._seen = values
        return self._forms


NO_KNOWN_SECRETS = KnownSecrets()
"""For what belongs to no home."""


def _forms(value: str) -> Iterator[str]:
    """The value as it is, as a part of a JSON text, and as a part of one inside another."""
    yield value
    for is_ascii in (True, False):
        once = json.dumps(value, ensure_ascii=is_ascii)[1:-1]
        yield once
        yield json.dumps(once, ensure_ascii=is_ascii)[1:-1]
