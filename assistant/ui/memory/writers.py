"""Who wrote into a memory file, in the words of the page."""

from __future__ import annotations

from assistant.config.words import say

_WRITERS = {"owner", "assistant", "flush", "program", "outside", "template", "first copy", "forget", "tidy"}


def writer_label(writer: str) -> str:
    """The writer that the log names, as the page names it."""
    return say("page", f"writer_{writer.replace(' ', '_')}") if writer in _WRITERS else writer
