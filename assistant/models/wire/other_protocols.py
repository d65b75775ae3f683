"""Answers that a gateway hands on in a protocol of its own → the same as one of OpenAI's chunks (pure).

Read: answers wrapped in `data`, `result` or `output`; the events of Anthropic's, Cohere's and OpenAI's newer protocol;
Gemini's candidates; the tokens of text-generation servers. What is OpenAI's form already passes as it is.
"""

from __future__ import annotations

import json
from collections.abc import Mapping

from assistant.text.json_values import is_list, is_object, objects_in

Value = Mapping[str, object]
_ANSWER_FIELDS = ("choices", "message", "text", "response", "content", "delta", "candidates", "output", "token")
_WRAPPERS = ("data", "result", "output", "event", "payload", "body", "response")
_MOST_WRAPPED = 4


def as_openai(value: Value) -> Value:
    """The value in OpenAI's form; one that says nothing of an answer as it came."""
    for _ in range(_MOST_WRAPPED):
        kind = value.get("type")
        if isinstance(kind, str) and (read := _typed_event(kind, value)) is not None:
            return read
        if "candidates" in value:
            return _candidates(value)
        if "token" in value or "generated_text" in value:
            return _generated(value)
        if is_list(value.get("output")):
            return _output_items(value)
        inner = _wrapped(value)
        if inner is None:
            return value
        value = {**{name: value[name] for name in ("usage", "stopReason", "stop_reason") if name in value}, **inner}
    return value


def _wrapped(value: Value) -> Value | None:
    if value.get("choices") or value.get("message") or value.get("content") or value.get("delta"):
        return None
    for name in _WRAPPERS:
        inner = value.get(name)
        if is_object(inner) and any(field in inner for field in _ANSWER_FIELDS):
            return inner
    return None


def _chunk(delta: Value, reason: object = None, usage: object = None) -> Value:
    chunk: dict[str, object] = {"choices": [{"index": 0, "delta": delta, "finish_reason": reason}]}
    return chunk | ({"usage": usage} if usage else {})


def _typed_event(kind: str, value: Value) -> Value | None:  # noqa: C901, PLR0911 - one list of events
    delta = value.get("delta")
    inner = delta if is_object(delta) else {}
    match kind:
        case "content_block_start":
            return _chunk(_block_start(value))
        case "content_block_delta":
            return _chunk(_block_delta(value, inner))
        case "message_start":
            return _chunk({})
        case "message_delta":
            return _chunk({}, inner.get("stop_reason"))
        case "message_stop" | "response.completed" | "response.done":
            return _chunk({}, "stop", _usage_of(value))
        case "content_block_stop" | "ping" | "response.output_text.done" | "message-start":
            return _chunk({})
        case "response.output_text.delta" | "response.refusal.delta":
            return _chunk({"content": delta})
        case "response.reasoning_text.delta" | "response.reasoning_summary_text.delta":
            return _chunk({"reasoning": delta})
        case "response.output_item.done":
            item = value.get("item")
            is_call = is_object(item) and item.get("type") == "function_call"
            return _chunk({"tool_calls": [item]} if is_call else {})
        case "response.failed":
            failed = value.get("response")
            return {"error": failed.get("error") or "failed"} if is_object(failed) else {"error": "failed"}
        case "response.incomplete":
            return _chunk({}, "length", _usage_of(value))
        case "content-delta" | "tool-plan-delta" | "message-end":
            message = inner.get("message")
            return _chunk(_cohere_delta(message) if is_object(message) else {}, inner.get("finish_reason"))
        case _:
            return _chunk({}) if kind.startswith("response.") else None


def _block_start(value: Value) -> Value:
    block = value.get("content_block")
    if not is_object(block):
        return {}
    if block.get("type") == "tool_use":
        call = {"index": value.get("index"), "id": block.get("id"), "function": {"name": block.get("name")}}
        return {"tool_calls": [call | ({"input": block["input"]} if block.get("input") else {})]}
    return {"content": block.get("text"), "reasoning": block.get("thinking")}


def _block_delta(value: Value, delta: Value) -> Value:
    match delta.get("type"):
        case "input_json_delta":
            function = {"arguments": delta.get("partial_json")}
            return {"tool_calls": [{"index": value.get("index"), "function": function}]}
        case "thinking_delta":
            return {"reasoning": delta.get("thinking")}
        case "signature_delta":
            return {"signature": delta.get("signature")}
        case _:
            return {"content": delta.get("text")}


def _cohere_delta(message: Value) -> Value:
    content = message.get("content")
    thought = content.get("thinking") if is_object(content) else None
    return {"reasoning": thought} if thought else {"content": content}


def _usage_of(value: Value) -> object:
    response = value.get("response")
    return response.get("usage") if is_object(response) else value.get("usage")


def _candidates(value: Value) -> Value:
    """Gemini's own answer: parts of text, thought and calls."""
    candidates = value.get("candidates")
    first = candidates[0] if is_list(candidates) and candidates and is_object(candidates[0]) else {}
    content = first.get("content")
    parts = objects_in(content.get("parts")) if is_object(content) else []
    calls = [
        {"function": {"name": call.get("name"), "arguments": json.dumps(call.get("args") or {}, ensure_ascii=False)}}
        for part in parts
        if is_object(call := part.get("functionCall"))
    ]
    delta: dict[str, object] = {
        "content": "".join(str(part["text"]) for part in parts if "text" in part and not part.get("thought")),
        "reasoning": "".join(str(part["text"]) for part in parts if "text" in part and part.get("thought")),
    }
    counted = value.get("usageMetadata")
    usage = counted if is_object(counted) else {}
    counts = {"prompt_tokens": usage.get("promptTokenCount"), "completion_tokens": usage.get("candidatesTokenCount")}
    return _chunk(delta | ({"tool_calls": calls} if calls else {}), first.get("finishReason"), counts)


def _generated(value: Value) -> Value:
    """A token of a text-generation server, or all it generated where it streamed none."""
    token, details = value.get("token"), value.get("details")
    reason = details.get("finish_reason") if is_object(details) else value.get("finish_reason")
    if is_object(token):
        text = "" if token.get("special") else token.get("text")
    else:
        text = token if isinstance(token, str) else value.get("generated_text")
    return _chunk({"content": text}, reason or ("stop" if value.get("generated_text") else None))


def _output_items(value: Value) -> Value:
    """A whole answer of OpenAI's newer protocol."""
    known = objects_in(value.get("output"))
    content = [item.get("content") or item.get("summary") for item in known if item.get("type") == "message"]
    thoughts = [item.get("summary") or item.get("content") for item in known if item.get("type") == "reasoning"]
    calls = [item for item in known if item.get("type") == "function_call"]
    reason = "length" if value.get("status") == "incomplete" else "stop" if value.get("status") == "completed" else None
    delta: dict[str, object] = {"content": content, "reasoning": thoughts, "tool_calls": calls}
    return _chunk(delta, reason, value.get("usage"))
