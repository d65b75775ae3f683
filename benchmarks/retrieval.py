"""How well memory search finds what is there, and finds nothing where nothing is.

LoCoMo conversations are written as daily notes, XQuAD paragraphs as notes by article. Every way of ranking is measured
in the same run on the same chunks. `--calibrate` measures the embedder's numbers on one half of the questions; what
relevance keeps and drops is always told of the other half. Run: python -m benchmarks.retrieval [--calibrate] [--json]
"""

from __future__ import annotations

import asyncio
import datetime as dt
import json
import os
import re
import sys
import tempfile
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from assistant.index.chunker import Chunk, estimate_tokens
from assistant.index.question import SearchQuestion, read_question
from assistant.index.search import CANDIDATES, Candidate, RankingInputs, fuse, select_hits, word_trust
from assistant.index.sync import Synchroniser
from assistant.index.text.full_text import FullText
from assistant.index.text.terms import content_terms, is_cjk
from assistant.index.vectors.calibration import DEFAULT_SCORE, Calibration, MatchSignals, calibrate, direction_of
from assistant.index.vectors.embeddings import OfflineEmbedder
from assistant.index.vectors.local import LocalStore
from assistant.index.vectors.meaning import Meaning
from benchmarks.figures import Figure, report

DATA = Path(os.environ.get("PALIMPSEST_BENCH_DATA") or Path(__file__).parents[2] / "shared" / "data")
SOURCES = """The data is not part of the project. Put these files into one folder and name it in PALIMPSEST_BENCH_DATA:
  locomo_dev.json      conversations of data/locomo10.json from github.com/snap-research/locomo (CC BY-NC 4.0)
  xquad_en_dev.json, xquad_zh_dev.json   paragraphs of github.com/google-deepmind/xquad (CC BY-SA 4.0)"""
BUDGET_CHARS = 8_000
CANDIDATES_LOOKED_AT = 20
RECALL_SCORE = 0.5
RECALL_HITS = 3
RECALL_TOKENS = 600
CATEGORIES = {1: "multi-hop", 2: "temporal", 3: "open-domain", 4: "single-hop", 5: "adversarial"}
UNRELATED = (
    "How do I replace the drum belt of a tumble dryer?",
    "Which spanner size fits the bleed valve of a radiator?",
    "What is the boiling point of ethanol at two bar?",
    "How many valence electrons does selenium have?",
    "Explain the Sicilian Defence, Najdorf variation",
    "What does the compiler flag -fno-strict-aliasing do?",
    "How long should I proof sourdough in a fridge?",
    "Who composed the opera Rusalka?",
    "What is the tax rate on dividends in Estonia?",
    "How do I descale an espresso machine with citric acid?",
    "怎么给变速自行车调后拨？",
    "洗衣机显示E4故障码是什么意思？",
    "硒元素的原子序数是几？",
    "西西里防御的主要变着有哪些？",
    "如何用柠檬酸给咖啡机除垢？",
    "乙醇在两个大气压下的沸点是多少？",
    "爱沙尼亚的股息税率是多少？",
    "酸面团冷藏发酵要多久？",
    "怎样更换散热器的排气阀？",
    "歌剧《水仙女》是谁作曲的？",
)


@dataclass(frozen=True, slots=True)
class Asked:
    """A question and where its evidence stands: path and line of each piece."""

    text: str
    places: tuple[tuple[str, int], ...]
    category: str


@dataclass(frozen=True, slots=True)
class Home:
    """A home of notes with the questions asked of it."""

    name: str
    files: Mapping[str, str]
    asked: tuple[Asked, ...]
    today: dt.date


@dataclass(frozen=True, slots=True)
class Found:
    """What both sides found for a question, and the chunks of this home."""

    question: SearchQuestion
    words: Mapping[int, float]
    plain_words: Mapping[int, float]
    cosines: Mapping[int, float]
    centred: Mapping[int, float]
    shares: Mapping[int, float]


Ranking = Callable[[Found], list[int]]


def rank_hybrid(found: Found) -> list[int]:
    """The product's own order."""
    return _ids(fuse(found.words, found.cosines, word_trust(found.shares.values())))


def rank_plain_words(found: Found) -> list[int]:
    """FTS5 alone, days in the question read as words."""
    return _by_score(found.plain_words)


def rank_words(found: Found) -> list[int]:
    """The word side of the product: FTS5, and days in the question."""
    return _by_score(found.words)


