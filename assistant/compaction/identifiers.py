"""Paths, addresses, numbers and error texts that must survive word for word, found by shape."""

from __future__ import annotations

import re

MAX_IDENTIFIERS = 100

_SHAPES = re.compile(
    r"""
    https?://[^\s<>"'`，。；、）)\]】]+                     # addresses
    | `[^`\n]{2,80}`                                        # what somebody marked as exact
    | \b[A-Z]\w*(?:Error|Exception)\b(?::[ ][^\n;。]{3,80})?  # error texts
    | (?<![\w/.])(?:~|\.{1,2})?(?:/[\w.@+-]+){2,}/?         # paths from a root
    | \b[\w-]+(?:/[\w.@+-]+)*\.[A-Za-z][A-Za-z0-9]{0,7}\b   # file names, relative paths, hosts
    | \b[A-Za-z0-9._%+-]+@[A-Za-z0-9-]+\.[A-Za-z.]{2,}\b    # mail
    | \b[A-Z]{2,}-?\d+\b                                    # ticket and model numbers
    | \b[0-9a-f]{7,40}\b(?=[^\w]|$)                         # hashes
    | (?<![\w.])v?\d[\d.,:/-]*\d(?:\s?%)?                   # numbers of two digits and more, dates, versions
    """,
    re.VERBOSE,
)


def identifiers_of(text: str) -> tuple[str, ...]:
    """The identifiers of a text in the order of their first appearance, at most `MAX_IDENTIFIERS`."""
    found: dict[str, None] = {}
    for match in _SHAPES.finditer(text):
        found.setdefault(match[0].strip("`").rstrip(".,:;"), None)
        if len(found) == MAX_IDENTIFIERS:
            break
    return tuple(name for name in found if len(name) > 1)


def missing_identifiers(earlier: str, later: str) -> tuple[str, ...]:
    """Identifiers of the earlier text that the later one names nowhere."""
    return tuple(name for name in identifiers_of(earlier) if name not in later)
