"""How much of a question's words a text has, in whatever form of the word (pure)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from assistant.text.passages import fold

_ENDINGS = ("ing", "ies", "es", "ed", "s", "y", "e")
_MIN_STEM_CHARS = 3


@dataclass(frozen=True, slots=True)
class QuestionWords:
    """The terms of a question with the weight of each: the rarer it is in the home, the more it says."""

    weights: Mapping[str, float]

    def share_in(self, text: str) -> float:
        """Share of the terms that are in the text, by weight, 0 to 1."""
        return self.shares_in((text,))[0]

    def shares_in(self, texts: Sequence[str]) -> list[float]:
        """The same for several texts."""
        total = sum(self.weights.values()) or 1.0
        folded = [fold(text) for text in texts]
        shares = [0.0] * len(folded)
        for term, weight in self.weights.items():
            part = stem(term)
            for index, text in enumerate(folded):
                if part in text:
                    shares[index] += weight / total
        return shares


def stem(term: str) -> str:
    """The term without the ending of its form, where enough of it is left."""
    ending = next((ending for ending in _ENDINGS if term.endswith(ending)), "") if term.isascii() else ""
    return term.removesuffix(ending) if len(term) - len(ending) >= _MIN_STEM_CHARS else term
