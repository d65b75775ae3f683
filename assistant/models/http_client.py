"""The client that speaks to one server: over the proxy and with the certificates that this machine is set to."""

from __future__ import annotations

import os
import ssl
from collections.abc import Awaitable, Callable, Mapping
from typing import Any

import httpx

from assistant.config.words import say
from assistant.errors import ModelUnreachableError
from assistant.models.proxies import proxy_of

CONNECT_SECONDS = 4.0
"""How long a turn, a look at a server and a download wait for a connection."""

Hooks = Mapping[str, list[Callable[[Any], Awaitable[None]]]]


def client_for(
    address: str,
    timeout: httpx.Timeout | float,
    *,
    key: str = "",
    hooks: Hooks | None = None,
    follow_redirects: bool = False,
) -> httpx.AsyncClient:
    """A client for requests below the address, with the key in each.

    Raises `ModelUnreachableError` where the proxy or the certificates that are set cannot be used.
    """
    return httpx.AsyncClient(
        base_url=address,
        timeout=timeout,
        follow_redirects=follow_redirects,
        headers={"Authorization": f"Bearer {key}"} if key else {},
        event_hooks=hooks,
        proxy=proxy_of(address) or None,
        verify=certificates_for(address),
        # The library refuses to start for a proxy or an exception from it that it cannot read.
        trust_env=False,
    )


def certificates_for(address: str) -> ssl.SSLContext:
    """Whom to trust: those that SSL_CERT_FILE or SSL_CERT_DIR names, else those that every browser trusts.

    Raises `ModelUnreachableError` where they cannot be read and are needed.
    """
    try:
        return httpx.create_ssl_context()
    except OSError:
        if address.startswith("https:"):
            name = next((name for name in ("SSL_CERT_FILE", "SSL_CERT_DIR") if os.environ.get(name)), "SSL_CERT_FILE")
            path = os.environ.get(name, "")
            raise ModelUnreachableError(say("proxies", "no_certificates", name=name, path=path)) from None
        return httpx.create_ssl_context(trust_env=False)
