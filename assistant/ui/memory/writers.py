"""Who wrote into a memory file, in the words of the page."""

from __future__ import annotations

_WRITERS = {
    "owner": "you, in this program",
    "assistant": "the assistant",
    "flush": "the flush, after a compaction or a conversation",
    "program": "the program, after a compaction or a conversation",
    "outside": "an editor or another program",
    "template": "the template of a new home",
    "first copy": "whoever made the file: it was there before this program first saw it",
    "forget": "forget, which took something out of it",
    "tidy": "tidy, which you accepted",
}


def writer_label(writer: str) -> str:
    """The writer that the log names, as the page names it."""
    return _WRITERS.get(writer, writer)