def rank_vectors(found: Found) -> list[int]:
    """Cosines alone."""
    return _by_score(found.cosines)


def rank_reciprocal(found: Found) -> list[int]:
    """Reciprocal-rank fusion, k = 60, vectors 0.7 and words 0.3."""
    scores: dict[int, float] = defaultdict(float)
    for weight, ranking in ((0.7, rank_vectors(found)), (0.3, rank_plain_words(found))):
        for position, chunk_id in enumerate(ranking, 1):
            scores[chunk_id] += weight / (60 + position)
    return _by_score(scores)


RANKINGS: dict[str, Ranking] = {
    "hybrid": rank_hybrid,
    "words with days": rank_words,
    "plain FTS5": rank_plain_words,
    "vectors alone": rank_vectors,
    "RRF 0.7/0.3": rank_reciprocal,
}


class OpenHome:
    """A home that is indexed and can be asked."""

    def __init__(self, home: Home, folder: Path, embedder: OfflineEmbedder) -> None:
        self.home = home
        self._folder = folder
        self.full_text = FullText(folder / "index" / "full_text.sqlite")
        store_path = folder / "index" / "vectors.sqlite"
        self.meaning = Meaning(
            embedder,
            self.full_text,
            folder / "index" / "cache.sqlite",
            lambda space, fresh: LocalStore(store_path, space),
        )
        self.chunks: dict[int, Chunk] = {}
        self.is_cjk = is_cjk("".join(home.files.values()))

    async def fill(self) -> None:
        """Write the notes and index them."""
        for name, text in self.home.files.items():
            path = self._folder / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")
        synchroniser = Synchroniser(self._folder, self.full_text, lambda path: (), str)
        synchroniser.sync(lambda done, total: None, lambda: False)
        await self.meaning.open()
        await self.meaning.fill(lambda: False)
        self.chunks = self.full_text.chunks(range(1, self.full_text.counts().chunks + 1))

    async def ask(self, text: str) -> Found:
        """What both sides find."""
        question = read_question(text, self.home.today)
        plain = SearchQuestion(text, tuple(content_terms(text)), ())
        words = {hit.chunk_id: hit.score for hit in self.full_text.rank(question, CANDIDATES)}
        plain_words = {hit.chunk_id: hit.score for hit in self.full_text.rank(plain, CANDIDATES)}
        near = await self.meaning.nearest(question.text, CANDIDATES) or []
        cosines = {chunk.chunk_id: chunk.cosine for chunk in near}
        centred = {chunk.chunk_id: chunk.centred for chunk in near}
        candidates = _ids(fuse(words, cosines))[:CANDIDATES_LOOKED_AT]
        shares = self.full_text.shares(question, candidates)
        trusted = _ids(fuse(words, cosines, word_trust(shares.values())))[:CANDIDATES_LOOKED_AT]
        shares |= self.full_text.shares(question, [key for key in trusted if key not in shares])
        return Found(question, words, plain_words, cosines, centred, shares)

    async def close(self) -> None:
        """Close files; the embedder stays open for the next home."""
        await asyncio.to_thread(self.meaning.close_files)
        self.full_text.close()


def recall(ranking: Sequence[int], chunks: Mapping[int, Chunk], asked: Asked, count: int) -> float:
    """Share of the evidence within the first `count` chunks."""
    return _covered([chunks[chunk_id] for chunk_id in ranking[:count]], asked)


def recall_in_budget(ranking: Sequence[int], chunks: Mapping[int, Chunk], asked: Asked) -> float:
    """Share of the evidence within the first chunks that fit into 8,000 characters together."""
    taken: list[Chunk] = []
    used = 0
    for chunk_id in ranking:
        used += len(chunks[chunk_id].text)
        if used > BUDGET_CHARS:
            break
        taken.append(chunks[chunk_id])
    return _covered(taken, asked)


def reciprocal_rank(ranking: Sequence[int], chunks: Mapping[int, Chunk], asked: Asked) -> float:
    """1 / the place of the first chunk with evidence."""
    for position, chunk_id in enumerate(ranking, 1):
        if _covered([chunks[chunk_id]], asked) > 0.0:
            return 1.0 / position
    return 0.0


def locomo_homes(path: Path) -> list[Home]:
    """Each conversation as the daily notes of one home."""
    return [_locomo_home(index, entry) for index, entry in enumerate(json.loads(path.read_text(encoding="utf-8")))]


