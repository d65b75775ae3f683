"""A real server on loopback closes what is slow, idle or too large, and answers everybody else meanwhile."""

from __future__ import annotations

import socket
import time
from collections.abc import Callable

import pytest

from assistant.ui.server import listener
from assistant.ui.server.asgi import AsgiScope
from assistant.ui.server.bodies import MAX_BODY_BYTES
from assistant.ui.server.guard import Guard, Hosts
from assistant.ui.server.listener import listen
from tests.ui.server.conftest import say
from tests.ui.server.test_guard import answer_ok, owner

Serve = Callable[[object], tuple[str, int]]
POST = b"POST /login HTTP/1.1\r\nHost: localhost\r\n"


async def serve(scope: AsgiScope, receive: object, send: object) -> None:
    """A guarded site that answers everything."""
    if scope["type"] == "lifespan":
        for step in ("startup", "shutdown"):
            await receive()  # type: ignore[operator]
            await send({"type": f"lifespan.{step}.complete"})  # type: ignore[operator]
        return
    await answer_ok(scope, receive, send)


@pytest.fixture
def address(serve_app: Serve, monkeypatch: pytest.MonkeyPatch) -> tuple[str, int]:
    """A guarded server that waits for half a second only."""
    monkeypatch.setattr(listener, "REQUEST_SECONDS", 0.5)
    monkeypatch.setattr(listener, "KEEP_ALIVE_SECONDS", 1)
    return serve_app(Guard(serve, Hosts(), owner))


def status_in(answer: bytes) -> int:
    """The status of an answer."""
    return int(answer.split(b" ", 2)[1])


@pytest.mark.parametrize(
    "part",
    [b"", b"GET / HT", b"GET / HTTP/1.1\r\nHost: localhost\r\n", POST + b"X-Slow:"],
    ids=["nothing", "line", "head", "field"],
)
def test_who_does_not_get_to_the_end_of_a_request_is_cut_off(address: tuple[str, int], part: bytes) -> None:
    began = time.monotonic()
    assert (say(address, part), time.monotonic() - began < 20) == (b"", True)


def test_a_second_request_on_a_connection_has_no_more_time_than_the_first(address: tuple[str, int]) -> None:
    answer = say(address, b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\nGET / HTTP")
    assert (status_in(answer), answer.count(b"HTTP/1.1 ")) == (200, 1)


@pytest.mark.parametrize(
    "path", [b"/login", b"/gradio_api/queue/join", b"/gradio_api/cancel", b"/gradio_api/upload%0A"]
)
def test_a_body_said_to_be_large_is_not_waited_for(address: tuple[str, int], path: bytes) -> None:
    head = b"POST " + path + b" HTTP/1.1\r\nHost: localhost\r\nContent-Length: 300000000\r\n\r\n"
    assert status_in(say(address, head)) in (404, 413)


def test_a_body_in_chunks_is_read_no_further_than_the_limit(address: tuple[str, int]) -> None:
    chunk = b"10000\r\n" + b"a" * 65_536 + b"\r\n"
    parts = [POST + b"Transfer-Encoding: chunked\r\n\r\n", *[chunk] * (MAX_BODY_BYTES // 65_536)]
    assert status_in(say(address, *parts, chunk)) == 413


def test_a_body_in_pieces_is_answered_whole(address: tuple[str, int]) -> None:
    head = POST + b"Connection: close\r\nContent-Length: 300000\r\n\r\n"
    assert say(address, head, *[b"~" * 50_000] * 6).count(b"~") == 300_000


def test_a_hundred_silent_connections_keep_nobody_out(address: tuple[str, int]) -> None:
    silent = [socket.create_connection(address) for _ in range(100)]
    began = time.monotonic()
    answer = say(address, b"GET / HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
    assert (status_in(answer), time.monotonic() - began < 10) == (200, True)
    assert [connection.recv(1) for connection in silent] == [b""] * 100
    for connection in silent:
        connection.close()


def test_a_port_that_is_taken_is_passed_over() -> None:
    with listen("127.0.0.1", (0,)) as taken, listen("127.0.0.1", (taken.getsockname()[1], 0)) as other:
        assert other.getsockname()[1] != taken.getsockname()[1]
        with pytest.raises(OSError, match="in use"):
            listen("127.0.0.1", (taken.getsockname()[1],))
