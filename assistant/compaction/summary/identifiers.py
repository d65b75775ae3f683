"""Paths, addresses, numbers and error texts that must survive word for word, found by shape."""

from __future__ import annotations

import re

MAX_IDENTIFIERS = 100

# Chinese characters are word characters to `\w` and `\b`, and stand right beside names and numbers.
_START = r"(?<![A-Za-z0-9_.])"
_END = r"(?![A-Za-z0-9_])"
_STAMP = re.compile(r"\[\d{4}-\d\d-\d\d \d\d:\d\d\]")
_PART = r"[A-Za-z0-9_.@+-]"
# What every shape below holds: most sentences hold none of it, and are not searched.
_HINT = re.compile(r"[\d/`@]|\.[A-Za-z]|Error|Exception")
# Every repetition is bounded or starts only where a run starts, so that no text makes the search slow; `+` behind one
# says that what follows cannot stand in the run, and that no shorter run need be tried.
_SHAPES = re.compile(
    rf"""
    https?://[^\s<>"'`，。；、）)\]】]+                    # addresses
    | `[^`\n]{{2,80}}+`                                    # what somebody marked as exact
    | (?<![A-Za-z0-9_])(?:                                 # all others begin where a word does
        {_START}[A-Z]\w{{0,60}}(?:Error|Exception){_END}(?::[ ][^\n;。]{{3,80}})?
        | (?<![/.])(?:~|\.{{1,2}})?/{_PART}++(?:(?:/{_PART}+)+|/[\w.@+-]*\.[A-Za-z0-9]{{1,8}})
        | (?<![.%+-])[A-Za-z0-9._%+-]{{1,60}}+@[A-Za-z0-9-]{{1,60}}+\.[A-Za-z.]{{2,}}
        | (?<![./-])[A-Za-z0-9_-]{{1,60}}+(?:/[\w@+-]{{1,60}}+){{0,9}}+  # file names, relative paths, hosts
            (?:\.[A-Za-z0-9]{{1,8}}){{0,4}}\.[A-Za-z][A-Za-z0-9]{{0,7}}{_END}
        | {_START}[A-Z]{{2,}}+-?\d+{_END}                   # tickets, models
        | {_START}(?=[0-9a-f]*[a-f])(?=[0-9a-f]*\d)[0-9a-f]{{7,40}}{_END}  # hashes
        | {_START}v?\d[\d.,:/-]*\d(?:\s?%)?               # numbers of two digits and more, dates, versions
    )
    """,
    re.VERBOSE,
)


def identifiers_of(text: str) -> tuple[str, ...]:
    """The identifiers of a text in the order of their first appearance, at most `MAX_IDENTIFIERS`.

    The times that a digest and the person's messages are listed with name nothing.
    """
    if _HINT.search(text) is None:
        return ()
    found: dict[str, None] = {}
    for match in _SHAPES.finditer(_STAMP.sub("", text)):
        found.setdefault(match[0].strip("`").rstrip(".,:;"), None)
        if len(found) == MAX_IDENTIFIERS:
            break
    return tuple(name for name in found if len(name) > 1)


def missing_identifiers(earlier: str, later: str) -> tuple[str, ...]:
    """Identifiers of the earlier text that the later one names nowhere."""
    return tuple(name for name in identifiers_of(earlier) if name not in later)
