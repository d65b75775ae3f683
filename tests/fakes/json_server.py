"""A server on loopback that answers JSON, for what a test puts in place of a store."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Generator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qs, unquote, urlsplit


@dataclass(frozen=True)
class JsonRequest:
    """What came; the path is as it was meant, without the parameters."""

    method: str
    path: str
    parameters: dict[str, list[str]]
    headers: dict[str, str]
    body: bytes


@dataclass(frozen=True)
class JsonAnswer:
    """What goes back."""

    content: object
    status: int = 200
    headers: dict[str, str] = field(default_factory=dict[str, str])


@contextmanager
def json_server(answer: Callable[[JsonRequest], JsonAnswer]) -> Generator[str]:
    """The address of a server that answers one request at a time."""
    lock = threading.Lock()

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self) -> None:
            parts = urlsplit(self.path)
            body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
            request = JsonRequest(
                self.command, unquote(parts.path), parse_qs(parts.query), dict(self.headers.items()), body
            )
            with lock:
                answered = answer(request)
            content = json.dumps(answered.content).encode()
            self.send_response(answered.status)
            headers = {"Content-Type": "application/json", **answered.headers}
            for name, value in {**headers, "Content-Length": str(len(content))}.items():
                self.send_header(name, value)
            self.end_headers()
            if self.command != "HEAD":
                self.wfile.write(content)

        def do_PUT(self) -> None:
            self.do_GET()

        def do_POST(self) -> None:
            self.do_GET()

        def do_DELETE(self) -> None:
            self.do_GET()

        def do_HEAD(self) -> None:
            self.do_GET()

        def log_message(self, format: str, *args: object) -> None:
            return

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}"
    finally:
        server.shutdown()
        server.server_close()
