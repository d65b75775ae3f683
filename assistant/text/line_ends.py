"""Lines of a text, whichever of the three line ends it uses (pure)."""

from __future__ import annotations

import re
from typing import Literal

LineEnd = Literal["\n", "\r\n"]

_LINE_END = re.compile(r"\r\n|\r|\n")
_LINE = re.compile(r"[^\r\n]*(?:\r\n|\r|\n)|[^\r\n]+")


def split_lines(text: str) -> list[str]:
    """The lines without their ends; after a final line end comes one empty line. `str.splitlines` cuts at more."""
    return _LINE_END.split(text) if "\r" in text else text.split("\n")


def lines_with_ends(text: str) -> list[str]:
    """The lines, each with its end; joined they are the text again."""
    return _LINE.findall(text)


def with_newlines(text: str) -> str:
    """The text with `\\n` for every line end."""
    return text.replace("\r\n", "\n").replace("\r", "\n") if "\r" in text else text


def usual_line_end(text: str) -> LineEnd:
    """The line end of most lines."""
    windows = text.count("\r\n")
    others = text.count("\n") + text.count("\r") - 2 * windows
    return "\r\n" if windows > others else "\n"
