"""Real servers that keep vectors, named in the environment for one run of the tests; read before it is cleaned."""

from __future__ import annotations

import os
import socket
from urllib.parse import urlsplit

_PREFIX, _SUFFIX = "PALIMPSEST_TEST_", "_URL"

NAMED_SERVERS = {
    name.removeprefix(_PREFIX).removesuffix(_SUFFIX).lower().replace("_", "-"): address
    for name, address in os.environ.items()
    if name.startswith(_PREFIX) and name.endswith(_SUFFIX) and address
}
"""The address by store, `PALIMPSEST_TEST_CHROMA_SERVER_URL` for `chroma-server`; without encryption."""


def _places(address: str) -> set[str]:
    host = urlsplit(address).hostname or "localhost"
    return {host, *(str(found[4][0]) for found in socket.getaddrinfo(host, None))}


NAMED_PLACES = frozenset(place for address in NAMED_SERVERS.values() for place in _places(address))
"""Names and addresses of their machines, which the tests may reach."""
