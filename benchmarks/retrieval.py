"""How well memory search finds what is there, and finds nothing where nothing is.

LoCoMo conversations are written as daily notes, XQuAD paragraphs as notes by article, MemDaily messages as one-line
entries of daily notes among those of other people. Every way of ranking is measured
in the same run on the same chunks. `--calibrate` measures the embedder's numbers on one half of the questions; what
relevance keeps and drops is always told of the other half. Run: python -m benchmarks.retrieval [--calibrate] [--json]
"""

from __future__ import annotations

import asyncio
import datetime as dt
import json
import os
import random
import re
import sys
import tempfile
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from assistant.index.chunker import Chunk, estimate_tokens
from assistant.index.finder import ChunkFinder, RankedChunks, word_scores
from assistant.index.pace import IndexPace
from assistant.index.question import SearchQuestion, read_question
from assistant.index.search import CANDIDATES, fuse, select_hits, signals_of, word_trust
from assistant.index.sync import Synchroniser
from assistant.index.text.full_text import FullText
from assistant.index.text.terms import content_terms, is_cjk
from assistant.index.vectors.calibration import DEFAULT_SCORE, Calibration, MatchSignals, calibrate, direction_of
from assistant.index.vectors.embeddings import OfflineEmbedder, Vectors
from assistant.index.vectors.local import LocalStore
from assistant.index.vectors.meaning import Meaning
from benchmarks.figures import Figure, report

DATA = Path(os.environ.get("PALIMPSEST_BENCH_DATA") or Path(__file__).parents[2] / "shared" / "data")
SOURCES = """The data is not part of the project. Put these files into one folder and name it in PALIMPSEST_BENCH_DATA:
  memdaily_dev.json    trajectories of github.com/nuster1128/MemSim, four of each kind (no licence is named)
  locomo_dev.json      conversations of data/locomo10.json from github.com/snap-research/locomo (CC BY-NC 4.0)
  xquad_en_dev.json, xquad_zh_dev.json   paragraphs of github.com/google-deepmind/xquad (CC BY-SA 4.0)"""
BUDGET_CHARS = 8_000
MEMDAILY_OTHERS = 200
CANDIDATES_LOOKED_AT = 20
RECALL_SCORE = 0.5
RECALL_HITS = 3
RECALL_TOKENS = 600
CATEGORIES = {1: "multi-hop", 2: "temporal", 3: "open-domain", 4: "single-hop", 5: "adversarial"}
GOALS: dict[str, dict[str, float]] = {
    "LoCoMo": {"R@5": 88.0},
    "multi-hop": {"all at 10": 65.0},
    "temporal": {"R@5": 84.0},
    "MemDaily": {"R@5": 72.0},
    "zh -> en": {"R@5": 93.0},
    "en -> zh": {"R@5": 93.0},
}
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
    ranked: RankedChunks
    """The product's own ranking."""


Ranking = Callable[[Found], list[int]]


def rank_hybrid(found: Found) -> list[int]:
    """The product's own order."""
    return [candidate.chunk_id for candidate in found.ranked.candidates]


def rank_without_lines(found: Found) -> list[int]:
    """Words and vectors of chunks, without their lines."""
    shares = found.ranked.inputs.shares
    return [candidate.chunk_id for candidate in fuse(found.words, found.cosines, word_trust(shares.values()))]


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
    "hybrid without lines": rank_without_lines,
    "words with days": rank_words,
    "plain FTS5": rank_plain_words,
    "vectors alone": rank_vectors,
    "RRF 0.7/0.3": rank_reciprocal,
}


