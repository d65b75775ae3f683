"""Text from a model, a person or a file on one line, or with all that hides in it shown."""

from __future__ import annotations

import re

# Controls but tab and newline, marks of direction, spaces without width, tags; joiners make emoji and stay.
_UNSEEN = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\xad\u061c\u180e\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb"
    "\U000e0000-\U000e007f\ud800-\udfff]"
)


def one_line(text: str, max_chars: int) -> str:
    """The text on one line, cut with an ellipsis."""
    line = " ".join(text.split())
    return line if len(line) <= max_chars else line[: max_chars - 1].rstrip() + "…"


def with_visible_controls(text: str) -> str:
    """The text with every character that would turn, hide or move its neighbours shown as its code."""
    return _UNSEEN.sub(lambda match: f"⟨U+{ord(match.group()):04X}⟩", text)
