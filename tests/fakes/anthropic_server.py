"""A strict server of Anthropic's Messages API on loopback: it refuses what the real one refuses.

The rules are those of https://platform.claude.com/docs/en/api/messages, its errors those of
https://platform.claude.com/docs/en/api/errors, and what is read from the cache is counted as the real one counts it.
"""

from __future__ import annotations

import base64
import hashlib
import itertools
import json
import re
from collections.abc import Iterator, Mapping
from typing import cast

from tests.fakes.native_server import Json, NativeServer
from tests.fakes.strictness import Refusal
from tests.fakes.wire import Reply, pieces

_FIELDS = {
    *("model", "messages", "max_tokens", "system", "tools", "tool_choice", "stream", "thinking", "metadata"),
    *("stop_sequences", "service_tier", "output_config"),
}
_BLOCK_FIELDS = {
    "text": {"text", "citations"},
    "image": {"source"},
    "document": {"source", "title"},
    "thinking": {"thinking", "signature"},
    "redacted_thinking": {"data"},
    "tool_use": {"id", "name", "input"},
    "tool_result": {"tool_use_id", "content", "is_error"},
}
_OF_ASSISTANT = ("thinking", "redacted_thinking", "tool_use")
_ID = re.compile(r"^[a-zA-Z0-9_-]+$")
_NAME = re.compile(r"^[a-zA-Z0-9_-]{1,128}$")
_PICTURES = ("image/jpeg", "image/png", "image/gif", "image/webp")
_MARKS = 4
_LOOK_BACK_BLOCKS = 20


