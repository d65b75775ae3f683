"""The types of the ASGI interface, and what every part of the server asks of a request."""

from __future__ import annotations

import ipaddress
from collections.abc import Awaitable, Callable, MutableMapping
from http.cookies import CookieError, SimpleCookie
from typing import Any

AsgiScope = MutableMapping[str, Any]
AsgiMessage = MutableMapping[str, Any]
AsgiReceive = Callable[[], Awaitable[AsgiMessage]]
AsgiSend = Callable[[AsgiMessage], Awaitable[None]]
AsgiApp = Callable[[AsgiScope, AsgiReceive, AsgiSend], Awaitable[None]]

PERSON = "palimpsest.person"
"""Under this key of its scope each request carries the person it comes from; None for a stranger."""
# One household gets as many addresses of the sixth version as it likes, all with the same first half.
_IPV6_PREFIX = 64


def header_values(scope: AsgiScope, name: bytes) -> list[str]:
    """All values of the header `name`, which is in lower case."""
    return [value.decode("latin1") for key, value in scope["headers"] if key.lower() == name]


def cookie_value(scope: AsgiScope, name: str) -> str:
    """The cookie `name` of a request; empty where there is none."""
    try:
        morsel = SimpleCookie("; ".join(header_values(scope, b"cookie"))).get(name)
    except CookieError:
        return ""
    return morsel.value if morsel else ""


def address_of(scope: AsgiScope) -> str:
    """Where a request comes from, as far as limits for one address are concerned."""
    client = scope.get("client")
    address = str(client[0]) if client else ""
    try:
        parsed = ipaddress.ip_address(address)
    except ValueError:
        return address
    if parsed.version == 4:
        return address
    return str(ipaddress.ip_network((address, _IPV6_PREFIX), strict=False))
