"""A text of a model as HTML, block by block, while it is being written and once it is whole.

Only the block at the end can still change, so each block before it is rendered once.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from assistant.ui.transcript.half_written import closed, start_of_half_formula
from assistant.ui.transcript.markdown_blocks import Environment, code_html, readable, render_markdown

_FENCE = re.compile(r" {0,3}(`{3,}|~{3,})([^\n]*)\n")
# A fence may stand in a quote or behind the mark of a list.
_PLACE = r"[ \t>]*(?:(?:[-*+]|\d{1,9}[.)])[ \t]+)*"
_FENCE_LINE = re.compile(rf"{_PLACE}(`{{3,}}|~{{3,}})(.*)$")
_HALF_FENCE = re.compile(rf"{_PLACE}(?:`{{3,}}[^`]*|~{{2,}}[^~]*|`{{1,2}})$")


@dataclass(frozen=True, slots=True)
class GrowingText:
    """What is drawn of a text so far: its first `settled_chars` are in `settled` for good, the rest is in `tail`."""

    source: str = ""
    settled_chars: int = 0
    settled: tuple[str, ...] = ()
    tail: tuple[str, ...] = ()
    environment: Environment = field(default_factory=dict[str, object], compare=False, repr=False)

    @property
    def blocks(self) -> tuple[str, ...]:
        """The HTML of each block, the open one last."""
        return (*self.settled, *self.tail)


def grown(before: GrowingText, text: str) -> GrowingText:
    """The text as it is now, while more of it comes; nothing that is settled is rendered again."""
    text = readable(text)
    if not text.startswith(before.source[: before.settled_chars]):
        before = GrowingText()
    environment = dict(before.environment)
    settled, settled_chars = before.settled, before.settled_chars
    if (code := _open_code(text[settled_chars:])) is not None:
        return GrowingText(text, settled_chars, settled, (code,), environment)
    # The last line may become anything, and the last block of the whole lines may go on with it.
    rest = text[settled_chars : text.rfind("\n") + 1]
    rest = rest[: start_of_half_formula(rest)]
    if len(blocks := render_markdown(rest, environment)) > 1:
        settled = (*settled, *(block.html for block in blocks[:-1]))
        lines = rest.split("\n", blocks[-1].start)[: blocks[-1].start]
        settled_chars += sum(len(line) + 1 for line in lines)
    rest = text[settled_chars:]
    code = _open_code(rest)
    tail = (code,) if code is not None else _open_blocks(rest, environment)
    return GrowingText(text, settled_chars, settled, tail, environment)


def whole(text: str) -> GrowingText:
    """The text once nothing more comes: rendered in one go, so that a later definition serves an earlier link."""
    text = readable(text)
    return GrowingText(text, len(text), tuple(block.html for block in render_markdown(text)))


def _open_code(rest: str) -> str | None:
    """The block of code that the text is and ends in; None where it begins with something else or goes on behind."""
    opened = _FENCE.match(rest)
    if opened is None or (opened[1][0] == "`" and "`" in opened[2]):
        return None
    mark = re.escape(opened[1][0])
    if re.search(rf"^ {{0,3}}{mark}{{{len(opened[1])},}}[ \t]*\n", rest[opened.end() :], re.MULTILINE):
        return None
    code, _, last = rest[opened.end() :].rpartition("\n")
    if set(last.strip()) != {opened[1][0]}:
        code = f"{code}\n{last}" if code else last
    words = opened[2].split()
    return code_html(code, words[0] if words else "", is_coloured=False)


def _open_blocks(rest: str, environment: Environment) -> tuple[str, ...]:
    head, _, last = rest.rpartition("\n")
    is_in_fence = _ends_in_fence(head)
    # A line that is or may become that of a fence is shown once it is whole.
    shown = head if _HALF_FENCE.match(last) else rest
    blocks = render_markdown(shown if is_in_fence else closed(shown), dict(environment), is_growing=True)
    return tuple(block.html for block in blocks)


def _ends_in_fence(text: str) -> bool:
    mark = ""
    for line in text.split("\n"):
        match = _FENCE_LINE.match(line)
        if match is None:
            continue
        if not mark:
            mark = "" if match[1][0] == "`" and "`" in match[2] else match[1]
        elif match[1].startswith(mark) and not match[2].strip():
            mark = ""
    return bool(mark)
