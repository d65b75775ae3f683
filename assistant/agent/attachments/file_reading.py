"""An attached file as text or as a picture, or why it cannot be either."""

from __future__ import annotations

import asyncio
import base64
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from assistant.agent.readers.process import read_apart
from assistant.config.words import say
from assistant.errors import AttachmentError
from assistant.text.encoding import decode_text
from assistant.text.file_kinds import HEAD_BYTES, FileKind, kind_of
from assistant.text.json_values import is_list, is_object

MAX_FILE_BYTES = 25_000_000
"""Of one attached file."""


@dataclass(frozen=True, slots=True)
class PictureCopy:
    """A picture as a model gets it: upright, of a size that models see, and nothing but the picture."""

    media_type: str
    content: bytes


@dataclass(frozen=True, slots=True)
class GivenFile:
    """A file that was read: where its bytes are, and what they say or show."""

    name: str
    path: Path
    size_bytes: int
    kind: FileKind
    text: str
    picture: PictureCopy | None = None


async def read_file(name: str, path: Path, environment: Mapping[str, str]) -> GivenFile:
    """The file with its text or picture. Raises `AttachmentError` with a plain line where it has none.

    `environment` is that of the process which reads anything but plain text.
    """
    size_bytes, head = await asyncio.to_thread(_look_at, path)
    if size_bytes > MAX_FILE_BYTES:
        raise AttachmentError(say("attachments", "too_large", name=name, limit=MAX_FILE_BYTES // 1_000_000))
    if not size_bytes:
        raise AttachmentError(say("attachments", "empty", name=name))
    text, picture = "", None
    match kind := kind_of(name, head):
        case "text":
            text = await asyncio.to_thread(lambda: decode_text(path.read_bytes()).text)
        case "picture":
            picture = _picture(name, await read_apart("picture", await _content(path), environment))
        case "pdf":
            text = _pages_text(name, await read_apart("pdf", await _content(path), environment, "all"))
        case "word" | "sheet" | "slides":
            text = _parts_text(name, kind, await read_apart(kind, await _content(path), environment))
        case _:
            raise AttachmentError(say("attachments", f"refused_{kind}", name=name))
    if picture is None and not text.strip():
        raise AttachmentError(say("attachments", "empty" if kind == "text" else "no_text", name=name))
    return GivenFile(name, path, size_bytes, kind, text, picture)


def _look_at(path: Path) -> tuple[int, bytes]:
    """The size of a file and its first bytes."""
    with path.open("rb") as file:
        return path.stat().st_size, file.read(HEAD_BYTES)


async def _content(path: Path) -> bytes:
    return await asyncio.to_thread(path.read_bytes)


def _picture(name: str, said: Mapping[str, object]) -> PictureCopy:
    match said:
        case {"media_type": str(media_type), "data": str(data)}:
            return PictureCopy(media_type, base64.b64decode(data))
        case _:
            raise _problem(name, said)


def _pages_text(name: str, said: Mapping[str, object]) -> str:
    """The pages, each under its number; empty where none has text."""
    texts = said.get("texts")
    if not is_list(texts):
        raise _problem(name, said)
    pages = [(say("attachments", "page", number=number), str(text)) for number, text in enumerate(texts, 1)]
    return _under_titles([*pages, *_cut(said)])


def _parts_text(name: str, kind: FileKind, said: Mapping[str, object]) -> str:
    """The parts of a file of Office, each under its title; empty where none has text."""
    parts = said.get("parts")
    if not is_list(parts):
        raise _problem(name, said)
    titled: list[tuple[str, str]] = []
    for number, part in enumerate(filter(is_object, parts), 1):
        title = str(part.get("title", ""))
        heading = {
            "sheet": say("attachments", "sheet", title=title),
            "slides": say("attachments", "slide", number=number),
        }
        titled.append((heading.get(kind, ""), str(part.get("text", ""))))
    return _under_titles([*titled, *_cut(said)])


def _cut(said: Mapping[str, object]) -> list[tuple[str, str]]:
    """What stands behind the parts of a file that was not read to its end."""
    return [("", say("attachments", "is_cut"))] if said.get("is_cut") else []


def _under_titles(parts: Sequence[tuple[str, str]]) -> str:
    if not any(text.strip() for _, text in parts):
        return ""
    return "\n\n".join(f"# {title}\n{text}" if title else text for title, text in parts)


def _problem(name: str, said: Mapping[str, object]) -> AttachmentError:
    return AttachmentError(say("attachments", f"problem_{said.get('problem')}", name=name))
