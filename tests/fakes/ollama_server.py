"""A strict server of Ollama's own API on loopback.

https://docs.ollama.com/api: chat, tags, show, ps, version, pull; with a `key` it is one like ollama.com. Ollama joins
neighbours of one role and loses the calls of the second; that is refused here. A request that may be shortened is taken
however long it is.
"""

from __future__ import annotations

import base64
import binascii
import json
from collections.abc import Iterator, Mapping
from typing import cast

from tests.fakes.native_server import Json, NativeServer
from tests.fakes.strictness import Refusal
from tests.fakes.wire import Reply, pieces

_FIELDS = {"model", "messages", "tools", "stream", "think", "options", "format", "keep_alive", "truncate", "shift"}
_MESSAGE_FIELDS = {"role", "content", "thinking", "images", "tool_calls", "tool_name"}
_OPTIONS = {"num_ctx", "num_predict", "temperature"}


class OllamaServer(NativeServer):
    """The server; `capabilities` are those of its model, `loaded_tokens` is the window it has loaded."""

    MODEL = "qwen3:8b"
    CONTENT_TYPE = "application/x-ndjson"

    def __init__(
        self,
        *replies: Reply,
        capabilities: tuple[str, ...] = ("completion", "tools", "thinking", "vision"),
        most_tokens: int = 40_960,
        modelfile: str = "",
        window_tokens: int = 16_384,
        split_bytes: int = 0,
        key: str = "",
    ) -> None:
        super().__init__(*replies, key=key, window_tokens=window_tokens, split_bytes=split_bytes)
        self.capabilities = capabilities
        self.most_tokens = most_tokens
        self.modelfile = modelfile
        self.models = [self.MODEL, "nomic-embed-text:latest"]
        self.loaded_tokens = 0

    def asks_model(self, path: str) -> bool:
        """True for the one path at which the model answers."""
        return path in ("/api/chat", "/api/pull")

    def look_up(self, path: str, headers: Mapping[str, str], body: Json | None) -> Json | Refusal | None:
        """What the server says of itself and its models."""
        if refusal := self._refuse_key(headers):
            return refusal
        details = {"family": "qwen3", "parameter_size": "8.2B", "quantization_level": "Q4_K_M"}
        match path:
            case "/api/version":
                return {"version": "0.21.0"}
            case "/v1/models":
                return {"object": "list", "data": [{"id": name, "object": "model"} for name in self.models]}
            case "/api/tags":
                rows = [
                    {"name": name, "model": name, "size": 5_225_376_047, "details": details} for name in self.models
                ]
                return {"models": rows}
            case "/api/ps":
                loaded = {"name": self.MODEL, "model": self.MODEL, "context_length": self.loaded_tokens}
                return {"models": [loaded] if self.loaded_tokens else []}
            case "/api/show":
                if body is None or body.get("model") not in self.models:
                    return Refusal(f"model '{(body or {}).get('model')}' not found", status=404)
                abilities = ["embedding"] if "embed" in str(body["model"]) else list(self.capabilities)
                info = {"general.architecture": "qwen3", "qwen3.context_length": self.most_tokens}
                return {"details": details, "capabilities": abilities, "model_info": info, "parameters": self.modelfile}
            case _:
                return None

    def error_body(self, refusal: Refusal) -> Json:
        """A refusal as Ollama says it."""
        return {"error": refusal.message}

    def refuse(self, path: str, headers: Mapping[str, str], body: Json) -> Refusal | None:
        """The first rule that the request breaks."""
        if refusal := self._refuse_key(headers):
            return refusal
        if path == "/api/pull":
            return None if body.get("model") else Refusal("invalid model name")
        if body.get("model") not in self.models:
            return Refusal(f"model '{body.get('model')}' not found", status=404)
        name = f"registry.ollama.ai/library/{body['model']}"
        extra = set(body) - _FIELDS | set(cast(Json, body.get("options") or {})) - _OPTIONS
        if extra:
            return Refusal(f"unknown fields: {sorted(extra)}")
        if body.get("tools") and "tools" not in self.capabilities:
            return Refusal(f"{name} does not support tools")
        if body.get("think") and "thinking" not in self.capabilities:
            return Refusal(f'"{body["model"]}" does not support thinking')
        return next(map(Refusal, _message_faults(cast(list[Json], body["messages"]))), None) or self._too_long(body)

    def _refuse_key(self, headers: Mapping[str, str]) -> Refusal | None:
        given = {name.lower(): value for name, value in headers.items()}.get("authorization")
        return None if not self.key or given == f"Bearer {self.key}" else Refusal("unauthorized", status=401)

    def events(self, reply: Reply, body: Json) -> Iterator[bytes]:
        """The reply as rows: thinking, text, whole calls, the end with its counts; or how a download goes on."""
        if "messages" not in body:
            yield from self._download(body)
            return
        for part in pieces(reply.thinking, 9):
            yield self._row({"thinking": part, "content": ""})
        for part in pieces(reply.text, reply.chunk_chars or 9):
            yield self._row({"content": part})
        for call in reply.calls:
            function = {"name": call.name, "arguments": json.loads(call.arguments_json)}
            yield self._row({"content": "", "tool_calls": [{"function": function}]})
        counts = {"prompt_eval_count": self._tokens(body), "eval_count": _length(reply.text) + 2}
        ended = {"done": True, "done_reason": "length" if reply.is_cut else "stop", "total_duration": 1, **counts}
        yield (
            json.dumps({"model": body["model"], "message": {"role": "assistant", "content": ""}, **ended}).encode()
            + b"\n"
        )

    def _download(self, body: Json) -> Iterator[bytes]:
        if "nothing" in str(body["model"]):
            yield b'{"status":"pulling manifest"}\n{"error":"pull model manifest: file does not exist"}\n'
            return
        digest = {"status": "pulling 6a0746a1ec1a", "digest": "sha256:6a0746a1ec1a", "total": 4_000_000_000}
        for row in (
            {"status": "pulling manifest"},
            *({**digest, "completed": share * 1_000_000_000} for share in range(5)),
            {"status": "verifying sha256 digest"},
            {"status": "success"},
        ):
            yield json.dumps(row).encode() + b"\n"
        self.models.append(str(body["model"]))

    def _row(self, message: Json) -> bytes:
        row = {"model": self.MODEL, "created_at": "2026-01-01T00:00:00Z", "message": {"role": "assistant", **message}}
        return json.dumps({**row, "done": False}).encode() + b"\n"

    def _tokens(self, body: Json) -> int:
        return _length(json.dumps([body["messages"], body.get("tools")]))

    def _too_long(self, body: Json) -> Refusal | None:
        window = cast(int, cast(Json, body.get("options") or {}).get("num_ctx", 4_096))
        if self._tokens(body) <= min(window, self.window_tokens) or body.get("truncate") is not False:
            return None
        return Refusal("the input length exceeds the context length")