class RememberingEmbedder(OfflineEmbedder):
    """Embeds each text once: the homes of MemDaily share most of theirs."""

    def __init__(self) -> None:
        super().__init__()
        self._known: dict[str, Vectors] = {}

    async def embed(self, texts: Sequence[str]) -> Vectors:
        """Those that are new are embedded."""
        new = list({text: None for text in texts if text not in self._known})
        if new:
            self._known |= zip(new, await super().embed(new), strict=True)
        return np.stack([self._known[text] for text in texts])


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
            IndexPace(),
        )
        self.chunks: dict[int, Chunk] = {}
        self.is_cjk = is_cjk("".join(home.files.values()))

    async def fill(self) -> None:
        """Write the notes and index them."""
        for name, text in self.home.files.items():
            path = self._folder / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")
        synchroniser = Synchroniser(self._folder, self.full_text, lambda path: (), str, IndexPace())
        synchroniser.sync(lambda done, total: None, lambda: False)
        await self.meaning.open()
        await self.meaning.fill(lambda: False)
        self.chunks = self.full_text.chunks(range(1, self.full_text.counts().chunks + 1))

    async def ask(self, text: str) -> Found:
        """What both sides find."""
        question = read_question(text, self.home.today)
        plain = SearchQuestion(text, tuple(content_terms(text)), ())
        words, plain_words = word_scores(self.full_text, question), word_scores(self.full_text, plain)
        near = await self.meaning.nearest(question.text, CANDIDATES)
        assert near is not None
        cosines = {chunk.chunk_id: chunk.cosine for chunk in near.chunks}
        ranked = ChunkFinder(self.full_text, question, words, near, self.meaning.calibration).rank(CANDIDATES_LOOKED_AT)
        return Found(question, words, plain_words, cosines, ranked)

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
        day = session_day(str(conversation[f"session_{number}_date_time"]))
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


def memdaily_homes(path: Path) -> list[Home]:
    """Each trajectory's messages among 200 of others that say something else, by day, a line each."""
    trajectories = json.loads(path.read_text(encoding="utf-8"))
    chance = random.Random(0)
    homes: list[Home] = []
    for index, one in enumerate(trajectories):
        own = {message["message"] for message in one["message_list"]}
        others = [
            message
            for other in trajectories
            if other is not one
            for message in other["message_list"]
            if message["message"] not in own
        ]
        entries = [(message, True) for message in one["message_list"]]
        entries += [(message, False) for message in chance.sample(others, MEMDAILY_OTHERS)]
        homes.append(_memdaily_home(index, entries, one["question_list"]))
    return homes


def _memdaily_home(
    index: int, entries: Sequence[tuple[dict[str, str], bool]], questions: Sequence[dict[str, object]]
) -> Home:
    lines_of: dict[str, list[str]] = {}
    places: dict[object, tuple[str, int]] = {}
    for message, is_own in sorted(entries, key=lambda entry: (_memdaily_time(entry[0]["time"]), entry[1])):
        moment = _memdaily_time(message["time"])
        name = f"memory/{moment.date()}.md"
        lines = lines_of.setdefault(name, [f"# {moment.date()}", ""])
        lines.append(f"- {moment:%H:%M} {message['message']}")
        if is_own:
            places[message["mid"]] = (name, len(lines))
    asked = [
        Asked(str(row["question"]), tuple(places[step] for step in row["target_step_id"]), "MemDaily")
        for row in questions
    ]
    files = {name: "\n".join(lines) for name, lines in lines_of.items()}
    return Home(f"MemDaily {index + 1}", files, tuple(asked), _memdaily_time(str(questions[0]["time"])).date())


