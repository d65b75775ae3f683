"""A chat request as one server takes it, rewritten just before it is sent: an httpx request hook."""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable, Collection

import httpx

from assistant.models.wire.regular_response import CHAT_PATH
from assistant.models.wire.request_parts import RequestPart, without_parts


def adapted_requests(refused: Callable[[], Collection[RequestPart]]) -> Callable[[httpx.Request], Awaitable[None]]:
    """The hook for `event_hooks["request"]`; while nothing was refused, requests pass untouched."""

    async def adapt(request: httpx.Request) -> None:
        parts = refused()
        if not parts or not request.url.path.endswith(CHAT_PATH):
            return
        body = json.loads(request.content)
        content = json.dumps(without_parts(body, parts), ensure_ascii=False).encode()
        request.headers["content-length"] = str(len(content))
        request.stream = httpx.ByteStream(content)

    return adapt
