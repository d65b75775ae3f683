"""What the strict servers of the providers' own protocols have in common: they answer a script and keep a log."""

from __future__ import annotations

import json
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler

from tests.fakes.loopback_server import LoopbackServer
from tests.fakes.strictness import Refusal
from tests.fakes.wire import Reply

Json = dict[str, object]


@dataclass(frozen=True, slots=True)
class NativeRequest:
    """One request for an answer as it came in, and the refusal where it broke a rule."""

    path: str
    headers: Mapping[str, str]
    body: Json
    refusal: Refusal | None = None


class NativeServer(LoopbackServer, ABC):
    """A server on loopback that gives its replies in order; beyond them an error 500 that says so.

    `key`: the one it takes. `split_bytes`: every answer is sent in pieces of so many bytes, wherever that cuts.
    """

    MODEL: str
    CONTENT_TYPE = "text/event-stream"

    def __init__(
        self, *replies: Reply, key: str = "test-key-1234567890", window_tokens: int = 100_000, split_bytes: int = 0
    ) -> None:
        self.replies = list(replies)
        self.key = key
        self.window_tokens = window_tokens
        self.split_bytes = split_bytes
        self.log: list[NativeRequest] = []
        self.wait_seconds = 0
        """How long a refusal asks to wait, as its header says it."""
        server = self

        class Handler(_Handler):
            native = server

        super().__init__(Handler)

    @property
    def address(self) -> str:
        """Where it is."""
        return f"http://127.0.0.1:{self.port}"

    @property
    def malformed(self) -> list[str]:
        """The words of each refusal of a request."""
        return [entry.refusal.message for entry in self.log if entry.refusal]

    @abstractmethod
    def refuse(self, path: str, headers: Mapping[str, str], body: Json) -> Refusal | None:
        """The first rule that a request for an answer breaks, or None."""

    @abstractmethod
    def look_up(self, path: str, headers: Mapping[str, str], body: Json | None) -> Json | Refusal | None:
        """What is answered at a path that gives no answer of the model; None where there is no such path."""

    @abstractmethod
    def events(self, reply: Reply, body: Json) -> Iterable[bytes]:
        """The pieces of a streamed reply."""

    @abstractmethod
    def error_body(self, refusal: Refusal) -> Json:
        """A refusal in the provider's own form."""

    @abstractmethod
    def asks_model(self, path: str) -> bool:
        """True for the paths at which the model answers."""

    def answer(self, path: str, headers: Mapping[str, str], body: Json) -> Reply | Refusal:
        """Judge a request, log it, and take the next reply."""
        refusal = self.refuse(path, headers, body)
        self.log.append(NativeRequest(path, headers, body, refusal))
        if refusal:
            return refusal
        if not self.replies:
            return Refusal("this request is not in the script", "script", status=500)
        reply = self.replies.pop(0)
        return reply if reply.status == 200 else Refusal(reply.text, reply.error_code, status=reply.status)

    def in_pieces(self, events: Iterable[bytes]) -> Iterator[bytes]:
        """The events as they are written to the wire."""
        if not self.split_bytes:
            yield from events
            return
        whole = b"".join(events)
        for start in range(0, len(whole), self.split_bytes):
            yield whole[start : start + self.split_bytes]


class _Handler(BaseHTTPRequestHandler):
    native: NativeServer
    protocol_version = "HTTP/1.1"

    def log_message(self, format: str, *args: object) -> None:
        """Nothing on the terminal: the log is `NativeServer.log`."""

    def do_GET(self) -> None:
        """A list, or what is known of one thing."""
        self._send(self.native.look_up(self.path.partition("?")[0], dict(self.headers), None))

    def do_POST(self) -> None:
        """A request for an answer, or a question about the server."""
        native = self.native
        path = self.path.partition("?")[0]
        body = json.loads(self.rfile.read(int(self.headers.get("Content-Length") or 0)))
        if not native.asks_model(path):
            self._send(native.look_up(path, dict(self.headers), body))
            return
        answer = native.answer(self.path, dict(self.headers), body)
        if isinstance(answer, Refusal):
            self._send(answer)
        else:
            self._stream(answer, body)

    def _send(self, value: Json | Refusal | None) -> None:
        value = Refusal(f"no such path: {self.path}", "not_found", status=404) if value is None else value
        status = value.status if isinstance(value, Refusal) else 200
        body = self.native.error_body(value) if isinstance(value, Refusal) else value
        content = json.dumps(body).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(content)))
        if self.native.wait_seconds and status != 200:
            self.send_header("Retry-After", str(self.native.wait_seconds))
        self.end_headers()
        self.wfile.write(content)

    def _stream(self, reply: Reply, body: Json) -> None:
        self.send_response(200)
        self.send_header("Content-Type", self.native.CONTENT_TYPE)
        self.send_header("Transfer-Encoding", "chunked")
        self.send_header("Connection", "close")
        self.end_headers()
        self.close_connection = True
        try:
            for number, piece in enumerate(self.native.in_pieces(self.native.events(reply, body))):
                if reply.breaks_after_chunks is not None and number >= reply.breaks_after_chunks:
                    return
                self.wfile.write(f"{len(piece):x}\r\n".encode() + piece + b"\r\n")
                self.wfile.flush()
                if reply.gate is not None and _says(piece, reply) and not self.native.wait_for(reply.gate):
                    return
            self.wfile.write(b"0\r\n\r\n")
        except OSError:
            return  # The client stopped listening, which is its right.


def _says(piece: bytes, reply: Reply) -> bool:
    """True for a piece with words of the answer."""
    return json.dumps(reply.text[:4])[1:-1].encode() in piece