def _memdaily_time(text: str) -> dt.datetime:
    return dt.datetime.strptime(re.sub(r" 周. ", " ", text), "%Y年%m月%d日 %H:%M").replace(tzinfo=dt.UTC)


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
        # A part is enough, and keeps all homes in; of the many small ones a smaller part.
        step = 101 if _kind(one.home) == "MemDaily" else 5
        strangers += [Answered(asked, await one.ask(asked.text), one) for asked in foreign[::step]]
        for text in UNRELATED[:: 10 if _kind(one.home) == "MemDaily" else 1]:
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
        ranked = self.found.ranked
        return [
            signals_of(one.chunk_id, ranked.inputs, direction_of(self.asked.text, ranked.chunks[one.chunk_id].text))
            for one in ranked.candidates[:CANDIDATES_LOOKED_AT]
        ]

    def hits(self, calibration: Calibration, min_score: float, max_results: int = 5) -> list[int]:
        """Chunks the product hands over, by id."""
        ranked = self.found.ranked
        by_place = {(chunk.path, chunk.text): key for key, chunk in self.home.chunks.items()}
        inputs = replace(ranked.inputs, calibration=calibration)
        hits = select_hits(ranked.candidates[:CANDIDATES_LOOKED_AT], self.home.chunks, inputs, max_results, min_score)
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
    sums = dict.fromkeys(("R@5", "R@10", "all at 10", "MRR", "R in 8,000"), 0.0)
    for answered in answers:
        order, chunks = ranking(answered.found), answered.home.chunks
        sums["R@5"] += recall(order, chunks, answered.asked, 5)
        sums["R@10"] += (found := recall(order, chunks, answered.asked, 10))
        sums["all at 10"] += found == 1.0
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
            goals = GOALS.get(group, {}) if label == "hybrid" else {}
            figures += [
                Figure(f"{group}, {label}, {name}", value, "%", at_least=goals.get(name)) for name, value in row.items()
            ]
        above = rows["hybrid"]["R@5"] - rows["words with days"]["R@5"]
        figures.append(Figure(f"{group}, hybrid above words alone, R@5", above, "points", at_least=0.0))
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
            Figure(f"{group}, hybrid with min_score 0.1, R@5", _recall_of(kept, answers), "%"),
            Figure(f"{group}, R@5 lost to min_score 0.1", loss, "points", at_most=1.0),
            Figure(f"{group}, questions that find something", _mean(float(bool(k)) for k in kept), "%"),
            Figure(f"{group}, evidence in the context with recall on (off: 0)", recalled(answers, calibration), "%"),
        ]
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
    embedder = RememberingEmbedder()
    homes = [
        *locomo_homes(DATA / "locomo_dev.json"),
        *xquad_homes(DATA),
        *memdaily_homes(DATA / "memdaily_dev.json"),
    ]
    measured = await measure(homes, embedder, folder)
    calibration = embedder.calibration
    if calibration is None or "--calibrate" in sys.argv[1:]:
        calibration = measured_calibration(measured.half(0))
        print(calibration, file=sys.stderr)
    return [*ranking_figures(measured), *relevance_figures(measured.half(1), calibration)]


def main() -> int:
    """Measure and print."""
    names = ("locomo_dev.json", "memdaily_dev.json", "xquad_en_dev.json", "xquad_zh_dev.json")
    if missing := [name for name in names if not (DATA / name).is_file()]:
        print(f"{DATA} has no {', '.join(missing)}. {SOURCES}", file=sys.stderr)
        return 1
    with tempfile.TemporaryDirectory() as folder:
        return report(asyncio.run(run(Path(folder))))


def _kind(home: Home) -> str:
    return home.name.split()[0]


def session_day(text: str) -> dt.date:
    """The day of a session's date and time as LoCoMo writes them."""
    return dt.datetime.strptime(text.split(" on ")[1].replace(",", ""), "%d %B %Y").replace(tzinfo=dt.UTC).date()


def _covered(chunks: Sequence[Chunk], asked: Asked) -> float:
    found = sum(
        any(chunk.path == path and chunk.first_line <= line <= chunk.last_line for chunk in chunks)
        for path, line in asked.places
    )
    return found / len(asked.places)


def _by_score(scores: Mapping[int, float]) -> list[int]:
    return sorted(scores, key=lambda key: (-scores[key], key))


def _mean(values: Iterable[float]) -> float:
    return 100.0 * float(np.mean([*values]))


if __name__ == "__main__":
    sys.exit(main())
