"""One line of a session file, read: versions 1 to 3, Anthropic and OpenAI blocks, plain role/content lines."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Literal, TypeAlias

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
# pi counts a picture as this many characters, whatever its size.
IMAGE_CHARS = 4_800
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


@dataclass(frozen=True, slots=True)
class Call:
    """A tool call: what it asks for. `command` is the shell line of an exec-like tool, else empty."""

    id: str | None
    name: str
    arguments: Json


@dataclass(frozen=True, slots=True)
class Result:
    """A tool's answer: its text blocks, and the encoded size of its pictures."""

    call_id: str | None
    tool_name: str
    texts: tuple[str, ...]
    image_chars: int = 0
    is_error: bool = False
    exit_code: int | None = None

    @property
    def text(self) -> str:
        """Its text blocks, one under another."""
        return "\n".join(self.texts)


@dataclass(frozen=True, slots=True)
class Content:
    """What a message carries, whatever the dialect of its blocks."""

    texts: tuple[str, ...] = ()
    thoughts: tuple[str, ...] = ()
    calls: tuple[Call, ...] = ()
    results: tuple[Result, ...] = ()
    image_count: int = 0

    @property
    def text(self) -> str:
        """Its text blocks, one under another."""
        return "\n".join(self.texts)


def read_line(raw: bytes, is_first: bool = False) -> Entry:
    """The entry that stands on a line. Invalid UTF-8 is carried through as surrogates, never lost."""
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
    try:
        value: Json = _DECODER.decode(text)
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) else None


def read_content(entry: Entry) -> Content:
    """What the entry's message carries; empty for an entry without one."""
    message = entry.message
    if message is None or entry.kind == "bash":
        return Content()
    if entry.kind == "result" and message.get("role") != "user":
        return Content(results=(_result_message(message),))
    found = _Blocks()
    found.add(message.get("content"))
    calls = [*found.calls, *_openai_calls(message.get("tool_calls"))]
    thoughts = (*found.thoughts, *_strings(message.get("reasoning_content")))
    return Content(tuple(found.texts), thoughts, tuple(calls), tuple(found.results), found.image_count)


def summary_text(entry: Entry) -> str:
    """The text of a summary entry, in either of its forms."""
    if entry.fields is None:
        return ""
    if entry.message is not None:
        return plain_text(entry.message.get("content"))
    return text_or_none(entry.fields.get("summary")) or ""


def content_chars(entry: Entry, content: Content) -> int:
    """Characters that reach a model, counted as pi counts them: no keys, no usage, no details."""
    fields, message = entry.fields, entry.message
    if fields is None or entry.kind in ("header", "reset", "marker", "state"):
        return 0
    if entry.kind == "bash" and message is not None:
        return len(plain_text(message.get("command"))) + len(plain_text(message.get("output")))
    if entry.kind in ("summary", "spoken_summary"):
        return len(summary_text(entry))
    if entry.kind == "injected":
        return len(_injected_text(fields, message))
    calls = sum(len(call.name) + len(arguments_text(call.arguments)) for call in content.calls)
    results = sum(_chars(result.texts) + (IMAGE_CHARS if result.image_chars else 0) for result in content.results)
    spoken = _chars(content.texts) + _chars(content.thoughts)
    return spoken + calls + results + content.image_count * IMAGE_CHARS


def arguments_text(arguments: Json) -> str:
    """A call's arguments as the compact JSON a model sees."""
    if isinstance(arguments, str):
        return arguments
    return _COMPACT.encode(arguments) if arguments is not None else ""


def call_command(call: Call) -> str:
    """The shell line of an exec-like call, else an empty text."""
    arguments = parse_object(call.arguments) if isinstance(call.arguments, str) else call.arguments
    if not isinstance(arguments, dict):
        return ""
    for key in ("command", "cmd", "script"):
        value = arguments.get(key)
        if isinstance(value, str):
            return value
        if isinstance(value, list):
            return " ".join(part for part in value if isinstance(part, str))
    return ""


def plain_text(content: Json) -> str:
    """All text of a content value, a string or blocks, joined by newlines."""
    return "\n".join(_texts(content))


