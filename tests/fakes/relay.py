"""A way to a server on this machine that a test can cut and mend, as a cable is pulled and put back."""

from __future__ import annotations

import socket
import threading
from contextlib import suppress
from pathlib import Path
from socketserver import BaseRequestHandler, ThreadingTCPServer

Upstream = tuple[str, int] | Path
"""Host and port, or the path of a Unix socket."""


class Relay:
    """Listens on a port of loopback and passes on what comes, both ways, to one server."""

    def __init__(self, upstream: Upstream) -> None:
        self._upstream = upstream
        self._open: set[socket.socket] = set()
        self._lock = threading.Lock()
        self._is_flowing = threading.Event()
        self._is_flowing.set()
        self._listener = self._listen(0)
        self.port: int = self._listener.server_address[1]

    def cut(self) -> None:
        """Break every connection; new ones are refused."""
        self._is_flowing.set()
        self._listener.shutdown()
        self._listener.server_close()
        with self._lock:
            for end in self._open:
                _break(end)
            self._open.clear()

    def stall(self) -> None:
        """Keep what comes, as a server does that hangs."""
        self._is_flowing.clear()

    def mend(self) -> None:
        """Listen again on the same port, after `cut`."""
        self._listener = self._listen(self.port)

    def _listen(self, port: int) -> ThreadingTCPServer:
        passes_on = self._pass_on

        class Handler(BaseRequestHandler):
            def handle(self) -> None:
                passes_on(self.request)

        listener = _Listener(("127.0.0.1", port), Handler)
        threading.Thread(target=listener.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True).start()
        return listener

    def _pass_on(self, near: socket.socket) -> None:
        try:
            far = _connected(self._upstream)
        except OSError:
            return
        with self._lock:
            self._open |= {near, far}
        back = threading.Thread(target=self._copy, args=(far, near), daemon=True)
        back.start()
        self._copy(near, far)
        back.join()
        with self._lock:
            self._open -= {near, far}
        far.close()

    def _copy(self, source: socket.socket, target: socket.socket) -> None:
        with suppress(OSError):
            while content := source.recv(65_536):
                self._is_flowing.wait()
                target.sendall(content)
        _break(target)
        _break(source)


class _Listener(ThreadingTCPServer):
    daemon_threads = True
    allow_reuse_address = True
    block_on_close = False


def _connected(upstream: Upstream) -> socket.socket:
    if isinstance(upstream, tuple):
        return socket.create_connection(upstream)
    far = socket.socket(socket.AF_UNIX)
    far.connect(str(upstream))
    return far


def _break(end: socket.socket) -> None:
    with suppress(OSError):
        end.shutdown(socket.SHUT_RDWR)
