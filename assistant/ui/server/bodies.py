"""Reads the body of a request: of limited size, in limited time, and only so many at once."""

from __future__ import annotations

import asyncio
from collections import Counter
from dataclasses import dataclass

from assistant.ui.server.asgi import AsgiReceive, AsgiScope, address_of, header_values

MAX_BODY_BYTES = 1_000_000
BODY_SECONDS = 20.0
"""How long a body may take to come in, from its first byte to its last."""
MAX_BODIES = 64
"""That many bodies come in at once, from all addresses together."""
MAX_BODIES_OF_ADDRESS = 16


@dataclass(frozen=True, slots=True)
class Body:
    """What came in, or the status that refuses it."""

    content: bytes = b""
    refusal: int = 0


def has_body(scope: AsgiScope) -> bool:
    """Whether a request says that it has a body."""
    lengths = header_values(scope, b"content-length")
    return bool(header_values(scope, b"transfer-encoding")) or any(length.strip() != "0" for length in lengths)


class Bodies:
    """The bodies that are coming in now."""

    def __init__(self, body_seconds: float = BODY_SECONDS) -> None:
        self._body_seconds = body_seconds
        self._coming: Counter[str] = Counter()

    async def read(self, scope: AsgiScope, receive: AsgiReceive) -> Body:
        """The whole body; what says that it is too large is refused before a byte of it is read."""
        lengths = header_values(scope, b"content-length")
        if any(not length.isdecimal() or int(length[:20]) > MAX_BODY_BYTES for length in lengths):
            return Body(refusal=413)
        address = address_of(scope)
        if self._coming.total() >= MAX_BODIES or self._coming[address] >= MAX_BODIES_OF_ADDRESS:
            return Body(refusal=503)
        self._coming[address] += 1
        try:
            async with asyncio.timeout(self._body_seconds):
                return await _read(receive)
        except TimeoutError:
            return Body(refusal=408)
        finally:
            self._coming[address] -= 1
            self._coming += Counter()


async def _read(receive: AsgiReceive) -> Body:
    content = bytearray()
    while True:
        message = await receive()
        if message["type"] != "http.request":
            return Body(refusal=400)
        content += message.get("body", b"")
        if len(content) > MAX_BODY_BYTES:
            return Body(refusal=413)
        if not message.get("more_body", False):
            return Body(bytes(content))
