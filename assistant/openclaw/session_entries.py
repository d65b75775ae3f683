"""One line of a session file as an entry: its kind in each version of the format, and the marker of a compression."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from json.scanner import make_scanner
from typing import Literal, TypeAlias

from assistant.openclaw.compression_options import MarkerForm

Json: TypeAlias = "None | bool | int | float | str | list[Json] | dict[str, Json]"
Fields: TypeAlias = "dict[str, Json]"
EntryKind = Literal[
    "blank",  # only white space; every loader passes over it
    "unparsable",
    "header",
    "user",
    "assistant",
    "result",  # nothing but tool results
    "bash",  # a command the person ran, with its output
    "system",
    "injected",  # in the context, written by neither person nor assistant
    "summary",  # a compaction entry: a loader's window starts with it
    "spoken_summary",  # the same as a message of the system, as plain files hold it
    "reset",  # a fresh window starts here
    "marker",  # what the last compression left behind
    "state",  # not in the context; also every type this program does not know
]

SUMMARY_TAG = "[SESSION SUMMARY]"
MARKER_CUSTOM_TYPE = "context-compressor"
BYTE_ORDER_MARK = b"\xef\xbb\xbf"

_ROLE_KINDS: dict[str, EntryKind] = {
    "user": "user",
    "human": "user",
    "assistant": "assistant",
    "toolResult": "result",
    "tool": "result",
    "function": "result",
    "bashExecution": "bash",
    "system": "system",
    "developer": "system",
    "custom": "injected",
    "hookMessage": "injected",
    "branchSummary": "injected",
    "compactionSummary": "injected",
}
_TYPE_KINDS: dict[str, EntryKind] = {
    "compaction": "summary",
    "branch_summary": "injected",
    "custom_message": "injected",
    "reset": "reset",
}


def _refuse_constant(name: str) -> Json:
    raise ValueError(f"{name} is not JSON")


# The scanner itself: `decode` around it costs as much again for a short line.
_SCAN: Callable[[str, int], tuple[Json, int]] = make_scanner(json.JSONDecoder(parse_constant=_refuse_constant))  # type: ignore[arg-type]
_JSON_SPACE = " \t\r\n"


@dataclass(frozen=True, slots=True)
class Entry:
    """A line and what it is. `fields` is None when it did not parse; `text` is the line without its ending."""

    kind: EntryKind
    text: str
    fields: Fields | None = None
    message: Fields | None = None
    id: str | None = None
    parent_id: str | None = None
    has_parent_key: bool = False


def read_line(raw: bytes, is_first: bool = False) -> Entry:
    """The entry on a line. Invalid UTF-8 is carried through as surrogates, never lost."""
    body = raw.removeprefix(BYTE_ORDER_MARK) if is_first else raw
    text = body.rstrip(b"\r\n").decode("utf-8", "surrogateescape")
    if not text or text.isspace():
        return Entry("blank", text)
    fields = parse_object(text)
    if fields is None:
        return Entry("unparsable", text)
    message = _message_of(fields)
    return Entry(
        kind=_kind_of(fields, message),
        text=text,
        fields=fields,
        message=message,
        id=text_or_none(fields.get("id")),
        parent_id=text_or_none(fields.get("parentId")),
        has_parent_key="parentId" in fields,
    )


def parse_object(text: str) -> Fields | None:
    """The JSON object in `text`, or None; `NaN` and `Infinity`, which other loaders refuse, are refused here too."""
    start = 0 if text.startswith("{") else len(text) - len(text.lstrip(_JSON_SPACE))
    try:
        value, end = _SCAN(text, start)
    except (ValueError, RecursionError, StopIteration):
        return None
    is_whole = end == len(text) or not text[end:].strip(_JSON_SPACE)
    return value if is_whole and isinstance(value, dict) else None


def plain_text(content: Json) -> str:
    """All text of a content value, a string or blocks, joined by newlines."""
    return "\n".join(texts_of(content))


def texts_of(content: Json) -> tuple[str, ...]:
    """All text blocks of a content value, a string or blocks."""
    if isinstance(content, str):
        return (content,)
    parts: list[str] = []
    for block in content if isinstance(content, list) else []:
        if isinstance(block, str):
            parts.append(block)
        elif isinstance(block, dict):
            parts.extend(texts_in(block.get("text")))
    return tuple(parts)


def texts_in(value: Json) -> list[str]:
    """`value` in a list when it is a text with something in it, else an empty list."""
    return [value] if isinstance(value, str) and value else []


def text_or_none(value: Json) -> str | None:
    """`value` when it is a text."""
    return value if isinstance(value, str) else None


@dataclass(frozen=True, slots=True)
class Marker:
    """`at` is when, `tokens` what was left, `misses` how often in a row the target was not met."""

    at: datetime
    tokens: int
    misses: int = 0
    mode: str = ""
    target: int = 0


def read_marker(fields: Fields) -> Marker | None:
    """The marker in a line, in any of its forms; None when it names no time."""
    data = fields.get("data")
    values = data if fields.get("type") == "custom" and isinstance(data, dict) else fields
    at = _read_time(values.get("lastCompressed"))
    if at is None:
        return None
    mode = values.get("mode")
    return Marker(
        at=at,
        tokens=_whole(values.get("compressedTokens")),
        misses=_whole(values.get("misses")),
        mode=mode if isinstance(mode, str) else "",
        target=_whole(values.get("target")),
    )


def marker_fields(marker: Marker, form: MarkerForm) -> Fields:
    """The marker as a line without place: id and parent are added where it is put into a session."""
    values: Fields = {
        "lastCompressed": marker.at.isoformat(timespec="seconds"),
        "compressedTokens": marker.tokens,
        "misses": marker.misses,
        "mode": marker.mode,
        "target": marker.target,
    }
    if form == "custom":
        return {"type": "custom", "customType": MARKER_CUSTOM_TYPE, "data": values}
    return {"type": "system", **values}


def _message_of(fields: Fields) -> Fields | None:
    inner = fields.get("message")
    if isinstance(inner, dict) and isinstance(inner.get("role"), str):
        return inner
    return fields if isinstance(fields.get("role"), str) else None


def _kind_of(fields: Fields, message: Fields | None) -> EntryKind:
    entry_type = fields.get("type")
    if entry_type == "session":
        return "header"
    if _is_marker(fields):
        return "marker"
    if isinstance(entry_type, str) and entry_type in _TYPE_KINDS:
        return _TYPE_KINDS[entry_type]
    if message is None:
        return "state"
    return _message_kind(message)


def _is_marker(fields: Fields) -> bool:
    if fields.get("type") == "system":
        return "lastCompressed" in fields
    return fields.get("type") == "custom" and fields.get("customType") == MARKER_CUSTOM_TYPE


def _message_kind(message: Fields) -> EntryKind:
    kind = _ROLE_KINDS.get(text_or_none(message.get("role")) or "", "injected")
    content = message.get("content")
    if kind == "system" and plain_text(content).lstrip().startswith(SUMMARY_TAG):
        return "spoken_summary"
    if kind == "user" and isinstance(content, list) and content and all(map(_is_result_block, content)):
        return "result"
    return kind


def _is_result_block(block: Json) -> bool:
    return isinstance(block, dict) and block.get("type") == "tool_result"


def _read_time(value: Json) -> datetime | None:
    if isinstance(value, bool):
        return None
    try:
        if isinstance(value, int | float):
            seconds = value / 1000 if value > 1e11 else value
            return datetime.fromtimestamp(seconds, UTC)
        if isinstance(value, str):
            at = datetime.fromisoformat(value)
            return at if at.tzinfo else at.replace(tzinfo=UTC)
    except (ValueError, OverflowError, OSError):
        return None
    return None


def _whole(value: Json) -> int:
    return int(value) if isinstance(value, int | float) and not isinstance(value, bool) else 0
