"""What the lines of a chunk say to a question: the best line counts for its chunk (pure).

A chunk of many entries is near to no question in particular, though one of its lines answers word for word. With its
best line beside the chunk, five chunks hold eight in a hundred pieces of evidence more of Chinese daily notes, and one
in a hundred more of English dialogues.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

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
    seen: set[tuple[str, str, str]] = set()
    worth: dict[int, float] = {}
    best: dict[int, BestLine] = {}
    for candidate in candidates:
        key = candidate.chunk_id
        if (chunk := chunks.get(key)) is None:
            continue
        for value, line in _own_lines(key, chunk, evidence, seen):
            if key not in best or value > worth[key]:
                worth[key], best[key] = value, line
    most = max(worth.values(), default=0.0)
    if most <= 0.0:
        return list(candidates), best
    ranked = [
        replace(
            one, score=(one.score + _LINE_WEIGHT * max(worth.get(one.chunk_id, 0.0), 0.0) / most) / (1 + _LINE_WEIGHT)
        )
        for one in candidates
    ]
    return sorted(ranked, key=lambda one: -one.score), best


def _own_lines(
    key: int, chunk: Chunk, evidence: LineEvidence, seen: set[tuple[str, str, str]]
) -> Iterator[tuple[float, BestLine]]:
    """What each line of the chunk is worth that was in none before; a line without text is worth nothing."""
    of_chunk, cosines = evidence.cosines.get(key, 0.0), evidence.lines.get(key)
    lines = split_lines(chunk.text)
    for index, (line, share) in enumerate(zip(lines, evidence.words.shares_in(lines), strict=True)):
        place = chunk.path, chunk.session_id, line
        if not line.strip() or place in seen:
            continue
        seen.add(place)
        if chunk.kind == "said" and share >= _SAME_QUESTION and _ASKS.match(line):
            continue
        if cosines is None or index >= len(cosines.plain):
            yield evidence.trust * share + of_chunk, BestLine(share, None)
        else:
            yield evidence.trust * share + cosines.plain[index], BestLine(share, cosines.centred[index])
