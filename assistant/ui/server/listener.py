"""The web server: it listens in a thread of its own, and closes what is slow, idle or too much."""

from __future__ import annotations

import asyncio
import socket
import threading
from collections.abc import Iterable
from concurrent.futures import Future

from uvicorn import Config, Server
from uvicorn.protocols.http.h11_impl import H11Protocol

from assistant.config.words import say
from assistant.ui.server.asgi import AsgiApp

REQUEST_SECONDS = 10.0
"""How long the head of a request may take to come in; a new connection that says nothing is closed after it too."""
KEEP_ALIVE_SECONDS = 5
MAX_CONNECTIONS = 512
"""Open at once; whoever comes then is told to come back. Below the 1,024 files a process may commonly open."""
_CLOSING_SECONDS = 3
_WAITING_SECONDS = 0.5


class PatientProtocol(H11Protocol):
    """The strict one of the two HTTP parsers of uvicorn, with a limit to how long it waits for a request to begin."""

    _deadline: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Begin to wait for the first request."""
        super().connection_made(transport)
        self._wait()

    def data_received(self, data: bytes) -> None:
        """Wait no more once a request is whole; wait again when the next one begins."""
        super().data_received(data)
        if self.cycle and not self.cycle.response_complete:
            self._stop_waiting()
        else:
            self._wait()

    def on_response_complete(self) -> None:
        """An idle connection is closed by uvicorn; one that was waited for meanwhile by us."""
        self._stop_waiting()
        super().on_response_complete()

    def connection_lost(self, exc: Exception | None) -> None:
        """There is nothing to wait for."""
        self._stop_waiting()
        super().connection_lost(exc)

    def _wait(self) -> None:
        if self._deadline is None:
            self._deadline = asyncio.get_running_loop().call_later(REQUEST_SECONDS, self.transport.close)

    def _stop_waiting(self) -> None:
        if self._deadline is not None:
            self._deadline.cancel()
            self._deadline = None


class Listener:
    """Serves an app on a socket until it is closed."""

    def __init__(self, app: AsgiApp, listening: socket.socket) -> None:
        self._socket = listening
        self._server = Server(
            Config(
                app,  # type: ignore[arg-type]
                log_level="warning",
                http=PatientProtocol,
                ws="none",
                lifespan="on",
                server_header=False,
                limit_concurrency=MAX_CONNECTIONS,
                timeout_keep_alive=KEEP_ALIVE_SECONDS,
                timeout_graceful_shutdown=_CLOSING_SECONDS,
            )
        )
        self._ended: Future[None] = Future()
        self._thread = threading.Thread(target=self._run, name="page", daemon=True)

    def start(self) -> None:
        """Serve from now on; returns when the page answers."""
        self._thread.start()
        waited = threading.Event()
        while not self._server.started and not self._ended.done():
            waited.wait(0.005)

    def wait(self) -> None:
        """Wait until it is closed."""
        # On some systems nothing interrupts a wait without an end.
        while self._thread.is_alive():
            self._thread.join(_WAITING_SECONDS)

    def close(self) -> None:
        """Stop serving; returns when everything has ended."""
        self._server.should_exit = True
        self._thread.join()

    def _run(self) -> None:
        try:
            self._server.run([self._socket])
        finally:
            self._ended.set_result(None)


def listen(host: str, ports: Iterable[int]) -> socket.socket:
    """A socket that listens on the first free port. Raises `OSError` for the last one where none is free."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    refused = OSError(say("page", "no_port", host=host))
    for port in ports:
        try:
            return socket.create_server((host.strip("[]"), port), family=family)
        except OSError as error:
            refused = error
    raise refused
