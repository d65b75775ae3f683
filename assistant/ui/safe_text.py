"""Text from a model, a person or a file made harmless as Markdown: no HTML, no images, nothing that can pose as a card.

A `<` that could open a tag gets a zero-width space behind it, which shows the same inside and outside of code. Only in
a fenced block that this module and the page's Markdown parser are sure to see alike does it stay untouched, so that
copied code is exact.
"""

from __future__ import annotations

import inspect
import re

_GAP = "\u200b"
_TAG = re.compile(r"<(?=[A-Za-z/!?])")
_AUTOLINK = re.compile(r"<(https?://[^\s<>]+|mailto:[^\s<>]+)>")
_IMAGE = re.compile(r"!\[([^\]\n]*)\]\(\s*<?([^\s)>]+)>?(?:\s+(?:\"[^\"\n]*\"|'[^'\n]*'))?\s*\)")
_HOST = re.compile(r"^https?://(?:[^/@\s]*@)?([^/:?#\s]+)")
_MATH = re.compile(r"\$\$(.+?)\$\$", re.DOTALL)
# Controls but tab and newline, marks of direction, spaces without width, tags; joiners make emoji and stay.
_UNSEEN = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\xad\u061c\u180e\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb"
    "\U000e0000-\U000e007f\ud800-\udfff]"
)
# The parser's own rule for a fence at the start of a line; everything else that looks like one ends the trust.
_FENCE = re.compile(r"^(?:(`{3,})[^`]*|(~{3,}).*)$")
_DOUBTFUL = re.compile(r"`{3}|~{3}|\]:")


def safe_markdown(text: str) -> str:
    """`text` as Markdown that shows what it says and can do nothing."""
    text = _settled_indent(text.replace("\r\n", "\n").replace("\r", "\n"))
    # The page lifts $$…$$ out before it looks for code, so with math about no fence can be trusted.
    has_math = "$$" in text
    trusts_fences = not has_math
    out: list[str] = []
    fence = ""
    for line in text.split("\n"):
        if fence:
            if re.fullmatch(rf" {{0,3}}{re.escape(fence)}[`~]* *", line):
                fence = ""
            out.append(line)
            continue
        if trusts_fences and (opened := _FENCE.match(line)):
            fence = opened.group(1) or opened.group(2)
        elif _DOUBTFUL.search(line):
            # An indented, nested or inline fence, or a link definition whose title may swallow the next lines.
            trusts_fences = False
        out.append(_harmless(line))
    joined = "\n".join(out)
    return _MATH.sub(_math_without_tags, joined) if has_math else joined


def one_line(text: str, max_chars: int) -> str:
    """The text on one line, cut with an ellipsis."""
    line = " ".join(text.split())
    return line if len(line) <= max_chars else line[: max_chars - 1].rstrip() + "…"


def with_visible_controls(text: str) -> str:
    """The text with every character that would turn, hide or move its neighbours shown as its code."""
    return _UNSEEN.sub(lambda match: f"⟨U+{ord(match.group()):04X}⟩", text)


def _settled_indent(text: str) -> str:
    # Gradio runs every message through cleandoc; doing it here until nothing changes means the lines seen here are
    # the lines the browser parses.
    for _ in range(10):
        cleaned = inspect.cleandoc(text)
        if cleaned == text:
            return text
        text = cleaned
    return text.lstrip()


def _harmless(line: str) -> str:
    line = _AUTOLINK.sub(r"\1", line)
    line = _IMAGE.sub(_image_as_link, line)
    line = line.replace("![", f"!{_GAP}[")
    return _TAG.sub(f"<{_GAP}", line)


def _image_as_link(match: re.Match[str]) -> str:
    label = match.group(1).strip() or "image"
    host = _HOST.match(match.group(2))
    return f"[image: {label}{' — ' + host.group(1) if host else ''}]({match.group(2)})"


def _math_without_tags(match: re.Match[str]) -> str:
    return "$$" + match.group(1).replace(f"<{_GAP}", r"\lt ") + "$$"
