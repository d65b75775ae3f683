"""A port for a server that a test or a benchmark starts in another process."""

from __future__ import annotations

import socket


def free_port() -> int:
    """A port of this machine at which nothing listens."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        return int(server.getsockname()[1])
