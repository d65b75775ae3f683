"""What recall hands over from a home of invented notes: changed facts, follow-ups, and silence on what is not in it.

The texts are in tests/data; nothing has to be fetched. Run: python -m benchmarks.remembered [--json]
"""

from __future__ import annotations

import asyncio
import datetime as dt
import sys
import tempfile
import tomllib
from collections.abc import AsyncIterator, Collection, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

from assistant.agent.hooks.recall import LEAST_RELEVANCE, is_about_memory
from assistant.agent.memory_room import LEAST_RECALL_TOKENS
from assistant.index.follow_up import question_in_context
from assistant.index.memory_index import IndexSettings, MemoryIndex
from assistant.index.packing import Room
from assistant.index.quotes import Quote
from assistant.index.vectors.embeddings import OfflineEmbedder
from benchmarks.figures import Figure, report

TEXTS = Path(__file__).parents[1] / "tests" / "data"
NOW = dt.datetime(2026, 11, 30, 9, tzinfo=dt.UTC)
_OLD_DAY, _NOTED_DAY, _NEW_DAY = dt.date(2026, 6, 1), dt.date(2026, 8, 1), dt.date(2026, 10, 1)
# Several notes a day, as a person writes them: facts of different kinds stand in one chunk.
_DAYS = 20


@dataclass(frozen=True, slots=True)
class ChangedFact:
    """A fact as it was noted first, as it was noted later, and a question about it."""

    old: str
    new: str
    question: str


@dataclass(frozen=True, slots=True)
class FollowUp:
    """A note, a question with its answer, and what is asked next, which only the note answers."""

    note: str
    asked: str
    answered: str
    follow_up: str


def changed_facts() -> list[ChangedFact]:
    """Forty facts that changed, English and Chinese."""
    return [ChangedFact(*row) for row in _table("changed_facts.toml")["facts"]]


def follow_ups() -> list[FollowUp]:
    """Sixty follow-ups, English and Chinese."""
    return [FollowUp(*row) for row in _table("follow_ups.toml")["follow_ups"]]


def unrelated_messages() -> list[str]:
    """A hundred messages that have nothing to do with anybody's notes, English and Chinese."""
    return (TEXTS / "unrelated_messages.txt").read_text(encoding="utf-8").splitlines()


def write_notes(root: Path) -> None:
    """All these notes, several a day."""
    days: dict[dt.date, list[str]] = {}
    facts = changed_facts()
    for first, lines in (
        (_OLD_DAY, [fact.old for fact in facts]),
        (_NOTED_DAY, [one.note for one in follow_ups()]),
        (_NEW_DAY, [fact.new for fact in facts]),
    ):
        for number, line in enumerate(lines):
            days.setdefault(first + dt.timedelta(days=number % _DAYS), []).append(f"- {line}")
    (root / "memory").mkdir(parents=True, exist_ok=True)
    for day, noted in days.items():
        (root / "memory" / f"{day}.md").write_text("\n".join((f"# {day}", "", *noted, "")), encoding="utf-8")


@asynccontextmanager
async def opened_notes(root: Path) -> AsyncIterator[MemoryIndex]:
    """The index of a home with all these notes."""
    write_notes(root)
    settings = IndexSettings(root, "local", is_watching=False, vector_seconds=60.0, text_seconds=60.0)
    async with MemoryIndex(settings, OfflineEmbedder(), lambda path: (), lambda: NOW) as index:
        await index.sync()
        yield index


async def recalled(
    index: MemoryIndex, question: str, tokens: int = LEAST_RECALL_TOKENS, known_ids: Collection[str] = ()
) -> tuple[Quote, ...]:
    """The passages that are handed over before a turn, as recall chooses them; `known_ids` are in the context."""
    found = await index.search_widely(question, LEAST_RELEVANCE)
    return await index.quote(question, found.hits, Room(tokens), known_ids) if is_about_memory(found.hits) else ()


def place_of(line: str, quotes: Sequence[Quote]) -> int | None:
    """In which passage a line stands, from 0; None where it is in none."""
    said = (" ".join(row.text for row in quote.rows) for quote in quotes)
    return next((place for place, text in enumerate(said) if line in text), None)


async def measure(root: Path) -> list[Figure]:
    """Every question, each asked of the same home."""
    first = alone = found = 0
    with_lookup = without = 0
    async with opened_notes(root) as index:
        for fact in changed_facts():
            quotes = await recalled(index, fact.question)
            new, old = place_of(fact.new, quotes), place_of(fact.old, quotes)
            found += new is not None
            first += new is not None and (old is None or new < old)
            alone += old is not None and new is None
        for one in follow_ups():
            question = question_in_context(one.follow_up, [one.asked, one.answered])
            with_lookup += place_of(one.note, await recalled(index, question)) is not None
            without += place_of(one.note, await recalled(index, one.follow_up)) is not None
        silent = [not await recalled(index, message) for message in unrelated_messages()]
    facts, asked = len(changed_facts()), len(follow_ups())
    return [
        Figure("changed facts, the newest there", 100 * found / facts, "%", at_least=100.0),
        Figure("changed facts, the newest before the old", 100 * first / facts, "%", at_least=100.0),
        Figure("changed facts, the old one alone", 100 * alone / facts, "%", at_most=0.0),
        Figure("follow-ups, looked up with what they follow", 100 * with_lookup / asked, "%", at_least=90.0),
        Figure("follow-ups, looked up by themselves", 100 * without / asked, "%"),
        Figure("unrelated messages without recall", 100 * sum(silent) / len(silent), "%", at_least=97.0),
    ]


def _table(name: str) -> dict[str, list[list[str]]]:
    return tomllib.loads((TEXTS / name).read_text(encoding="utf-8"))


def main() -> int:
    """Measure and print."""
    with tempfile.TemporaryDirectory() as folder:
        return report(asyncio.run(measure(Path(folder) / "home")))


if __name__ == "__main__":
    sys.exit(main())
