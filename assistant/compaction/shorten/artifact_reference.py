"""What a shortened tool result says about its full text, kept in the block's metadata."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from assistant.messages.blocks import ToolCallBlock, ToolResultBlock, call_arguments

_ARTIFACT_PATH = re.compile(r"tool_result[/\\]+([0-9a-fA-F]{8}-?(?:[0-9a-fA-F]{4}-?){3}[0-9a-fA-F]{12})\.txt")
ArtifactReader = Literal["Read", "memory_get", "none"]
"""The tool by which a model reads an artifact: those of small windows have no file tools."""
ROW_CHARS = 2_000
"""`memory_get` numbers an artifact by rows: lines, and of a longer line pieces of this size."""
_FROM_BYTE = re.compile(r"\btail\s+-c\s*\+(\d+)\b")


@dataclass(frozen=True, slots=True)
class Reading:
    """A call that reads an artifact back: from which line (1 = first) or byte (0 = first), None where unknown."""

    artifact_id: str
    from_line: int | None = None
    from_byte: int | None = None


@dataclass(frozen=True, slots=True)
class ArtifactReference:
    """Which artifact holds the whole, and what of it is shown: its first `head_bytes` and its last `tail_bytes`.

    `limit_bytes` is the limit it was cut to; a second cut to the same or a larger limit changes nothing.
    `from_line` and `from_byte` say where the block's text starts in the artifact, None where unknown. `outline` names
    what is in a file that was read.
    """

    artifact_id: str
    full_bytes: int
    full_lines: int
    has_long_lines: bool
    head_bytes: int = 0
    tail_bytes: int = 0
    limit_bytes: int = 0
    is_reading: bool = False
    from_line: int | None = 1
    from_byte: int | None = 0
    outline: str = ""

    def as_metadata(self) -> dict[str, object]:
        """The entries for a block's metadata."""
        return {
            "artifact_id": self.artifact_id,
            "full_bytes": self.full_bytes,
            "full_lines": self.full_lines,
            "has_long_lines": self.has_long_lines,
            "head_bytes": self.head_bytes,
            "tail_bytes": self.tail_bytes,
            "limit_bytes": self.limit_bytes,
            "is_reading": self.is_reading,
            "from_line": self.from_line,
            "from_byte": self.from_byte,
            "outline": self.outline,
        }


def reference_of(block: ToolResultBlock) -> ArtifactReference | None:
    """The reference a result carries; None for a result that was never shortened."""
    entries: Mapping[str, object] = block.metadata
    artifact_id, outline = entries.get("artifact_id"), entries.get("outline")
    if not isinstance(artifact_id, str) or not artifact_id:
        return None
    return ArtifactReference(
        artifact_id=artifact_id,
        full_bytes=_number(entries, "full_bytes"),
        full_lines=_number(entries, "full_lines"),
        head_bytes=_number(entries, "head_bytes"),
        tail_bytes=_number(entries, "tail_bytes"),
        limit_bytes=_number(entries, "limit_bytes"),
        has_long_lines=entries.get("has_long_lines") is True,
        is_reading=entries.get("is_reading") is True,
        from_line=_position(entries, "from_line"),
        from_byte=_position(entries, "from_byte"),
        outline=outline if isinstance(outline, str) else "",
    )


def is_file_read(name: str) -> bool:
    """True for the tools that print a file, by name."""
    return name.lower().rpartition("__")[2].startswith("read")


def reading_of(call: ToolCallBlock | None) -> Reading | None:
    """The artifact that a call reads back, recognised by its arguments; None for every other call."""
    if call is None or (found := _ARTIFACT_PATH.search(call.input)) is None:
        return None
    if is_file_read(call.name):
        offset = call_arguments(call).get("offset", 1)
        return Reading(found[1], from_line=offset if isinstance(offset, int) else 1)
    if call.name == "memory_get":
        row = call_arguments(call).get("from_line", 1)
        return Reading(found[1], from_line=row if isinstance(row, int) else 1)
    from_byte = _FROM_BYTE.search(call.input)
    return Reading(found[1], from_byte=int(from_byte[1]) - 1 if from_byte else None)


def rows_of(text: str) -> list[str]:
    """The text as `memory_get` numbers it: a line is a row, of a very long one each piece."""
    return [
        line[start : start + ROW_CHARS] for line in text.split("\n") for start in range(0, max(1, len(line)), ROW_CHARS)
    ]


def _number(entries: Mapping[str, object], name: str) -> int:
    value = entries.get(name)
    return value if isinstance(value, int) else 0


def _position(entries: Mapping[str, object], name: str) -> int | None:
    value = entries.get(name)
    return value if isinstance(value, int) else None
