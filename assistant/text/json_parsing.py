"""JSON from outside, with one kind of failure."""

from __future__ import annotations

import json
import re

MAX_NESTING = 200
"""Parsers and checks of other libraries call themselves for each level, and give up with the whole turn."""
_STRING_OR_BRACKET = re.compile(r'"(?:[^"\\]|\\.)*+"|[\[\]{}]', re.DOTALL)


def parse_json(text: str | bytes) -> object:
    """The value; raises `ValueError` for anything else, text that is nested too deep for the parser included."""
    try:
        return json.loads(text)
    except RecursionError:
        raise ValueError("nested too deep") from None


def is_nested_too_deep(text: str) -> bool:
    """True for text with more than `MAX_NESTING` brackets open at once, those in strings not counted."""
    depth = 0
    for found in _STRING_OR_BRACKET.finditer(text):
        depth += (found[0] in "[{") - (found[0] in "]}")
        if depth > MAX_NESTING:
            return True
    return False
