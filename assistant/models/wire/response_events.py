"""The events of OpenAI's Responses as its library expects them, and what they say of the answer (pure).

https://platform.openai.com/docs/api-reference/responses-streaming
"""

from __future__ import annotations

from collections.abc import Callable

from assistant.models.wire.answer_facts import AnswerFacts
from assistant.models.wire.native_events import IdsOfCalls, NativeEvents, count
from assistant.models.wire.pieces import TokenUsage
from assistant.text.json_values import JsonObject, is_object, objects_in

_SAYING = (".delta", ".arguments.done", "output_item.added")
_ENDS = ("response.completed", "response.incomplete")
_FAILED = "response.failed"


class ResponseEvents(NativeEvents):
    """Reads the events of one response; what servers leave out is put in."""

    STATUS_OF_CODE = {
        "invalid_api_key": 401,
        "insufficient_quota": 429,
        "rate_limit_exceeded": 429,
        "server_error": 500,
        "server_is_overloaded": 503,
    }

    def __init__(self, facts: AnswerFacts, fresh_id: Callable[[], str]) -> None:
        """`fresh_id` gives a call without an id of its own one that no other has."""
        super().__init__(facts)
        self._ids = IdsOfCalls(fresh_id)

    def feed(self, value: JsonObject) -> list[JsonObject]:
        """The event that the library is to get for this one, with all that it looks for in it."""
        kind = value.get("type")
        if not isinstance(kind, str) or not kind.startswith("response."):
            return []
        self.has_begun = self.has_begun or kind.endswith(_SAYING) or kind in _ENDS
        if kind.endswith(".delta") and not isinstance(value.get("delta"), str):
            return []
        if kind == "response.output_item.added":
            return self._item(value)
        if kind in (*_ENDS, _FAILED):
            return self._last(kind, value)
        return [{**value, "item_id": _item_id(value), "content_index": count(value, "content_index")}]

    def _item(self, value: JsonObject) -> list[JsonObject]:
        """A part of the answer begins; a call gets what it needs to be told from others."""
        item = value.get("item")
        if not is_object(item) or item.get("type") != "function_call":
            return [value] if is_object(item) else []
        if not isinstance(item.get("name"), str) or not item["name"]:
            self.facts.unread += ("function_call",)
            return []
        item_id = _item_id({**value, "item_id": item.get("id")})
        return [{**value, "item": {**item, "id": item_id, "call_id": self._ids.unused(item.get("call_id"))}}]

    def _last(self, kind: str, value: JsonObject) -> list[JsonObject]:
        """The event with the whole response; without it nothing is known but that this was the end."""
        response = value.get("response")
        self.facts.has_ended = self.facts.has_ended or kind in _ENDS
        if not is_object(response):
            return []
        if kind == _FAILED:
            return [value]
        self._end(response)
        usage = self.facts.usage
        counts = usage and {
            "input_tokens": usage.input_tokens,
            "output_tokens": usage.output_tokens,
            "total_tokens": usage.input_tokens + usage.output_tokens,
            "input_tokens_details": {"cached_tokens": usage.cached_tokens},
        }
        return [{**value, "response": {**response, "output": objects_in(response.get("output")), "usage": counts}}]

    def _end(self, response: JsonObject) -> None:
        facts, usage = self.facts, response.get("usage")
        details = response.get("incomplete_details")
        reason = details.get("reason") if is_object(details) else None
        facts.is_cut = reason == "max_output_tokens"
        facts.is_filtered = reason == "content_filter"
        if is_object(usage):
            read = usage.get("input_tokens_details")
            cached = count(read, "cached_tokens") if is_object(read) else 0
            facts.usage = TokenUsage(count(usage, "input_tokens"), count(usage, "output_tokens"), cached)
            facts.output_tokens = facts.usage.output_tokens


def _item_id(value: JsonObject) -> str:
    """The part that an event belongs to: by its id, else by its place in the answer."""
    item_id = value.get("item_id")
    return item_id if isinstance(item_id, str) and item_id else f"item_{count(value, 'output_index')}"
