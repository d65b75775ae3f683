"""The events of OpenAI's Responses as its library expects them, and what they say of the answer (pure).

https://platform.openai.com/docs/api-reference/responses-streaming
"""

from __future__ import annotations

from assistant.models.wire.native_events import NativeEvents, count
from assistant.models.wire.pieces import TokenUsage
from assistant.text.json_values import JsonObject, is_object

_SAYING = (".delta", ".arguments.done", "output_item.added")
_ENDS = ("response.completed", "response.incomplete")


class ResponseEvents(NativeEvents):
    """Reads the events of one response; they pass as they are, but for those that are none of it."""

    STATUS_OF_CODE = {
        "invalid_api_key": 401,
        "insufficient_quota": 429,
        "rate_limit_exceeded": 429,
        "server_error": 500,
        "server_is_overloaded": 503,
    }

    def feed(self, value: JsonObject) -> list[JsonObject]:
        """The event that the library is to get for this one."""
        kind = value.get("type")
        if not isinstance(kind, str) or not kind.startswith("response."):
            return []
        self.has_begun = self.has_begun or kind.endswith(_SAYING) or kind in _ENDS
        response = value.get("response")
        if kind in _ENDS and is_object(response):
            self._end(response)
        return [value]

    def _end(self, response: JsonObject) -> None:
        facts, usage = self.facts, response.get("usage")
        facts.has_ended = True
        details = response.get("incomplete_details")
        reason = details.get("reason") if is_object(details) else None
        facts.is_cut = reason == "max_output_tokens"
        facts.is_filtered = reason == "content_filter"
        if is_object(usage):
            read = usage.get("input_tokens_details")
            cached = count(read, "cached_tokens") if is_object(read) else 0
            facts.usage = TokenUsage(count(usage, "input_tokens"), count(usage, "output_tokens"), cached)
            facts.output_tokens = facts.usage.output_tokens
