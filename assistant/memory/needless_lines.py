"""Lines of a memory file that could go because another one says the same: found, never removed (pure)."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Literal

from assistant.config.words import say
from assistant.index.text.terms import every_term
from assistant.memory.notes import Note
from assistant.text.diff import diff_of_removal
from assistant.text.markdown import read_lines, without_bullet
from assistant.text.passages import key_of

TidyReason = Literal["says the same", "says nearly the same", "is newer", "says it, as the model reads it"]
BY_THE_MODEL: TidyReason = "says it, as the model reads it"
_REASON_KEYS: dict[TidyReason, str] = {
    "says the same": "reason_same",
    "says nearly the same": "reason_near",
    "is newer": "reason_newer",
    BY_THE_MODEL: "reason_model",
}

_NEAR = 0.8
# Up to so many lines each is compared with each; in a longer file a word that very many share tells little of them.
_COMPARE_ALL_LINES = 600
_MAX_HOLDERS = 200
_MAX_PARTNERS = 40
# A line all of whose words stand in another one says less, unless the other is about much more.
_COVERED = 0.5
_MIN_TERMS = 3
_DATE = re.compile(r"\d{4}[-/.年]\d{1,2}[-/.月]\d{1,2}日?")
_LABEL = re.compile(r"([^:：]{2,40}?)\s*[:：]\s*(\S.*)")
_SINGLE_VALUE = re.compile(r"[\d@]")
_NEGATION = re.compile(r"\b(?:not|no|never|without|cannot)\b|n['’]t\b|不|没|無|无|别|勿", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class TidyProposal:
    """A line of a file that could go; lines are counted from 1. `stays` is the line that makes it needless."""

    name: str
    line: int
    text: str
    stays: str
    stays_line: int
    reason: TidyReason

    @property
    def diff(self) -> str:
        """What accepting it would change, as a unified diff."""
        return diff_of_removal(self.name, self.line, self.text)

    @property
    def reason_text(self) -> str:
        """The reason in the language of the program."""
        return say("memory", _REASON_KEYS[self.reason])


@dataclass(frozen=True, slots=True)
class ComparableLine:
    """A line and what it is compared by: pairs are many, so each is worked out once."""

    number: int
    text: str
    key: str
    terms: frozenset[str]
    numbers: frozenset[str]
    is_denial: bool
    dates: tuple[tuple[int, ...], ...]
    undated: str
    label: str
    """Empty unless the line is a label with a value that a person has one of, such as a number or an address."""


def needless_lines(note: Note) -> list[TidyProposal]:
    """The lines that say the same as another, nearly the same, or something older; none of them is another's reason."""
    found: dict[int, TidyProposal] = {}
    needed: set[int] = set()
    lines = comparable_lines(note.text)
    for earlier, later in combinations(lines, 2) if len(lines) <= _COMPARE_ALL_LINES else _likely_pairs(lines):
        if earlier.number in found or later.number in found:
            continue
        proposal = _compare(note, earlier, later)
        if proposal is not None and proposal.line not in needed:
            found[proposal.line] = proposal
            needed.add(proposal.stays_line)
    return [found[number] for number in sorted(found)]


def comparable_lines(text: str) -> list[ComparableLine]:
    """The lines that say something by themselves: no headings, no code, none with others below it."""
    all_lines = text.split("\n")
    found: list[ComparableLine] = []
    heading = ""
    for number, line in enumerate(read_lines(all_lines), 1):
        if line.heading:
            heading = line.text.strip()
        elif not line.is_code and line.text.strip() and not _has_children(all_lines, number):
            found.append(_line(number, line.text, heading))
    return [line for line in found if line.key]


def propose_line(note: Note, line: ComparableLine, stays: ComparableLine, reason: TidyReason) -> TidyProposal:
    """That this line could go, and because of which other."""
    return TidyProposal(note.name, line.number, line.text, stays.text, stays.number, reason)


def _likely_pairs(lines: Sequence[ComparableLine]) -> Iterator[tuple[ComparableLine, ComparableLine]]:
    """The pairs of a long file that can say the same, in order: those that share a rare word, a label or a date's rest.

    Two lines that are nearly the same share one of the rarest words of either.
    """
    holders: dict[str, list[int]] = defaultdict(list)
    for index, line in enumerate(lines):
        for mark in [*line.terms, *_whole_marks(line)]:
            holders[mark].append(index)
    for index, line in enumerate(lines):
        rare = sorted(line.terms, key=lambda term: len(holders[term]))
        few = [term for term in rare[: len(rare) - int(_NEAR * len(rare)) + 1] if len(holders[term]) <= _MAX_HOLDERS]
        others = {other for mark in [*few, *_whole_marks(line)] for other in _after(holders[mark], index)}
        yield from ((line, lines[other]) for other in sorted(others))


def _whole_marks(line: ComparableLine) -> list[str]:
    """What two lines may share beside words: their key, their label, what they say without dates."""
    label = [f"label {line.label}"] if line.label else []
    return [f"key {line.key}", *label, *([f"undated {line.undated}"] if line.dates else [])]


def _after(indexes: Sequence[int], index: int) -> Sequence[int]:
    start = bisect_right(indexes, index)
    return indexes[start : start + _MAX_PARTNERS]


def _compare(note: Note, earlier: ComparableLine, later: ComparableLine) -> TidyProposal | None:
    if earlier.key == later.key:
        return propose_line(note, later, earlier, "says the same")
    is_twin = bool(earlier.dates and later.dates) and earlier.undated == later.undated
    if is_twin or (earlier.label and earlier.label == later.label):
        older, newer = (earlier, later) if earlier.dates <= later.dates else (later, earlier)
        return propose_line(note, older, newer, "is newer")
    if _is_near(earlier, later):
        less, more = (earlier, later) if len(earlier.terms) < len(later.terms) else (later, earlier)
        return propose_line(note, less, more, "says nearly the same")
    return None


def _is_near(first: ComparableLine, second: ComparableLine) -> bool:
    """True where the words are nearly the same and no number and no denial tells the two apart."""
    small, large = (first, second) if len(first.terms) <= len(second.terms) else (second, first)
    if len(small.terms) < max(_MIN_TERMS, _COVERED * len(large.terms)) or small.is_denial != large.is_denial:
        return False
    if not small.numbers <= large.numbers:
        return False
    shared = len(small.terms & large.terms)
    union = len(small.terms) + len(large.terms) - shared
    return shared == len(small.terms) or (shared >= _NEAR * union and small.numbers == large.numbers)


def _line(number: int, text: str, heading: str) -> ComparableLine:
    said = without_bullet(text)
    key, terms = key_of(said), frozenset(every_term(said))
    label = _LABEL.fullmatch(key)
    return ComparableLine(
        number=number,
        text=text,
        key=key,
        terms=terms,
        numbers=frozenset(term for term in terms if any(map(str.isdigit, term))),
        is_denial=_NEGATION.search(said) is not None,
        dates=tuple(tuple(int(part) for part in re.findall(r"\d+", date)) for date in _DATE.findall(said)),
        undated=key_of(_DATE.sub("", key)),
        label=f"{heading}\n{label[1]}" if label and _SINGLE_VALUE.search(label[2]) else "",
    )


def _has_children(lines: Sequence[str], number: int) -> bool:
    below = next((lines[index] for index in range(number, len(lines)) if lines[index].strip()), "")
    return bool(below) and _indent(below) > _indent(lines[number - 1])


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip())
