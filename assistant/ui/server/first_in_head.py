"""What comes before all else in the page's head: Gradio puts what it is given behind its own script and manifest."""

from __future__ import annotations

from assistant.ui.server.asgi import AsgiApp, AsgiMessage, AsgiReceive, AsgiScope, AsgiSend

_HEAD = b"<head>"


class FirstInHead:
    """ASGI middleware: puts elements at the beginning of each page's head. It is within whatever compresses."""

    def __init__(self, app: AsgiApp, elements: str) -> None:
        self._app = app
        self._begun_head = _HEAD + elements.encode()

    async def __call__(self, scope: AsgiScope, receive: AsgiReceive, send: AsgiSend) -> None:
        """Answer as the app does; a page has the elements in it."""
        if scope["type"] != "http" or scope["path"] != "/":
            await self._app(scope, receive, send)
            return
        started: AsgiMessage | None = None

        async def send_page(message: AsgiMessage) -> None:
            nonlocal started
            if message["type"] == "http.response.start":
                started = message
                return
            if started is not None:
                before = message.get("body", b"")
                message["body"] = before.replace(_HEAD, self._begun_head, 1)
                await send(_longer(started, len(message["body"]) - len(before)))
                started = None
            await send(message)

        await self._app(scope, receive, send_page)


def _longer(started: AsgiMessage, count: int) -> AsgiMessage:
    """The same beginning of an answer, with a body that is longer by so many bytes."""
    headers = [
        (name, str(int(value) + count).encode() if name == b"content-length" else value)
        for name, value in started["headers"]
    ]
    return {**started, "headers": headers}
