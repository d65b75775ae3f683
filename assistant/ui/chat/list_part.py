"""The part of the list of conversations that a tab shows: a stretch of all, or of those with some words (pure)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from assistant.storage.sessions.session_head import SessionSummary
from assistant.text.passages import fold

STEP = 50
"""So many conversations are drawn at first, and more at a time."""
MOST = 200
"""So many are drawn at most; every change of the list draws them again."""
WORDS_CHARS = 100
MONTH_CHARS = len("2026-05")
"""Of the time at which something was last said: its month, by its own calendar."""


@dataclass(frozen=True, slots=True)
class ListPart:
    """The conversations from `start` on, newest first, `count` of them at most; `words` have to be in their titles."""

    start: int = 0
    count: int = STEP
    words: str = ""


def older(part: ListPart) -> ListPart:
    """The part with older conversations too, without the newest where it gets too long."""
    count = min(part.count + STEP, MOST)
    return replace(part, start=part.start + part.count + STEP - count, count=count)


def newer(part: ListPart) -> ListPart:
    """The part that begins with newer conversations."""
    return replace(part, start=max(0, part.start - STEP))


def named(words: str) -> ListPart:
    """The newest of the conversations with these words in their titles."""
    return ListPart(words=" ".join(words[:WORDS_CHARS].split()))


def on_top_and_rest(sessions: Sequence[SessionSummary]) -> tuple[list[SessionSummary], list[SessionSummary]]:
    """The conversations that stand above the others, and the others, each in the order in which they were."""
    top = [session for session in sessions if session.is_on_top]
    return top, [session for session in sessions if not session.is_on_top]


def from_month(month: str, sessions: Sequence[SessionSummary]) -> ListPart:
    """The conversations of a month (`2026-05`), and older ones after them; the newest where none is of that month."""
    months = [session.updated_at[:MONTH_CHARS] for session in on_top_and_rest(sessions)[1]]
    return ListPart(start=months.index(month)) if month in months else ListPart()


def with_words(sessions: Sequence[SessionSummary], words: str) -> Sequence[SessionSummary]:
    """The conversations that have each of the words in their titles, in whatever case, width or form of accents."""
    wanted = fold(words).split()
    if not wanted:
        return sessions
    return [session for session in sessions if all(word in fold(session.title) for word in wanted)]