class AnthropicServer(NativeServer):
    """The server; `sends_names` False leaves out the names of events, `takes_adaptive` False is an older model."""

    MODEL = "claude-sonnet-5-5"

    def __init__(
        self,
        *replies: Reply,
        max_output_tokens: int = 128_000,
        takes_adaptive: bool = True,
        sends_names: bool = True,
        window_tokens: int = 100_000,
        split_bytes: int = 0,
    ) -> None:
        super().__init__(*replies, window_tokens=window_tokens, split_bytes=split_bytes)
        self.max_output_tokens = max_output_tokens
        self.takes_adaptive = takes_adaptive
        self.sends_names = sends_names
        self.signed: dict[str, str] = {}
        """The thinking that each signature holds for."""
        self._kept: set[str] = set()

    def asks_model(self, path: str) -> bool:
        """True for the one path at which the model answers."""
        return path == "/v1/messages"

    def look_up(self, path: str, headers: Mapping[str, str], body: Json | None) -> Json | Refusal | None:
        """The list of models."""
        if path != "/v1/models":
            return None
        return self._refuse_headers(headers) or {"data": [{"id": self.MODEL, "type": "model"}], "has_more": False}

    def error_body(self, refusal: Refusal) -> Json:
        """A refusal as Anthropic says it."""
        kinds = {
            400: "invalid_request_error",
            401: "authentication_error",
            402: "billing_error",
            404: "not_found_error",
        }
        kinds |= {429: "rate_limit_error", 529: "overloaded_error"}
        kind = kinds.get(refusal.status, "api_error")
        return {"type": "error", "error": {"type": kind, "message": refusal.message}, "request_id": "req_1"}

    def refuse(self, path: str, headers: Mapping[str, str], body: Json) -> Refusal | None:
        """The first rule that the request breaks."""
        return (
            self._refuse_headers(headers)
            or self._refuse_fields(body)
            or _refuse_tools(body)
            or self._refuse_messages(body)
            or self._refuse_length(body)
        )

    def events(self, reply: Reply, body: Json) -> Iterator[bytes]:
        """The reply as events: thinking with its signature, text, calls in fragments, pings between."""
        started = {"input_tokens": self._uncached(body), "output_tokens": 1, **self._cached(body)}
        message: Json = {"id": "msg_1", "type": "message", "role": "assistant", "model": body["model"], "content": []}
        yield self._event({"type": "message_start", "message": {**message, "stop_reason": None, "usage": started}})
        yield self._event({"type": "ping"})
        blocks: list[tuple[Json, list[Json]]] = []
        if reply.thinking:
            signature = base64.b64encode(hashlib.sha256(reply.thinking.encode()).digest()).decode()
            self.signed[signature] = reply.thinking
            deltas: list[Json] = [{"type": "thinking_delta", "thinking": part} for part in pieces(reply.thinking, 9)]
            signed: Json = {"type": "signature_delta", "signature": signature}
            blocks.append(({"type": "thinking", "thinking": "", "signature": ""}, [*deltas, signed]))
        if reply.text:
            words: list[Json] = [
                {"type": "text_delta", "text": part} for part in pieces(reply.text, reply.chunk_chars or 9)
            ]
            blocks.append(({"type": "text", "text": ""}, words))
        for number, call in enumerate(reply.calls):
            parts = ["", *pieces(call.arguments_json, 7)] if call.arguments_json != "{}" else [""]
            deltas: list[Json] = [{"type": "input_json_delta", "partial_json": part} for part in parts]
            call_id = call.id or f"toolu_{len(self.log):08d}abcdefgh{number}"
            blocks.append(({"type": "tool_use", "id": call_id, "name": call.name, "input": {}}, deltas))
        for index, (block, deltas) in enumerate(blocks):
            yield self._event({"type": "content_block_start", "index": index, "content_block": block})
            for delta in deltas:
                yield self._event({"type": "content_block_delta", "index": index, "delta": delta})
            yield self._event({"type": "content_block_stop", "index": index})
        reason = "max_tokens" if reply.is_cut else "tool_use" if reply.calls else reply.error_code or "end_turn"
        ended = {"stop_reason": reason, "stop_sequence": None}
        yield self._event(
            {"type": "message_delta", "delta": ended, "usage": {"output_tokens": _tokens(reply.text) + 2}}
        )
        yield self._event({"type": "message_stop"})

    def _event(self, value: Json) -> bytes:
        name = f"event: {value['type']}\n" if self.sends_names else ""
        return f"{name}data: {json.dumps(value)}\n\n".encode()

    def _refuse_headers(self, headers: Mapping[str, str]) -> Refusal | None:
        given = {name.lower(): value for name, value in headers.items()}
        if "x-api-key" not in given:
            return Refusal("x-api-key header is required", status=401)
        if given["x-api-key"] != self.key:
            return Refusal("invalid x-api-key", status=401)
        if given.get("anthropic-version") != "2026-10-21":
            return Refusal("anthropic-version: header is required")
        return None

    def _refuse_fields(self, body: Json) -> Refusal | None:
        for name in body:
            if name not in _FIELDS:
                return Refusal(f"{name}: Extra inputs are not permitted")
        if body.get("model") != self.MODEL:
            return Refusal(f"model: {body.get('model')}", status=404)
        if not isinstance(body.get("max_tokens"), int):
            return Refusal("max_tokens: Field required")
        if cast(int, body["max_tokens"]) > self.max_output_tokens:
            return Refusal(
                f"max_tokens: {body['max_tokens']} > {self.max_output_tokens}, which is the maximum allowed number of "
                f"output tokens for {self.MODEL}"
            )
        thinking = cast(Json, body.get("thinking") or {})
        if thinking.get("type") == "enabled":
            return Refusal('"thinking.type.enabled" is not supported for this model. Use "thinking.type.adaptive".')
        if thinking.get("type") == "adaptive" and not self.takes_adaptive:
            return Refusal("adaptive thinking is not supported on this model")
        return None

    def _refuse_messages(self, body: Json) -> Refusal | None:
        messages = cast(list[Json], body.get("messages") or [])
        faults = itertools.chain(_order_faults(messages), self._block_faults(messages), _pair_faults(messages, body))
        said = next(faults, None) or next(_mark_faults(body), None)
        return Refusal(said) if said else None

    def _block_faults(self, messages: list[Json]) -> Iterator[str]:
        for place, message in enumerate(messages):
            blocks = cast(list[Json], message["content"])
            for number, block in enumerate(blocks):
                yield from self._faults_of(block, f"messages.{place}.content.{number}", str(message["role"]))
            if message["role"] == "assistant" and all("thinking" in str(block["type"]) for block in blocks):
                yield f"messages.{place}: an assistant message must hold more than thinking"

    def _faults_of(self, block: Json, where: str, role: str) -> Iterator[str]:
        kind = str(block.get("type"))
        if kind not in _BLOCK_FIELDS:
            yield f"{where}.type: Input tag '{kind}' found using 'type' does not match any of the expected tags"
            return
        extra = set(block) - _BLOCK_FIELDS[kind] - {"type", "cache_control"}
        yield from (f"{where}.{kind}.{name}: Extra inputs are not permitted" for name in sorted(extra))
        if kind != "text" and (kind in _OF_ASSISTANT) != (role == "assistant"):
            yield f"{where}: `{kind}` blocks are not allowed in {role} messages"
        if kind == "text" and not str(block.get("text", "")).strip():
            yield f"{where}: text content blocks must contain non-whitespace text"
        if kind == "thinking":
            yield from self._thinking_faults(block, where)
        if kind == "tool_use":
            yield from _call_faults(block, where)
        if kind == "tool_result":
            for part in cast(list[Json], block.get("content") or []):
                yield from self._faults_of(part, f"{where}.content", "user")
        if kind == "image":
            source = cast(Json, block.get("source") or {})
            if source.get("type") != "base64" or source.get("media_type") not in _PICTURES:
                yield f"{where}.image.source.media_type: Input should be one of {_PICTURES}"

    def _thinking_faults(self, block: Json, where: str) -> Iterator[str]:
        if "cache_control" in block:
            yield f"{where}.thinking.cache_control: Extra inputs are not permitted"
        if self.signed.get(str(block.get("signature"))) != block.get("thinking"):
            yield f"{where}: Invalid `signature` in `thinking` block"

    def _refuse_length(self, body: Json) -> Refusal | None:
        tokens = _tokens(json.dumps([body.get("system"), body.get("tools"), body["messages"]]))
        if tokens <= self.window_tokens:
            return None
        return Refusal(f"prompt is too long: {tokens} tokens > {self.window_tokens} maximum")

    def _cached(self, body: Json) -> Json:
        """What is read from the cache and what is written to it, by the marks of the request."""
        prefixes, marks = _prefixes(body)
        read = written = 0
        for mark in marks:
            for place in range(mark, max(-1, mark - _LOOK_BACK_BLOCKS), -1):
                if prefixes[place][0] in self._kept:
                    read = max(read, prefixes[place][1])
                    break
        for mark in marks:
            self._kept.add(prefixes[mark][0])
            written = max(written, prefixes[mark][1])
        return {"cache_read_input_tokens": read, "cache_creation_input_tokens": max(0, written - read)}

    def _uncached(self, body: Json) -> int:
        prefixes, marks = _prefixes(body)
        return prefixes[-1][1] - max((prefixes[mark][1] for mark in marks), default=0)


