"""Unified diffs as coloured lines."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from markupsafe import Markup

from assistant.config.words import say
from assistant.ui.cards import card
from assistant.ui.safe_text import with_visible_controls

DiffKind = Literal["plus", "minus", "hunk", "same"]
_MAX_LINES = 200
_MAX_LINE_CHARS = 2_000


@dataclass(frozen=True, slots=True)
class DiffLine:
    """One line of a diff and its sign."""

    kind: DiffKind
    sign: str
    text: str


def diff_lines(diff: str, max_lines: int = _MAX_LINES, *, is_whole: bool = False) -> list[DiffLine]:
    """The lines of a unified diff without its file header; long ones by their beginning, unless `is_whole`."""
    lines = _without_header(diff)
    shown = [_line(with_visible_controls(line if is_whole else _shortened(line))) for line in lines[:max_lines]]
    if len(lines) > max_lines:
        shown.append(DiffLine("hunk", "", say("page", "lines_go_on", count=len(lines) - max_lines)))
    return shown


def diff_html(diff: str, max_lines: int = _MAX_LINES, *, is_whole: bool = False) -> Markup:
    """A unified diff as a card part."""
    return card("diff_lines", lines=diff_lines(diff, max_lines, is_whole=is_whole))


def added_and_removed(diff: str) -> tuple[int, int]:
    """How many lines a diff adds and removes."""
    signs = [line[:1] for line in _without_header(diff)]
    return signs.count("+"), signs.count("-")


def _without_header(diff: str) -> list[str]:
    # Other signs that end a line for Python stand within the lines of a diff, and what follows them has no sign.
    lines = diff.split("\n")
    has_header = len(lines) >= 2 and lines[0].startswith("--- ") and lines[1].startswith("+++ ")
    return lines[2:] if has_header else lines


def _shortened(line: str) -> str:
    rest = len(line) - _MAX_LINE_CHARS
    return line if rest <= 0 else say("page", "line_goes_on", line=line[:_MAX_LINE_CHARS], count=rest)


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
