"""What the system prompt of a conversation is made of, kept from one compaction to the next.

A prompt cache begins with the first byte: while these texts stay, so do the first thousands of tokens of every request.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

from assistant.memory.log import digest_of
from assistant.storage.atomic_io import read_plain_file
from assistant.storage.workspace import PROMPT_FILES, Workspace
from assistant.text.encoding import decode_text


@dataclass(frozen=True, slots=True)
class PromptBasis:
    """The owner's files by name, the guidance of the first conversation, the day (`YYYY-MM-DD`), the files' digests."""

    day: str
    files: dict[str, str] = field(default_factory=dict[str, str])
    bootstrap: str = ""
    digests: dict[str, str] = field(default_factory=dict[str, str])


def read_basis(workspace: Workspace, day: str) -> PromptBasis:
    """The texts as they are on disk now; a file that is missing or cannot be read is empty."""
    contents = {name: _content(workspace.root / name) for name in PROMPT_FILES}
    return PromptBasis(
        day,
        {name: decode_text(content).text for name, content in contents.items()},
        decode_text(_content(workspace.bootstrap_path)).text,
        {name: digest_of(content) for name, content in contents.items()},
    )


def _content(path: Path) -> bytes:
    try:
        return read_plain_file(path)
    except OSError:
        return b""
