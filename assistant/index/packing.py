"""Which lines of the found chunks are handed over: the best ones and their neighbours, as far as there is room (pure).

What makes a line worth its room was measured on LoCoMo with 600 and with 2,000 tokens: the question's words in the line
and beside it, how well its chunk answers, and how high its chunk ranks. A line that only asks is no evidence.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from assistant.index.chunker import estimate_tokens
from assistant.index.found_lines import FoundLine, FoundLines
from assistant.index.question_words import stem
from assistant.index.text.terms import content_terms
from assistant.text.passages import key_of, passages_of

CHUNKS_LOOKED_AT = 20
"""Lines of more chunks bring nothing."""
_CHUNK_RELEVANCE = 0.5
_WORDS_BESIDE = 0.3
_SAYS_NOTHING = 0.1
_BEFORE = 0.7
_AFTER = 0.8
# A line further than this from any word of the question belongs to another subject.
_REACH_LINES = 2
_SURE_SHARE = 0.25
_CLOSE = 0.2
# What a row costs beside its text, and the head of a passage.
_ROW_TOKENS = 4
_HEAD_TOKENS = 16
_SAME_FACT = 0.75
_SAME_SUBJECT = 0.5
_LEAST_SHARED_TERMS = 2
# What is newer about the same thing has nearly as much of the question.
_AS_MUCH = 0.8

_DENIES = re.compile(r"\b(?:no|not|never|none|nobody|without)\b|n['’]t\b|[不没無无]", re.IGNORECASE)
_SPEAKER = re.compile(r"(?:user|assistant): ")
_WRITTEN_ON = re.compile(r"\s*[(（]\d{4}-\d{2}-\d{2}[)）]\s*$")


@dataclass(frozen=True, slots=True)
class Room:
    """How much text may be handed over, and how it is counted."""

    tokens: int
    count: Callable[[str], int] = estimate_tokens


def pack_lines(texts: Sequence[Sequence[FoundLine]], room: Room) -> tuple[FoundLines, ...]:
    """The lines that are worth most within `room`, newest first.

    What is said several times is given once, as it was said last. A line is never given without the newer ones about
    the same thing: where they have no room, it goes too.
    """
    weighed = [_weighed(text) for text in texts]
    packing = _Packing(room, [line for text in weighed for line in text if line.is_near])
    packing.fill()
    packing.add_newer()
    runs = [FoundLines(run) for text in weighed for run in _runs(text)]
    return tuple(sorted(runs, key=lambda run: run.day, reverse=True))


class _Weighed:
    """A line with what it is worth; `before` and `after` are the lines around it."""

    def __init__(self, line: FoundLine) -> None:
        self.line = line
        self.worth = 0.0
        self.is_near = False
        self.is_taken = False
        self.said_again = ""
        self.before: _Weighed | None = None
        self.after: _Weighed | None = None

    @cached_property
    def terms(self) -> frozenset[str]:
        """What the line speaks of."""
        return frozenset(stem(term) for term in content_terms(self.said))

    @cached_property
    def said(self) -> str:
        """The line without who speaks, and without the day it was written on."""
        return _WRITTEN_ON.sub("", _SPEAKER.sub("", self.line.text, count=1))

    @cached_property
    def key(self) -> str:
        """What is said, without case and punctuation around it."""
        return key_of(self.said)

    @cached_property
    def time(self) -> tuple[str, int, int]:
        """Orders lines by when they were written, as far as that is known."""
        return self.line.hit.day, self.line.hit.first_line, self.line.offset

    @property
    def day(self) -> str:
        """When it was said last, as far as that is known."""
        return max(self.line.hit.day, self.said_again)

    @property
    def rank(self) -> tuple[int, tuple[str, int, int]]:
        """Of two lines that say the same, the one of higher rank is kept: a note, the person's words, the newest."""
        if self.line.hit.kind == "note":
            return 2, self.time
        is_echo = self.line.hit.kind == "tool_result" or self.line.speaker == "assistant"
        return (0 if is_echo else 1), self.time

    @property
    def has_taken_neighbour(self) -> bool:
        """True where the line makes a passage longer and begins none."""
        return any(beside is not None and beside.is_taken for beside in (self.before, self.after))

    def says_the_same(self, other: _Weighed) -> bool:
        """True where one only repeats the other: most of the words, all of the numbers, and both deny or neither."""
        if self.key == other.key:
            return True
        shared, both = self.terms & other.terms, self.terms | other.terms
        is_alike = len(shared) >= max(_LEAST_SHARED_TERMS, _SAME_FACT * len(both))
        if not is_alike or self.line.says_something != other.line.says_something:
            return False
        return _deny_alike(self.said, other.said) and not _has_number(both - shared)

    def repeats(self, other: _Weighed) -> bool:
        """True where one of them is enough."""
        return self.says_the_same(other) or self._is_kept_in(other) or other._is_kept_in(self)

    def _is_kept_in(self, note: _Weighed) -> bool:
        """True for something said of which a memory file has kept what answers."""
        if note.line.hit.kind != "note" or self.line.hit.kind == "note" or not note.line.says_something:
            return False
        if note.line.share < _AS_MUCH * self.line.share or len(note.terms) < _LEAST_SHARED_TERMS:
            return False
        return any(_keeps(note, passage.text) for passage in passages_of(self.said))

    def is_about_the_same(self, other: _Weighed) -> bool:
        """True where both speak of one thing, whatever they say of it."""
        shorter = min(len(self.terms), len(other.terms))
        return len(self.terms & other.terms) >= max(_LEAST_SHARED_TERMS, _SAME_SUBJECT * shorter)


