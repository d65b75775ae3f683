"""Unified diffs as coloured lines."""

from __future__ import annotations

import difflib
from dataclasses import dataclass
from typing import Literal

from markupsafe import Markup

from assistant.ui.cards import card

DiffKind = Literal["plus", "minus", "hunk", "same"]
_MAX_LINES = 200


@dataclass(frozen=True, slots=True)
class DiffLine:
    """One line of a diff and its sign."""

    kind: DiffKind
    sign: str
    text: str


def diff_lines(diff: str) -> list[DiffLine]:
    """The lines of a unified diff without its file header."""
    lines = diff.splitlines()
    if len(lines) >= 2 and lines[0].startswith("--- ") and lines[1].startswith("+++ "):
        lines = lines[2:]
    shown = [_line(line) for line in lines[:_MAX_LINES]]
    if len(lines) > _MAX_LINES:
        shown.append(DiffLine("hunk", "", f"… {len(lines) - _MAX_LINES} more lines"))
    return shown


def diff_html(diff: str) -> Markup:
    """A unified diff as a card part."""
    return card("diff_lines", lines=diff_lines(diff))


def unified(before: str, after: str) -> str:
    """The unified diff from one text to another."""
    return "\n".join(difflib.unified_diff(before.splitlines(), after.splitlines(), "before", "after", lineterm="", n=2))


def added_and_removed(diff: str) -> tuple[int, int]:
    """How many lines a diff adds and removes."""
    kinds = [line.kind for line in diff_lines(diff)]
    return kinds.count("plus"), kinds.count("minus")


def _line(line: str) -> DiffLine:
    match line[:1]:
        case "+":
            return DiffLine("plus", "+", line[1:])
        case "-":
            return DiffLine("minus", "−", line[1:])
        case "@":
            return DiffLine("hunk", "", line)
        case _:
            return DiffLine("same", "", line[1:])
