"""Mean-centring: cosines of an embedder without what all questions and all texts have in common (pure)."""

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

    def mean_cosines(self, texts: _Vectors) -> _Vectors:
        """For each text the cosine of its vector from the mean text with the mean question."""
        return ((texts - self.text) @ self.question).astype(np.float32)

    def mean_cosine(self, question: _Vectors) -> float:
        """The cosine of the question with the mean text."""
        return float(question @ self.text)
