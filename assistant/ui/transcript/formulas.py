r"""Formulas between `$…$`, `$$…$$`, `\(…\)` and `\[…\]`: found in Markdown, and drawn as MathML.

Money is no formula: a dollar sign before a space, behind a digit or around plain words stays what it is.
"""

from __future__ import annotations

import html
import re
from collections.abc import Iterator
from functools import lru_cache
from xml.etree.ElementTree import Element

from latex2mathml import commands, exceptions
from latex2mathml.converter import Converter
from markdown_it import MarkdownIt
from markdown_it.rules_block import StateBlock
from markdown_it.rules_inline import StateInline

from assistant.ui.transcript.cleaning import MATH_ATTRIBUTES, MATH_TAGS

MAX_FORMULA_CHARS = 4_000
_MAX_DEPTH = 40
# Opening mark, closing mark, whether it has a line of its own.
_MARKS = (("$$", "$$", True), (r"\[", r"\]", True), (r"\(", r"\)", False), ("$", "$", False))
_PLAIN_WORDS = re.compile(r"(?<![\\A-Za-z{])[A-Za-z]{2,}")
# They would make new commands, which may call themselves.
_MACROS = re.compile(r"\\(?:(?:re)?newcommand|providecommand|def|let|gdef|edef|DeclareMathOperator)\b")
# Environments by the names under which the converter knows them.
_SAME = {"aligned": "align*", "gathered": "align*", "gather*": "align*", "gather": "align*", "dcases": "cases"}
_KNOWN = {name.removeprefix("\\") for name in commands.MATRICES}
_ENVIRONMENT = re.compile(r"\\(begin|end)\{([^{}]*)\}")
# What the converter does not know becomes an identifier: a command with its backslash, or a mark of LaTeX.
_UNKNOWN = {"mi": re.compile(r"\\[A-Za-z]|[&}\\]$"), "mo": re.compile(r"\\[A-Za-z]")}
_CHILDREN = {"mfrac": 2, "msup": 2, "msub": 2, "mover": 2, "munder": 2, "mroot": 2, "msubsup": 3, "munderover": 3}
_ERRORS: tuple[type[Exception], ...] = (
    *(error for error in vars(exceptions).values() if isinstance(error, type) and issubclass(error, Exception)),
    AttributeError,
    IndexError,
    KeyError,
    TypeError,
    ValueError,
    RecursionError,
    StopIteration,
    RuntimeError,
)


def add_formulas(parser: MarkdownIt) -> None:
    """Teach a Markdown parser where formulas are: tokens of the types `formula` and `formula_block`."""
    parser.inline.ruler.before("escape", "formula", _find_inline)
    parser.block.ruler.before(
        "fence", "formula_block", _find_block, {"alt": ["paragraph", "reference", "blockquote", "list"]}
    )


@lru_cache(maxsize=512)
def formula_html(source: str, is_block: bool) -> str | None:
    """The formula as MathML; None where it cannot be drawn, so that its source is shown."""
    if len(source) > MAX_FORMULA_CHARS or _MACROS.search(source) or _depth(source) > _MAX_DEPTH:
        return None
    latex = _ENVIRONMENT.sub(lambda match: f"\\{match[1]}{{{_SAME.get(match[2], match[2])}}}", source.strip())
    if any(name not in _KNOWN for _, name in _ENVIRONMENT.findall(latex)):
        return None
    try:
        tree = Converter(display="block" if is_block else "inline").convert_to_element(latex)
    except _ERRORS:
        return None
    return "".join(_serialised(tree)) if latex and _is_drawable(tree) else None


def _depth(source: str) -> int:
    depth = deepest = 0
    for mark in re.findall(r"\\?[{}]|\\left\b|\\right\b|\\begin\b|\\end\b", source):
        depth += {"{": 1, r"\left": 1, r"\begin": 1, "}": -1, r"\right": -1, r"\end": -1}.get(mark, 0)
        deepest = max(deepest, depth)
    return deepest


