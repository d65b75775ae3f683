"""How much of what is found reaches the model: the text that recall and `memory_search` hand over, in one run.

LoCoMo conversations stand in the journal, as they were said. An evidence turn is there when 70 % of its longer words
are in one passage. `any` and `all` are shares of the questions with any and with all of their evidence turns there.
Run: python -m benchmarks.evidence [--json]
"""

from __future__ import annotations

import asyncio
import datetime as dt
import json
import re
import sys
import tempfile
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from assistant.agent.memory_room import LEAST_RECALL_TOKENS, SEARCH_TOKENS
from assistant.index.chunker import JournalText
from assistant.index.memory_index import IndexSettings, MemoryIndex
from assistant.index.packing import Room
from assistant.index.quotes import Quote
from assistant.index.search import SearchHit
from assistant.index.vectors.embeddings import OfflineEmbedder
from benchmarks.figures import Figure, report
from benchmarks.remembered import recalled, unrelated_messages
from benchmarks.retrieval import CATEGORIES, DATA, SOURCES, session_day

LARGER_RECALL_TOKENS = 1_500
WHOLE_CHUNKS = 5
_THERE = 0.7
_LONGER_CHARS = 4
_GOALS = {
    f"recall, {LEAST_RECALL_TOKENS} tokens": (84.0, None),
    f"recall, {LARGER_RECALL_TOKENS} tokens": (90.0, None),
    f"memory_search, {SEARCH_TOKENS} tokens": (92.0, 83.0),
}


@dataclass(frozen=True, slots=True)
class Conversation:
    """A dialogue as the journal keeps it, and what is asked about it: a question's text, category and evidence."""

    texts: Mapping[str, tuple[JournalText, ...]]
    asked: tuple[tuple[str, str, tuple[str, ...]], ...]
    now: dt.datetime


def locomo_conversations(path: Path) -> list[Conversation]:
    """The conversations of LoCoMo; questions that have no answer in them are left out."""
    return [_conversation(entry) for entry in json.loads(path.read_text(encoding="utf-8"))]


def _conversation(entry: dict[str, dict[str, object]]) -> Conversation:
    said = entry["conversation"]
    texts: dict[str, list[JournalText]] = defaultdict(list)
    turns: dict[str, str] = {}
    newest = dt.date.min
    for number in range(1, 100):
        session = said.get(f"session_{number}")
        if not isinstance(session, list):
            continue
        day = session_day(str(said[f"session_{number}_date_time"]))
        newest = max(newest, day)
        for turn in session:
            name, words = str(turn["dia_id"]), " ".join(f"{turn['speaker']}: {turn['text']}".split())
            of_day = texts[f"dialog/{day}.jsonl"]
            text = JournalText(f"s{number}", name, "user", "text", words, f"{day}T12:00:00+00:00", line=len(of_day) + 1)
            of_day.append(text)
            turns[name] = words
    asked: list[tuple[str, str, tuple[str, ...]]] = []
    for row in entry["qa"]:
        names = re.findall(r"D\d+:\d+", " ".join(row["evidence"]))
        evidence = tuple(dict.fromkeys(turns[name] for name in names if name in turns))
        if evidence and CATEGORIES[row["category"]] != "adversarial":
            asked.append((str(row["question"]), CATEGORIES[row["category"]], evidence))
    now = dt.datetime.combine(newest + dt.timedelta(days=7), dt.time(12), dt.UTC)
    return Conversation({name: tuple(of_day) for name, of_day in texts.items()}, tuple(asked), now)


@dataclass(slots=True)
class Score:
    """What was handed over to the questions of one group."""

    questions: int = 0
    any_there: int = 0
    all_there: int = 0
    chars: int = 0

    def add(self, blocks: Sequence[str], evidence: Sequence[str]) -> None:
        """Count one question."""
        there = [any(_is_in(turn, block) for block in blocks) for turn in evidence]
        self.questions += 1
        self.any_there += any(there)
        self.all_there += all(there)
        self.chars += sum(map(len, blocks))


async def measure(folder: Path) -> list[Figure]:
    """Ask every conversation its questions, and what belongs to none."""
    scores: dict[tuple[str, str], Score] = defaultdict(Score)
    silent: list[bool] = []
    for number, conversation in enumerate(locomo_conversations(DATA / "locomo_dev.json")):
        async with _opened(folder / str(number), conversation) as index:
            await index.sync()
            for question, category, evidence in conversation.asked:
                for way, blocks in (await _handed_over(index, question)).items():
                    scores[way, "LoCoMo"].add(blocks, evidence)
                    scores[way, category].add(blocks, evidence)
            for message in unrelated_messages():
                silent.append(not await recalled(index, message, LEAST_RECALL_TOKENS))
    figures: list[Figure] = []
    for (way, group), score in sorted(scores.items(), key=lambda one: one[0][1] != "LoCoMo"):
        least_any, least_all = _GOALS.get(way, (None, None)) if group == "LoCoMo" else (None, None)
        figures += [
            Figure(f"{group}, {way}, any", 100 * score.any_there / score.questions, "%", at_least=least_any),
            Figure(f"{group}, {way}, all", 100 * score.all_there / score.questions, "%", at_least=least_all),
            Figure(f"{group}, {way}, length", score.chars / score.questions, "characters"),
        ]
    return [*figures, Figure("unrelated messages without recall", 100 * sum(silent) / len(silent), "%", at_least=97.0)]


def _opened(root: Path, conversation: Conversation) -> MemoryIndex:
    for name in conversation.texts:
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(name, encoding="utf-8")
    texts = {root / name: of_day for name, of_day in conversation.texts.items()}
    settings = IndexSettings(root, "local", is_watching=False, vector_seconds=60.0, text_seconds=60.0)
    return MemoryIndex(settings, OfflineEmbedder(), texts.__getitem__, lambda: conversation.now)


async def _handed_over(index: MemoryIndex, question: str) -> dict[str, list[str]]:
    found = await index.search_widely(question)
    whole = [hit.text for hit in (await index.search(question, WHOLE_CHUNKS, min_score=0.0)).hits]
    return {
        f"recall, {LEAST_RECALL_TOKENS} tokens": _blocks(await recalled(index, question, LEAST_RECALL_TOKENS)),
        f"recall, {LARGER_RECALL_TOKENS} tokens": _blocks(await recalled(index, question, LARGER_RECALL_TOKENS)),
        f"memory_search, {SEARCH_TOKENS} tokens": await _quoted(index, question, found.hits, SEARCH_TOKENS),
        f"{WHOLE_CHUNKS} whole chunks": whole,
    }


async def _quoted(index: MemoryIndex, question: str, hits: Sequence[SearchHit], tokens: int) -> list[str]:
    return _blocks(await index.quote(question, hits, Room(tokens)))


def _blocks(quotes: Sequence[Quote]) -> list[str]:
    return ["\n".join(row.text for row in quote.rows) for quote in quotes]


def _is_in(turn: str, block: str) -> bool:
    words = [word for word in _words(turn) if len(word) >= _LONGER_CHARS] or _words(turn)
    there = set(_words(block))
    return sum(word in there for word in words) >= _THERE * len(words)


def _words(text: str) -> list[str]:
    return re.findall(r"\w+", text.lower())


def main() -> int:
    """Measure and print."""
    if not (DATA / "locomo_dev.json").is_file():
        print(f"{DATA} has no locomo_dev.json. {SOURCES}", file=sys.stderr)
        return 1
    with tempfile.TemporaryDirectory() as folder:
        return report(asyncio.run(measure(Path(folder))))


if __name__ == "__main__":
    sys.exit(main())
