"""Gives each person's page names of its own for buttons and styles, so that what one page shows fits no other."""

from __future__ import annotations

import hashlib
import hmac
import secrets

from assistant.ui.cards import TOKEN
from assistant.ui.server.asgi import PERSON, AsgiApp, AsgiMessage, AsgiReceive, AsgiScope, AsgiSend

_TEXTS = (b"text/html", b"application/json", b"text/event-stream")


class PersonalNames:
    """Names made of a secret and the person, in place of the process's own. All names are of one length."""

    def __init__(self) -> None:
        self._secret = secrets.token_bytes(32)

    def of(self, person: str) -> str:
        """What buttons and styles are called on this person's page."""
        digest = hmac.new(self._secret, person.encode(), hashlib.sha256).hexdigest()
        return f"pal{digest}"[: len(TOKEN)]

    def put_into(self, text: bytes, person: str) -> bytes:
        """The text in the names of the person."""
        return text.replace(TOKEN.encode(), self.of(person).encode())


class NamesInAnswers:
    """ASGI middleware: puts the person's names wherever an answer holds the process's own.

    It is within whatever compresses. No answer parts a name: a page, a JSON text and an event are sent whole.
    """

    def __init__(self, app: AsgiApp, names: PersonalNames) -> None:
        self._app = app
        self._names = names

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
                message["body"] = self._names.put_into(message.get("body", b""), str(scope.get(PERSON) or ""))
            await send(message)

        await self._app(scope, receive, send_renamed)
