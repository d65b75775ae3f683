"""Unified diffs as coloured lines."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from markupsafe import Markup

from assistant.config.words import say
from assistant.text.visible_text import split_for_reading, with_visible_controls
from assistant.ui.cards import card

DiffKind = Literal["plus", "minus", "hunk", "same"]
_MAX_LINES = 200
_MAX_LINE_CHARS = 2_000
# More than a preview has: nothing that is to be allowed is cut here.
_WHOLE_MAX_LINES = 100_000


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


def whole_diff_html(diff: str, fold_id: str) -> Markup:
    """A unified diff with every line of it: of a long one the rest has to be opened."""
    lines = diff_lines(diff, _WHOLE_MAX_LINES, is_whole=True)
    part = split_for_reading([line.text for line in lines])
    head = card("diff_lines", lines=lines[: len(part.head)])
    if not part.rest:
        return head
    rest = card("diff_lines", lines=lines[len(part.head) :])
    return head + card("rest", body=rest, lines=len(part.rest), chars=part.rest_chars, fold_id=fold_id)


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
