"""A strict server of DeepSeek's API on loopback.

Its rules are those of https://api-docs.deepseek.com: chat completions, thinking mode and error codes. While the server
is busy it sends comments, and a call without the thoughts it came from is refused as long as there are tools.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import cast

from tests.fakes.native_server import Json, NativeServer
from tests.fakes.strictness import Refusal, refuse_malformed
from tests.fakes.wire import Reply, pieces

_FIELDS = {
    *("model", "messages", "thinking", "reasoning_effort", "max_tokens", "response_format", "stop", "stream"),
    *("stream_options", "temperature", "top_p", "tools", "tool_choice", "logprobs", "top_logprobs"),
}


class DeepSeekServer(NativeServer):
    """The server; `takes_pictures` False is a model that reads text alone."""

    MODEL = "deepseek-flash"
    FIELDS = _FIELDS

    def __init__(
        self, *replies: Reply, takes_pictures: bool = True, window_tokens: int = 100_000, split_bytes: int = 0
    ) -> None:
        super().__init__(*replies, window_tokens=window_tokens, split_bytes=split_bytes)
        self.takes_pictures = takes_pictures
        self.thoughts: set[str] = {""}
        """All that the model has thought so far."""

    def asks_model(self, path: str) -> bool:
        """True for the one path at which the model answers."""
        return path == "/chat/completions"

    def look_up(self, path: str, headers: Mapping[str, str], body: Json | None) -> Json | Refusal | None:
        """The list of models."""
        if path != "/models":
            return None
        return self.refuse_key(headers) or {"object": "list", "data": [{"id": self.MODEL, "object": "model"}]}

    def error_body(self, refusal: Refusal) -> Json:
        """A refusal as DeepSeek says it."""
        return {"error": {"message": refusal.message, "type": refusal.type, "param": None, "code": refusal.code}}

    def refuse(self, path: str, headers: Mapping[str, str], body: Json) -> Refusal | None:
        """The first rule that the request breaks."""
        return self.refuse_key(headers) or self.refuse_model(body) or self._refuse_body(body) or self._too_long(body)

    def refuse_key(self, headers: Mapping[str, str]) -> Refusal | None:
        """A refusal of any key but the one."""
        given = {name.lower(): value for name, value in headers.items()}.get("authorization")
        if given == f"Bearer {self.key}":
            return None
        return Refusal("Authentication Fails, Your api key: ****4321 is invalid", "invalid_request_error", status=401)

    def refuse_model(self, body: Json) -> Refusal | None:
        """A refusal of any model but the one."""
        return None if body.get("model") == self.MODEL else Refusal("Model Not Exist", "invalid_request_error")

    def too_long(self, tokens: int) -> Refusal:
        """What is said of a request over the window."""
        most = f"This model's maximum context length is {self.window_tokens} tokens."
        return Refusal(f"{most} However, you requested {tokens} tokens.")

    def usage(self, body: Json, written: int) -> Json:
        """The counts at the end."""
        read = _tokens(body)
        cached = {"prompt_cache_hit_tokens": 64, "prompt_cache_miss_tokens": max(0, read - 64)}
        return {"prompt_tokens": read, "completion_tokens": written, "total_tokens": read + written, **cached}

    def events(self, reply: Reply, body: Json) -> Iterator[bytes]:
        """The reply as chunks, with comments between them and the counts at the end."""
        self.thoughts.add(reply.thinking)
        yield b": keep-alive\n\n"
        yield self._chunk({"role": "assistant", "content": None, "reasoning_content": ""})
        for part in pieces(reply.thinking, 9):
            yield self._chunk({"content": None, "reasoning_content": part})
        for part in pieces(reply.text, reply.chunk_chars or 9):
            yield b": keep-alive\n\n" + self._chunk({"content": part, "reasoning_content": None})
        for index, call in enumerate(reply.calls):
            call_id = call.id or f"call_{len(self.log):02d}_abcdefgh{index}"
            start = {
                "index": index,
                "id": call_id,
                "type": "function",
                "function": {"name": call.name, "arguments": ""},
            }
            yield self._chunk({"tool_calls": [start]})
            for part in pieces(call.arguments_json, 7):
                yield self._chunk({"tool_calls": [{"index": index, "function": {"arguments": part}}]})
        reason = "length" if reply.is_cut else "tool_calls" if reply.calls else "stop"
        yield self._chunk({"content": ""}, reason, self.usage(body, len(reply.text.encode()) // 4 + 2))
        yield b"data: [DONE]\n\n"

    def _chunk(self, delta: Json, reason: str | None = None, usage: Json | None = None) -> bytes:
        choice = {"index": 0, "delta": delta, "finish_reason": reason, "logprobs": None}
        value = {"id": "c1", "object": "chat.completion.chunk", "created": 1, "model": self.MODEL, "choices": [choice]}
        return f"data: {json.dumps({**value, 'usage': usage})}\n\n".encode()

    def _refuse_body(self, body: Json) -> Refusal | None:
        if extra := set(body) - self.FIELDS:
            return Refusal(f"Failed to deserialize the JSON body into the target type: unknown field `{extra.pop()}`")
        if refusal := refuse_malformed(body):
            return refusal
        for place, message in enumerate(cast(list[Json], body["messages"])):
            if fault := self._fault_of(message, place, thinks=self._thinks(body)):
                return Refusal(fault, "invalid_request_error")
        return None

    def _thinks(self, body: Json) -> bool:
        return cast(Json, body.get("thinking") or {}).get("type") != "disabled" and bool(body.get("tools"))

    def _fault_of(self, message: Json, place: int, *, thinks: bool) -> str:
        content = message.get("content")
        kinds = [str(part.get("type")) for part in cast(list[Json], content)] if isinstance(content, list) else []
        if "image_url" in kinds and not self.takes_pictures:
            return f"messages[{place}]: unknown variant `image_url`, expected `text`"
        thought = message.get("reasoning_content")
        if thinks and message.get("tool_calls") and thought is None:
            return "The reasoning_content in the thinking mode must be passed back to the API."
        return "" if thought is None or thought in self.thoughts else "reasoning_content is not what the model thought"

    def _too_long(self, body: Json) -> Refusal | None:
        tokens = _tokens(body)
        return self.too_long(tokens) if tokens > self.window_tokens else None


def _tokens(body: Json) -> int:
    return len(json.dumps([body["messages"], body.get("tools")]).encode()) // 4
