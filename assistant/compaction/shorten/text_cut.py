"""Head and tail of a long text under a limit: whole characters, and whole lines where that costs little."""

from __future__ import annotations

import re
from dataclasses import dataclass

_ANSI = re.compile(r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)|[PX^_][^\x1b]*\x1b\\|[@-Z\\-_])")
_HEAD_SHARE = 2 / 3
# A cut moves to a line end only where at least this share of its piece stays.
_LINE_SHARE = 0.5


@dataclass(frozen=True, slots=True)
class Ends:
    """The first and the last piece of a text."""

    head: str
    tail: str


def strip_ansi(text: str) -> str:
    """The text without terminal colours, titles and cursor moves."""
    return _ANSI.sub("", text) if "\x1b" in text else text


def byte_length(text: str) -> int:
    """UTF-8 bytes of a text; a lone surrogate counts 3."""
    return len(text.encode("utf-8", "surrogatepass"))


def is_within(text: str, max_bytes: int, max_chars: int | None) -> bool:
    """True when a text is inside both limits."""
    if max_chars is not None and len(text) > max_chars:
        return False
    # No character is over four bytes, so most texts need not be encoded.
    return len(text) * 4 <= max_bytes or (len(text) <= max_bytes and byte_length(text) <= max_bytes)


def cut_ends(start: str, end: str, max_bytes: int, max_chars: int | None = None) -> Ends:
    """The head of `start` in two thirds and the tail of `end` in a third of the limits.

    `start` and `end` are the same text at a first cut, and head and tail of the earlier cut after that.
    """
    head_bytes = int(max_bytes * _HEAD_SHARE)
    head = take_head(start, head_bytes)
    tail = take_tail(end, max_bytes - head_bytes)
    if max_chars is not None:
        head_chars = int(max_chars * _HEAD_SHARE)
        head = head[:head_chars]
        tail = tail[max(0, len(tail) - (max_chars - head_chars)) :]
    return Ends(_whole_lines_at_end(head, start), _whole_lines_at_start(tail, end))


def take_head(text: str, max_bytes: int) -> str:
    """The longest run of whole characters within the first `max_bytes` bytes."""
    encoded = text[: max(0, max_bytes)].encode("utf-8", "surrogatepass")
    stop = min(max(0, max_bytes), len(encoded))
    while 0 < stop < len(encoded) and encoded[stop] & 0xC0 == 0x80:
        stop -= 1
    return encoded[:stop].decode("utf-8", "surrogatepass")


def take_tail(text: str, max_bytes: int) -> str:
    """The longest run of whole characters within the last `max_bytes` bytes."""
    encoded = text[max(0, len(text) - max(0, max_bytes)) :].encode("utf-8", "surrogatepass")
    start = max(0, len(encoded) - max(0, max_bytes))
    while start < len(encoded) and encoded[start] & 0xC0 == 0x80:
        start += 1
    return encoded[start:].decode("utf-8", "surrogatepass")


def _whole_lines_at_end(head: str, text: str) -> str:
    end = head.rfind("\n") + 1
    return head[:end] if len(head) < len(text) and end >= len(head) * _LINE_SHARE else head


def _whole_lines_at_start(tail: str, text: str) -> str:
    start = tail.find("\n") + 1
    return tail[start:] if len(tail) < len(text) and 0 < start <= len(tail) * _LINE_SHARE else tail
