"""Two changed versions of one text brought together line by line (pure)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from assistant.text.diff import changed_stretches


@dataclass(frozen=True, slots=True)
class Conflict:
    """Lines that both sides changed in different ways."""

    base: str
    mine: str
    theirs: str


@dataclass(frozen=True, slots=True)
class Merge:
    """The merged text; both sides of a conflict stand in it, theirs first, so that nothing is lost."""

    text: str
    conflicts: tuple[Conflict, ...]


def merge(base: str, mine: str, theirs: str) -> Merge:
    """What both sides made of `base`. Lines that both add at one place are kept, theirs first, and are no conflict."""
    # A text that ends in a newline has an empty last line here. `splitlines` would cut at more than newlines.
    merged: list[str] = []
    conflicts: list[Conflict] = []
    for stretch in _stretches(base.split("\n"), mine.split("\n"), theirs.split("\n")):
        chosen = _chosen(stretch)
        if chosen is None:
            if any(line.strip() for line in stretch.base):
                conflicts.append(Conflict("\n".join(stretch.base), "\n".join(stretch.mine), "\n".join(stretch.theirs)))
            chosen = [*stretch.theirs, *(line for line in stretch.mine if line not in stretch.theirs)]
        merged += chosen
    return Merge("\n".join(merged), tuple(conflicts))


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


def _stretches(base: list[str], mine: list[str], theirs: list[str]) -> list[_Stretch]:
    """The base cut at every line that is unchanged on both sides, with what is between."""
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
    places: dict[int, int] = {}
    at, side_at = 0, 0
    for stretch in changed_stretches(base, side):
        places |= zip(range(at, stretch.start), range(side_at, stretch.new_start), strict=True)
        at, side_at = stretch.stop, stretch.new_stop
    return places | dict(zip(range(at, len(base)), range(side_at, len(side)), strict=True))
