"""The end of a text that is still being written, closed for the eye: no mark shows that waits for its other half."""

from __future__ import annotations

import re

from assistant.ui.transcript.formulas import MAX_FORMULA_CHARS

# A line that begins inline text of its own: what was open before it stays open for good.
_NEW_START = re.compile(r"^\s*(?:$|[-*+]\s|\d{1,9}[.)]\s|>|#{1,6}\s|\|)")
_LAST_MARKS = re.compile(r"(?<!\\)(?:[*_`]+|~+)\Z")
_HALF_LINK = re.compile(r"!?\[([^\[\]\n]*)\]\([^()\s]*(?:\([^()\s]*\)?[^()\s]*)?$")
_MARKS = re.compile(r"\\[\s\S]|`+|\*+|_+|~~")
_BLOCK_FORMULA = re.compile(r"^[ \t]*(\$\$|\\\[)", re.MULTILINE)
_FENCED = re.compile(r"^[ \t>]*(`{3,}|~{3,}).*?^[ \t>]*\1", re.MULTILINE | re.DOTALL)
_FORMULA = {r"\(": r"\)", r"\[": r"\]", "$$": "$$"}


def closed(text: str) -> str:
    """The text as Markdown without half a mark at its end, fences apart."""
    whole_end, half_start = _formula_blocks(text)
    text = text[:half_start]
    at = max(whole_end, _last_start(text))
    return text[:at] + _closed_line(text[at:])


def start_of_half_formula(text: str) -> int:
    """Where a formula on lines of its own begins that has no end yet; the end of the text where there is none."""
    return _formula_blocks(text)[1]


def _formula_blocks(text: str) -> tuple[int, int]:
    # Such a formula may hold empty lines, so the last paragraph alone does not tell.
    bare = _FENCED.sub(lambda match: " " * len(match.group()), text)
    at = 0
    while match := _BLOCK_FORMULA.search(bare, at):
        end = bare.find(_FORMULA[match[1]], match.end())
        if end < 0:
            is_near = len(text) - match.start() < MAX_FORMULA_CHARS
            return at, match.start() if is_near else len(text)
        at = end + 2
    return at, len(text)


def _last_start(text: str) -> int:
    at = len(text)
    while at > 0:
        begin = text.rfind("\n", 0, at) + 1
        if _NEW_START.match(text[begin:at]):
            return begin if text[begin:at].strip() else at
        at = begin - 1
        if at < 0:
            return 0
    return 0


def _closed_line(text: str) -> str:
    # Marks at the very end open or close something of which the other half, or the word, is on its way.
    text = _HALF_LINK.sub(r"\1", _LAST_MARKS.sub("", _without_half_formula(text)))
    opened: list[str] = []
    at = 0
    while match := _MARKS.search(text, at):
        mark = match.group()
        at = match.end()
        if mark[0] == "`":
            end = _end_of_code(text, at, mark)
            if end is None:
                opened.append(mark)
                break
            at = end
        elif mark[0] != "\\":
            _note_mark(opened, mark, text[: match.start()][-1:], text[at : at + 1])
    if not opened:
        return text
    # Behind a space a closing mark would not close, but for that of code.
    kept = text if opened[-1][0] == "`" else text.rstrip()
    return kept + "".join(reversed(opened))


def _without_half_formula(text: str) -> str:
    at = 0
    while match := re.search(r"\\[\s\S]|\$\$|`+", text[at:]):
        start, mark = at + match.start(), match.group()
        at += match.end()
        closing = _FORMULA.get(mark) or (mark if mark[0] == "`" else None)
        if closing is None:
            continue
        end = text.find(closing, at)
        if end < 0 and mark[0] != "`" and len(text) - start < MAX_FORMULA_CHARS:
            return text[:start]
        if end < 0:
            return text
        at = end + len(closing)
    return text


def _end_of_code(text: str, start: int, mark: str) -> int | None:
    for match in re.finditer("`+", text[start:]):
        if match.group() == mark:
            return start + match.end()
    return None


def _note_mark(opened: list[str], mark: str, before: str, after: str) -> None:
    can_open = bool(after) and not after.isspace()
    can_close = bool(before) and not before.isspace()
    if mark[0] == "_":
        can_open, can_close = can_open and not before.isalnum(), can_close and not after.isalnum()
    if can_close and mark in opened:
        del opened[opened.index(mark) :]
    elif can_open:
        opened.append(mark)
