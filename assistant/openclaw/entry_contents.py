"""What an entry carries: texts, thoughts, tool calls and results, and the marks that shortening leaves in a text."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass

from assistant.openclaw.session_entries import (
    Entry,
    Fields,
    Json,
    parse_object,
    plain_text,
    text_or_none,
    texts_in,
    texts_of,
)

_PICTURE_NOTE = re.compile(r"\.\.\.\[image truncated, \d+ chars omitted\]")
# pi counts a picture as this many characters, whatever its size.
IMAGE_CHARS = 4_800
_COMPACT = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"))

_CUT = re.compile(r"\.\.\.\[truncated, (\d+) chars omitted(?:, failed)?\]\Z")
_CONDENSED = re.compile(r"\.\.\.\[condensed, \d+ chars omitted\](?=\n|\Z)")
_FAILED = re.compile(r"\.\.\.\[truncated, \d+ chars omitted, failed\](?=\n|\Z)")


@dataclass(frozen=True, slots=True)
class CallContent:
    """A tool call: what it asks for. `command` is the shell line of an exec-like tool, else empty."""

    id: str | None
    name: str
    arguments: Json


@dataclass(frozen=True, slots=True)
class ResultContent:
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
    calls: tuple[CallContent, ...] = ()
    results: tuple[ResultContent, ...] = ()
    image_count: int = 0

    @property
    def text(self) -> str:
        """Its text blocks, one under another."""
        return "\n".join(self.texts)


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
    thoughts = (*found.thoughts, *texts_in(message.get("reasoning_content")))
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
    total = _chars(content.texts) + _chars(content.thoughts) + content.image_count * IMAGE_CHARS
    for call in content.calls:
        total += len(call.name) + len(arguments_text(call.arguments))
    for result in content.results:
        total += _chars(result.texts) + (IMAGE_CHARS if result.image_chars else 0)
    return total


def arguments_text(arguments: Json) -> str:
    """A call's arguments as the compact JSON a model sees."""
    if isinstance(arguments, str):
        return arguments
    return _COMPACT.encode(arguments) if arguments is not None else ""


def call_command(call: CallContent) -> str:
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


def image_data_chars(block: Fields) -> int:
    """The encoded size of a picture block, 0 for any other block."""
    if block.get("type") not in ("image", "image_url", "input_image"):
        return 0
    source = block.get("source")
    if isinstance(source, dict):
        return len(text_or_none(source.get("data")) or "") or 1
    return len(text_or_none(block.get("data")) or "") or 1


def cut_mark(missing_chars: int) -> str:
    """The mark in place of `missing_chars` characters."""
    return f"...[truncated, {missing_chars} chars omitted]"


def picture_note(data_chars: int) -> str:
    """The text in place of a picture of this encoded size."""
    return f"...[image truncated, {data_chars} chars omitted]"


def is_picture_note(text: str) -> bool:
    """True for a text in the place of a picture."""
    return _PICTURE_NOTE.fullmatch(text) is not None


def split_cut(text: str) -> tuple[str, int]:
    """The text without the mark at its end, and how many characters that mark says are missing."""
    mark = _CUT.search(text)
    return (text, 0) if mark is None else (text[: mark.start()], int(mark.group(1)))


def is_cut(text: str) -> bool:
    """True for a text of which the end was cut."""
    return _CUT.search(text) is not None


def with_failure(cut: str) -> str:
    """A text that was cut, its mark saying that the missing part reported a failure."""
    return cut.removesuffix("]") + ", failed]"


def notes_failure(text: str) -> bool:
    """True when a mark in a text says that the missing part reported a failure."""
    return _FAILED.search(text) is not None


def condensed_mark(missing_chars: int) -> str:
    """The mark at the end of an explanation that was shortened by `missing_chars` characters."""
    return f"...[condensed, {missing_chars} chars omitted]"


def is_condensed(text: str) -> bool:
    """True for a text of which an explanation was shortened to its first sentence or to a model's gist."""
    return _CONDENSED.search(text) is not None


class _Blocks:
    """Collects the parts of a list of content blocks."""

    def __init__(self) -> None:
        self.texts: list[str] = []
        self.thoughts: list[str] = []
        self.calls: list[CallContent] = []
        self.results: list[ResultContent] = []
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
                self.thoughts.extend(texts_in(block.get("thinking")) or texts_in(block.get("text")))
            case "toolCall" | "tool_use":
                arguments = block.get("arguments", block.get("input"))
                self.calls.append(
                    CallContent(text_or_none(block.get("id")), text_or_none(block.get("name")) or "", arguments)
                )
            case "tool_result":
                self.results.append(_result_block(block))
            case "image" | "image_url" | "input_image":
                self.image_count += 1
            case _:
                self.texts.extend(texts_in(block.get("text")))


def _result_message(message: Fields) -> ResultContent:
    details = message.get("details")
    exit_code = details.get("exitCode") if isinstance(details, dict) else None
    content = message.get("content")
    return ResultContent(
        call_id=text_or_none(message.get("toolCallId")) or text_or_none(message.get("tool_call_id")),
        tool_name=text_or_none(message.get("toolName")) or text_or_none(message.get("name")) or "",
        texts=texts_of(content),
        image_chars=_image_chars(content),
        is_error=message.get("isError") is True,
        exit_code=exit_code if isinstance(exit_code, int) else None,
    )


def _result_block(block: Fields) -> ResultContent:
    content = block.get("content")
    return ResultContent(
        call_id=text_or_none(block.get("tool_use_id")),
        tool_name="",
        texts=texts_of(content),
        image_chars=_image_chars(content),
        is_error=block.get("is_error") is True,
    )


def _image_chars(content: Json) -> int:
    if not isinstance(content, list):
        return 0
    return sum(image_data_chars(block) for block in content if isinstance(block, dict))


def _openai_calls(calls: Json) -> list[CallContent]:
    found: list[CallContent] = []
    for call in calls if isinstance(calls, list) else []:
        function = call.get("function") if isinstance(call, dict) else None
        if isinstance(call, dict) and isinstance(function, dict):
            name = text_or_none(function.get("name")) or ""
            found.append(CallContent(text_or_none(call.get("id")), name, function.get("arguments")))
    return found


def _chars(texts: tuple[str, ...]) -> int:
    return sum(map(len, texts))


def _injected_text(fields: Fields, message: Fields | None) -> str:
    source = message if message is not None else fields
    return plain_text(source.get("content")) or text_or_none(source.get("summary")) or ""
