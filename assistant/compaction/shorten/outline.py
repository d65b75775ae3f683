"""The lines of a long file that show what is where: headings and definitions."""

from __future__ import annotations

import re

from assistant.compaction.shorten.text_cut import byte_length

_MAX_LINE_CHARS = 100
# What a Read tool prints before each line: its number and a tab or an arrow.
_NUMBER = r"(?:[ ]*\d+(?:\t|→)[ ]?)?"
_TELLING = re.compile(
    rf"^{_NUMBER}(?:\#{{1,4}}[ ]\S"
    r"|[ ]{0,8}(?:export[ ]|public[ ]|private[ ]|static[ ]|async[ ]|pub[ ])*"
    r"(?:class|def|function|fn|func|interface|struct|enum|trait|impl|module|type)[ ]+\w"
    r"|(?:CREATE|create)[ ]+(?:TABLE|VIEW|table|view)[ ]"
    r"|\[[\w. -]+\]\s*$)"
)


def outline_of(text: str, max_bytes: int) -> str:
    """Headings and definitions of a text, one a line, thinned evenly to at most `max_bytes` bytes; may be empty."""
    lines = [line.rstrip()[:_MAX_LINE_CHARS] for line in text.split("\n") if _TELLING.match(line)]
    step = 1
    while lines and byte_length("\n".join(lines[::step])) > max_bytes:
        step += 1
    return "\n".join(lines[::step]) if step <= len(lines) else ""
