"""Text in which nothing hides: signs that turn, hide or move their neighbours, line ends and runs of blanks (pure)."""

from __future__ import annotations

import re
from dataclasses import dataclass

# Controls but tab and newline, marks of direction, spaces and letters without ink, tags. Joiners and variants belong to
# the writing behind a letter that is no ASCII: they make emoji, and words of some scripts.
_UNSEEN = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\xad\u061c\u115f\u1160\u180e\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\u2800"
    "\u3164\ufeff\uffa0\ufff9-\ufffb\U000e0000-\U000e007f\U000e0100-\U000e01ef\ud800-\udfff]"
    "|(?<![^\x00-\x7f])[\u200c\u200d\ufe00-\ufe0f]"
)
_BLANKS = re.compile("[ \t\u00a0\u1680\u2000-\u200a\u202f\u205f\u3000]{12,}")
LINE_END = "⏎"
READ_LINES, READ_CHARS = 40, 3_000
"""What is seen of a text at once; the rest is opened."""


@dataclass(frozen=True, slots=True)
class ReadingPart:
    """The beginning of a text, which is seen at once, and the lines behind it, which have to be opened."""

    head: list[str]
    rest: list[str]

    @property
    def rest_chars(self) -> int:
        """Characters that are not seen at once."""
        return sum(map(len, self.rest))


def with_visible_controls(text: str) -> str:
    """The text with every character that would turn, hide or move its neighbours shown as its code."""
    return _UNSEEN.sub(lambda match: f"⟨U+{ord(match.group()):04X}⟩", text)


def as_it_runs(text: str) -> list[str]:
    """The lines of a command with its line ends and long runs of blanks shown, and with visible controls."""
    lines = [_BLANKS.sub(lambda run: f"⟨␣×{len(run.group())}⟩", line) for line in text.split("\n")]
    shown = [with_visible_controls(line) for line in lines]
    return [*(f"{line}{LINE_END}" for line in shown[:-1]), shown[-1]]


def split_for_reading(lines: list[str]) -> ReadingPart:
    """As many lines as are seen at once, and the rest."""
    count = chars = 0
    for line in lines[:READ_LINES]:
        chars += len(line)
        if chars > READ_CHARS:
            break
        count += 1
    return ReadingPart(lines[:count], lines[count:])
