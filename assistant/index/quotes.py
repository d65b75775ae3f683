"""How found lines are quoted: rows with their line and speaker, the sentences that answer best marked (pure)."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass

from assistant.index.chunker import ChunkKind
from assistant.index.found_lines import FoundLine, FoundLines
from assistant.index.question_words import QuestionWords
from assistant.index.search import SearchHit
from assistant.text.line_ends import split_lines
from assistant.text.markdown import read_heading
from assistant.text.passages import passages_of

ENOUGH_SHARE = 0.5
"""A sentence with this share of the question's terms answers by its words."""
MAX_ANSWERS = 2
# A passage whose best sentence is further below the best of all is company, not an answer.
_NEARLY_BEST = 0.6

_NO_ANSWER = re.compile(r"[?？:：][\"'”’」』）)*]*$")


@dataclass(frozen=True, slots=True)
class Sentence:
    """One sentence of a hit: `text` says what it says, `row` also has bullet and speaker before it."""

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
    """Where a line is: its 1-based number in its file, and who speaks there, in a conversation."""

    line: int
    speaker: str = ""


@dataclass(frozen=True, slots=True)
class QuotedRow:
    """A line as it is shown, or a part of one: the sentence that answers is a row by itself."""

    place: QuotePlace
    text: str
    is_answer: bool


@dataclass(frozen=True, slots=True)
class Quote:
    """One passage: lines of one file that follow each other."""

    path: str
    heading: str
    day: str
    kind: ChunkKind
    relevance: float
    rows: tuple[QuotedRow, ...]
    session_id: str = ""
    message_id: str = ""
    """Of the row that answers best, in a conversation."""

    @property
    def first_line(self) -> int:
        """Of its rows, 1-based, in the file."""
        return self.rows[0].place.line

    @property
    def last_line(self) -> int:
        """Included."""
        return self.rows[-1].place.line


def sentences_of(hit: SearchHit, words: QuestionWords, known_ids: Collection[str] = ()) -> list[Sentence]:
    """The sentences of a hit's text, in order; blank lines give none, and neither do the messages that are known."""
    sentences: list[Sentence] = []
    for index, line in enumerate(split_lines(hit.text)):
        message_id = hit.message_ids[index] if index < len(hit.message_ids) else ""
        if not message_id or message_id not in known_ids:
            sentences += _sentences_in(line, index, message_id, words)
    return sentences


def is_find(hit: SearchHit, words: QuestionWords, known_ids: Collection[str]) -> bool:
    """False for a hit that owes its relevance to what is known already, the question itself above all."""
    if not hit.message_id or hit.message_id not in known_ids:
        return True
    return any(one.share >= ENOUGH_SHARE for one in sentences_of(hit, words, known_ids) if one.can_answer)


def make_quotes(
    found: Sequence[FoundLines], words: QuestionWords, place_of: Callable[[FoundLine], QuotePlace]
) -> tuple[Quote, ...]:
    """The quotes of lines that follow each other, in the same order; what answers best among all of them is marked."""
    rated = [_rated(one, words) for one in found]
    best = max((one.score for sentences in rated for one in sentences if one.sentence.can_answer), default=0.0)
    return tuple(
        _quote(one, sentences, _NEARLY_BEST * best, place_of) for one, sentences in zip(found, rated, strict=True)
    )


@dataclass(frozen=True, slots=True)
class _Rated:
    """A sentence of a passage; its `line` is the place of the line in the passage."""

    sentence: Sentence
    score: float


def _rated(found: FoundLines, words: QuestionWords) -> list[_Rated]:
    return [
        _Rated(sentence, sentence.share + line.closeness)
        for index, line in enumerate(found.lines)
        for sentence in _sentences_in(line.text, index, line.message_id, words)
    ]


def _quote(
    found: FoundLines, rated: Sequence[_Rated], least: float, place_of: Callable[[FoundLine], QuotePlace]
) -> Quote:
    answers = _answers(rated, least)
    rows: list[QuotedRow] = []
    for index, line in enumerate(found.lines):
        said = [one.sentence for one in rated if one.sentence.line == index]
        rows += _rows(line.text, said, answers, place_of(line))
    hit = found.hit
    message_id = found.lines[answers[0].line if answers else 0].message_id
    return Quote(hit.path, hit.heading, found.day, hit.kind, hit.relevance, tuple(rows), hit.session_id, message_id)


def _sentences_in(line: str, index: int, message_id: str, words: QuestionWords) -> Iterator[Sentence]:
    start = 0
    for passage in passages_of(line):
        yield Sentence(
            index, message_id, line[start : passage.stop].strip(), passage.text, words.share_in(passage.text)
        )
        start = passage.stop


def _answers(rated: Sequence[_Rated], least: float) -> list[Sentence]:
    """The best sentences of a passage, where they are nearly the best of all; equal ones are equally good."""
    possible = [one for one in rated if one.sentence.can_answer]
    best = max((one.score for one in possible), default=-1.0)
    if best < least:
        return []
    equal = [one.sentence for one in possible if one.score >= best]
    return equal[: MAX_ANSWERS if best > 0.0 else 1]


def _rows(line: str, said: Sequence[Sentence], answers: Sequence[Sentence], place: QuotePlace) -> Iterator[QuotedRow]:
    """The line as one row, or parted around the sentences that answer."""
    parts: list[str] = []
    if not any(one in answers for one in said):
        yield _row(line.strip(), place, is_answer=False)
        return
    for one in said:
        if one not in answers:
            parts.append(one.row)
            continue
        if parts:
            yield _row(" ".join(parts), place, is_answer=False)
            parts = []
        yield _row(one.row, place, is_answer=True)
    if parts:
        yield _row(" ".join(parts), place, is_answer=False)


def _row(text: str, place: QuotePlace, *, is_answer: bool) -> QuotedRow:
    return QuotedRow(place, text.removeprefix(f"{place.speaker}:").strip() if place.speaker else text, is_answer)