def image_data_chars(block: Fields) -> int:
    """The encoded size of a picture block, 0 for any other block."""
    if block.get("type") not in ("image", "image_url", "input_image"):
        return 0
    source = block.get("source")
    if isinstance(source, dict):
        return len(text_or_none(source.get("data")) or "") or 1
    return len(text_or_none(block.get("data")) or "") or 1


def text_or_none(value: Json) -> str | None:
    """`value` when it is a text."""
    return value if isinstance(value, str) else None


class _Blocks:
    """Collects what stands in a list of content blocks."""

    def __init__(self) -> None:
        self.texts: list[str] = []
        self.thoughts: list[str] = []
        self.calls: list[Call] = []
        self.results: list[Result] = []
        self.image_count = 0

    def add(self, content: Json) -> None:
        if isinstance(content, str):
            self.texts.append(content)
        elif isinstance(content, list):
            for block in content:
                if isinstance(block, str):
                    self.texts.append(block)
                elif isinstance(block, dict):
                    self._add_block(block)

    def _add_block(self, block: Fields) -> None:
        match block.get("type"):
            case "thinking" | "redacted_thinking" | "reasoning":
                self.thoughts.extend(_strings(block.get("thinking")) or _strings(block.get("text")))
            case "toolCall" | "tool_use":
                arguments = block.get("arguments", block.get("input"))
                self.calls.append(Call(text_or_none(block.get("id")), text_or_none(block.get("name")) or "", arguments))
            case "tool_result":
                self.results.append(_result_block(block))
            case "image" | "image_url" | "input_image":
                self.image_count += 1
            case _:
                self.texts.extend(_strings(block.get("text")))


def _refuse_constant(name: str) -> Json:
    raise ValueError(f"{name} is not JSON")


_COMPACT = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"))
_DECODER = json.JSONDecoder(parse_constant=_refuse_constant)


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


def _result_message(message: Fields) -> Result:
    details = message.get("details")
    exit_code = details.get("exitCode") if isinstance(details, dict) else None
    content = message.get("content")
    return Result(
        call_id=text_or_none(message.get("toolCallId")) or text_or_none(message.get("tool_call_id")),
        tool_name=text_or_none(message.get("toolName")) or text_or_none(message.get("name")) or "",
        texts=_texts(content),
        image_chars=_image_chars(content),
        is_error=message.get("isError") is True,
        exit_code=exit_code if isinstance(exit_code, int) else None,
    )


def _result_block(block: Fields) -> Result:
    content = block.get("content")
    return Result(
        call_id=text_or_none(block.get("tool_use_id")),
        tool_name="",
        texts=_texts(content),
        image_chars=_image_chars(content),
        is_error=block.get("is_error") is True,
    )


def _image_chars(content: Json) -> int:
    if not isinstance(content, list):
        return 0
    return sum(image_data_chars(block) for block in content if isinstance(block, dict))


def _openai_calls(calls: Json) -> list[Call]:
    found: list[Call] = []
    for call in calls if isinstance(calls, list) else []:
        function = call.get("function") if isinstance(call, dict) else None
        if isinstance(call, dict) and isinstance(function, dict):
            name = text_or_none(function.get("name")) or ""
            found.append(Call(text_or_none(call.get("id")), name, function.get("arguments")))
    return found


def _texts(content: Json) -> tuple[str, ...]:
    if isinstance(content, str):
        return (content,)
    parts: list[str] = []
    for block in content if isinstance(content, list) else []:
        if isinstance(block, str):
            parts.append(block)
        elif isinstance(block, dict):
            parts.extend(_strings(block.get("text")))
    return tuple(parts)


def _chars(texts: tuple[str, ...]) -> int:
    return sum(map(len, texts))


def _injected_text(fields: Fields, message: Fields | None) -> str:
    source = message if message is not None else fields
    return plain_text(source.get("content")) or text_or_none(source.get("summary")) or ""


def _strings(value: Json) -> list[str]:
    return [value] if isinstance(value, str) and value else []
