"""What is shown of a tool result that was cut: its ends, a notice between, and metadata that says the same."""

from __future__ import annotations

from dataclasses import dataclass, replace

from assistant.compaction.shorten.artifact_reference import ArtifactReader, ArtifactReference, Reading, rows_of
from assistant.compaction.shorten.outline import outline_of
from assistant.compaction.shorten.text_cut import Ends, byte_length, cut_ends
from assistant.config.prompts import render
from assistant.config.words import Language
from assistant.messages.blocks import DataBlock, TextBlock, ToolResultBlock, with_result_text

READ_LINE_CHARS = 2_000
"""The Read tool shows no more of a line, so a text with longer lines is read on by byte."""
_OUTLINE_BYTES = 700


@dataclass(frozen=True, slots=True)
class ArtifactWay:
    """Where the model finds the full text, and by which tool."""

    path: str
    reader: ArtifactReader
    language: Language


def text_of_result(block: ToolResultBlock) -> str:
    """The text parts alone, unlike `messages.result_text`, which names pictures too."""
    if isinstance(block.output, str):
        return block.output
    return "\n".join(part.text for part in block.output if isinstance(part, TextBlock))


def has_pictures(block: ToolResultBlock) -> bool:
    """True when a result holds anything but text."""
    return not isinstance(block.output, str) and any(isinstance(part, DataBlock) for part in block.output)


def refer_to(text: str, artifact_id: str, reading: Reading | None, *, has_outline: bool) -> ArtifactReference:
    """The reference to a full text; `reading` when it was itself read out of an artifact."""
    reference = ArtifactReference(
        artifact_id=artifact_id,
        full_bytes=byte_length(text),
        full_lines=text.count("\n") + (not text.endswith("\n")),
        has_long_lines=max(map(len, text.split("\n"))) > READ_LINE_CHARS,
        outline=outline_of(text, _OUTLINE_BYTES) if has_outline else "",
    )
    if reading is None:
        return reference
    return replace(reference, is_reading=True, from_line=reading.from_line, from_byte=reading.from_byte)


def show_ends(
    block: ToolResultBlock,
    given: Ends,
    max_bytes: int,
    max_chars: int | None,
    reference: ArtifactReference,
    way: ArtifactWay,
) -> ToolResultBlock:
    """The result with what the limits allow of the given ends, and the way to the full text."""
    # The outline of a file is part of the extract, so it counts.
    room = max(0, max_bytes - byte_length(reference.outline))
    ends = cut_ends(given.head, given.tail, room, max_chars)
    shown = replace(
        reference, head_bytes=byte_length(ends.head), tail_bytes=byte_length(ends.tail), limit_bytes=max_bytes
    )
    notice = _notice(shown, ends.head, way)
    gap = "" if not ends.head or ends.head.endswith("\n") else "\n"
    text = f"{ends.head}{gap}{notice}\n{ends.tail}" if ends.tail else f"{ends.head}{gap}{notice}"
    return with_result_text(block, text, shown.as_metadata())


def _notice(shown: ArtifactReference, head: str, way: ArtifactWay) -> str:
    return render(
        "tool_result_notice",
        way.language,
        path=way.path,
        reader=way.reader,
        next_row=_next_row(shown, head),
        missing_bytes=shown.full_bytes - shown.head_bytes - shown.tail_bytes,
        full_bytes=shown.full_bytes,
        full_lines=shown.full_lines,
        next_line=_next_line(shown, head),
        next_byte=None if shown.from_byte is None else shown.from_byte + shown.head_bytes,
        is_reading=shown.is_reading,
        outline=shown.outline,
        is_reference_only=not shown.head_bytes and not shown.tail_bytes,
    )


def _next_row(shown: ArtifactReference, head: str) -> int:
    # What `memory_get` printed has a line before its rows. A row that was cut is read again whole.
    if shown.is_reading:
        return (shown.from_line or 1) + max(0, head.count("\n") - 1)
    return max(1, len(rows_of(head)))


def _next_line(shown: ArtifactReference, head: str) -> int | None:
    # What a Read tool printed has numbers before its lines, so only its lines are exact; one that was cut in the
    # middle is read again whole. Any other text is read on by line where the cut is between two lines.
    ends_whole = not head or head.endswith("\n")
    if shown.from_line is None or not (shown.is_reading or (ends_whole and not shown.has_long_lines)):
        return None
    return shown.from_line + head.count("\n")
