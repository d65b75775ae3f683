"""One search: both rankings of a question are fused, the best lines of the first chunks decide, and hits come out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from assistant.index.chunker import Chunk
from assistant.index.line_evidence import Candidate, LineEvidence, rank_by_lines
from assistant.index.question import SearchQuestion
from assistant.index.question_words import QuestionWords
from assistant.index.search import (
    CANDIDATES,
    RankingInputs,
    SearchHit,
    best_places,
    fuse,
    select_hits,
    word_trust,
)
from assistant.index.text.full_text import FullText
from assistant.index.vectors.calibration import Calibration
from assistant.index.vectors.line_signs import LineCosines
from assistant.index.vectors.meaning import NearChunks

# Among these their best lines decide; more were not better.
_CHUNKS_RANKED_BY_LINES = 30
# The best words of so many tell whether words are to be trusted.
_CHUNKS_TRUSTED_BY = 20


@dataclass(frozen=True, slots=True)
class WantedHits:
    """How many places of how many candidates, what the best has to reach, and what each other one."""

    count: int
    candidates: int
    best_score: float
    least_score: float


@dataclass(frozen=True, slots=True)
class RankedChunks:
    """The candidates in their final order, their rows, and what their relevance is read from."""

    candidates: tuple[Candidate, ...]
    chunks: Mapping[int, Chunk]
    inputs: RankingInputs


class ChunkFinder:
    """What both rankings give for one question, and what turns it into hits."""

    def __init__(
        self,
        full_text: FullText,
        question: SearchQuestion,
        words: Mapping[int, float],
        near: NearChunks | None,
        calibration: Calibration | None,
    ) -> None:
        """`words` are scores by chunk; `near` and `calibration` are None where words answer alone."""
        self.question = question
        self._full_text = full_text
        self._words = words
        self._near = near
        self._calibration = calibration
        self._cosines = {chunk.chunk_id: chunk.cosine for chunk in near.chunks} if near else {}

    def best_places(self, count: int) -> list[SearchHit]:
        """The first places of both rankings, whether they answer or not."""
        candidates, chunks = self._still_there(fuse(self._words, self._cosines, count=4 * count))
        return best_places(candidates, chunks, self.question, count)

    def hits(self, wanted: WantedHits) -> list[SearchHit]:
        """The best places, each once; none where not even the best answers."""
        ranked = self.rank(wanted.candidates)
        candidates = ranked.candidates[: wanted.candidates]
        hits = select_hits(candidates, ranked.chunks, ranked.inputs, wanted.count, wanted.least_score)
        return hits if any(hit.relevance >= wanted.best_score for hit in hits) else []

    def rank(self, wanted: int) -> RankedChunks:
        """At least `wanted` candidates, as far as there are so many; the shares of so many are known."""
        count = max(wanted, _CHUNKS_RANKED_BY_LINES)
        candidates = fuse(self._words, self._cosines, count=count)
        shares = self._shares(candidates[:_CHUNKS_TRUSTED_BY], {})
        trust = word_trust(shares.values())
        if trust < 1.0:
            candidates = fuse(self._words, self._cosines, trust, count)
        candidates, chunks = self._still_there(candidates)
        looked_at, others = candidates[:_CHUNKS_RANKED_BY_LINES], candidates[_CHUNKS_RANKED_BY_LINES:]
        lines: Mapping[int, LineCosines] = {}
        if self._near:
            lines = self._near.line_cosines([one.chunk_id for one in looked_at])
        words = QuestionWords(self._full_text.weights(self.question))
        ranked, best_lines = rank_by_lines(looked_at, chunks, LineEvidence(words, self._cosines, lines, trust))
        centred = {chunk.chunk_id: chunk.centred for chunk in self._near.chunks} if self._near else {}
        candidates = [*ranked, *others]
        shares = self._shares(candidates[:wanted], shares)
        inputs = RankingInputs(self.question, shares, centred, self._calibration, best_lines, lines)
        return RankedChunks(tuple(candidates), chunks, inputs)

    def _still_there(self, candidates: Sequence[Candidate]) -> tuple[list[Candidate], Mapping[int, Chunk]]:
        """Those whose rows can be read, and the rows: the index is written to meanwhile, so some may have gone."""
        chunks = self._full_text.chunks([candidate.chunk_id for candidate in candidates])
        return [candidate for candidate in candidates if candidate.chunk_id in chunks], chunks

    def _shares(self, candidates: Sequence[Candidate], known: dict[int, float]) -> dict[int, float]:
        unknown = [candidate.chunk_id for candidate in candidates if candidate.chunk_id not in known]
        return known | self._full_text.shares(self.question, unknown) if unknown else known


def word_scores(full_text: FullText, question: SearchQuestion) -> dict[int, float]:
    """The ranking of words: scores by chunk."""
    return {hit.chunk_id: hit.score for hit in full_text.rank(question, CANDIDATES)}
