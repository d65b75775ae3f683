"""What changed from one summary to the next: line by line, and word by word within a line (pure)."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from itertools import groupby
from typing import Literal

from assistant.config.words import say

LineKind = Literal["same", "minus", "plus", "gap"]
_CJK = "\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af"
# A Chinese or Japanese character is a word of its own: there are no spaces to part them.
_WORD = re.compile(rf"[{_CJK}]|[^\W{_CJK}]+|\s+|.", re.DOTALL)
_ALIKE = 0.5
# Above these the lines are compared as wholes, so that no summary can keep the page waiting.
_MAX_PAIRS = 400
_MAX_LINE_CHARS = 4_000
_CONTEXT_LINES = 2


@dataclass(frozen=True, slots=True)
class Piece:
    """A stretch of a line, and whether it is what changed in it."""

    text: str
    is_changed: bool = False


@dataclass(frozen=True, slots=True)
class ComparedLine:
    """A line of the earlier summary (`minus`), of the later one (`plus`) or of both; a gap says what was left out."""

    kind: LineKind
    pieces: tuple[Piece, ...]

    @property
    def text(self) -> str:
        """The line as it is in its summary."""
        return "".join(piece.text for piece in self.pieces)


def compare_summaries(previous: str, summary: str) -> list[ComparedLine]:
    """All lines of both, in the order of the later one; a changed line follows the one it replaces."""
    before, after = _lines(previous), _lines(summary)
    compared: list[ComparedLine] = []
    for tag, start, stop, new_start, new_stop in SequenceMatcher(None, before, after, autojunk=False).get_opcodes():
        if tag == "equal":
            compared += [_whole("same", line) for line in before[start:stop]]
        else:
            compared += _replaced(before[start:stop], after[new_start:new_stop])
    return compared


def without_long_runs(lines: Sequence[ComparedLine]) -> list[ComparedLine]:
    """The lines with each long run of unchanged ones in place of which a gap says how many there are."""
    shown: list[ComparedLine] = []
    runs = [(kind, list(run)) for kind, run in groupby(lines, key=lambda line: line.kind)]
    for index, (kind, run) in enumerate(runs):
        head = _CONTEXT_LINES if index else 0
        tail = _CONTEXT_LINES if index < len(runs) - 1 else 0
        hidden = len(run) - head - tail
        if kind != "same" or hidden < 2 or len(runs) == 1:
            shown += run
        else:
            gap = _whole("gap", say("page", "lines_as_before", count=hidden))
            shown += [*run[:head], gap, *run[len(run) - tail :]]
    return shown


def _lines(text: str) -> list[str]:
    return text.strip().split("\n") if text.strip() else []


def _whole(kind: LineKind, line: str) -> ComparedLine:
    return ComparedLine(kind, (Piece(line),))


def _replaced(before: Sequence[str], after: Sequence[str]) -> list[ComparedLine]:
    """Each old line with the first new one that is like it behind it, in order."""
    can_pair = len(before) * len(after) <= _MAX_PAIRS
    compared: list[ComparedLine] = []
    start = 0
    for old in before:
        alike = (index for index in range(start, len(after)) if can_pair and _is_alike(old, after[index]))
        match = next(alike, None)
        if match is None:
            compared.append(_whole("minus", old))
            continue
        compared += [_whole("plus", line) for line in after[start:match]]
        compared += _word_by_word(old, after[match])
        start = match + 1
    return [*compared, *(_whole("plus", line) for line in after[start:])]


def _is_alike(old: str, new: str) -> bool:
    if not old.strip() or not new.strip() or max(len(old), len(new)) > _MAX_LINE_CHARS:
        return False
    matcher = SequenceMatcher(None, _WORD.findall(old), _WORD.findall(new), autojunk=False)
    return matcher.quick_ratio() >= _ALIKE and matcher.ratio() >= _ALIKE


def _word_by_word(old: str, new: str) -> list[ComparedLine]:
    before, after = _WORD.findall(old), _WORD.findall(new)
    gone: list[Piece] = []
    come: list[Piece] = []
    for tag, start, stop, new_start, new_stop in SequenceMatcher(None, before, after, autojunk=False).get_opcodes():
        is_changed = tag != "equal"
        gone += [Piece("".join(before[start:stop]), is_changed)] if start < stop else []
        come += [Piece("".join(after[new_start:new_stop]), is_changed)] if new_start < new_stop else []
    return [ComparedLine("minus", tuple(gone)), ComparedLine("plus", tuple(come))]