def _order_faults(messages: list[Json]) -> Iterator[str]:
    if not messages:
        yield "messages: at least one message is required"
        return
    for place, message in enumerate(messages):
        if message.get("role") not in ("user", "assistant"):
            yield f"messages.{place}.role: Input should be 'user' or 'assistant'"
        if not isinstance(message.get("content"), list) or not message["content"]:
            yield f"messages.{place}: all messages must have non-empty content"
    if messages[0]["role"] != "user":
        yield 'messages: first message must use the "user" role'
    if messages[-1]["role"] != "user":
        yield "This model does not support assistant message prefill. The conversation must end with a user message."


def _pair_faults(messages: list[Json], body: Json) -> Iterator[str]:
    open_ids: list[str] = []
    seen: list[str] = []
    for place, message in enumerate(messages):
        blocks = cast(list[Json], message["content"])
        answered = [str(block.get("tool_use_id")) for block in blocks if block.get("type") == "tool_result"]
        if sorted(answered) != sorted(open_ids):
            yield (
                f"messages.{place}: `tool_use` ids were found without `tool_result` blocks immediately after: "
                f"{open_ids}; `tool_result` blocks there were for: {answered}"
            )
        if any(block.get("type") != "tool_result" for block in blocks[: len(answered)]):
            yield f"messages.{place}: `tool_result` blocks must come first"
        open_ids = [str(block["id"]) for block in blocks if block.get("type") == "tool_use"]
        seen += open_ids
    if open_ids:
        yield f"`tool_use` ids were found without `tool_result` blocks: {open_ids}"
    if len(set(seen)) != len(seen):
        yield "messages: `tool_use` ids must be unique"
    if seen and not body.get("tools"):
        yield "Requests which have `tool_use` or `tool_result` blocks in messages must define tools"


def _mark_faults(body: Json) -> Iterator[str]:
    _, marks = _prefixes(body)
    if len(marks) > _MARKS:
        yield f"A maximum of {_MARKS} blocks with cache_control may be provided. Found {len(marks)}."


def _call_faults(block: Json, where: str) -> Iterator[str]:
    if not _ID.match(str(block.get("id"))):
        yield f"{where}.tool_use.id: String should match pattern '^[a-zA-Z0-9_-]+$'"
    if not isinstance(block.get("input"), dict):
        yield f"{where}.tool_use.input: Input should be a valid dictionary"


def _prefixes(body: Json) -> tuple[list[tuple[str, int]], list[int]]:
    """For each block in the order of the cache (tools, system, messages) the request up to it, and where marks are."""
    blocks: list[Json] = [*cast(list[Json], body.get("tools") or [])]
    blocks += cast(list[Json], body.get("system") or [])
    for message in cast(list[Json], body["messages"]):
        blocks += [{"role": message["role"], **block} for block in cast(list[Json], message["content"])]
    marks = [place for place, block in enumerate(blocks) if "cache_control" in block]
    found: list[tuple[str, int]] = []
    so_far, tokens = "", 0
    for block in blocks:
        text = json.dumps({name: value for name, value in block.items() if name != "cache_control"}, sort_keys=True)
        so_far, tokens = hashlib.sha256((so_far + text).encode()).hexdigest(), tokens + _tokens(text)
        found.append((so_far, tokens))
    return found, marks


def _refuse_tools(body: Json) -> Refusal | None:
    tools = cast(list[Json], body.get("tools") or [])
    if "tools" in body and not tools:
        return Refusal("tools: List should have at least 1 item")
    if "tool_choice" in body and not tools:
        return Refusal("tool_choice: may only be specified while providing `tools`")
    for place, tool in enumerate(tools):
        extra = set(tool) - {"name", "description", "input_schema", "cache_control"}
        if extra:
            return Refusal(f"tools.{place}.custom.{extra.pop()}: Extra inputs are not permitted")
        if not _NAME.match(str(tool.get("name"))):
            return Refusal(f"tools.{place}.custom.name: String should match pattern '^[a-zA-Z0-9_-]{{1,128}}$'")
        if cast(Json, tool.get("input_schema") or {}).get("type") != "object":
            return Refusal(f"tools.{place}.custom.input_schema.type: Field required")
    if len({tool["name"] for tool in tools}) != len(tools):
        return Refusal("tools: Tool names must be unique.")
    return None


def _tokens(text: str) -> int:
    return len(text.encode()) // 4
