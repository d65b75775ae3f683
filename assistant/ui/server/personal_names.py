"""Gives each person's page names of its own for buttons and styles, so that what one page shows fits no other."""

from __future__ import annotations

import hashlib
import hmac
import secrets

from assistant.ui.cards import TOKEN
from assistant.ui.server.asgi import PERSON, AsgiApp, AsgiMessage, AsgiReceive, AsgiScope, AsgiSend

_TEXTS = (b"text/html", b"application/json", b"text/event-stream")


class PersonalNames:
    """ASGI middleware: puts a name made of a secret and the person wherever an answer holds the process's own.

    It is within whatever compresses. Both names are of one length, and no answer parts one: a page, a JSON text and
    an event are sent whole.
    """

    def __init__(self, app: AsgiApp) -> None:
        self._app = app
        self._secret = secrets.token_bytes(32)

    async def __call__(self, scope: AsgiScope, receive: AsgiReceive, send: AsgiSend) -> None:
        """Answer as the app does, in the names of the person."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        is_text = False

        async def send_renamed(message: AsgiMessage) -> None:
            nonlocal is_text
            if message["type"] == "http.response.start":
                is_text = any(value.startswith(_TEXTS) for name, value in message["headers"] if name == b"content-type")
            elif is_text:
                theirs = self.name_of(str(scope.get(PERSON) or ""))
                message["body"] = message.get("body", b"").replace(TOKEN.encode(), theirs.encode())
            await send(message)

        await self._app(scope, receive, send_renamed)

    def name_of(self, person: str) -> str:
        """What buttons and styles are called on this person's page."""
        digest = hmac.new(self._secret, person.encode(), hashlib.sha256).hexdigest()
        return f"pal{digest}"[: len(TOKEN)]
