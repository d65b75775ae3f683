"""MCP servers over HTTP, each with one quirk: raw answers to every request, as real gateways give them."""

from __future__ import annotations

import json
from http.server import BaseHTTPRequestHandler

from tests.fakes.loopback_server import LoopbackServer
from tests.fakes.strange_servers import Row, tool

STATUSES = {"wants a key": 401, "forbids": 403, "is not there": 404, "is broken": 500, "is away": 503}


class StrangeHttpServer(LoopbackServer):
    """A server on loopback; `requests` are the methods that were asked for."""

    def __init__(self, quirk: str) -> None:
        self.quirk = quirk
        self.requests: list[str] = []
        server = self

        class Handler(_Handler):
            strange = server

        super().__init__(Handler)

    @property
    def url(self) -> str:
        """Where it is."""
        return f"http://127.0.0.1:{self.port}/mcp"


class _Handler(BaseHTTPRequestHandler):
    strange: StrangeHttpServer
    protocol_version = "HTTP/1.1"

    def log_message(self, format: str, *args: object) -> None:
        """Nothing on the terminal."""

    def do_GET(self) -> None:
        """No stream of its own is offered."""
        self._send(405, "text/plain", b"")

    def do_DELETE(self) -> None:
        """A session that ends."""
        self._send(200, "text/plain", b"")

    def do_POST(self) -> None:
        """One request of the protocol."""
        message = json.loads(self.rfile.read(int(self.headers.get("Content-Length") or 0)) or b"{}")
        quirk, method = self.strange.quirk, str(message.get("method"))
        self.strange.requests.append(method)
        if quirk in STATUSES:
            self._send(STATUSES[quirk], "application/json", b'{"error": "no"}')
        elif quirk == "is a web page":
            self._send(200, "text/html", b"<!doctype html><title>Hello</title>")
        elif "id" not in message:
            self._send(202, "text/plain", b"")
        elif method == "tools/call" and quirk == "closes its stream":
            self._send(200, "text/event-stream", b": one moment\n\n")
        elif method not in _RESULTS:
            error = {"code": -32601, "message": "Method not found"}
            self._answer({"jsonrpc": "2.0", "id": message["id"], "error": error})
        else:
            self._answer({"jsonrpc": "2.0", "id": message["id"], "result": _RESULTS[method]})

    def _answer(self, row: Row) -> None:
        content = json.dumps(row).encode()
        if self.strange.quirk == "streams":
            self._send(200, "text/event-stream", b"event: message\ndata: " + content + b"\n\n")
        else:
            self._send(200, "application/json", content)

    def _send(self, status: int, kind: str, content: bytes) -> None:
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)


_RESULTS: dict[str, Row] = {
    "initialize": {
        "protocolVersion": "2025-06-18",
        "capabilities": {"tools": {}},
        "serverInfo": {"name": "http", "version": "1"},
    },
    "ping": {},
    "tools/list": {"tools": [tool("ask")]},
    "tools/call": {"content": [{"type": "text", "text": "over HTTP"}]},
}
