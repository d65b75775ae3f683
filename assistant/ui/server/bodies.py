"""Reads the body of a request: of limited size, in limited time, and only so many at once."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass

from assistant.ui.server.asgi import AsgiMessage, AsgiReceive, AsgiScope, address_of, header_values

MAX_BODY_BYTES = 1_000_000
BODY_SECONDS = 20.0
"""How long a body may take to come in, from its first byte to its last; each piece of a streamed one."""
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
        with self.coming(scope, MAX_BODY_BYTES) as refusal:
            if refusal:
                return Body(refusal=refusal)
            try:
                async with asyncio.timeout(self._body_seconds):
                    return await _read(receive)
            except TimeoutError:
                return Body(refusal=408)

    @contextmanager
    def coming(self, scope: AsgiScope, max_bytes: int) -> Generator[int]:
        """One body comes in meanwhile; gives the status that refuses it, 0 for none."""
        lengths = header_values(scope, b"content-length")
        if any(not length.isdecimal() or int(length[:20]) > max_bytes for length in lengths):
            yield 413
            return
        address = address_of(scope)
        if self._coming.total() >= MAX_BODIES or self._coming[address] >= MAX_BODIES_OF_ADDRESS:
            yield 503
            return
        self._coming[address] += 1
        try:
            yield 0
        finally:
            self._coming[address] -= 1
            self._coming += Counter()

    def in_pieces(self, receive: AsgiReceive) -> AsgiReceive:
        """Gives a body piece by piece; a sender that falls silent has left."""

        async def next_piece() -> AsgiMessage:
            try:
                async with asyncio.timeout(self._body_seconds):
                    return await receive()
            except TimeoutError:
                return {"type": "http.disconnect"}

        return next_piece


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
