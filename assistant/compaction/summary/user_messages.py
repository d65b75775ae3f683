"""The section that holds what the person said, word for word, filled by code."""

from __future__ import annotations

import re
from collections.abc import Sequence

from assistant.compaction.shorten.text_cut import byte_length
from assistant.compaction.summary.quoted_history import fence_safe, minute_of, shorten_for_reading
from assistant.config.prompts import render
from assistant.config.words import Language
from assistant.messages.blocks import Msg, text_of
from assistant.messages.tokens import TokenCounter

_ENTRY_START = re.compile(r"^(?=- \[)", re.MULTILINE)


def user_texts(messages: Sequence[Msg]) -> list[str]:
    """One entry for each message of the person, oldest first, with its time."""
    entries: list[str] = []
    for message in messages:
        text = text_of(message).strip()
        if message.role == "user" and text:
            # Further lines are indented, so that no line a person wrote can look like the start of an entry.
            entries.append(f"- [{minute_of(message.created_at)}] " + fence_safe(text).replace("\n", "\n  "))
    return entries


def entries_of(section_body: str) -> list[str]:
    """The entries that stand in the section of an earlier summary, oldest first."""
    parts = (part.rstrip() for part in _ENTRY_START.split(section_body))
    return [part for part in parts if part.startswith("- [")]


def write_user_messages(entries: Sequence[str], max_tokens: int, counter: TokenCounter, language: Language) -> str:
    """The newest entries that fit, oldest first; what does not fit is pointed to, one too long is cut inside."""
    chosen: list[str] = []
    pointer = render("summary_older_user_messages", language)
    left = max_tokens - counter.text(pointer)
    for entry in reversed(entries):
        size = counter.text(entry) + 1
        if size > left and not chosen:
            entry = shorten_for_reading(entry, max(40, byte_length(entry) * left * 9 // (size * 10)))
            size = left
        elif size > left:
            break
        chosen.append(entry)
        left -= size
    lines = list(reversed(chosen))
    return "\n".join(lines if len(chosen) == len(entries) else [pointer, *lines])
