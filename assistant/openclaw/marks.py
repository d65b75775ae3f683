"""What shortening leaves in a text, so that a later run takes a shortened line for what it was before."""

from __future__ import annotations

import re

_CUT = re.compile(r"\.\.\.\[truncated, (\d+) chars omitted(?:, failed)?\]\Z")
_CONDENSED = re.compile(r"\.\.\.\[condensed, \d+ chars omitted\](?=\n|\Z)")
_FAILED = re.compile(r"\.\.\.\[truncated, \d+ chars omitted, failed\](?=\n|\Z)")


def cut_mark(missing_chars: int) -> str:
    """What stands in place of `missing_chars` characters."""
    return f"...[truncated, {missing_chars} chars omitted]"


def split_cut(text: str) -> tuple[str, int]:
    """The text without the mark at its end, and how many characters that mark says are missing."""
    mark = _CUT.search(text)
    return (text, 0) if mark is None else (text[: mark.start()], int(mark.group(1)))


def is_cut(text: str) -> bool:
    """True for a text of which the end was cut."""
    return _CUT.search(text) is not None


def with_failure(cut: str) -> str:
    """A text that was cut, its mark saying that what is missing told of a failure."""
    return cut.removesuffix("]") + ", failed]"


def tells_of_failure(text: str) -> bool:
    """True when a mark in a text says that what is missing there told of a failure."""
    return _FAILED.search(text) is not None


def condensed_mark(missing_chars: int) -> str:
    """What stands at the end of an explanation that was shortened by `missing_chars` characters."""
    return f"...[condensed, {missing_chars} chars omitted]"


def is_condensed(text: str) -> bool:
    """True for a text of which an explanation was shortened to its first sentence or to a model's gist."""
    return _CONDENSED.search(text) is not None