def _locomo_home(index: int, entry: dict[str, dict[str, object]]) -> Home:
    conversation = entry["conversation"]
    lines_of: dict[str, list[str]] = {}
    place_of: dict[str, tuple[str, int]] = {}
    newest = dt.date.min
    for number in range(1, 100):
        turns = conversation.get(f"session_{number}")
        if not isinstance(turns, list):
            continue
        day = _session_day(str(conversation[f"session_{number}_date_time"]))
        newest = max(newest, day)
        name = f"memory/{day}.md"
        lines = lines_of.setdefault(name, [f"# {day}", ""])
        lines.append(f"## Session {number}")
        for turn in turns:
            caption = f" [shares a picture: {turn['blip_caption']}]" if turn.get("blip_caption") else ""
            lines.append(" ".join(f"{turn['speaker']}: {turn['text']}{caption}".split()))
            place_of[turn["dia_id"]] = (name, len(lines))
        lines.append("")
    asked: list[Asked] = []
    for qa in entry["qa"]:
        names = re.findall(r"D\d+:\d+", " ".join(qa["evidence"]))
        places = tuple(dict.fromkeys(place_of[name] for name in names if name in place_of))
        if places:
            asked.append(Asked(qa["question"], places, CATEGORIES[qa["category"]]))
    files = {name: "\n".join(lines) for name, lines in lines_of.items()}
    return Home(f"LoCoMo {index + 1}", files, tuple(asked), newest + dt.timedelta(days=7))


def xquad_homes(folder: Path) -> list[Home]:
    """English and Chinese paragraphs, each asked in both languages."""
    data = {
        language: json.loads((folder / f"xquad_{language}_dev.json").read_text(encoding="utf-8"))["data"]
        for language in ("en", "zh")
    }
    homes: list[Home] = []
    for language in data:
        files: dict[str, str] = {}
        asked: list[Asked] = []
        for article, _ in enumerate(data[language]):
            name = f"memory/article-{article + 1}.md"
            lines: list[str] = []
            for index, paragraph in enumerate(data[language][article]["paragraphs"]):
                lines += [f"## {index + 1}", "", " ".join(paragraph["context"].split()), ""]
                for asking in data:
                    for qa in data[asking][article]["paragraphs"][index]["qas"]:
                        asked.append(Asked(qa["question"], ((name, len(lines) - 1),), f"{asking} -> {language}"))
            files[name] = "\n".join(lines)
        homes.append(Home(f"XQuAD {language}", files, tuple(asked), dt.date(2026, 11, 30)))
    return homes


async def measure(homes: Sequence[Home], embedder: OfflineEmbedder, folder: Path) -> Measured:
    """Ask every home all its questions, and questions that have nothing to do with it."""
    opened: list[OpenHome] = []
    for index, home in enumerate(homes):
        one = OpenHome(home, folder / str(index), embedder)
        await one.fill()
        opened.append(one)
    answers: list[Answered] = []
    strangers: list[Answered] = []
    for one in opened:
        answers += [Answered(asked, await one.ask(asked.text), one) for asked in one.home.asked]
        foreign = [asked for other in homes if _kind(other) != _kind(one.home) for asked in other.asked]
        # Every fifth is enough, and keeps all homes in.
        strangers += [Answered(asked, await one.ask(asked.text), one) for asked in foreign[::5]]
        for text in UNRELATED:
            strangers.append(Answered(Asked(text, (), "unrelated"), await one.ask(text), one))
    for one in opened:
        await one.close()
    return Measured(tuple(answers), tuple(strangers))


@dataclass(frozen=True, slots=True)
class Answered:
    """A question, what was found, and where."""

    asked: Asked
    found: Found
    home: OpenHome

    def evidence(self) -> list[MatchSignals]:
        """Share and cosine of the chunks the product looks at."""
        return [
            MatchSignals(share, self.found.centred.get(key), direction_of(self.asked.text, self.home.chunks[key].text))
            for key, share in self.found.shares.items()
        ]

    def hits(self, calibration: Calibration, min_score: float, max_results: int = 5) -> list[int]:
        """Chunks the product hands over, by id."""
        trust = word_trust(self.found.shares.values())
        candidates = fuse(self.found.words, self.found.cosines, trust)[:CANDIDATES_LOOKED_AT]
        by_place = {(chunk.path, chunk.text): key for key, chunk in self.home.chunks.items()}
        grounds = RankingInputs(self.found.question, self.found.shares, self.found.centred, calibration)
        hits = select_hits(candidates, self.home.chunks, grounds, max_results, min_score)
        return [by_place[hit.path, hit.text] for hit in hits]


