"""Attached files as the blocks of a message: small ones whole, of a large one the beginning and where the rest is."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import PurePosixPath

from assistant.agent.attachments.file_reading import GivenFile, PictureCopy
from assistant.compaction.shorten.outline import outline_of
from assistant.config.prompts import render
from assistant.config.words import Language
from assistant.messages.attached import IMAGE_TOKENS, AttachedFile
from assistant.messages.attached_blocks import attached_picture, attached_text
from assistant.messages.blocks import DataBlock, TextBlock
from assistant.messages.tokens import TokenCounter
from assistant.storage.attachments import Attachments
from assistant.text.encoding import storable

WHOLE_SHARE = 8
"""A file stands in the message whole where it takes at most one part in so many of the window."""
MAX_WHOLE_TOKENS = 12_000
"""No file stands there whole that takes more."""
ALL_SHARE = 4
"""All files of a message together take at most one part in so many of the window, but for their beginnings."""
BEGINNING_CHARS = 1_500
OUTLINE_BYTES = 1_500


@dataclass(frozen=True, slots=True)
class MessageRoom:
    """What a model can take, and whether it can read files by itself."""

    window_tokens: int
    counter: TokenCounter
    can_read_files: bool
    language: Language


def message_parts(
    files: Sequence[GivenFile], attachments: Attachments, room: MessageRoom
) -> list[TextBlock | DataBlock]:
    """The blocks of these files, in their order; every file is kept in the home on return, none where one cannot be."""
    with attachments.all_or_none():
        return _kept_parts(files, attachments, room)


def _kept_parts(files: Sequence[GivenFile], attachments: Attachments, room: MessageRoom) -> list[TextBlock | DataBlock]:
    left = room.window_tokens // ALL_SHARE
    parts: list[TextBlock | DataBlock] = []
    for file in files:
        if file.picture is not None:
            parts += _picture_parts(file, file.picture, attachments, room)
            continue
        part = _text_part(file, attachments, room, left)
        left -= room.counter.block(part)
        parts.append(part)
    return parts


def _picture_parts(
    file: GivenFile, picture: PictureCopy, attachments: Attachments, room: MessageRoom
) -> tuple[TextBlock, DataBlock]:
    kept = attachments.keep(file.name, file.path)
    name = attachments.keep_picture(picture.content, picture.media_type)
    said = render("attached_picture", room.language, path=kept)
    told = AttachedFile(file.name, kept, file.size_bytes, IMAGE_TOKENS, "picture", name)
    return attached_text(told, said), attached_picture(name, picture.media_type)


def _text_part(file: GivenFile, attachments: Attachments, room: MessageRoom, left: int) -> TextBlock:
    kept = attachments.keep(file.name, file.path)
    text = storable(file.text)
    tokens = room.counter.text(text)
    if tokens <= min(left, room.window_tokens // WHOLE_SHARE, MAX_WHOLE_TOKENS):
        told = AttachedFile(file.name, kept, file.size_bytes, tokens, "whole")
        return attached_text(told, render("attached_whole", room.language, text=text))
    # The tools read text alone.
    kept_text = "" if file.kind == "text" else attachments.keep_text(f"{PurePosixPath(kept).name}.txt", text)
    said = render(
        "attached_beginning",
        room.language,
        path=kept_text or kept,
        lines=text.count("\n") + 1,
        tokens=tokens,
        outline=outline_of(_numbered(text), OUTLINE_BYTES),
        beginning=text[:BEGINNING_CHARS],
        can_read_files=room.can_read_files,
    )
    told = AttachedFile(file.name, kept, file.size_bytes, room.counter.text(said), "beginning", kept_text=kept_text)
    return attached_text(told, said)


def _numbered(text: str) -> str:
    """The text as the Read tool shows it, so that its outline says at which lines to read on."""
    return "\n".join(f"{number}\t{line}" for number, line in enumerate(text.split("\n"), 1))
