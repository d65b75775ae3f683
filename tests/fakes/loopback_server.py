"""A server on loopback in a thread of its own, which ends with the test whatever waits in it."""

from __future__ import annotations

import sys
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Self


class LoopbackServer:
    """The server; a context manager that runs it. `port` 0 takes one that is free."""

    def __init__(self, handler: type[BaseHTTPRequestHandler], port: int = 0) -> None:
        self.is_closing = threading.Event()
        self._server = _Server(("127.0.0.1", port), handler)
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.02,), daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.is_closing.set()
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()

    @property
    def port(self) -> int:
        """The port it listens on."""
        return int(self._server.server_address[1])

    def wait_for(self, gate: threading.Event) -> bool:
        """True once the gate is open, False when the server closes first."""
        while not gate.wait(0.02):
            if self.is_closing.is_set():
                return False
        return True


class _Server(ThreadingHTTPServer):
    """A client that stopped or was killed is no error of the server."""

    daemon_threads = True

    def handle_error(self, request: object, client_address: object) -> None:
        """Nothing for a connection that broke; anything else as ever."""
        if not isinstance(sys.exc_info()[1], ConnectionError):
            super().handle_error(request, client_address)  # type: ignore[arg-type]