def _is_drawable(tree: Element) -> bool:
    for element in tree.iter():
        wanted = _CHILDREN.get(element.tag)
        if element.tag not in MATH_TAGS or (wanted is not None and len(element) != wanted):
            return False
        unknown = _UNKNOWN.get(element.tag)
        if unknown is not None and unknown.match(html.unescape(element.text or "")):
            return False
    return True


def _serialised(element: Element) -> Iterator[str]:
    attributes = "".join(
        f' {name}="{html.escape(html.unescape(value))}"'
        for name, value in element.attrib.items()
        if name in MATH_ATTRIBUTES
    )
    # The converter hands out characters as references in plain text.
    yield f"<{element.tag}{attributes}>{html.escape(html.unescape(element.text or ''))}"
    for child in element:
        yield from _serialised(child)
        yield html.escape(html.unescape(child.tail or ""))
    yield f"</{element.tag}>"


def _find_inline(state: StateInline, silent: bool) -> bool:
    source, start = state.src, state.pos
    if source[start] not in "$\\":
        return False
    for opening, closing, is_block in _MARKS:
        if not source.startswith(opening, start):
            continue
        end = _end_of(source, start + len(opening), closing, state.posMax)
        if end is None:
            return False
        content = source[start + len(opening) : end]
        if opening == "$" and not _is_formula(source, start, end):
            return False
        if not silent:
            token = state.push("formula", "math", 0)
            token.content, token.markup, token.meta = content, opening, {"closing": closing, "is_block": is_block}
        state.pos = end + len(closing)
        return True
    return False


def _end_of(source: str, start: int, closing: str, stop: int) -> int | None:
    stop = min(stop, start + MAX_FORMULA_CHARS)
    end = source.find(closing, start, stop)
    while end > start and _is_escaped(source, end):
        end = source.find(closing, end + 1, stop)
    return end if end > start and source[start:end].strip() else None


def _is_escaped(source: str, at: int) -> bool:
    backslashes = 0
    while at - backslashes > 0 and source[at - backslashes - 1] == "\\":
        backslashes += 1
    return backslashes % 2 == 1


def _is_formula(source: str, start: int, end: int) -> bool:
    content = source[start + 1 : end]
    before, after = source[start - 1 : start], source[end + 1 : end + 2]
    if "\n" in content or content != content.strip() or before.isalnum() or after.isalnum():
        return False
    is_marked = re.search(r"[\\^_={}<>]", content) is not None
    return is_marked or not (_PLAIN_WORDS.search(content) and " " in content)


def _find_block(state: StateBlock, start_line: int, end_line: int, silent: bool) -> bool:
    if state.is_code_block(start_line):
        return False
    first = state.src[state.bMarks[start_line] + state.tShift[start_line] : state.eMarks[start_line]]
    closing = {"$$": "$$", r"\[": r"\]"}.get(first[:2])
    if closing is None:
        return False
    lines: list[str] = []
    for line in range(start_line, end_line):
        is_outside = line > start_line and state.sCount[line] < state.blkIndent
        text = state.getLines(line, line + 1, state.blkIndent, False)
        text = text.strip()[2:] if line == start_line else text
        if is_outside:
            return False
        if text.rstrip().endswith(closing):
            lines.append(text.rstrip()[: -len(closing)])
            return _push_block(state, start_line, line + 1, "\n".join(lines), first[:2], closing, silent)
        if closing in text:
            return False
        lines.append(text)
    return False


def _push_block(
    state: StateBlock, start_line: int, next_line: int, content: str, opening: str, closing: str, silent: bool
) -> bool:
    if not content.strip():
        return False
    if not silent:
        state.line = next_line
        token = state.push("formula_block", "math", 0)
        token.block, token.content, token.markup = True, content, opening
        token.map, token.meta = [start_line, next_line], {"closing": closing, "is_block": True}
    return True
