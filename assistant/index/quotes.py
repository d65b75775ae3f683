"""Which sentences of a found place answer the question: rows with their line, the best of them marked (pure)."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass

from assistant.index.chunker import ChunkKind
from assistant.index.search import SNIPPET_CHARS, SearchHit, make_snippet
from assistant.text.line_ends import split_lines
from assistant.text.markdown import read_heading
from assistant.text.passages import fold, passages_of

ENOUGH_SHARE = 0.5
"""A sentence with this share of the question's terms answers by its words; below it, meaning is asked too."""
MAX_ANSWERS = 2

_NO_ANSWER = re.compile(r"[?？:：][\"'”’」』）)*]*$")
_ENDINGS = ("ing", "ies", "es", "ed", "s", "y", "e")
_MIN_STEM_CHARS = 3


@dataclass(frozen=True, slots=True)
class Sentence:
    """One sentence of a hit: `text` says what it says, `row` also holds bullet and speaker before it."""

    line: int
    """0-based, within the text of the hit."""
    message_id: str
    """Whose words they are, in a conversation."""
    row: str
    text: str
    share: float
    """Share of the question's terms in it."""

    @property
    def can_answer(self) -> bool:
        """False for questions, headings, and what only announces something, however many words they share."""
        return not _NO_ANSWER.search(self.text) and not read_heading(self.row)


@dataclass(frozen=True, slots=True)
class QuotePlace:
    """Where a sentence stands: the 1-based line of its file, and who speaks there, in a conversation."""

    line: int
    speaker: str = ""


@dataclass(frozen=True, slots=True)
class QuotedRow:
    """One sentence as it is shown."""

    place: QuotePlace
    text: str
    is_answer: bool


@dataclass(frozen=True, slots=True)
class Quote:
    """What is shown of one hit: the sentences that answer best, and what stands around them."""

    path: str
    heading: str
    day: str
    kind: ChunkKind
    relevance: float
    rows: tuple[QuotedRow, ...]


def sentences_of(hit: SearchHit, terms: Sequence[str], known_ids: Collection[str] = ()) -> list[Sentence]:
    """The sentences of a hit's text, in order; blank lines give none, and neither do the messages that are known."""
    sentences: list[Sentence] = []
    for index, line in enumerate(split_lines(hit.text)):
        message_id = hit.message_ids[index] if index < len(hit.message_ids) else ""
        if message_id and message_id in known_ids:
            continue
        start = 0
        for passage in passages_of(line):
            share = share_of(passage.text, terms)
            sentences.append(Sentence(index, message_id, line[start : passage.stop].strip(), passage.text, share))
            start = passage.stop
    return sentences


def is_find(hit: SearchHit, sentences: Sequence[Sentence], known_ids: Collection[str]) -> bool:
    """False for a hit that owes its relevance to what is known already, the question itself above all."""
    if not hit.message_id or hit.message_id not in known_ids:
        return bool(sentences)
    return any(one.share >= ENOUGH_SHARE for one in sentences if one.can_answer)


def share_of(text: str, terms: Sequence[str]) -> float:
    """Share of the terms that stand in the text, in whatever form of the word."""
    folded = fold(text)
    return sum(_stem(term) in folded for term in terms) / len(terms) if terms else 0.0


def wants_meaning(sentences: Sequence[Sentence]) -> bool:
    """True when there is a choice between sentences and words alone do not make it."""
    answers = [sentence.share for sentence in sentences if sentence.can_answer]
    return len(answers) > 1 and max(answers) < ENOUGH_SHARE


def make_quote(
    hit: SearchHit,
    sentences: Sequence[Sentence],
    scores: Sequence[float] | None,
    terms: Sequence[str],
    place_of: Callable[[Sentence], QuotePlace],
) -> Quote:
    """The quote of a hit; `scores` are those of its sentences, None where their words decide."""
    rated = scores if scores is not None else [sentence.share for sentence in sentences]
    answers = _answers(sentences, rated, is_by_words=scores is None)
    rows = [
        _row(sentences[index], place_of(sentences[index]), terms, index in answers)
        for index in _shown(sentences, answers)
    ]
    return Quote(hit.path, hit.heading, hit.day, hit.kind, hit.relevance, tuple(rows))


def _answers(sentences: Sequence[Sentence], scores: Sequence[float], *, is_by_words: bool) -> list[int]:
    """The best sentences; those with an equal share of the words are equally good."""
    possible = [index for index, sentence in enumerate(sentences) if sentence.can_answer]
    if not possible:
        return []
    best = max(scores[index] for index in possible)
    equal = [index for index in possible if scores[index] >= best]
    return equal[: MAX_ANSWERS if is_by_words and best > 0.0 else 1]


def _shown(sentences: Sequence[Sentence], answers: Sequence[int]) -> list[int]:
    """The answers and what follows and comes before the first of them, as far as there is room."""
    shown = set(answers or [0]) if sentences else set[int]()
    used = sum(len(sentences[index].row) for index in shown)
    first = min(shown, default=0)
    for index in (*range(first + 1, len(sentences)), *range(first - 1, -1, -1)):
        if index in shown:
            continue
        if used + len(sentences[index].row) > SNIPPET_CHARS:
            break
        shown.add(index)
        used += len(sentences[index].row)
    return sorted(shown)


def _row(sentence: Sentence, place: QuotePlace, terms: Sequence[str], is_answer: bool) -> QuotedRow:
    text = sentence.row.removeprefix(f"{place.speaker}:").strip() if place.speaker else sentence.row
    return QuotedRow(place, text if len(text) <= SNIPPET_CHARS else make_snippet(text, terms).text, is_answer)


def _stem(term: str) -> str:
    """The term without the ending of its form, where enough of it is left."""
    ending = next((ending for ending in _ENDINGS if term.endswith(ending)), "") if term.isascii() else ""
    return term.removesuffix(ending) if len(term) - len(ending) >= _MIN_STEM_CHARS else term
