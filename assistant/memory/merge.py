"""Two changed versions of one text brought together line by line (pure)."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher

# Only a newline ends a line: `splitlines` would also cut at characters that stand inside one.
_LINE = re.compile(r"[^\n]*\n|[^\n]+")


@dataclass(frozen=True, slots=True)
class Conflict:
    """Lines that both sides changed in different ways."""

    base: str
    mine: str
    theirs: str


@dataclass(frozen=True, slots=True)
class Merge:
    """The merged text; where there are `conflicts`, it holds their lines and then mine, so that nothing is lost."""

    text: str
    conflicts: tuple[Conflict, ...]


def merge(base: str, mine: str, theirs: str) -> Merge:
    """What both sides made of `base`. Lines that both add at one place are kept, theirs first, and are no conflict."""
    base_lines, my_lines, their_lines = (_LINE.findall(text) for text in (base, mine, theirs))
    merged: list[str] = []
    conflicts: list[Conflict] = []
    for stretch in _stretches(base_lines, my_lines, their_lines):
        chosen = _chosen(stretch)
        if chosen is None:
            if stretch.base:
                conflicts.append(Conflict("".join(stretch.base), "".join(stretch.mine), "".join(stretch.theirs)))
            chosen = _both(stretch.theirs, stretch.mine)
        if chosen and merged and not merged[-1].endswith("\n"):
            merged[-1] += "\n"
        merged += chosen
    return Merge("".join(merged), tuple(conflicts))


@dataclass(frozen=True, slots=True)
class _Stretch:
    """What one piece of the base became on either side."""

    base: Sequence[str]
    mine: Sequence[str]
    theirs: Sequence[str]


def _chosen(stretch: _Stretch) -> Sequence[str] | None:
    """The side that changed, or None when both did and differ."""
    if stretch.mine == stretch.theirs or stretch.theirs == stretch.base:
        return stretch.mine
    return stretch.theirs if stretch.mine == stretch.base else None


def _both(theirs: Sequence[str], mine: Sequence[str]) -> list[str]:
    known = {line.rstrip("\n") for line in theirs}
    added = [line for line in mine if line.rstrip("\n") not in known]
    if theirs and added and not theirs[-1].endswith("\n"):
        return [*theirs[:-1], theirs[-1] + "\n", *added]
    return [*theirs, *added]


def _stretches(base: list[str], mine: list[str], theirs: list[str]) -> list[_Stretch]:
    """The base cut at every line that stands unchanged on both sides, with what stands between."""
    my_places, their_places = _places(base, mine), _places(base, theirs)
    stretches: list[_Stretch] = []
    at, my_at, their_at = 0, 0, 0
    for index in range(len(base)):
        my_place, their_place = my_places.get(index), their_places.get(index)
        if my_place is None or their_place is None:
            continue
        stretches.append(_Stretch(base[at:index], mine[my_at:my_place], theirs[their_at:their_place]))
        stretches.append(_Stretch([base[index]], [base[index]], [base[index]]))
        at, my_at, their_at = index + 1, my_place + 1, their_place + 1
    return [*stretches, _Stretch(base[at:], mine[my_at:], theirs[their_at:])]


def _places(base: list[str], side: list[str]) -> dict[int, int]:
    """Where each line of the base that was kept stands on a side."""
    blocks = SequenceMatcher(None, base, side, autojunk=False).get_matching_blocks()
    return {block.a + step: block.b + step for block in blocks for step in range(block.size)}
