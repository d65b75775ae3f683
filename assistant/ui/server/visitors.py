"""Whose browser a request comes from: a visitor is known by a cookie that this process signed."""

from __future__ import annotations

import hashlib
import hmac
import secrets
from collections import OrderedDict
from collections.abc import Callable

import gradio as gr

from assistant.config.words import say
from assistant.errors import PalimpsestError
from assistant.ui.server.asgi import PERSON, AsgiApp, AsgiMessage, AsgiReceive, AsgiScope, AsgiSend, address_of
from assistant.ui.server.asgi import cookie_value as cookie_of

COOKIE = "palimpsest-visitor"
NEW_VISITORS = 8
"""So many browsers of one address may be new at once."""
NEW_VISITOR_SECONDS = 15.0
"""Then one more, each time this has passed."""
_MAX_ADDRESSES = 10_000


class Visitors:
    """The cookies of guests: made, signed and known again here, and nowhere kept."""

    def __init__(self, now_seconds: Callable[[], float]) -> None:
        self._secret = secrets.token_bytes(32)
        self._now_seconds = now_seconds
        # When the allowance of an address will be whole again.
        self._whole_at: OrderedDict[str, float] = OrderedDict()

    def who_comes(self, scope: AsgiScope) -> str | None:
        """The visitor a request comes from; None without a cookie of ours."""
        visitor, _, signature = cookie_of(scope, COOKIE).partition(".")
        return visitor if hmac.compare_digest(signature, self._signature(visitor)) else None

    def welcome(self, address: str) -> str | None:
        """A new visitor; None while too many from this address are new."""
        now = self._now_seconds()
        whole_at = max(self._whole_at.get(address, now), now) + NEW_VISITOR_SECONDS
        if whole_at > now + NEW_VISITORS * NEW_VISITOR_SECONDS:
            return None
        self._whole_at[address] = whole_at
        self._whole_at.move_to_end(address)
        while len(self._whole_at) > _MAX_ADDRESSES:
            self._whole_at.popitem(last=False)
        return secrets.token_urlsafe(16)

    def cookie_value(self, visitor: str) -> str:
        """What the browser of a visitor is given to keep."""
        return f"{visitor}.{self._signature(visitor)}"

    def _signature(self, visitor: str) -> str:
        return hmac.new(self._secret, visitor.encode(), hashlib.sha256).hexdigest()


class VisitorCookie:
    """ASGI middleware: gives a cookie that no script can read to each browser that opens the page without one."""

    def __init__(self, app: AsgiApp, visitors: Visitors, is_space: bool) -> None:
        self._app = app
        self._visitors = visitors
        # A Space is shown in a frame of another site, which gets no other cookies than these.
        self._attributes = "Secure; SameSite=None; Partitioned" if is_space else "SameSite=Strict"

    async def __call__(self, scope: AsgiScope, receive: AsgiReceive, send: AsgiSend) -> None:
        """Answer as the page does, with a cookie where there was none."""
        is_new = scope["type"] == "http" and scope["path"] == "/" and scope["method"] == "GET" and not scope[PERSON]
        if not is_new:
            await self._app(scope, receive, send)
            return
        visitor = scope[PERSON] = self._visitors.welcome(address_of(scope))
        if visitor is None:
            await _refuse(send)
            return
        value = f"{COOKIE}={self._visitors.cookie_value(visitor)}; Path=/; HttpOnly; {self._attributes}"

        async def send_with_cookie(message: AsgiMessage) -> None:
            if message["type"] == "http.response.start":
                message["headers"] = [*message["headers"], (b"set-cookie", value.encode())]
            await send(message)

        await self._app(scope, receive, send_with_cookie)


def person_asking(request: gr.Request) -> str:
    """The person that the guard found behind an event; everything that is theirs hangs on this word."""
    scope: AsgiScope = request.request.scope if request.request else {}
    person = scope.get(PERSON)
    if person is None:
        raise PalimpsestError(say("page", "signed_out"))
    return str(person)


async def _refuse(send: AsgiSend) -> None:
    wait = str(int(NEW_VISITOR_SECONDS)).encode()
    headers = [(b"content-type", b"text/plain; charset=utf-8"), (b"retry-after", wait)]
    await send({"type": "http.response.start", "status": 429, "headers": headers})
    await send({"type": "http.response.body", "body": b"Too Many Requests"})
