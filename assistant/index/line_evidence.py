"""What the lines of a chunk say to a question: the best line counts for its chunk (pure).

A chunk of many entries is near to no question in particular, though one of its lines answers word for word. With its
best line beside the chunk, five chunks hold eight in a hundred pieces of evidence more of Chinese daily notes, and one
in a hundred more of English dialogues.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

from assistant.index.chunker import Chunk
from assistant.index.question_words import QuestionWords
from assistant.index.vectors.line_signs import LineCosines
from assistant.text.line_ends import split_lines

_LINE_WEIGHT = 1.2
# A line of the person that asks for nearly the same is the same question, asked before.
_SAME_QUESTION = 0.75
_ASKS = re.compile(r"user: .*[?？][\"'”’」』）)*]*$", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Candidate:
    """A chunk either ranking found."""

    chunk_id: int
    score: float


@dataclass(frozen=True, slots=True)
class BestLine:
    """The line of a chunk that answers best."""

    share: float
    """Of the question's words in it, each weighted by its rarity."""
    centred: float | None
    """Cosine of its vector from the means; None where it has none."""


@dataclass(frozen=True, slots=True)
class LineEvidence:
    """What is known of the lines of some chunks."""

    words: QuestionWords
    cosines: Mapping[int, float]
    """Of whole chunks, for lines without a vector."""
    lines: Mapping[int, LineCosines]
    """By chunk, for those whose lines have vectors."""
    trust: float = 1.0
    """How far words are to be trusted, 0 to 1."""


def rank_by_lines(
    candidates: Sequence[Candidate], chunks: Mapping[int, Chunk], evidence: LineEvidence
) -> tuple[list[Candidate], dict[int, BestLine]]:
    """The candidates in the order of their own score and that of their best line, and these lines.

    A line that two chunks share counts for the one that ranks higher.
    """
    lines = list(_own_lines(candidates, chunks))
    worth: dict[int, float] = {}
    best: dict[int, BestLine] = {}
    # All lines at once: to look at them chunk by chunk costs twice as much.
    for line, share in zip(lines, evidence.words.shares_in([line.text for line in lines]), strict=True):
        if line.is_said and share >= _SAME_QUESTION and _ASKS.match(line.text):
            continue
        cosines = evidence.lines.get(line.chunk_id)
        has_vector = cosines is not None and line.offset < len(cosines.plain)
        cosine = cosines.plain[line.offset] if cosines and has_vector else evidence.cosines.get(line.chunk_id, 0.0)
        value = evidence.trust * share + cosine
        if line.chunk_id not in best or value > worth[line.chunk_id]:
            worth[line.chunk_id] = value
            best[line.chunk_id] = BestLine(share, cosines.centred[line.offset] if cosines and has_vector else None)
    most = max(worth.values(), default=0.0)
    if most <= 0.0:
        return list(candidates), best
    ranked = [replace(one, score=_together(one.score, worth.get(one.chunk_id, 0.0) / most)) for one in candidates]
    return sorted(ranked, key=lambda one: -one.score), best


class _OwnLine(NamedTuple):
    chunk_id: int
    offset: int
    text: str
    is_said: bool


def _own_lines(candidates: Sequence[Candidate], chunks: Mapping[int, Chunk]) -> Iterator[_OwnLine]:
    """The lines of each chunk that say something and were in none before."""
    seen: set[tuple[str, str, str]] = set()
    for candidate in candidates:
        if (chunk := chunks.get(candidate.chunk_id)) is None:
            continue
        is_said = chunk.kind == "said"
        for offset, text in enumerate(split_lines(chunk.text)):
            place = chunk.path, chunk.session_id, text
            if place not in seen and text.strip():
                seen.add(place)
                yield _OwnLine(candidate.chunk_id, offset, text, is_said)


def _together(score: float, line: float) -> float:
    return (score + _LINE_WEIGHT * max(line, 0.0)) / (1.0 + _LINE_WEIGHT)