def _message_faults(messages: list[Json]) -> Iterator[str]:
    open_calls: list[str] = []
    for place, message in enumerate(messages):
        role = message.get("role")
        if role not in ("system", "user", "assistant", "tool"):
            yield f'invalid role: {role!r}, role must be one of ["system", "user", "assistant", "tool"]'
        if extra := set(message) - _MESSAGE_FIELDS:
            yield f"messages[{place}]: unknown fields {sorted(extra)}"
        for picture in cast(list[str], message.get("images") or []):
            yield from _picture_faults(picture)
        calls = cast(list[Json], message.get("tool_calls") or [])
        if calls and place and messages[place - 1].get("role") == "assistant":
            yield f"messages[{place}]: its calls would be lost when it is joined with the message before"
        yield from _call_faults(message, place, open_calls)
    if open_calls:
        yield f"calls without results: {open_calls}"
    if messages[-1]["role"] == "assistant":
        yield "the last message is the assistant's own"


def _call_faults(message: Json, place: int, open_calls: list[str]) -> Iterator[str]:
    """What is wrong with the calls and results of a message; `open_calls` is brought up to date."""
    functions = [cast(Json, call["function"]) for call in cast(list[Json], message.get("tool_calls") or [])]
    open_calls += [str(function["name"]) for function in functions]
    if any(not isinstance(function.get("arguments"), dict) for function in functions):
        yield "json: cannot unmarshal string into Go struct field .arguments"
    if message.get("role") != "tool":
        if not functions and not message.get("content") and not message.get("images"):
            yield f"messages[{place}]: says nothing"
    elif message.get("tool_name") in open_calls:
        open_calls.remove(str(message["tool_name"]))
    else:
        yield f"messages[{place}]: no call of {message.get('tool_name')} is open"


def _picture_faults(picture: str) -> Iterator[str]:
    try:
        base64.b64decode(picture, validate=True)
    except (binascii.Error, ValueError):
        yield "illegal base64 data"


def _length(text: str) -> int:
    return len(text.encode()) // 4