@dataclass(frozen=True, slots=True)
class Measured:
    """Questions with an answer in their home, and questions without."""

    answers: tuple[Answered, ...]
    strangers: tuple[Answered, ...]

    def half(self, number: int) -> Measured:
        """Every second question, from the first or from the second on; those about nothing here are in both."""
        unrelated = tuple(one for one in self.strangers if one.asked.category == "unrelated")
        foreign = tuple(one for one in self.strangers if one.asked.category != "unrelated")
        return Measured(self.answers[number::2], (*unrelated, *foreign[number::2]))


def rows_of(answers: Sequence[Answered], ranking: Ranking) -> dict[str, float]:
    """The four figures, in percent."""
    sums = dict.fromkeys(("R@5", "R@10", "MRR", "R in 8,000"), 0.0)
    for answered in answers:
        order, chunks = ranking(answered.found), answered.home.chunks
        sums["R@5"] += recall(order, chunks, answered.asked, 5)
        sums["R@10"] += recall(order, chunks, answered.asked, 10)
        sums["MRR"] += reciprocal_rank(order, chunks, answered.asked)
        sums["R in 8,000"] += recall_in_budget(order, chunks, answered.asked)
    return {name: 100.0 * value / len(answers) for name, value in sums.items()}


def bound(answers: Sequence[Answered]) -> float:
    """Recall of the top five of words and of vectors together: what a better order of the same signals could reach."""
    total = 0.0
    for answered in answers:
        union = {*rank_words(answered.found)[:5], *rank_vectors(answered.found)[:5], *rank_hybrid(answered.found)[:5]}
        total += _covered([answered.home.chunks[key] for key in union], answered.asked)
    return 100.0 * total / len(answers)


def groups_of(answers: Sequence[Answered]) -> dict[str, list[Answered]]:
    """LoCoMo together and by category, XQuAD by direction."""
    groups: dict[str, list[Answered]] = {"LoCoMo": []}
    for answered in answers:
        if _kind(answered.home.home) == "LoCoMo" and answered.asked.category != "adversarial":
            groups["LoCoMo"].append(answered)
        groups.setdefault(answered.asked.category, []).append(answered)
    return groups


def ranking_figures(measured: Measured) -> list[Figure]:
    """Each group by each ranking, with the goals of the product's own."""
    figures: list[Figure] = []
    for group, answers in groups_of(measured.answers).items():
        rows = {label: rows_of(answers, ranking) for label, ranking in RANKINGS.items()}
        for label, row in rows.items():
            at_least = 90.0 if label == "hybrid" and group in ("zh -> en", "en -> zh") else None
            figures += [
                Figure(f"{group}, {label}, {name}", value, "%", at_least=at_least if name == "R@5" else None)
                for name, value in row.items()
            ]
        figures.append(Figure(f"{group}, top 5 of all together", bound(answers), "%"))
        if group == "LoCoMo":
            hybrid, plain, reciprocal = (rows[name]["R@5"] for name in ("hybrid", "plain FTS5", "RRF 0.7/0.3"))
            figures.append(Figure("LoCoMo, hybrid above plain FTS5, R@5", hybrid - plain, "points", at_least=1.5))
            figures.append(Figure("LoCoMo, hybrid above RRF, R@5", hybrid - reciprocal, "points", at_least=5))
    return figures


def relevance_figures(measured: Measured, calibration: Calibration) -> list[Figure]:
    """What the default score lets through and what it costs, and what recall puts into the context."""
    figures: list[Figure] = []
    for group, answers in groups_of(measured.answers).items():
        kept = [answered.hits(calibration, DEFAULT_SCORE) for answered in answers]
        every = [_ids_of(answered)[:5] for answered in answers]
        loss = _recall_of(every, answers) - _recall_of(kept, answers)
        figures += [
            Figure(f"{group}, R@5 lost to min_score 0.1", loss, "points", at_most=0.5 if group == "LoCoMo" else None),
            Figure(f"{group}, questions that find something", _mean(float(bool(k)) for k in kept), "%"),
            Figure(f"{group}, evidence in the context with recall on (off: 0)", recalled(answers, calibration), "%"),
        ]
        if group in ("zh -> en", "en -> zh"):
            label = f"{group}, R@5 with min_score 0.1"
            figures.append(Figure(label, _recall_of(kept, answers), "%", at_least=90.0))
    unrelated = [answered for answered in measured.strangers if answered.asked.category == "unrelated"]
    nothing = _mean(float(not answered.hits(calibration, DEFAULT_SCORE)) for answered in unrelated)
    figures.append(Figure("unrelated questions that find nothing", nothing, "%", at_least=100.0))
    for label, group in _stranger_groups(measured.strangers).items():
        nothing = _mean(float(not answered.hits(calibration, DEFAULT_SCORE)) for answered in group)
        figures.append(Figure(f"{label} (n = {len(group)}) that find nothing", nothing, "%"))
    return figures


