"""Whose browser a request comes from: a visitor is known by a random cookie."""

from __future__ import annotations

import re
import secrets
from http.cookies import CookieError, SimpleCookie

import gradio as gr

from assistant.ui.server.guard import AsgiApp, AsgiMessage, AsgiReceive, AsgiScope, AsgiSend

COOKIE = "palimpsest-visitor"
_MARK = re.compile(r"[A-Za-z0-9_-]{43}\Z")


class VisitorCookie:
    """ASGI middleware: gives a cookie that no script can read to each browser that opens the page without one."""

    def __init__(self, app: AsgiApp, is_space: bool) -> None:
        self._app = app
        # A Space is shown in a frame of another site, which gets no other cookies than these.
        self._attributes = "Secure; SameSite=None; Partitioned" if is_space else "SameSite=Strict"

    async def __call__(self, scope: AsgiScope, receive: AsgiReceive, send: AsgiSend) -> None:
        """Answer as the page does, with a cookie where there was none."""
        is_page = scope["type"] == "http" and scope.get("path") == "/"
        if not is_page or _mark_in(_cookie_header(scope)):
            await self._app(scope, receive, send)
            return
        value = f"{COOKIE}={secrets.token_urlsafe(32)}; Path=/; HttpOnly; {self._attributes}"

        async def send_with_cookie(message: AsgiMessage) -> None:
            if message["type"] == "http.response.start":
                message["headers"] = [*message["headers"], (b"set-cookie", value.encode())]
            await send(message)

        await self._app(scope, receive, send_with_cookie)


def visitor_of(request: gr.Request) -> str:
    """What tells this visitor from others: the cookie, or the tab where the browser keeps none."""
    headers = request.request.headers if request.request else {}
    return _mark_in(headers.get("cookie", "")) or f"tab {request.session_hash}"


def _cookie_header(scope: AsgiScope) -> str:
    return "; ".join(value.decode("latin1") for name, value in scope["headers"] if name == b"cookie")


def _mark_in(header: str) -> str:
    """The visitor's cookie; empty where there is none, or one that we never gave."""
    try:
        morsel = SimpleCookie(header).get(COOKIE)
    except CookieError:
        return ""
    return morsel.value if morsel and _MARK.match(morsel.value) else ""
