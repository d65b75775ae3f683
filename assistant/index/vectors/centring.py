"""What all questions, and all texts, have in common for an embedder: cosines tell more without it (pure)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

_Vectors = npt.NDArray[np.float32]


@dataclass(frozen=True, slots=True, eq=False)
class Centring:
    """The mean vector of ordinary questions and that of ordinary texts.

    Some texts are near to just any question, and some questions near to just any text. The cosine of a question and a
    text less both of these is that of the two vectors from their means.
    """

    question: _Vectors
    text: _Vectors

    def commonness(self, texts: _Vectors) -> _Vectors:
        """For each text how near it is to just any question, from an ordinary text on."""
        return ((texts - self.text) @ self.question).astype(np.float32)

    def generality(self, question: _Vectors) -> float:
        """How near the question is to just any text."""
        return float(question @ self.text)
