"""A question as the index reads it: its terms, and the days it speaks of (pure)."""

from __future__ import annotations

import datetime as dt
from dataclasses import dataclass

from assistant.index.dates import DateRange, read_dates
from assistant.index.text.terms import content_terms, every_term
from assistant.text.encoding import encode

# A pasted page is not a question: its beginning replaces it.
MAX_CHARS = 2_000
MAX_TERMS = 64


@dataclass(frozen=True, slots=True)
class SearchQuestion:
    """What is looked for. `text` goes to the embedder, `terms` and `ranges` to the full-text index."""

    text: str
    terms: tuple[str, ...]
    ranges: tuple[DateRange, ...]

    @property
    def days(self) -> tuple[str, ...]:
        """Single days asked for, written as in the names of notes."""
        return tuple(days.first.isoformat() for days in self.ranges if days.first == days.last)


def read_question(text: str, today: dt.date) -> SearchQuestion:
    """The question a person means by `text` on `today`."""
    clean = encode(text).decode().strip()[: 4 * MAX_CHARS]
    dated = read_dates(clean, today)
    # Function words say nothing beside others, or beside a day; alone they are what is asked for.
    terms = content_terms(dated.text) or ([] if dated.ranges else every_term(clean))
    return SearchQuestion(clean[:MAX_CHARS], tuple(terms[:MAX_TERMS]), dated.ranges)
