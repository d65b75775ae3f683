"""A line with something cut, shortened or relinked in it, and all else as it was."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass

from assistant.config.words import say
from assistant.errors import TranscriptError
from assistant.openclaw.entry_contents import (
    condensed_mark,
    cut_mark,
    image_data_chars,
    is_condensed,
    picture_note,
    split_cut,
    with_failure,
)
from assistant.openclaw.session_entries import BYTE_ORDER_MARK, Fields, Json, parse_object, text_or_none
from assistant.openclaw.tool_calls import says_failed
from assistant.openclaw.wording import first_sentence

CONDENSED_CHARS = 200
_THINKING_TYPES = ("thinking", "redacted_thinking", "reasoning")


@dataclass(frozen=True, slots=True)
class LineChange:
    """What happens to one surviving line. A limit of None leaves that part alone; `removes_output` leaves a stub."""

    output_limit_chars: int | None = None
    argument_limit_chars: int | None = None
    drops_thinking: bool = False
    condenses: bool = False
    removes_output: bool = False
    condensed_text: str | None = None
    drops_pictures: bool = False


@dataclass(frozen=True, slots=True)
class Relink:
    """The new parent of an entry; None makes it a root."""

    parent_id: str | None


def cut_text(text: str, limit_chars: int) -> str:
    """The first `limit_chars` characters and how many are missing; a text that was cut before counts on."""
    body, missing = split_cut(text)
    if len(body) <= limit_chars:
        return text
    return body[:limit_chars] + cut_mark(len(body) - limit_chars + missing)


def cut_output(text: str, limit_chars: int) -> str:
    """An output cut like any text; when what says that the call failed is cut away, the mark says so."""
    shorter = cut_text(text, limit_chars)
    return with_failure(shorter) if says_failed(text) and not says_failed(shorter) else shorter


def condense_text(text: str) -> str:
    """The first sentence of a long explanation, at most 200 characters, and how many are missing."""
    if len(text) <= CONDENSED_CHARS or is_condensed(text):
        return text
    kept = first_sentence(text, CONDENSED_CHARS).removesuffix("…")
    shorter = kept + condensed_mark(len(text) - len(kept))
    return shorter if len(shorter) < len(text) else text


def rewrite(raw: bytes, is_first: bool, change: LineChange | None, relink: Relink | None) -> bytes:
    """The line with `change` and `relink` applied; its byte order mark, ending and JSON manner stay.

    Raises `TranscriptError` when a value of the line cannot be written as JSON again.
    """
    body = raw.removeprefix(BYTE_ORDER_MARK) if is_first else raw
    text = body.rstrip(b"\r\n").decode("utf-8", "surrogateescape")
    fields = parse_object(text)
    if fields is None:
        return raw
    if change is None and relink is not None:
        spliced = _splice_parent(raw, text_or_none(fields.get("parentId")), relink.parent_id)
        if spliced is not None:
            return spliced
    if change is not None:
        fields = _changed(fields, change)
    if relink is not None:
        fields = {**fields, "parentId": relink.parent_id}
    head = BYTE_ORDER_MARK if is_first and raw.startswith(BYTE_ORDER_MARK) else b""
    ending = raw[len(raw.rstrip(b"\r\n")) :]
    return head + write_json(fields, like=text) + ending


def write_json(fields: Fields, like: str = "") -> bytes:
    """The object as one line, spaced and escaped as the line `like` is."""
    spaced = re.match(r'\{"[^"\\]*": ', like) is not None
    separators = (", ", ": ") if spaced else (",", ":")
    ascii_only = like.isascii() and "\\u" in like
    try:
        text = json.dumps(fields, ensure_ascii=ascii_only, separators=separators, allow_nan=False)
    except ValueError:
        raise TranscriptError(say("openclaw_errors", "number_too_large")) from None
    try:
        return text.encode("utf-8")
    except UnicodeEncodeError:
        return _encode_lone_surrogates(fields, like, separators)


def _encode_lone_surrogates(fields: Fields, like: str, separators: tuple[str, str]) -> bytes:
    try:
        like.encode("utf-8")
    except UnicodeEncodeError:
        # The line held bytes that are no UTF-8: they go back as they came.
        return json.dumps(fields, ensure_ascii=False, separators=separators).encode("utf-8", "surrogateescape")
    return json.dumps(fields, ensure_ascii=True, separators=separators).encode("ascii")


def _splice_parent(raw: bytes, old: str | None, new: str | None) -> bytes | None:
    if old is None:
        before = b'"parentId":null'
    else:
        before = b'"parentId":' + json.dumps(old, ensure_ascii=False).encode("utf-8", "surrogateescape")
    after = b'"parentId":' + json.dumps(new).encode("ascii")
    return raw.replace(before, after) if raw.count(before) == 1 and raw.count(b'"parentId"') == 1 else None


def _changed(fields: Fields, change: LineChange) -> Fields:
    inner = fields.get("message")
    if isinstance(inner, dict):
        return {**fields, "message": _changed_message(inner, change)}
    return _changed_message(fields, change)


def _changed_message(message: Fields, change: LineChange) -> Fields:
    changed = dict(message)
    role = message.get("role")
    if role in ("toolResult", "tool", "function"):
        return _changed_result(changed, change)
    if role == "bashExecution":
        output = changed.get("output")
        if isinstance(output, str):
            changed["output"] = _cut_output(output, change)
        return changed
    content = changed.get("content")
    if isinstance(content, list):
        changed["content"] = _changed_blocks(content, change)
    elif isinstance(content, str) and change.condenses:
        changed["content"] = _condensed(content, change)
    if change.drops_thinking and "reasoning_content" in changed:
        del changed["reasoning_content"]
    calls = changed.get("tool_calls")
    if isinstance(calls, list) and change.argument_limit_chars is not None:
        limit = change.argument_limit_chars
        changed["tool_calls"] = [_cut_openai_call(call, limit) for call in calls]
    return changed


def _changed_result(message: Fields, change: LineChange) -> Fields:
    message["content"] = _cut_result_content(message.get("content"), change)
    limit = 0 if change.removes_output else change.output_limit_chars
    if limit is not None and "details" in message:
        message["details"] = _cut_strings(message["details"], max(limit, CONDENSED_CHARS))
    return message


def _changed_blocks(blocks: list[Json], change: LineChange) -> list[Json]:
    changed: list[Json] = []
    has_condensed = False
    for block in blocks:
        if not isinstance(block, dict):
            changed.append(block)
            continue
        kind = block.get("type")
        if kind in _THINKING_TYPES and change.drops_thinking:
            continue
        if change.drops_pictures and (data_chars := image_data_chars(block)):
            block = _picture_note(data_chars)
        elif kind in ("toolCall", "tool_use"):
            block = _cut_call(block, change)
        elif kind == "tool_result":
            block = {**block, "content": _cut_result_content(block.get("content"), change)}
        elif change.condenses and isinstance(text := block.get("text"), str):
            # A model's own gist replaces all text blocks of the line together.
            if has_condensed and change.condensed_text is not None:
                continue
            block = {**block, "text": _condensed(text, change)}
            has_condensed = True
        changed.append(block)
    return changed


def _condensed(text: str, change: LineChange) -> str:
    return condense_text(text) if change.condensed_text is None else change.condensed_text


def _cut_call(block: Fields, change: LineChange) -> Fields:
    limit = change.argument_limit_chars
    if limit is None:
        return block
    return {
        key: _cut_strings(value, limit) if key in ("arguments", "input", "partialJson") else value
        for key, value in block.items()
    }


def _cut_openai_call(call: Json, limit_chars: int) -> Json:
    function = call.get("function") if isinstance(call, dict) else None
    if not isinstance(call, dict) or not isinstance(function, dict):
        return call
    arguments = function.get("arguments")
    parsed = parse_object(arguments) if isinstance(arguments, str) else None
    if parsed is None:
        return call
    text = json.dumps(_cut_strings(parsed, limit_chars), ensure_ascii=False)
    return {**call, "function": {**function, "arguments": text}}


def _cut_strings(value: Json, limit_chars: int) -> Json:
    if isinstance(value, str):
        return cut_text(value, limit_chars)
    if isinstance(value, list):
        return [_cut_strings(item, limit_chars) for item in value]
    if isinstance(value, dict):
        return {key: _cut_strings(item, limit_chars) for key, item in value.items()}
    return value


def _cut_output(text: str, change: LineChange) -> str:
    if change.removes_output:
        return cut_output(text, 0)
    return text if change.output_limit_chars is None else cut_output(text, change.output_limit_chars)


def _cut_result_content(content: Json, change: LineChange) -> Json:
    limit = 0 if change.removes_output else change.output_limit_chars
    if limit is None:
        return content
    if isinstance(content, str):
        return cut_output(content, limit)
    if not isinstance(content, list):
        return content
    return _cut_blocks(content, limit)


def _picture_note(data_chars: int) -> Fields:
    return {"type": "text", "text": picture_note(data_chars)}


def _cut_blocks(blocks: list[Json], limit_chars: int) -> list[Json]:
    """The blocks with `limit_chars` of text left between them, the first served first; a picture becomes a note."""
    kept: list[Json] = []
    left = limit_chars
    for block in blocks:
        if not isinstance(block, dict):
            kept.append(block)
            continue
        data_chars = image_data_chars(block)
        text = block.get("text")
        if data_chars:
            kept.append(_picture_note(data_chars))
        elif isinstance(text, str):
            kept.append({**block, "text": cut_output(text, left)})
            left = max(0, left - len(text))
        else:
            kept.append(block)
    return kept
