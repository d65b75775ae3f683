"""What stands before the page: only known hosts, no foreign origin, and a policy that lets nothing call outside."""

from __future__ import annotations

import ipaddress
import socket
from collections.abc import Awaitable, Callable, Iterable, MutableMapping
from typing import Any
from urllib.parse import urlsplit

LOOPBACK_HOSTS = frozenset({"127.0.0.1", "localhost", "::1"})

# The types of the ASGI interface itself.
AsgiScope = MutableMapping[str, Any]
AsgiMessage = MutableMapping[str, Any]
AsgiReceive = Callable[[], Awaitable[AsgiMessage]]
AsgiSend = Callable[[AsgiMessage], Awaitable[None]]
AsgiApp = Callable[[AsgiScope, AsgiReceive, AsgiSend], Awaitable[None]]

# Gradio compiles its templates in the browser, so 'unsafe-eval' stays; nothing from a model reaches a template.
_POLICY = (
    "default-src 'self'; script-src 'self' 'unsafe-inline' 'unsafe-eval'; style-src 'self' 'unsafe-inline'; "
    "img-src 'self' data: blob:; media-src 'self' data: blob:; font-src 'self' data:; connect-src 'self'; "
    "worker-src 'self' blob:; object-src 'none'; base-uri 'self'; form-action 'self'; frame-ancestors {ancestors}"
)
# The page takes no files, and whoever reaches this address could fill the disk.
_UPLOAD = "/gradio_api/upload"


class Guard:
    """ASGI middleware. `hosts` are the names the page is reached by; `any_address` also takes every IP literal,
    which a rebound domain name can never be; `framed_by` lists the pages that may show this one in a frame."""

    def __init__(
        self,
        app: AsgiApp,
        hosts: Iterable[str] = (),
        any_address: bool = False,
        framed_by: str = "",
        on_first_page: Callable[[], None] | None = None,
    ) -> None:
        self._app = app
        self._hosts = LOOPBACK_HOSTS | {host.lower() for host in hosts}
        self._any_address = any_address
        self._on_first_page = on_first_page
        ancestors = f"'self' {framed_by}".rstrip()
        self._headers = [
            (b"content-security-policy", _POLICY.format(ancestors=ancestors).encode()),
            (b"x-content-type-options", b"nosniff"),
            (b"referrer-policy", b"same-origin"),
        ]

    async def __call__(self, scope: AsgiScope, receive: AsgiReceive, send: AsgiSend) -> None:
        """Let the request through, or answer 403."""
        if scope["type"] not in ("http", "websocket"):
            await self._app(scope, receive, send)
            return
        headers = {name.decode("latin1").lower(): value.decode("latin1") for name, value in scope["headers"]}
        is_upload = str(scope.get("path", "")).rstrip("/").endswith(_UPLOAD)
        if is_upload or not self.is_allowed(str(scope.get("method", "GET")), headers):
            await _refuse(scope["type"], send)
            return

        async def send_guarded(message: AsgiMessage) -> None:
            if message["type"] == "http.response.start":
                message["headers"] = [*message["headers"], *self._headers]
            await send(message)

        await self._app(scope, receive, send_guarded)
        if self._on_first_page and scope.get("path") == "/":
            self._on_first_page()
            self._on_first_page = None

    def is_allowed(self, method: str, headers: MutableMapping[str, str]) -> bool:
        """Whether a request with these headers comes from the page itself or from a person opening it."""
        host = headers.get("host", "")
        if not self._is_known(host):
            return False
        if "origin" in headers and _host_of(headers["origin"]) != host:
            return False
        if headers.get("sec-fetch-site") != "cross-site":
            return True
        return method in ("GET", "HEAD") and headers.get("sec-fetch-mode") == "navigate"

    def _is_known(self, host: str) -> bool:
        name = _host_name(host)
        if name in self._hosts:
            return True
        return self._any_address and _is_address(name)


def known_hosts(listen_host: str, space_host: str) -> set[str]:
    """The names, beside those of loopback, of a page that listens on `listen_host`; a Space names its own by commas."""
    hosts = {part.strip().lower() for part in space_host.split(",") if part.strip()}
    if listen_host:
        hosts |= {socket.gethostname().lower(), listen_host.lower()}
    return hosts


def _host_of(origin: str) -> str:
    try:
        return urlsplit(origin).netloc
    except ValueError:
        return ""


def _host_name(host: str) -> str:
    try:
        return (urlsplit(f"//{host}").hostname or "").lower()
    except ValueError:
        return ""


def _is_address(name: str) -> bool:
    try:
        ipaddress.ip_address(name.strip("[]"))
    except ValueError:
        return False
    return True


async def _refuse(kind: str, send: AsgiSend) -> None:
    if kind == "websocket":
        await send({"type": "websocket.close", "code": 1008})
        return
    await send({"type": "http.response.start", "status": 403, "headers": [(b"content-type", b"text/plain")]})
    await send({"type": "http.response.body", "body": b"This page answers only under its own address."})
