"""Real servers on loopback, with the built-in assistant behind them."""

from __future__ import annotations

import socket
from collections.abc import AsyncGenerator, Callable, Generator, Iterator
from contextlib import ExitStack, asynccontextmanager, contextmanager
from functools import partial

import httpx
import pytest

from assistant.config.settings import Settings
from assistant.ui.page import build, start
from assistant.ui.people import open_person
from assistant.ui.server.drawn_page import DrawnPage
from assistant.ui.server.listener import Listener, listen
from assistant.ui.server.site import Site
from assistant.ui.server.user_sessions import UserSessions
from assistant.ui.server.visitors import person_asking

QUIET = {"provider": "offline", "embedder": "none", "memory_store_backend": "local"}
"""The built-in assistant, with words alone."""
ServePage = Callable[[Settings], httpx.Client]


@asynccontextmanager
async def nothing(_: object) -> AsyncGenerator[None]:
    """A site that opens no home."""
    yield


def site_of(settings: Settings) -> Site:
    """The site with a page that nobody's assistant is behind."""

    async def stay_loading(*_: object) -> None:
        """Nobody's assistant is ever there."""

    users = UserSessions(person_asking, stay_loading)
    return Site(settings, DrawnPage(partial(build, settings, users)), users, nothing, "", lambda: None)


@contextmanager
def served(settings: Settings) -> Generator[httpx.Client]:
    """A page that is served, and a client that keeps cookies as a browser does and follows no redirect."""
    server = start(settings, partial(open_person, settings.model_copy(update=QUIET)))
    try:
        with httpx.Client(base_url=server.url.replace("localhost", "127.0.0.1"), timeout=30) as client:
            yield client
    finally:
        server.close()


@pytest.fixture
def serve_page() -> Iterator[ServePage]:
    """Serves pages until the test ends."""
    with ExitStack() as stack:
        yield lambda settings: stack.enter_context(served(settings))


@pytest.fixture
def serve_app() -> Iterator[Callable[[object], tuple[str, int]]]:
    """Serves any app until the test ends; returns its address."""
    listeners: list[Listener] = []

    def serve(app: object) -> tuple[str, int]:
        listening = listen("127.0.0.1", (0,))
        listeners.append(Listener(app, listening))  # type: ignore[arg-type]
        listeners[-1].start()
        host, port = listening.getsockname()[:2]
        return host, port

    yield serve
    for listener in listeners:
        listener.close()


def say(address: tuple[str, int], *parts: bytes) -> bytes:
    """What a server answers, to its last byte, to these bytes and nothing more."""
    with socket.create_connection(address, timeout=30) as connection:
        for part in parts:
            connection.sendall(part)
        answer = b""
        while received := _received(connection):
            answer += received
        return answer


def _received(connection: socket.socket) -> bytes:
    try:
        return connection.recv(65_536)
    except ConnectionResetError:
        return b""
