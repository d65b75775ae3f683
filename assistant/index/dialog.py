"""Past conversations as the index takes them: the texts of one day of the journal."""

from __future__ import annotations

from pathlib import Path

from assistant.index.chunker import JournalText
from assistant.messages.blocks import TextBlock, ToolResultBlock, is_said, result_text
from assistant.storage.journal.files import read_lines
from assistant.storage.journal.rows import BlockRow, read_row


def read_dialog(path: Path) -> list[JournalText]:
    """What was said, and what tools gave, on the day of this file; damaged lines and all else are left out."""
    texts: list[JournalText] = []
    for number, line in enumerate(read_lines(path), 1):
        row = read_row(line.content)
        if isinstance(row, BlockRow) and (text := _text(row, number)) is not None:
            texts.append(text)
    return texts


def _text(row: BlockRow, line: int) -> JournalText | None:
    match row.block:
        case TextBlock(text=text) if row.role != "system" and is_said(row.block):
            name = ""
        case ToolResultBlock() as block:
            text, name = result_text(block), block.name
        case _:
            return None
    return JournalText(row.session_id, row.message_id, row.role, row.block.type, text, row.at, name, line)
