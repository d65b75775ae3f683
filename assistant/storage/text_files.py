"""Text files of a home as they are read: whatever their encoding, and empty where there is none."""

from __future__ import annotations

from pathlib import Path

from assistant.storage.atomic_io import read_plain_file
from assistant.text.encoding import decode_text


def read_any_text(path: Path) -> str:
    """The text of a file, whatever its encoding; empty where it is missing or cannot be read."""
    try:
        return decode_text(read_plain_file(path)).text
    except OSError:
        return ""
