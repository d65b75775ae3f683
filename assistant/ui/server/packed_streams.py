"""Event streams that are compressed on their way to the browser, each event at once.

The updates of one page differ little from each other, so a whole stream packs far better than each event by itself. A
browser unpacks a stream by a way of its own, so its end may come after an answer that was sent later; `assets/first.js`
lets Gradio's script see both in their order.
"""

from __future__ import annotations

import zlib

from assistant.ui.server.asgi import AsgiApp, AsgiMessage, AsgiReceive, AsgiScope, AsgiSend, header_values

_GZIP = 16 + zlib.MAX_WBITS


class PackedStreams:
    """ASGI middleware: packs an app's event streams for a browser that takes gzip, and leaves all else as it is."""

    def __init__(self, app: AsgiApp) -> None:
        self._app = app

    async def __call__(self, scope: AsgiScope, receive: AsgiReceive, send: AsgiSend) -> None:
        """Answer the request, packed where it can be."""
        is_packed = scope["type"] == "http" and _takes_gzip(scope)
        await self._app(scope, receive, _Packing(send) if is_packed else send)


class _Packing:
    """Sends an answer; once its head says that it is an event stream, its events are packed."""

    def __init__(self, send: AsgiSend) -> None:
        self._send = send
        self._packer = None

    async def __call__(self, message: AsgiMessage) -> None:
        if message["type"] == "http.response.start" and _is_event_stream(message):
            self._packer = zlib.compressobj(wbits=_GZIP)
            kept = [pair for pair in message["headers"] if pair[0].lower() not in (b"content-length", b"vary")]
            said = [(b"content-encoding", b"gzip"), (b"vary", b"accept-encoding")]
            message = {**message, "headers": [*kept, *said]}
        elif message["type"] == "http.response.body" and self._packer is not None:
            # Flushed, so that the browser has it now.
            end = zlib.Z_SYNC_FLUSH if message.get("more_body") else zlib.Z_FINISH
            packed = self._packer.compress(message.get("body", b"")) + self._packer.flush(end)
            message = {**message, "body": packed}
        await self._send(message)


def _takes_gzip(scope: AsgiScope) -> bool:
    taken = [one.strip().lower() for value in header_values(scope, b"accept-encoding") for one in value.split(",")]
    return any(one.split(";")[0] == "gzip" and not one.replace(" ", "").endswith(";q=0") for one in taken)


def _is_event_stream(head: AsgiMessage) -> bool:
    values = {name.lower(): value for name, value in head["headers"]}
    return values.get(b"content-type", b"").startswith(b"text/event-stream") and b"content-encoding" not in values
