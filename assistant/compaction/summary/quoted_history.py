"""Folded messages as text for a summariser: who said what and when, every call and its result."""

from __future__ import annotations

from collections.abc import Sequence

from assistant.compaction.shorten.text_cut import cut_ends, strip_ansi
from assistant.messages.blocks import (
    DataBlock,
    HintBlock,
    Msg,
    TextBlock,
    ThinkingBlock,
    ToolCallBlock,
    block_text,
    is_said,
)
from assistant.messages.tokens import TokenCounter

_FENCES = ("conversation", "summary", "previous-summary", "hint", "request", "read-files", "modified-files", "pinned")
_MINUTE_CHARS = len("2026-11-30T09:15")


def write_transcript(messages: Sequence[Msg]) -> list[str]:
    """One entry a block, oldest first; thinking and recalled hints are left out, they are nobody's words."""
    entries: list[str] = []
    for message in messages:
        for block in message.content:
            if isinstance(block, (ThinkingBlock, HintBlock)):
                continue
            text = strip_ansi(block_text(block)).strip()
            if text:
                stamp = minute_of(block.created_at or message.created_at)
                entries.append(f"[{stamp}] {_speaker(message, block)}: {fence_safe(text)}")
    return entries


def split_in_pieces(entries: Sequence[str], piece_tokens: int, counter: TokenCounter) -> list[str]:
    """The entries joined to texts of at most about `piece_tokens` tokens each; an entry too large is cut in parts."""
    pieces: list[list[str]] = [[]]
    used = 0
    for entry in entries:
        for part in _parts(entry, piece_tokens, counter):
            size = counter.text(part)
            if pieces[-1] and used + size > piece_tokens:
                pieces.append([])
                used = 0
            pieces[-1].append(part)
            used += size
    return ["\n".join(piece) for piece in pieces if piece]


def fence_safe(text: str) -> str:
    """The text with our own fence tags made harmless, so that what somebody pasted stays data."""
    if "<" not in text:
        return text
    for name in _FENCES:
        text = text.replace(f"<{name}>", f"‹{name}›").replace(f"</{name}>", f"‹/{name}›")
    return text


def minute_of(timestamp: str) -> str:
    """`2026-11-30 09:15` of an ISO time."""
    return timestamp[:_MINUTE_CHARS].replace("T", " ")


def shorten_for_reading(text: str, max_bytes: int) -> str:
    """Head and tail of a text with a mark between."""
    if len(text.encode("utf-8", "surrogatepass")) <= max_bytes:
        return text
    ends = cut_ends(text, text, max_bytes)
    return f"{ends.head.rstrip()} […] {ends.tail.lstrip()}"


def _speaker(message: Msg, block: object) -> str:
    match block:
        case ToolCallBlock():
            return "tool call"
        case TextBlock() if not is_said(block):
            return "attached file"
        case TextBlock() | DataBlock():
            return message.role
        case _:
            return "tool result"


def _parts(entry: str, piece_tokens: int, counter: TokenCounter) -> list[str]:
    tokens = counter.text(entry)
    if tokens <= piece_tokens:
        return [entry]
    chars = max(1, len(entry) * piece_tokens // (tokens + 1))
    return [entry[start : start + chars] for start in range(0, len(entry), chars)]
