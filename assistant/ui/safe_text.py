"""Text from a model, a person or a file on one line."""

from __future__ import annotations


def one_line(text: str, max_chars: int) -> str:
    """The text on one line, cut with an ellipsis."""
    line = " ".join(text.split())
    return line if len(line) <= max_chars else line[: max_chars - 1].rstrip() + "…"
