"""Which lines of a Markdown text are headings, list items and code (pure)."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from assistant.text.line_ends import split_lines

_HEADING = re.compile(r" {0,3}(#{1,6})(?:[ \t]+(.*?))?(?:[ \t]+#+)?[ \t]*$")
_BULLET = re.compile(r"(\s*)(?:[-*+•]|\d{1,3}[.)])\s+")
_FENCE = re.compile(r" {0,3}(`{3,}|~{3,})(.*)$", re.DOTALL)
_BACKTICKS = re.compile(r"`+")


@dataclass(frozen=True, slots=True)
class Heading:
    """A heading: its level from 1 to 6 and its title, which may be empty."""

    level: int
    title: str


@dataclass(frozen=True, slots=True)
class ListItem:
    """A list item: the space before its bullet or number, and the text after it."""

    indent: str
    text: str


@dataclass(frozen=True, slots=True)
class MarkdownLine:
    """A line of a text; the fences of a code block belong to its code."""

    text: str
    is_code: bool

    @property
    def heading(self) -> Heading | None:
        """The line as a heading; None for any other and in code."""
        return None if self.is_code else read_heading(self.text)


def read_heading(line: str) -> Heading | None:
    """A line outside of code as a heading; None for any other."""
    if "#" not in line:
        return None
    found = _HEADING.match(line)
    return Heading(len(found[1]), (found[2] or "").strip()) if found else None


def read_list_item(line: str) -> ListItem | None:
    """A line as a list item; None for any other."""
    found = _BULLET.match(line)
    return ListItem(found[1], line[found.end() :]) if found else None


def without_bullet(line: str) -> str:
    """The line without space around it and without a bullet or number before it."""
    item = read_list_item(line)
    return (item.text if item else line).strip()


def fence_after(fence: str, line: str) -> str:
    """The code fence that is open after `line`, given the one open before it; empty outside of code.

    A block ends with a fence of the same sign that is at least as long and has nothing behind it.
    """
    if "```" not in line and "~~~" not in line:
        return fence
    found = _FENCE.match(line)
    if found is None:
        return fence
    mark, rest = found[1], found[2]
    if fence:
        return "" if mark[0] == fence[0] and len(mark) >= len(fence) and not rest.strip() else fence
    return "" if mark[0] == "`" and "`" in rest else mark


def read_lines(lines: Iterable[str]) -> Iterator[MarkdownLine]:
    """The lines of a text, top to bottom; a code block that is never closed lasts to the end."""
    fence = ""
    for line in lines:
        before, fence = fence, fence_after(fence, line)
        yield MarkdownLine(line, bool(before or fence))


def read_parts(text: str) -> Iterator[str]:
    """The lines of a text, top to bottom, each block of code in one piece."""
    fence = ""
    block: list[str] = []
    for line in split_lines(text):
        fence = fence_after(fence, line)
        block.append(line)
        if not fence:
            yield "\n".join(block)
            block.clear()
    if block:
        yield "\n".join(block)


def without_code(text: str) -> str:
    """The text without its code blocks."""
    if "```" not in text and "~~~" not in text:
        return text
    return "\n".join(line.text for line in read_lines(split_lines(text)) if not line.is_code)


def without_fence(text: str) -> str:
    """The text without a fence in its first line and the one that closes it in its last; any other as it is.

    Models put a whole document with code blocks of its own into one fence, so what is between is not looked at.
    """
    first, *rest = split_lines(text)
    fence = fence_after("", first)
    return "\n".join(rest[:-1]) if fence and rest and not fence_after(fence, rest[-1]) else text


def with_fence(text: str) -> str:
    """The text as a code block whose fence is longer than any in it."""
    longest = max(map(len, _BACKTICKS.findall(text)), default=0)
    fence = "`" * max(3, longest + 1)
    return f"{fence}\n{text}\n{fence}"
