"""One JSON value of a response → the pieces it says, in each form that servers use (pure).

OpenAI's chunks and whole completions, older completions (`text`), Ollama's own form (`message`, `response`, `done`),
content as text or as a list of parts, thinking under each name in use, errors as objects, lists or plain text.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import replace

from assistant.models.wire.other_protocols import as_openai
from assistant.models.wire.pieces import (
    AnswerEnd,
    AnswerText,
    CallDelta,
    EndReason,
    MessageExtras,
    Piece,
    ServerFailure,
    ThoughtText,
    TokenUsage,
    UnreadPart,
)
from assistant.models.wire.server_failures import failure_in, failure_in_choice
from assistant.text.json_values import JsonObject, is_list, is_object, objects_in

_THOUGHT_FIELDS = ("reasoning_content", "reasoning", "thinking", "reasoning_text", "thought", "thoughts")
_TEXT_FIELDS = ("content", "text", "output_text", "response", "answer")
_THOUGHT_PARTS = ("thinking", "reasoning", "thought", "reasoning_content", "redacted_thinking")
_CALL_PARTS = ("tool_use", "tool_call", "function_call", "function")
_ARGUMENT_FIELDS = ("arguments", "parameters", "args", "input")
_CALL_FIELDS = {"index", "id", "call_id", "status", "type", "function", "custom", "name", *_ARGUMENT_FIELDS}
_EXTRA_FIELDS = ("reasoning_details", "extra_content", "thought_signature", "signature", "reasoning_signature")
_REASON_FIELDS = ("finish_reason", "done_reason", "stop_reason", "finishReason", "stopReason")
_MESSAGE_FIELDS = (*_THOUGHT_FIELDS, *_TEXT_FIELDS, "refusal", "tool_calls", "function_call")
_REPEATABLE = AnswerText | ThoughtText | CallDelta
_THOUGHT_TAG = re.compile(r"</?(?:thought|think|thinking)>")
_REASONS: dict[str, EndReason] = {
    "length": "length",
    "max_tokens": "length",
    "max_output_tokens": "length",
    "model_length": "length",
    "tool_calls": "tool_calls",
    "tool_use": "tool_calls",
    "function_call": "tool_calls",
    "content_filter": "content_filter",
    "safety": "content_filter",
    "refusal": "content_filter",
    "sensitive": "content_filter",
    "recitation": "content_filter",
    "blocklist": "content_filter",
    "prohibited_content": "content_filter",
}


def read_payload(value: object, wanted_index: int = 0) -> list[Piece]:
    """What the value says, in order; empty for what says nothing. `wanted_index`: which of several answers is meant."""
    if isinstance(value, str):
        return [ServerFailure(value)] if value.strip() else []
    if is_list(value):
        return [piece for item in value for piece in read_payload(item, wanted_index)]
    if not is_object(value):
        return []
    if failure := failure_in(value):
        return [failure]
    outer, value = value, as_openai(value)
    choice = _choice(value, wanted_index)
    if failure := failure_in(value) or failure_in_choice(choice):
        return [failure]
    pieces = list(_choice_pieces(choice))
    if pieces and _is_complete(outer) and not any(isinstance(piece, AnswerEnd) for piece in pieces):
        pieces.append(AnswerEnd("stop"))
    usage = _usage(value) or _usage(choice)
    return [*pieces, usage] if usage else pieces


def _is_complete(value: Mapping[str, object]) -> bool:
    """True for a whole answer in one value, which needs no word that it is over."""
    return value.get("object") in ("chat.completion", "text_completion") or value.get("success") is True


def other_index(value: object) -> int:
    """The number of the answer in a value that has none numbered 0; 0 for every other value."""
    choices = _answers(value.get("choices")) if is_object(value) else []
    indexes = [_index(choice) or 0 for choice in choices]
    return min(indexes, default=0)


def _choice(value: Mapping[str, object], wanted_index: int) -> Mapping[str, object]:
    """The answer of the value that is meant; the value itself where it has no list of them."""
    if "choices" not in value:
        return value
    nothing: dict[str, object] = {}
    answers = _answers(value["choices"])
    return next((choice for choice in answers if _index(choice) in (wanted_index, None)), nothing)


def _answers(choices: object) -> list[JsonObject]:
    if is_object(choices):
        # One answer in place of a list of them, or one under each number.
        choices = list(choices.values()) if choices and all(str(name).isdigit() for name in choices) else [choices]
    return objects_in(choices)


def _index(choice: Mapping[str, object]) -> int | None:
    index = choice.get("index")
    if isinstance(index, str) and index.isdigit():
        return int(index)
    return index if isinstance(index, int) else None


def _choice_pieces(choice: Mapping[str, object]) -> Iterable[Piece]:
    """What a delta or a message says, and what is beside it in the answer; what is in both is taken once."""
    delta, message = (_message_of(choice.get(name)) for name in ("delta", "message"))
    beside = {name: choice[name] for name in _MESSAGE_FIELDS if choice.get(name)}
    # A message behind the deltas says all of the answer once more.
    is_whole = bool(message) and isinstance(choice.get("finish_reason"), str) and choice["finish_reason"] != ""
    said = {**beside, **_given(message), **_given(delta)} if message or delta else dict(choice)
    for piece in _message_pieces(said):
        is_from_message = is_whole and not _given(delta)
        yield replace(piece, is_whole=True) if is_from_message and isinstance(piece, _REPEATABLE) else piece
    if reason := _end_reason(choice):
        yield AnswerEnd(reason)


def _message_of(value: object) -> Mapping[str, object]:
    if isinstance(value, str):
        return {"content": value}
    return value if is_object(value) else {}


def _given(message: Mapping[str, object]) -> dict[str, object]:
    return {name: value for name, value in message.items() if value not in (None, "", [], {}) and name != "role"}


def _message_pieces(message: Mapping[str, object]) -> Iterable[Piece]:
    if _is_thought(message):
        yield ThoughtText(_THOUGHT_TAG.sub("", _plain_text(message.get("content"))))
        return
    yield from _thoughts(message)
    for name in _TEXT_FIELDS:
        pieces = list(_content_pieces(message.get(name)))
        yield from pieces
        if pieces:
            break
    refusal = message.get("refusal")
    if isinstance(refusal, str) and refusal:
        yield AnswerText(refusal)
    audio = message.get("audio")
    if is_object(audio) and isinstance(audio.get("transcript"), str):
        yield AnswerText(str(audio["transcript"]))
    yield from _calls(message)
    extras = {name: message[name] for name in _EXTRA_FIELDS if message.get(name)}
    if extras:
        yield MessageExtras(extras)


def _is_thought(message: Mapping[str, object]) -> bool:
    """True where Google marks all of it as thinking."""
    extra = message.get("extra_content")
    marks = extra.get("google") if is_object(extra) else None
    return is_object(marks) and marks.get("thought") is True


def _thoughts(message: Mapping[str, object]) -> Iterable[Piece]:
    """The thinking under the first of its names that holds any: some servers send it twice."""
    for name in _THOUGHT_FIELDS:
        if thought := _plain_text(message.get(name)):
            yield ThoughtText(thought, name)
            return
    details = message.get("reasoning_details")
    if is_list(details) and (thought := _plain_text(details)):
        yield ThoughtText(thought, "reasoning_details")


def _content_pieces(content: object) -> Iterable[Piece]:
    """Text, or parts of it, in order."""
    match content:
        case str():
            if content:
                yield AnswerText(content)
        case _ if is_list(content):
            for part in content:
                yield from _content_pieces(part)
        case _ if is_object(content):
            yield from _part_pieces(content)
        case _:
            pass


def _part_pieces(part: Mapping[str, object]) -> Iterable[Piece]:
    kind = str(part.get("type") or "text")
    if kind in _THOUGHT_PARTS:
        if thought := _plain_text(part):
            yield ThoughtText(thought)
        extras = {name: part[name] for name in ("signature", "data") if part.get(name)}
        if extras:
            yield MessageExtras({"thinking_parts": [dict(part)]})
    elif kind in _CALL_PARTS:
        yield _call(part, None)
    elif text := _plain_text(part):
        yield AnswerText(text)
    elif kind not in ("text", "output_text", "input_text", "refusal"):
        yield UnreadPart(kind)


def _plain_text(value: object) -> str:
    """All text within a value, in order: a string, `{"text": …}`, `{"value": …}`, or a list of such."""
    match value:
        case str():
            return value
        case _ if is_list(value):
            return "".join(_plain_text(item) for item in value)
        case _ if is_object(value):
            names = ("text", "thinking", "reasoning", "content", "summary", "refusal", "value", "reasoning_content")
            return next((text for name in names if (text := _plain_text(value.get(name)))), "")
        case _:
            return ""


def _calls(message: Mapping[str, object]) -> Iterable[CallDelta]:
    given = message.get("tool_calls")
    value = _parsed(given) if isinstance(given, str) else given
    if is_object(value) and value and all(str(name).isdigit() for name in value):
        value = list(value.values())
    calls = value if is_list(value) else [value]
    for place, call in enumerate(calls):
        if is_object(call):
            yield _call(call, place if len(calls) > 1 else None)
    older = message.get("function_call")
    if is_object(older):
        yield _call(older, None)


def _call(call: Mapping[str, object], place: int | None) -> CallDelta:
    function = call.get("function") or call.get("custom")
    if isinstance(function, str) and is_object(read := _parsed(function)):
        function = read
    inner = function if is_object(function) else call
    name = function if isinstance(function, str) else inner.get("name")
    arguments = next((inner[field] for field in _ARGUMENT_FIELDS if inner.get(field) is not None), None)
    index = call.get("index")
    if isinstance(index, str) and index.isdigit():
        index = int(index)
    extras = {key: value for key, value in call.items() if key not in _CALL_FIELDS and value is not None}
    if inner is not call:
        extras |= {key: value for key, value in inner.items() if key not in _CALL_FIELDS and value is not None}
    return CallDelta(
        index=index if isinstance(index, int) and not isinstance(index, bool) else place,
        call_id=str(call.get("call_id") or call.get("id") or call.get("tool_call_id") or ""),
        name=name if isinstance(name, str) else "",
        arguments=arguments,
        extras=extras,
    )


def _end_reason(choice: Mapping[str, object]) -> EndReason | None:
    reason = next((choice[name] for name in _REASON_FIELDS if choice.get(name)), None)
    if isinstance(reason, str) and reason.lower() not in ("", "null", "none"):
        return _REASONS.get(reason.lower(), "stop")
    return (
        "stop"
        if choice.get("done") is True
        or choice.get("stop") is True
        or reason is not None
        and not isinstance(reason, str)
        else None
    )


def _usage(value: Mapping[str, object]) -> TokenUsage | None:
    found = value.get("usage") or value.get("x_groq")
    if is_object(found) and is_object(found.get("usage")):
        found = found["usage"]
    counts = found if is_object(found) else value
    given = _count(counts, "prompt_tokens", "input_tokens", "prompt_eval_count")
    written = _count(counts, "completion_tokens", "output_tokens", "eval_count")
    # Servers that do not count say 0; no request is empty.
    if not given or written is None:
        return None
    details = counts.get("prompt_tokens_details")
    nested = _count(details, "cached_tokens") if is_object(details) else None
    cached = nested if nested is not None else _count(counts, "prompt_cache_hit_tokens", "cached_tokens")
    return TokenUsage(given, written, cached or 0)


def _count(counts: Mapping[str, object], *names: str) -> int | None:
    for name in names:
        value = counts.get(name)
        if isinstance(value, int | float) and not isinstance(value, bool) and value >= 0:
            return int(value)
    return None


def _parsed(text: str) -> object:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None
