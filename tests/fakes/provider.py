"""A strict OpenAI-compatible provider on loopback: it refuses what real ones refuse and keeps a log.

`python -m tests.fakes.provider --port 8099 --window 16000` runs it by hand.
"""

from __future__ import annotations

import argparse
import itertools
import json
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from typing import Literal

from tests.fakes.loopback_server import LoopbackServer
from tests.fakes.players import RuleBasedPlayer
from tests.fakes.strictness import Dialect, Refusal, refuse_malformed, refuse_neighbours, refuse_too_long
from tests.fakes.wire import ChatRequest, Reply, WireCall, WireMessage, count_tokens, pieces, text_of

Player = Callable[[ChatRequest], Reply]
CallIds = Literal["unique", "repeat", "same"]
"""`repeat`: every reply counts from call_0 again. `same`: every call of every reply is call_0."""
CHAT_PATHS = ("/v1/chat/completions", "/compatible-mode/v1/chat/completions")


@dataclass(frozen=True, slots=True)
class LoggedRequest:
    """One chat request as it came in, and how it was answered."""

    path: str
    body: dict[str, object]
    tokens: int
    reply: Reply | None
    refusal: Refusal | None


class StrictProvider(LoopbackServer):
    """The server. Counters and log may be read at any time."""

    def __init__(
        self,
        player: Player,
        *,
        window_tokens: int = 16_000,
        models: tuple[str, ...] = ("strict-7b",),
        call_ids: CallIds = "repeat",
        usage_factor: float = 1.0,
        dialect: Dialect = "openai",
        reports_window: bool = True,
        wants_alternating_roles: bool = False,
        api_key: str | None = None,
        chunk_chars: int = 24,
        chunk_seconds: float = 0.0,
        port: int = 0,
    ) -> None:
        self.player = player
        self.window_tokens = window_tokens
        self.models = models
        self.call_ids: CallIds = call_ids
        self.usage_factor = usage_factor
        self.dialect: Dialect = dialect
        self.reports_window = reports_window
        self.wants_alternating_roles = wants_alternating_roles
        self.api_key = api_key
        self.chunk_chars = chunk_chars
        self.chunk_seconds = chunk_seconds
        self.log: list[LoggedRequest] = []
        self.extra_answers: dict[str, dict[str, object]] = {}
        """More paths to answer, with the JSON they answer."""
        self.statuses: dict[str, int] = {}
        """Paths whose listing is refused, and with which status."""
        self.reads_tokens: int | None = None
        """How much of a request is read where the server leaves out the rest without a word."""
        self.lock = threading.Lock()
        self._numbers = itertools.count(1)
        provider = self

        class Handler(_Handler):
            server_provider = provider

        super().__init__(Handler, port)

    @property
    def base_url(self) -> str:
        """The address with `/v1`, as an OpenAI client wants it."""
        return f"http://127.0.0.1:{self.port}/v1"

    @property
    def dashscope_url(self) -> str:
        """The address as a DashScope client wants it."""
        return f"http://127.0.0.1:{self.port}/compatible-mode/v1"

    @property
    def malformed(self) -> list[Refusal]:
        """Refusals of requests that broke a rule; those over the window are in `overflows`."""
        return [entry.refusal for entry in self.log if entry.refusal and not _is_overflow(entry, self.window_tokens)]

    @property
    def overflows(self) -> int:
        """How many requests were over the window."""
        return sum(entry.refusal is not None and _is_overflow(entry, self.window_tokens) for entry in self.log)

    def answer(self, path: str, body: dict[str, object]) -> Reply | Refusal:
        """Judge a request, log it, and have the player answer it."""
        tokens = round(count_tokens(body) * self.usage_factor)
        refusal = refuse_malformed(body) or refuse_too_long(tokens, self.window_tokens, self.dialect)
        if refusal is None and self.wants_alternating_roles:
            refusal = refuse_neighbours(body)
        reply: Reply | None = None
        if refusal is None:
            reply = self._with_ids(self.player(_read_request(path, body, tokens)))
        with self.lock:
            self.log.append(LoggedRequest(path, body, tokens, reply, refusal))
        return refusal or reply or Reply()

    def _with_ids(self, reply: Reply) -> Reply:
        def call_id(index: int) -> str:
            match self.call_ids:
                case "unique":
                    return f"call_{next(self._numbers):012d}"
                case "repeat":
                    return f"call_{index}"
                case "same":
                    return "call_0"

        calls = tuple(replace(call, id=call.id or call_id(index)) for index, call in enumerate(reply.calls))
        return replace(reply, calls=calls)


