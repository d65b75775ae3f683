"""Pinned blocks: quoted after the summary as data while they are not in the context themselves."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass

from assistant.compaction.policy import CompactionPolicy
from assistant.compaction.summary.quoted_history import fence_safe, minute_of
from assistant.config.prompts import render
from assistant.config.words import Language
from assistant.messages.blocks import BlockKey, Msg, block_keys
from assistant.messages.tokens import TokenCounter


@dataclass(frozen=True, slots=True)
class Pin:
    """A block the person pinned: who said it, when, and its text."""

    key: BlockKey
    role: str
    at: str
    text: str


def pins_to_quote(pins: Sequence[Pin], messages: Sequence[Msg]) -> tuple[Pin, ...]:
    """The pins whose blocks are not in the context, in the order pinned."""
    return pins_outside(pins, set(block_keys(messages))) if pins else ()


def pins_outside(pins: Sequence[Pin], keys: Collection[BlockKey]) -> tuple[Pin, ...]:
    """The pins whose blocks have none of these keys."""
    return tuple(pin for pin in pins if pin.key not in keys)


def pin_tokens(pins: Sequence[Pin], counter: TokenCounter) -> int:
    """What the pins cost when all are quoted."""
    return sum(counter.text(f'<pinned from="{pin.role}" at="{pin.at}">\n{pin.text}\n</pinned>\n') for pin in pins)


def tokens_over_pin_limit(pins: Sequence[Pin], policy: CompactionPolicy, counter: TokenCounter) -> int:
    """By how many tokens the pins are over what they may cost together; 0 when they are within."""
    return max(0, pin_tokens(pins, counter) - policy.pin_tokens)


def write_summary_message(summary: str, pins: Sequence[Pin], language: Language, journal: str = "dialog/") -> str:
    """What the model reads before the kept messages; empty when there is neither a summary nor a pin to quote."""
    if not summary and not pins:
        return ""
    quoted = [Pin(pin.key, pin.role, minute_of(pin.at), fence_safe(pin.text)) for pin in pins]
    return render("summary_message", language, summary=summary, pins=quoted, journal=journal)
