"""Which of many lines stay under a limit: the weightiest, and of equal ones some of every stretch."""

from __future__ import annotations

from collections.abc import Sequence


def choose_spread(weights: Sequence[int], sizes: Sequence[int], max_size: int) -> list[int]:
    """The places of those that stay, in order, together at most `max_size`.

    A lighter one stays only where all heavier ones do. Of the weight at which room runs out every second, third, …
    stays, the newest among them.
    """
    chosen: list[int] = []
    left = max_size
    for weight in sorted(set(weights), reverse=True):
        places = [place for place, own in enumerate(weights) if own == weight]
        # One that fits nowhere must not take the place of all others.
        taken = _spread([place for place in places if sizes[place] <= left], sizes, left)
        chosen += taken
        left -= sum(sizes[place] for place in taken)
        if len(taken) < len(places):
            break
    return sorted(chosen)


def choose_newest(sizes: Sequence[int], max_size: int) -> list[int]:
    """The places of the last ones that fit together, in order."""
    place, left = len(sizes), max_size
    while place and sizes[place - 1] <= left:
        place -= 1
        left -= sizes[place]
    return list(range(place, len(sizes)))


def _spread(places: Sequence[int], sizes: Sequence[int], max_size: int) -> list[int]:
    count: int = len(places)
    while count:
        # Counted from the end, so that the newest is always one of them.
        taken = [places[-1 - step * len(places) // count] for step in range(count)]
        size: int = sum(sizes[place] for place in taken)
        if size <= max_size:
            return taken
        count = min(count - 1, count * max(0, max_size) // size)
    return []