class _Handler(BaseHTTPRequestHandler):
    """Speaks HTTP for one provider."""

    server_provider: StrictProvider
    protocol_version = "HTTP/1.1"

    def log_message(self, format: str, *args: object) -> None:
        """Nothing on the terminal: the log is `StrictProvider.log`."""

    def do_GET(self) -> None:
        """The list of models, and whatever the test added."""
        provider = self.server_provider
        path = self.path.partition("?")[0]
        if path in provider.statuses:
            self._send_refusal(Refusal("not here", "error", status=provider.statuses[path]))
        elif path in provider.extra_answers:
            self._send_json(200, provider.extra_answers[path])
        elif path not in ("/v1/models", "/compatible-mode/v1/models"):
            self._send_json(404, {"error": {"message": f"no such path: {path}"}})
        elif not self._is_authorised():
            self._send_unauthorised()
        else:
            window = {"max_model_len": provider.window_tokens} if provider.reports_window else {}
            rows = [{"id": name, "object": "model", "owned_by": "strict", **window} for name in provider.models]
            self._send_json(200, {"object": "list", "data": rows})

    def do_POST(self) -> None:
        """A chat request."""
        provider = self.server_provider
        raw = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        if self.path in provider.extra_answers:
            self._send_json(200, provider.extra_answers[self.path])
            return
        if self.path not in CHAT_PATHS:
            self._send_json(404, {"error": {"message": f"no such path: {self.path}"}})
            return
        if not self._is_authorised():
            self._send_unauthorised()
            return
        try:
            body = json.loads(raw)
        except ValueError:
            # The client was killed while it sent.
            self.close_connection = True
            return
        if body.get("model") not in provider.models:
            self._send_refusal(
                Refusal(f"The model `{body.get('model')}` does not exist", "model_not_found", status=404)
            )
            return
        answer = provider.answer(self.path, body)
        if isinstance(answer, Refusal):
            self._send_refusal(answer)
        elif answer.status != 200:
            self._send_refusal(Refusal(answer.text, answer.error_code, "server_error", answer.status))
        elif body.get("stream"):
            self._send_stream(answer, body)
        else:
            self._send_json(200, _completion(answer, body, provider))

    def _is_authorised(self) -> bool:
        key = self.server_provider.api_key
        return key is None or self.headers.get("Authorization") == f"Bearer {key}"

    def _send_unauthorised(self) -> None:
        sent = (self.headers.get("Authorization") or "").removeprefix("Bearer ")
        # Real providers quote the key in this text, in full or in part.
        self._send_refusal(Refusal(f"Incorrect API key provided: {sent}.", "invalid_api_key", status=401))

    def _send_refusal(self, refusal: Refusal) -> None:
        error = {"message": refusal.message, "type": refusal.type, "param": None, "code": refusal.code}
        self._send_json(refusal.status, {"error": error})

    def _send_json(self, status: int, value: dict[str, object]) -> None:
        content = json.dumps(value, ensure_ascii=False).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    def _send_stream(self, reply: Reply, body: dict[str, object]) -> None:
        provider = self.server_provider
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        # In chunks, so that a connection that breaks is told from an answer that ends.
        self.send_header("Transfer-Encoding", "chunked")
        self.send_header("Connection", "close")
        self.end_headers()
        self.close_connection = True
        try:
            for number, chunk in enumerate(_chunks(reply, body, provider)):
                if reply.breaks_after_chunks is not None and number >= reply.breaks_after_chunks:
                    return
                # The first chunk brings only the role, the second the first words.
                if number == 2 and reply.gate is not None and not provider.wait_for(reply.gate):
                    return
                self._send_piece(json.dumps(chunk, ensure_ascii=False))
                if pause := reply.chunk_seconds or provider.chunk_seconds:
                    provider.is_closing.wait(pause)
            self._send_piece("[DONE]")
            self.wfile.write(b"0\r\n\r\n")
        except OSError:
            return  # The client stopped listening, which is its right.

    def _send_piece(self, data: str) -> None:
        event = f"data: {data}\n\n".encode()
        self.wfile.write(f"{len(event):x}\r\n".encode() + event + b"\r\n")
        self.wfile.flush()


def _read_request(path: str, body: dict[str, object], tokens: int) -> ChatRequest:
    rows = body["messages"]
    tools = body.get("tools") or []
    choice = body.get("tool_choice", "auto")
    assert isinstance(rows, list) and isinstance(tools, list)
    return ChatRequest(
        path=path,
        model=str(body["model"]),
        messages=tuple(_read_message(row) for row in rows),
        tools=tuple(str(tool["function"]["name"]) for tool in tools),
        tool_choice=str(choice["function"]["name"]) if isinstance(choice, dict) else str(choice),
        is_streaming=bool(body.get("stream")),
        tokens=tokens,
    )


def _read_message(row: dict[str, object]) -> WireMessage:
    calls = row.get("tool_calls") or []
    assert isinstance(calls, list)
    return WireMessage(
        role=str(row["role"]),
        text=text_of(row.get("content")),
        calls=tuple(WireCall(call["id"], call["function"]["name"], call["function"]["arguments"]) for call in calls),
        call_id=str(row.get("tool_call_id") or ""),
    )


