"""An attached file as text, or why it cannot be one."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from pathlib import Path

from assistant.agent.attachments.file_kinds import HEAD_BYTES, FileKind, kind_of
from assistant.config.words import say
from assistant.errors import AttachmentError
from assistant.text.encoding import decode_text


@dataclass(frozen=True, slots=True)
class GivenFile:
    """A file that was read: where its bytes are, and what they say."""

    name: str
    path: Path
    size_bytes: int
    kind: FileKind
    text: str


async def read_file(name: str, path: Path) -> GivenFile:
    """The file with its text. Raises `AttachmentError` with a plain line where it has none that can be read."""
    size_bytes, head = await asyncio.to_thread(_look_at, path)
    kind = kind_of(name, head)
    if not size_bytes:
        raise AttachmentError(say("attachments", "empty", name=name))
    if kind != "text":
        raise AttachmentError(say("attachments", f"refused_{kind}", name=name))
    text = await asyncio.to_thread(lambda: decode_text(path.read_bytes()).text)
    if not text.strip():
        raise AttachmentError(say("attachments", "empty", name=name))
    return GivenFile(name, path, size_bytes, kind, text)


def _look_at(path: Path) -> tuple[int, bytes]:
    """The size of a file and its first bytes."""
    with path.open("rb") as file:
        return path.stat().st_size, file.read(HEAD_BYTES)