class _Packing:
    """What is taken, and how much room is left."""

    def __init__(self, room: Room, lines: Sequence[_Weighed]) -> None:
        self._left_tokens = room.tokens
        self._paid_tokens: dict[_Weighed, int] = {}
        self._count = room.count
        self._lines = sorted(lines, key=lambda one: (one.worth, one.time), reverse=True)

    def fill(self) -> None:
        """Take the best lines that fit; of those that say the same one, in a note rather than a conversation."""
        taken: list[_Weighed] = []
        for line in self._lines:
            if self._left_tokens < _HEAD_TOKENS:
                break
            twin = next((one for one in taken if one.repeats(line)), None)
            if twin is None:
                if self._take(line):
                    taken.append(line)
            elif twin.rank >= line.rank:
                twin.said_again = max(twin.said_again, line.day)
            else:
                self._replace(twin, line, taken)

    def _replace(self, twin: _Weighed, line: _Weighed, taken: list[_Weighed]) -> None:
        """Take the line in place of one that it repeats, as far as there is room."""
        self._give_back(twin)
        kept, other = (line, twin) if self._take(line) else (twin, line)
        if kept is twin:
            self._take(twin)
        else:
            taken[taken.index(twin)] = line
        kept.said_again = max(kept.said_again, other.day)

    def add_newer(self) -> None:
        """Take what is newer about the same thing, in place of what is worth least; else the older line goes."""
        for line in [one for one in self._taken() if one.line.share >= _SURE_SHARE]:
            newer = [one for one in self._lines if not one.is_taken and _supersedes(one, line)]
            for one in sorted(newer, key=lambda one: one.time, reverse=True) if line.is_taken else ():
                if not self._make_room(one, line):
                    self._give_back(line)
                    self._take(one)
                    break

    def _taken(self) -> list[_Weighed]:
        return [one for one in self._lines if one.is_taken]

    def _make_room(self, line: _Weighed, kept: _Weighed) -> bool:
        while not self._take(line):
            others = (one for one in reversed(self._taken()) if one is not kept and one.worth < kept.worth)
            least = next((one for one in others if not _supersedes(one, kept)), None)
            if least is None:
                return False
            self._give_back(least)
        return True

    def _take(self, line: _Weighed) -> bool:
        cost = self._cost(line) + (0 if line.has_taken_neighbour else _HEAD_TOKENS)
        if cost > self._left_tokens:
            return False
        self._left_tokens -= cost
        self._paid_tokens[line] = cost
        line.is_taken = True
        return True

    def _give_back(self, line: _Weighed) -> None:
        line.is_taken = False
        self._left_tokens += self._paid_tokens.pop(line)

    def _cost(self, line: _Weighed) -> int:
        return self._count(line.line.text) + _ROW_TOKENS


def _keeps(note: _Weighed, sentence: str) -> bool:
    """True where a memory file says what the sentence says, perhaps in fewer words."""
    there = frozenset(stem(term) for term in content_terms(sentence))
    missing = note.terms - there
    is_alike = len(missing) <= (1.0 - _SAME_FACT) * len(note.terms)
    return is_alike and not _has_number(missing) and _deny_alike(note.said, sentence)


def _deny_alike(text: str, other: str) -> bool:
    return bool(_DENIES.search(text)) == bool(_DENIES.search(other))


def _has_number(terms: Iterable[str]) -> bool:
    return any(character.isdigit() for term in terms for character in term)


def _supersedes(one: _Weighed, other: _Weighed) -> bool:
    is_newer = one.line.hit.day > other.line.hit.day
    if not is_newer or not one.line.says_something or one.line.share < _AS_MUCH * other.line.share:
        return False
    return one.is_about_the_same(other) and not one.repeats(other)


def _weighed(text: Sequence[FoundLine]) -> list[_Weighed]:
    """What each line is worth, by itself and by its neighbours, and whether it is near to a word of the question."""
    weighed = [_Weighed(line) for line in text]
    own = [_own_worth(text, index) for index in range(len(text))]
    for index, one in enumerate(weighed):
        one.before = weighed[index - 1] if index else None
        one.after = weighed[index + 1] if index + 1 < len(text) else None
        after, before = _AFTER * own[index - 1] if index else 0.0, _BEFORE * own[index + 1] if one.after else 0.0
        one.worth = max(own[index], after, before)
        around = text[max(index - _REACH_LINES, 0) : index + _REACH_LINES + 1]
        one.is_near = any(line.share > 0.0 or line.closeness >= _CLOSE for line in around)
    return weighed


def _own_worth(text: Sequence[FoundLine], index: int) -> float:
    line = text[index]
    beside = max((text[other].share for other in (index - 1, index + 1) if 0 <= other < len(text)), default=0.0)
    own = line.share + _WORDS_BESIDE * beside + max(line.closeness, 0.0)
    own += _CHUNK_RELEVANCE * line.hit.relevance + line.hit.score
    return own if line.says_something else own - _SAYS_NOTHING


def _runs(text: Sequence[_Weighed]) -> Iterator[tuple[FoundLine, ...]]:
    run: list[FoundLine] = []
    for one in text:
        if one.is_taken:
            run.append(replace(one.line, said_again=one.said_again) if one.said_again else one.line)
        elif run:
            yield tuple(run)
            run = []
    if run:
        yield tuple(run)