def _chunks(reply: Reply, body: dict[str, object], provider: StrictProvider) -> Iterator[dict[str, object]]:
    """The reply as the chunks of a stream: thinking, text, calls in fragments, finish, usage."""
    base = {"id": "chatcmpl-strict", "object": "chat.completion.chunk", "created": 0, "model": body["model"]}

    def chunk(delta: dict[str, object], finish: str | None = None) -> dict[str, object]:
        return {**base, "choices": [{"index": 0, "delta": delta, "finish_reason": finish}]}

    chunk_chars = reply.chunk_chars or provider.chunk_chars
    yield chunk({"role": "assistant", "content": ""})
    for piece in pieces(reply.thinking, chunk_chars):
        yield chunk({"reasoning_content": piece})
    for piece in pieces(reply.text, chunk_chars):
        yield chunk({"content": piece})
    for index, call in enumerate(reply.calls):
        function: dict[str, object] = {"name": call.name, "arguments": ""}
        yield chunk({"tool_calls": [{"index": index, "id": call.id, "type": "function", "function": function}]})
        for piece in pieces(call.arguments_json, chunk_chars):
            yield chunk({"tool_calls": [{"index": index, "function": {"arguments": piece}}]})
    yield chunk({}, "length" if reply.is_cut else "tool_calls" if reply.calls else "stop")
    options = body.get("stream_options")
    if isinstance(options, dict) and options.get("include_usage"):
        yield {**base, "choices": [], "usage": _usage(reply, body, provider)}


def _completion(reply: Reply, body: dict[str, object], provider: StrictProvider) -> dict[str, object]:
    message: dict[str, object] = {"role": "assistant", "content": reply.text or None}
    if reply.thinking:
        message["reasoning_content"] = reply.thinking
    if reply.calls:
        message["tool_calls"] = [
            {"id": call.id, "type": "function", "function": {"name": call.name, "arguments": call.arguments_json}}
            for call in reply.calls
        ]
    return {
        "id": "chatcmpl-strict",
        "object": "chat.completion",
        "created": 0,
        "model": body["model"],
        "choices": [{"index": 0, "message": message, "finish_reason": "tool_calls" if reply.calls else "stop"}],
        "usage": _usage(reply, body, provider),
    }


def _usage(reply: Reply, body: dict[str, object], provider: StrictProvider) -> dict[str, object]:
    prompt = round(count_tokens(body) * provider.usage_factor)
    prompt = prompt if provider.reads_tokens is None else min(prompt, provider.reads_tokens)
    said = reply.text + reply.thinking + "".join(call.arguments_json for call in reply.calls)
    completion = max(1, len(said.encode()) // 4)
    return {"prompt_tokens": prompt, "completion_tokens": completion, "total_tokens": prompt + completion}


def _is_overflow(entry: LoggedRequest, window_tokens: int) -> bool:
    return entry.tokens > window_tokens and refuse_malformed(entry.body) is None


def main() -> None:
    """Serve until interrupted, and say how many requests were refused."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--port", type=int, default=8099)
    parser.add_argument("--window", type=int, default=16_000)
    parser.add_argument("--model", default="strict-7b")
    parser.add_argument("--usage-factor", type=float, default=1.0)
    parser.add_argument("--chunk-seconds", type=float, default=0.0)
    parser.add_argument("--call-ids", choices=["unique", "repeat", "same"], default="repeat")
    parser.add_argument("--task-steps", type=int, default=0)
    parser.add_argument("--log", help="append each request's verdict to this file, one JSON line each")
    options = parser.parse_args()
    provider = StrictProvider(
        RuleBasedPlayer(task_steps=options.task_steps),
        window_tokens=options.window,
        models=(options.model,),
        call_ids=options.call_ids,
        usage_factor=options.usage_factor,
        chunk_seconds=options.chunk_seconds,
        port=options.port,
    )
    with provider:
        print(f"strict provider at {provider.base_url}, window {options.window}", flush=True)
        try:
            _follow_log(provider, options.log)
        except KeyboardInterrupt:
            print(f"{len(provider.log)} requests, {len(provider.malformed)} malformed, {provider.overflows} over")


def _follow_log(provider: StrictProvider, path: str | None) -> None:
    """Write each verdict as it is reached, for a test that reads it from another process; never returns."""
    written = 0
    while not provider.is_closing.wait(0.1):
        for entry in provider.log[written:]:
            written += 1
            if path:
                verdict = entry.refusal.message if entry.refusal else None
                line = {"at": time.time(), "path": entry.path, "tokens": entry.tokens, "refusal": verdict}
                with Path(path).open("a", encoding="utf-8") as file:
                    file.write(json.dumps(line) + "\n")


if __name__ == "__main__":
    main()