def recalled(answers: Sequence[Answered], calibration: Calibration) -> float:
    """Share of the evidence within what recall hands over: three hits of relevance 0.5, 600 tokens together."""
    shares: list[float] = []
    for answered in answers:
        lines: set[tuple[str, int]] = set()
        left = RECALL_TOKENS
        for key in answered.hits(calibration, RECALL_SCORE, RECALL_HITS):
            chunk = answered.home.chunks[key]
            for offset, line in enumerate(chunk.text.split("\n")):
                left -= estimate_tokens(line)
                if left >= 0:
                    lines.add((chunk.path, chunk.first_line + offset))
        shares.append(sum(place in lines for place in answered.asked.places) / len(answered.asked.places))
    return _mean(shares)


def _recall_of(rankings: Sequence[Sequence[int]], answers: Sequence[Answered]) -> float:
    return _mean(recall(ids, a.home.chunks, a.asked, 5) for ids, a in zip(rankings, answers, strict=True))


def _ids_of(answered: Answered) -> list[int]:
    return rank_hybrid(answered.found)


def _stranger_groups(strangers: Sequence[Answered]) -> dict[str, list[Answered]]:
    groups: dict[str, list[Answered]] = {}
    for answered in strangers:
        kind = "unrelated questions" if answered.asked.category == "unrelated" else "questions of another home"
        is_across = answered.home.is_cjk != is_cjk(answered.asked.text)
        groups.setdefault(f"{kind}, {'other' if is_across else 'same'} language", []).append(answered)
    return groups


def measured_calibration(measured: Measured) -> Calibration:
    """The numbers of the embedder; the questions about nothing here have no part in them."""
    related = [answered.evidence() for answered in measured.answers if answered.asked.category != "adversarial"]
    foreign = [answered.evidence() for answered in measured.strangers if answered.asked.category != "unrelated"]
    return calibrate(related, foreign)


async def run(folder: Path) -> list[Figure]:
    """Measure everything in homes below `folder`."""
    embedder = OfflineEmbedder()
    homes = [*locomo_homes(DATA / "locomo_dev.json"), *xquad_homes(DATA)]
    measured = await measure(homes, embedder, folder)
    calibration = embedder.calibration
    if calibration is None or "--calibrate" in sys.argv[1:]:
        calibration = measured_calibration(measured.half(0))
        print(calibration, file=sys.stderr)
    return [*ranking_figures(measured), *relevance_figures(measured.half(1), calibration)]


def main() -> int:
    """Measure and print."""
    if not (DATA / "locomo_dev.json").is_file():
        print(f"{DATA} has no locomo_dev.json. {SOURCES}", file=sys.stderr)
        return 1
    with tempfile.TemporaryDirectory() as folder:
        return report(asyncio.run(run(Path(folder))))


def _kind(home: Home) -> str:
    return home.name.split()[0]


def _session_day(text: str) -> dt.date:
    return dt.datetime.strptime(text.split(" on ")[1].replace(",", ""), "%d %B %Y").replace(tzinfo=dt.UTC).date()


def _covered(chunks: Sequence[Chunk], asked: Asked) -> float:
    found = sum(
        any(chunk.path == path and chunk.first_line <= line <= chunk.last_line for chunk in chunks)
        for path, line in asked.places
    )
    return found / len(asked.places)


def _ids(candidates: Sequence[Candidate]) -> list[int]:
    return [candidate.chunk_id for candidate in candidates]


def _by_score(scores: Mapping[int, float]) -> list[int]:
    return sorted(scores, key=lambda key: (-scores[key], key))


def _mean(values: Iterable[float]) -> float:
    return 100.0 * float(np.mean([*values]))


if __name__ == "__main__":
    sys.exit(main())
