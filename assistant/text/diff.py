"""What differs between two versions of a text, as stretches of lines and as a unified diff (pure)."""

from __future__ import annotations

import difflib
from collections.abc import Sequence
from dataclasses import dataclass

_LONG_LINES = 2_000
_MAX_COMPARED_LINES = 1_000
"""Comparing costs the product of both sides; a longer change is shown as lines out and lines in."""


@dataclass(frozen=True, slots=True)
class Stretch:
    """`old[start:stop]` became `new[new_start:new_stop]`."""

    start: int
    stop: int
    new_start: int
    new_stop: int


def changed_stretches(old: Sequence[str], new: Sequence[str]) -> list[Stretch]:
    """What differs, in order; all else is in both.

    The common beginning and end of long texts is left out first, because the cost of comparing grows with the product
    of their lengths. Short texts are compared whole, which gives more natural results.
    """
    is_long = max(len(old), len(new)) > _LONG_LINES
    head, tail = _common_ends(old, new) if is_long else (0, 0)
    matcher = difflib.SequenceMatcher(None, old[head : len(old) - tail], new[head : len(new) - tail], autojunk=False)
    return [
        Stretch(start + head, stop + head, new_start + head, new_stop + head)
        for kind, start, stop, new_start, new_stop in matcher.get_opcodes()
        if kind != "equal"
    ]


def unified_diff(before: str, after: str, path: str) -> str:
    """What changed in the file, as a unified diff with two lines around each change; empty when nothing did."""
    hunks = diff_hunks(before.split("\n"), after.split("\n"), context_lines=2)
    return "\n".join([f"--- {path}", f"+++ {path}", *hunks]) if hunks else ""


def diff_of_removal(path: str, number: int, line: str) -> str:
    """The unified diff of a change that takes out one line, which is the 1-based `number` of the file."""
    return f"--- {path}\n+++ {path}\n@@ -{number} +{number - 1},0 @@\n-{line}"


def diff_hunks(old: Sequence[str], new: Sequence[str], context_lines: int) -> list[str]:
    """The lines of a unified diff below its header; empty when nothing changed."""
    head, tail = _common_ends(old, new)
    if head == len(old) == len(new):
        return []
    first, after_last = max(0, head - context_lines), max(0, tail - context_lines)
    was, becomes = old[first : len(old) - after_last], new[first : len(new) - after_last]
    if max(len(was), len(becomes)) <= _MAX_COMPARED_LINES:
        hunks = list(difflib.unified_diff(was, becomes, lineterm="", n=context_lines))[2:]
        return [_moved(line, first) if line.startswith("@@ ") else line for line in hunks]
    removed, added = old[head : len(old) - tail], new[head : len(new) - tail]
    position = f"@@ -{head + 1},{len(removed)} +{head + 1},{len(added)} @@"
    return [position, *(f"-{line}" for line in removed), *(f"+{line}" for line in added)]


def _moved(position: str, lines: int) -> str:
    """A hunk's first line with both line numbers moved down."""
    numbers: list[str] = []
    for part in position.split()[1:3]:
        number, comma, count = part[1:].partition(",")
        numbers.append(f"{part[0]}{int(number) + lines}{comma}{count}")
    return f"@@ {' '.join(numbers)} @@"


def _common_ends(old: Sequence[str], new: Sequence[str]) -> tuple[int, int]:
    """How many lines both begin with, and how many of the others both end with."""
    shorter = min(len(old), len(new))
    head = tail = 0
    while head < shorter and old[head] == new[head]:
        head += 1
    while tail < shorter - head and old[-1 - tail] == new[-1 - tail]:
        tail += 1
    return head, tail
