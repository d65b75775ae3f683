"""Stands before the whole page: lets in what `open_routes` lists, for the person whose it is, and nothing else."""

from __future__ import annotations

import ipaddress
import json
import re
import socket
from collections.abc import Callable, Iterable
from http import HTTPStatus

from assistant.ui.server.asgi import (
    PERSON,
    AsgiApp,
    AsgiMessage,
    AsgiReceive,
    AsgiScope,
    AsgiSend,
    header_values,
)
from assistant.ui.server.bodies import Bodies, Body, has_body
from assistant.ui.server.open_routes import Entrance, entrance, is_tab_name
from assistant.ui.server.tabs import TabOwners

LOOPBACK_HOSTS = frozenset({"127.0.0.1", "localhost", "::1"})
WhoComes = Callable[[AsgiScope], str | None]
"""The person a request comes from; None for a stranger."""

# A host name or an address and perhaps a port, and nothing that a browser would never send.
_HOST = re.compile(r"(?:\[(?P<ipv6>[0-9A-Fa-f:.]+)\]|(?P<name>[A-Za-z0-9._-]+))(?::[0-9]{1,5})?", re.ASCII)
# Gradio compiles its templates in the browser, so 'unsafe-eval' stays; nothing from a model reaches a template.
_POLICY = (
    "default-src 'self'; script-src 'self' 'unsafe-inline' 'unsafe-eval'; style-src 'self' 'unsafe-inline'; "
    "img-src 'self' data: blob:; media-src 'self' data: blob:; font-src 'self' data:; connect-src 'self'; "
    "worker-src 'self' blob:; object-src 'none'; base-uri 'self'; form-action 'self'; frame-ancestors {ancestors}"
)


class Hosts:
    """The names a page is reached by; `any_address` also takes every IP literal, which a rebound name never is."""

    def __init__(self, names: Iterable[str] = (), any_address: bool = False) -> None:
        self._names = LOOPBACK_HOSTS | {name.lower() for name in names}
        self._any_address = any_address

    def is_known(self, host: str) -> bool:
        """Whether the page answers to this `Host` header."""
        match = _HOST.fullmatch(host)
        name = (match["ipv6"] or match["name"]).lower() if match else ""
        return name in self._names or (self._any_address and _is_address(name))


