"""The person's own words as they were typed: addresses are links, fences are code, nothing else has a meaning."""

from __future__ import annotations

import html
import re

from assistant.config.words import say
from assistant.ui.transcript.cleaning import cleaned
from assistant.ui.transcript.markdown_blocks import code_html, linked_words, readable

LONG_CHARS = 4_000
LONG_LINES = 50
_FENCE = re.compile(r"^(`{3,}|~{3,})[ \t]*([^`\n]*)\n(.*?)^\1[`~]*[ \t]*$\n?", re.MULTILINE | re.DOTALL)


def typed_html(text: str) -> str:
    """The words as HTML; a long text is a box of its own that scrolls."""
    text = readable(text)
    pieces: list[str] = []
    at = 0
    for match in _FENCE.finditer(text):
        pieces += [_words(text[at : match.start()]), code_html(match[3].removesuffix("\n"), match[2].strip())]
        at = match.end()
    pieces.append(_words(text[at:]))
    made = cleaned("".join(pieces))
    is_long = len(text) > LONG_CHARS or text.count("\n") > LONG_LINES
    if not is_long:
        return made
    label = html.escape(say("page", "long_message"))
    return f'<div class="m-long" tabindex="0" role="region" aria-label="{label}">{made}</div>'


def _words(text: str) -> str:
    bare = text.strip("\n")
    return f'<div class="m-typed">{linked_words(bare)}</div>' if bare.strip() else ""
