"""Attached files as blocks of a message: a text block under its tags, and a picture behind the one that names it."""

from __future__ import annotations

import secrets
from collections.abc import Iterable

from pydantic import AnyUrl

from assistant.messages.attached import AttachedFile, file_of, tagged
from assistant.messages.blocks import ATTACHED_PREFIX, Block, DataBlock, Msg, TextBlock, URLSource, is_said

PICTURE_SCHEME = "attached"
"""How the address of a picture begins that is kept in the home; the rest is its name there."""


def attached_text(file: AttachedFile, content: str) -> TextBlock:
    """The block that holds a file, or what is said of it, as data."""
    mark = secrets.token_hex(4)
    return TextBlock(id=f"{ATTACHED_PREFIX}{mark}", text=tagged(file, content, mark))


def attached_picture(name: str, media_type: str) -> DataBlock:
    """The block that stands for a picture of this name in the home."""
    return DataBlock(source=URLSource(url=AnyUrl(f"{PICTURE_SCHEME}:{name}"), media_type=media_type), name=name)


def picture_name(block: Block) -> str:
    """The name in the home of the picture that a block stands for; empty where it is none."""
    if not (isinstance(block, DataBlock) and isinstance(block.source, URLSource)):
        return ""
    scheme, _, name = str(block.source.url).partition(":")
    return name if scheme == PICTURE_SCHEME else ""


def attached_files(blocks: Iterable[Block]) -> tuple[AttachedFile, ...]:
    """The files that these blocks hold, in their order."""
    texts = (block.text for block in blocks if isinstance(block, TextBlock) and not is_said(block))
    return tuple(file for text in texts if (file := file_of(text)) is not None)


def attached_blocks(message: Msg) -> list[TextBlock | DataBlock]:
    """All that a message of the person holds beside their words."""
    return [block for block in message.content if isinstance(block, TextBlock | DataBlock) and not is_said(block)]
