"""Event streams on their way to the browser: each event at once, packed where the browser takes that."""

from __future__ import annotations

import zlib

import pytest

from assistant.ui.server.asgi import AsgiMessage, AsgiReceive, AsgiScope, AsgiSend
from assistant.ui.server.packed_streams import PackedStreams

STREAM = b"text/event-stream; charset=utf-8"
EVENTS = (b"data: one\n\n", b"data: two\n\n", b"")


async def answered(accepted: str, *head: tuple[bytes, bytes]) -> tuple[dict[bytes, bytes], list[bytes]]:
    """The head and the parts of an answer with this head, as a browser that accepts these encodings gets it."""
    sent: list[AsgiMessage] = []

    async def answer(_scope: AsgiScope, _receive: AsgiReceive, send: AsgiSend) -> None:
        await send({"type": "http.response.start", "status": 200, "headers": list(head)})
        for number, event in enumerate(EVENTS):
            await send({"type": "http.response.body", "body": event, "more_body": number < len(EVENTS) - 1})

    async def receive() -> AsgiMessage:
        raise AssertionError("nothing is asked of the browser")

    async def send(message: AsgiMessage) -> None:
        sent.append(message)

    scope = {"type": "http", "headers": [(b"accept-encoding", accepted.encode())]}
    await PackedStreams(answer)(scope, receive, send)
    return dict(sent[0]["headers"]), [message["body"] for message in sent[1:]]


@pytest.mark.parametrize("accepted", ["gzip", "gzip, deflate, br, zstd", "br;q=1.0, GZIP;q=0.8"])
async def test_each_event_can_be_read_as_soon_as_it_came(accepted: str) -> None:
    head, parts = await answered(accepted, (b"content-type", STREAM), (b"content-length", b"22"))
    reader = zlib.decompressobj(wbits=16 + zlib.MAX_WBITS)
    assert [reader.decompress(part) for part in parts] == list(EVENTS)
    assert reader.eof
    assert head == {b"content-type": STREAM, b"content-encoding": b"gzip", b"vary": b"accept-encoding"}


@pytest.mark.parametrize(
    ("accepted", "head"),
    [
        pytest.param("", {b"content-type": STREAM}, id="no packing asked for"),
        pytest.param("br", {b"content-type": STREAM}, id="another packing"),
        pytest.param("gzip;q=0", {b"content-type": STREAM}, id="gzip refused"),
        pytest.param("gzip", {b"content-type": b"text/html"}, id="a page"),
        pytest.param("gzip", {b"content-type": STREAM, b"content-encoding": b"br"}, id="packed already"),
        pytest.param("gzip", {}, id="nothing said of it"),
    ],
)
async def test_everything_else_goes_through_as_it_is(accepted: str, head: dict[bytes, bytes]) -> None:
    assert await answered(accepted, *head.items()) == (head, list(EVENTS))