class Guard:
    """ASGI middleware in front of everything; `framed_by` lists the pages that may show this one in a frame.

    Who is a stranger gets `sign_in` in place of the page.
    """

    def __init__(
        self, app: AsgiApp, hosts: Hosts, who_comes: WhoComes, sign_in: AsgiApp | None = None, framed_by: str = ""
    ) -> None:
        self._app = app
        self._hosts = hosts
        self._who_comes = who_comes
        self._sign_in = sign_in
        self._bodies = Bodies()
        self._tabs = TabOwners()
        ancestors = f"'self' {framed_by}".rstrip()
        self._headers = [
            (b"content-security-policy", _POLICY.format(ancestors=ancestors).encode()),
            (b"x-content-type-options", b"nosniff"),
            (b"referrer-policy", b"same-origin"),
        ]

    async def __call__(self, scope: AsgiScope, receive: AsgiReceive, send: AsgiSend) -> None:
        """Let the request through, or say why not."""
        if scope["type"] == "lifespan":
            await self._app(scope, receive, send)
        elif scope["type"] == "http":
            await self._guard(scope, receive, self._guarded(send))
        else:
            await send({"type": "websocket.close", "code": 1008})

    async def _guard(self, scope: AsgiScope, receive: AsgiReceive, send: AsgiSend) -> None:
        entered = self._entrance(scope)
        if isinstance(entered, HTTPStatus):
            await _refuse(send, entered)
            return
        person = scope[PERSON] = self._who_comes(scope)
        if person is None and self._sign_in and entered.opening.path.fullmatch("/"):
            await self._sign_in(scope, receive, send)
            return
        if person is None and not entered.opening.is_for_all:
            await _refuse(send, HTTPStatus.UNAUTHORIZED)
            return
        if "POST" not in entered.opening.methods:
            is_theirs = entered.opening.tab_in == "nowhere" or self._is_theirs(entered, person or "")
            await (self._app(scope, receive, send) if is_theirs else _refuse(send, HTTPStatus.NOT_FOUND))
            return
        if entered.opening.streamed_bytes:
            await self._stream(entered, person or "", scope, receive, send)
            return
        body = await self._bodies.read(scope, receive)
        if body.refusal:
            await _refuse(send, HTTPStatus(body.refusal))
        elif entered.opening.tab_in == "body" and not self._claims(body, person or ""):
            await _refuse(send, HTTPStatus.NOT_FOUND)
        else:
            await self._app(scope, _once_more(body, receive), send)

    async def _stream(
        self, entered: Entrance, person: str, scope: AsgiScope, receive: AsgiReceive, send: AsgiSend
    ) -> None:
        if not self._is_theirs(entered, person):
            await _refuse(send, HTTPStatus.NOT_FOUND)
            return
        with self._bodies.coming(scope, entered.opening.streamed_bytes) as refusal:
            if refusal:
                await _refuse(send, HTTPStatus(refusal))
            else:
                await self._app(scope, self._bodies.in_pieces(receive), send)

    def _entrance(self, scope: AsgiScope) -> Entrance | HTTPStatus:
        if not self._is_from_here(scope):
            return HTTPStatus.FORBIDDEN
        method, path = str(scope["method"]), str(scope["path"])
        found = entrance(method, path, scope.get("raw_path") or path.encode(), scope.get("query_string", b""))
        if found is None:
            return HTTPStatus.NOT_FOUND
        return HTTPStatus.REQUEST_ENTITY_TOO_LARGE if method != "POST" and has_body(scope) else found

    def _is_from_here(self, scope: AsgiScope) -> bool:
        """Whether a request comes from the page itself or from a person opening it."""
        hosts, origins = header_values(scope, b"host"), header_values(scope, b"origin")
        if len(hosts) != 1 or not self._hosts.is_known(hosts[0]):
            return False
        if any(origin not in (f"http://{hosts[0]}", f"https://{hosts[0]}") for origin in origins):
            return False
        if "cross-site" not in header_values(scope, b"sec-fetch-site"):
            return True
        return scope["method"] in ("GET", "HEAD") and header_values(scope, b"sec-fetch-mode") == ["navigate"]

    def _is_theirs(self, entered: Entrance, person: str) -> bool:
        """Whether the tab that an address names is this person's. A heartbeat is the first word of a new tab."""
        if entered.opening.tab_in == "path":
            return self._tabs.claim(entered.tab, person)
        return self._tabs.has(entered.tab, person)

    def _claims(self, body: Body, person: str) -> bool:
        """Whether a body speaks for a tab of this person."""
        try:
            said: object = json.loads(body.content)
        except (ValueError, RecursionError):
            return False
        tab: object = said.get("session_hash") if isinstance(said, dict) else None  # pyright: ignore[reportUnknownMemberType, reportUnknownVariableType]
        return isinstance(tab, str) and is_tab_name(tab) and self._tabs.claim(tab, person)

    def _guarded(self, send: AsgiSend) -> AsgiSend:
        async def send_guarded(message: AsgiMessage) -> None:
            if message["type"] == "http.response.start":
                message["headers"] = [*message.get("headers", ()), *self._headers]
            await send(message)

        return send_guarded


def known_hosts(listen_host: str, space_host: str) -> set[str]:
    """The names, beside those of loopback, of a page that listens on `listen_host`; a Space names its own by commas."""
    hosts = {part.strip().lower() for part in space_host.split(",") if part.strip()}
    if listen_host:
        hosts |= {socket.gethostname().lower(), listen_host.lower()}
    return hosts


def _is_address(name: str) -> bool:
    try:
        ipaddress.ip_address(name)
    except ValueError:
        return False
    return True


def _once_more(body: Body, receive: AsgiReceive) -> AsgiReceive:
    """Gives the body that was read already, and after it what comes."""
    is_given = False

    async def give() -> AsgiMessage:
        nonlocal is_given
        if is_given:
            return await receive()
        is_given = True
        return {"type": "http.request", "body": body.content, "more_body": False}

    return give


async def _refuse(send: AsgiSend, status: HTTPStatus) -> None:
    # Whatever of the request was not read is thrown away with the connection.
    headers = [(b"content-type", b"text/plain; charset=utf-8"), (b"connection", b"close")]
    await send({"type": "http.response.start", "status": int(status), "headers": headers})
    await send({"type": "http.response.body", "body": status.phrase.encode()})
