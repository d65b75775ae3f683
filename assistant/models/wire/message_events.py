"""The events of Anthropic's Messages API as its library expects them, from all who speak it (pure).

https://platform.claude.com/docs/en/build-with-claude/streaming. Servers that speak the same leave out the names of
events, the start of a block or the usage, or give a block whole where it starts.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping

from assistant.models.wire.answer_facts import AnswerFacts
from assistant.models.wire.native_events import IdsOfCalls, NativeEvents, count
from assistant.models.wire.pieces import TokenUsage
from assistant.text.json_values import JsonObject, is_list, is_object

_CUT = ("max_tokens", "model_context_window_exceeded")
_KINDS = ("text", "thinking", "tool_use", "redacted_thinking")
_KIND_OF_DELTA = {
    "text_delta": ("text", "text"),
    "thinking_delta": ("thinking", "thinking"),
    "signature_delta": ("thinking", "signature"),
    "input_json_delta": ("tool_use", "partial_json"),
}
"""The kind of block that a delta belongs to, and the field of its words."""


class MessageEvents(NativeEvents):
    """Reads the events of one message."""

    STATUS_OF_CODE = {
        "invalid_request_error": 400,
        "authentication_error": 401,
        "billing_error": 402,
        "permission_error": 403,
        "not_found_error": 404,
        "request_too_large": 413,
        "rate_limit_error": 429,
        "api_error": 500,
        "timeout_error": 504,
        "overloaded_error": 529,
    }

    def __init__(self, facts: AnswerFacts, fresh_id: Callable[[], str]) -> None:
        """`fresh_id` gives a call without an id of its own one that no other has."""
        super().__init__(facts)
        self._ids = IdsOfCalls(fresh_id)
        self._has_started = False
        self._kinds: dict[object, str] = {}

    def feed(self, value: JsonObject) -> list[JsonObject]:
        """The events that the library is to get for this one."""
        if "index" in value:
            value = {**value, "index": _index_of(value)}
        match value.get("type"):
            case "message":
                return [event for event in _events_of(value) for event in self.feed(event)]
            case "message_start":
                return self._start(value.get("message"))
            case "content_block_start":
                return [*self._started(), *self._block_start(value)]
            case "content_block_delta":
                return [*self._started(), *self._block_delta(value)]
            case "content_block_stop" if value.get("index") in self._kinds:
                return [value]
            case "message_delta":
                return [*self._started(), self._message_delta(value)]
            case "message_stop":
                self.facts.has_ended = True
                return [value]
            case _:
                return []

    def encode(self, value: JsonObject) -> bytes:
        """An event with its name, by which the library knows it."""
        return f"event: {value['type']}\n".encode() + super().encode(value)

    def _started(self) -> list[JsonObject]:
        return [] if self._has_started else self._start(None)

    def _start(self, message: object) -> list[JsonObject]:
        if self._has_started:
            return []
        self._has_started = True
        given = dict(message) if is_object(message) else {"id": "", "type": "message", "role": "assistant"}
        self._count(given.get("usage"))
        return [{"type": "message_start", "message": {**given, "content": [], "usage": self._usage()}}]

    def _block_start(self, value: JsonObject) -> list[JsonObject]:
        index, block = value.get("index"), value.get("content_block")
        if not is_object(block) or index in self._kinds:
            return []
        kind = str(block.get("type"))
        if kind not in _KINDS or (kind == "tool_use" and not _is_words(block.get("name"))):
            self.facts.unread += (kind,)
            return []
        self._kinds[index] = kind
        self.has_begun = True
        empty: JsonObject = {"text": "", "thinking": "", "signature": "", "input": JsonObject()}
        start = {name: empty.get(name, given) for name, given in block.items()}
        if kind == "tool_use":
            start["id"] = self._ids.unused(block.get("id"))
        return [{**value, "content_block": start}, *_deltas_of(index, block)]

    def _block_delta(self, value: JsonObject) -> list[JsonObject]:
        index, delta = value.get("index"), value.get("delta")
        kind, words = _KIND_OF_DELTA.get(str(delta.get("type")), ("", "")) if is_object(delta) else ("", "")
        if not is_object(delta) or not isinstance(delta.get(words), str):
            return []
        if index not in self._kinds and kind != "tool_use":
            start: JsonObject = {"type": "content_block_start", "index": index, "content_block": {"type": kind}}
            return [*self._block_start(start), value]
        return [value] if self._kinds.get(index) == kind else []

    def _message_delta(self, value: JsonObject) -> JsonObject:
        delta = value.get("delta")
        reason = delta.get("stop_reason") if is_object(delta) else None
        self.facts.has_ended = self.facts.has_ended or isinstance(reason, str)
        self.facts.is_cut = self.facts.is_cut or reason in _CUT
        self.facts.is_filtered = self.facts.is_filtered or reason == "refusal"
        self._count(value.get("usage"))
        return {**value, "delta": delta if is_object(delta) else {}, "usage": self._usage()}

    def _count(self, given: object) -> None:
        """What is read from and written to the cache is not among Anthropic's input tokens, but in the window."""
        usage = given if is_object(given) else {}
        cached = count(usage, "cache_read_input_tokens")
        read = count(usage, "input_tokens") + cached + count(usage, "cache_creation_input_tokens")
        known = self.facts.usage or TokenUsage(0, 0)
        written = count(usage, "output_tokens") or known.output_tokens
        # The event at the end repeats the counts of the first, or leaves them out.
        whole = (read, cached) if read > known.input_tokens else (known.input_tokens, known.cached_tokens)
        self.facts.usage = TokenUsage(whole[0], written, whole[1])
        self.facts.output_tokens = written

    def _usage(self) -> JsonObject:
        usage = self.facts.usage or TokenUsage(0, 0)
        return {
            "input_tokens": usage.input_tokens,
            "output_tokens": usage.output_tokens,
            "cache_read_input_tokens": usage.cached_tokens,
            "cache_creation_input_tokens": 0,
        }


def _index_of(value: JsonObject) -> int | str | None:
    """Which block an event belongs to; None where that is not said."""
    index = value.get("index")
    return index if isinstance(index, int | str) else None


def _is_words(value: object) -> bool:
    return isinstance(value, str) and bool(value)


def _deltas_of(index: object, block: Mapping[str, object]) -> list[JsonObject]:
    """What a block held already where it started."""
    text, thinking, signature, arguments = (block.get(name) for name in ("text", "thinking", "signature", "input"))
    deltas: list[JsonObject] = []
    if isinstance(text, str) and text:
        deltas.append({"type": "text_delta", "text": text})
    if isinstance(thinking, str) and thinking:
        deltas.append({"type": "thinking_delta", "thinking": thinking})
    if isinstance(signature, str) and signature:
        deltas.append({"type": "signature_delta", "signature": signature})
    if is_object(arguments) and arguments:
        deltas.append({"type": "input_json_delta", "partial_json": json.dumps(arguments, ensure_ascii=False)})
    return [{"type": "content_block_delta", "index": index, "delta": delta} for delta in deltas]


def _events_of(message: JsonObject) -> list[JsonObject]:
    """An answer that was not streamed although asked for, as the events of one."""
    content = message.get("content")
    blocks = content if is_list(content) else []
    events: list[JsonObject] = [{"type": "message_start", "message": {**message, "content": []}}]
    for index, block in enumerate(blocks):
        events.append({"type": "content_block_start", "index": index, "content_block": block})
        events.append({"type": "content_block_stop", "index": index})
    reason = {"stop_reason": message.get("stop_reason")}
    return [*events, {"type": "message_delta", "delta": reason, "usage": message.get("usage")}]
