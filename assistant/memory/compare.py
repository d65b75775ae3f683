"""Two versions of a text compared line by line (pure)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher

_LONG_LINES = 2_000


@dataclass(frozen=True, slots=True)
class Stretch:
    """`old[start:stop]` became `new[new_start:new_stop]`."""

    start: int
    stop: int
    new_start: int
    new_stop: int


def changed_stretches(old: Sequence[str], new: Sequence[str]) -> list[Stretch]:
    """What differs, in order; all else stands in both.

    Of long texts what both begin and end with is left out first: to compare costs the product of their doubles. Short
    ones are compared whole, which finds the more natural places.
    """
    head = 0
    shorter = min(len(old), len(new)) if max(len(old), len(new)) > _LONG_LINES else 0
    while head < shorter and old[head] == new[head]:
        head += 1
    tail = 0
    while tail < shorter - head and old[-1 - tail] == new[-1 - tail]:
        tail += 1
    matcher = SequenceMatcher(None, old[head : len(old) - tail], new[head : len(new) - tail], autojunk=False)
    return [
        Stretch(start + head, stop + head, new_start + head, new_stop + head)
        for kind, start, stop, new_start, new_stop in matcher.get_opcodes()
        if kind != "equal"
    ]
