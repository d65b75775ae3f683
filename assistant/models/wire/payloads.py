"""One JSON value of a response → the pieces it says, in each form that servers use (pure).

OpenAI's chunks and whole completions, older completions (`text`), Ollama's own form (`message`, `response`, `done`),
content as text or as a list of parts, thinking under each name in use, errors as objects, lists or plain text.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping

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

_THOUGHT_FIELDS = ("reasoning_content", "reasoning", "thinking", "reasoning_text", "thought", "thoughts")
_TEXT_FIELDS = ("content", "text", "output_text", "response", "answer")
_THOUGHT_PARTS = ("thinking", "reasoning", "thought", "reasoning_content", "redacted_thinking")
_CALL_PARTS = ("tool_use", "tool_call", "function_call", "function")
_ARGUMENT_FIELDS = ("arguments", "parameters", "args", "input")
_CALL_FIELDS = {"index", "id", "type", "function", "name", *_ARGUMENT_FIELDS}
_EXTRA_FIELDS = ("reasoning_details", "extra_content", "thought_signature", "signature", "reasoning_signature")
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


def read_payload(value: object) -> list[Piece]:
    """What the value says, in order; empty for what says nothing."""
    if isinstance(value, str):
        return [ServerFailure(value)] if value.strip() else []
    if isinstance(value, list):
        return [piece for item in value for piece in read_payload(item)]
    if not isinstance(value, dict):
        return []
    if failure := _failure(value):
        return [failure]
    pieces = list(_choice_pieces(_choice(value)))
    usage = _usage(value)
    return [*pieces, usage] if usage else pieces


def _choice(value: Mapping[str, object]) -> Mapping[str, object]:
    """The first answer of the value; the value itself where it has no list of them."""
    choices = value.get("choices")
    if isinstance(choices, dict):
        choices = [choices]
    if isinstance(choices, list):
        answers = [choice for choice in choices if isinstance(choice, dict)]
        first = [choice for choice in answers if choice.get("index") in (0, None)]
        return first[0] if first else answers[0] if answers and "index" not in answers[0] else {}
    return value if "choices" not in value else {}


def _choice_pieces(choice: Mapping[str, object]) -> Iterable[Piece]:
    said = [part for part in (choice.get("delta"), choice.get("message")) if isinstance(part, dict)]
    for part in said:
        yield from _message_pieces(part)
    if not said:
        yield from _message_pieces(choice)
    if said and isinstance(choice.get("text"), str):
        yield AnswerText(str(choice["text"]))
    if reason := _end_reason(choice):
        yield AnswerEnd(reason)


def _message_pieces(message: Mapping[str, object]) -> Iterable[Piece]:
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
    if isinstance(audio, dict) and isinstance(audio.get("transcript"), str):
        yield AnswerText(str(audio["transcript"]))
    yield from _calls(message)
    extras = {name: message[name] for name in _EXTRA_FIELDS if message.get(name)}
    if extras:
        yield MessageExtras(extras)


def _thoughts(message: Mapping[str, object]) -> Iterable[Piece]:
    """The thinking under the first of its names that holds any: some servers send it twice."""
    for name in _THOUGHT_FIELDS:
        if thought := _plain_text(message.get(name)):
            yield ThoughtText(thought, name)
            return
    details = message.get("reasoning_details")
    if isinstance(details, list) and (thought := _plain_text(details)):
        yield ThoughtText(thought, "reasoning_details")


def _content_pieces(content: object) -> Iterable[Piece]:
    """Text, or parts of it, in order."""
    match content:
        case str():
            if content:
                yield AnswerText(content)
        case list():
            for part in content:
                yield from _content_pieces(part)
        case dict():
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
        case list():
            return "".join(_plain_text(item) for item in value)
        case dict():
            names = ("text", "thinking", "reasoning", "content", "summary", "refusal", "value", "reasoning_content")
            return next((text for name in names if (text := _plain_text(value.get(name)))), "")
        case _:
            return ""


def _calls(message: Mapping[str, object]) -> Iterable[CallDelta]:
    given = message.get("tool_calls")
    value = _parsed(given) if isinstance(given, str) else given
    calls = value if isinstance(value, list) else [value]
    for place, call in enumerate(calls):
        if isinstance(call, dict):
            yield _call(call, place if len(calls) > 1 else None)
    older = message.get("function_call")
    if isinstance(older, dict):
        yield _call(older, None)


def _call(call: Mapping[str, object], place: int | None) -> CallDelta:
    function = call.get("function")
    inner = function if isinstance(function, dict) else call
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
        call_id=str(call.get("id") or call.get("tool_call_id") or call.get("call_id") or ""),
        name=name if isinstance(name, str) else "",
        arguments=arguments,
        extras=extras,
    )


def _end_reason(choice: Mapping[str, object]) -> EndReason | None:
    reason = choice.get("finish_reason") or choice.get("done_reason") or choice.get("stop_reason")
    if isinstance(reason, str) and reason.lower() not in ("", "null", "none"):
        return _REASONS.get(reason.lower(), "stop")
    return "stop" if choice.get("done") is True or reason is not None and not isinstance(reason, str) else None


def _usage(value: Mapping[str, object]) -> TokenUsage | None:
    found = value.get("usage") or value.get("x_groq")
    if isinstance(found, dict) and isinstance(found.get("usage"), dict):
        found = found["usage"]
    counts = found if isinstance(found, dict) else value
    given = _count(counts, "prompt_tokens", "input_tokens", "prompt_eval_count")
    written = _count(counts, "completion_tokens", "output_tokens", "eval_count")
    if given is None or written is None:
        return None
    details = counts.get("prompt_tokens_details")
    nested = _count(details, "cached_tokens") if isinstance(details, dict) else None
    cached = nested if nested is not None else _count(counts, "prompt_cache_hit_tokens", "cached_tokens")
    return TokenUsage(given, written, cached or 0)


def _count(counts: Mapping[str, object], *names: str) -> int | None:
    for name in names:
        value = counts.get(name)
        if isinstance(value, int | float) and not isinstance(value, bool) and value >= 0:
            return int(value)
    return None


def _failure(value: Mapping[str, object]) -> ServerFailure | None:
    """The error a value tells of, by every name in use; a value with an answer tells of none."""
    error = value.get("error") or value.get("errors")
    if isinstance(error, list):
        error = error[0] if error else None
    status = _status(value)
    if isinstance(error, str):
        return ServerFailure(_longer(error, value), status)
    if isinstance(error, dict):
        message = _error_text(error) or json.dumps(error, ensure_ascii=False)
        return ServerFailure(message, _status(error) or status, _code(error))
    has_answer = any(value.get(name) for name in ("choices", "message", "response", "usage"))
    says_error = value.get("object") == "error" or value.get("type") == "error"
    if says_error or (not has_answer and ("detail" in value or _is_error_code(value))):
        return ServerFailure(_error_text(value) or json.dumps(value, ensure_ascii=False), status, _code(value))
    if isinstance(value.get("message"), str) and "choices" not in value and "content" not in value:
        return ServerFailure(str(value["message"]), status, _code(value))
    return None


def _longer(error: str, value: Mapping[str, object]) -> str:
    """The plain error, with the sentence beside it where there is one."""
    message = value.get("message")
    return f"{error}: {message}" if isinstance(message, str) and message != error else error


def _error_text(error: Mapping[str, object]) -> str:
    for name in ("message", "detail", "msg", "error_msg", "error_message", "error", "reason"):
        value = error.get(name)
        if isinstance(value, str) and value:
            return value
        if isinstance(value, dict) and (text := _error_text(value)):
            return text
        if isinstance(value, list) and value:
            return json.dumps(value, ensure_ascii=False)
    return ""


def _code(error: Mapping[str, object]) -> str:
    code = error.get("code") or error.get("type") or error.get("error_code")
    return code if isinstance(code, str) else ""


def _status(error: Mapping[str, object]) -> int:
    for name in ("code", "status", "status_code", "http_status"):
        value = error.get(name)
        if isinstance(value, str) and value.isdigit():
            value = int(value)
        if isinstance(value, int) and 400 <= value < 600:
            return value
    return 0


def _is_error_code(value: Mapping[str, object]) -> bool:
    return bool(_status(value)) or bool(value.get("error_code")) or bool(value.get("error_msg"))


def _parsed(text: str) -> object:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None
