"""The chunks of Gemini's own answers as its library expects them, with the signatures of calls kept apart (pure).

https://ai.google.dev/api/generate-content. A call carries the signature of the thought it came from, which has to go
back with it: https://ai.google.dev/gemini-api/docs/thought-signatures.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from assistant.models.wire.answer_facts import AnswerFacts
from assistant.models.wire.native_events import NativeEvents, count
from assistant.models.wire.pieces import ServerFailure, TokenUsage
from assistant.models.wire.server_failures import failure_in
from assistant.text.json_values import JsonObject, is_list, is_object, objects_in

SIGNATURE = "thoughtSignature"
_FILTERED = ("SAFETY", "RECITATION", "BLOCKLIST", "PROHIBITED_CONTENT", "SPII", "LANGUAGE", "IMAGE_SAFETY")
_BROKEN = ("MALFORMED_FUNCTION_CALL", "UNEXPECTED_TOOL_CALL", "TOO_MANY_TOOL_CALLS", "MALFORMED_RESPONSE", "OTHER")
_BROKEN_STATUS = 500
_READ_PARTS = ("text", "functionCall")


class GeminiChunks(NativeEvents):
    """Reads the chunks of one answer; `fresh_id` gives each call an id that no other has."""

    def __init__(self, facts: AnswerFacts, fresh_id: Callable[[], str]) -> None:
        super().__init__(facts)
        self._fresh_id = fresh_id

    def feed(self, value: JsonObject) -> list[JsonObject]:
        """The chunk that the library is to get for one of the server's."""
        self._count(value.get("usageMetadata"))
        feedback = value.get("promptFeedback")
        if is_object(feedback) and feedback.get("blockReason"):
            self.facts.is_filtered = self.facts.has_ended = self.has_begun = True
        candidate = _first_candidate(value)
        reason = candidate.get("finishReason")
        self.facts.has_ended = self.facts.has_ended or bool(reason)
        self.facts.is_cut = self.facts.is_cut or reason == "MAX_TOKENS"
        self.facts.is_filtered = self.facts.is_filtered or reason in _FILTERED
        parts = [mended for part in _parts_of(candidate) if (mended := self._mended(part))]
        self.has_begun = self.has_begun or bool(parts)
        if not parts:
            return []
        return [{"candidates": [{"index": 0, "content": {"role": "model", "parts": parts}}]}]

    def failure_in(self, value: JsonObject) -> ServerFailure | None:
        """The error in a chunk, also where it is only the reason for the end."""
        reason = _first_candidate(value).get("finishReason")
        return ServerFailure(str(reason), _BROKEN_STATUS) if reason in _BROKEN else failure_in(value)

    def status_of(self, status: int, failure: ServerFailure) -> int:
        """A key that is none is told with the status of a bad request."""
        return 401 if status == 400 and "api key" in failure.message.lower() else status

    def _mended(self, part: JsonObject) -> JsonObject | None:
        call = part.get("functionCall")
        if is_object(call) and isinstance(call.get("name"), str):
            call_id = self._fresh_id()
            if signature := part.get(SIGNATURE):
                self.facts.call_extras[call_id] = {SIGNATURE: signature}
            arguments = call.get("args")
            return {
                "functionCall": {"id": call_id, "name": call["name"], "args": arguments if is_object(arguments) else {}}
            }
        if isinstance(part.get("text"), str):
            return {"text": part["text"], "thought": part.get("thought") is True} if part["text"] else None
        if kind := next((name for name in part if name not in (*_READ_PARTS, SIGNATURE, "thought")), ""):
            self.facts.unread += (kind,)
        return None

    def _count(self, given: object) -> None:
        """The counts so far; each chunk has them anew, some only in part."""
        usage = given if is_object(given) else {}
        known = self.facts.usage or TokenUsage(0, 0)
        read = count(usage, "promptTokenCount") + count(usage, "toolUsePromptTokenCount")
        written = count(usage, "candidatesTokenCount") + count(usage, "thoughtsTokenCount")
        cached = count(usage, "cachedContentTokenCount")
        if read or written:
            self.facts.usage = TokenUsage(
                read or known.input_tokens, written or known.output_tokens, cached or known.cached_tokens
            )
            self.facts.output_tokens = self.facts.usage.output_tokens


def _first_candidate(value: Mapping[str, object]) -> JsonObject:
    candidates = value.get("candidates")
    first = candidates[0] if is_list(candidates) and candidates else None
    return first if is_object(first) else {}


def _parts_of(candidate: Mapping[str, object]) -> list[JsonObject]:
    content = candidate.get("content")
    return objects_in(content.get("parts")) if is_object(content) else []
