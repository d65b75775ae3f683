"""A chat request as one server takes it, rewritten just before it is sent: an httpx request hook."""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable, Collection

import httpx

from assistant.models.wire.regular_response import CHAT_PATH
from assistant.models.wire.request_parts import RequestPart, without_parts


def adapted_requests(
    refused: Callable[[], Collection[RequestPart]], mask: Callable[[bytes], bytes]
) -> Callable[[httpx.Request], Awaitable[None]]:
    """The hook for `event_hooks["request"]`: no refused part, and nothing that `mask` hides, is sent."""

    async def adapt(request: httpx.Request) -> None:
        if not request.url.path.endswith(CHAT_PATH):
            return
        content = request.content
        if parts := refused():
            content = json.dumps(without_parts(json.loads(content), parts), ensure_ascii=False).encode()
        _send_instead(request, mask(content))

    return adapt


def masked_requests(mask: Callable[[bytes], bytes]) -> Callable[[httpx.Request], Awaitable[None]]:
    """The hook for `event_hooks["request"]` of a protocol of its own: nothing that `mask` hides is sent."""

    async def hide(request: httpx.Request) -> None:
        _send_instead(request, mask(request.content))

    return hide


def _send_instead(request: httpx.Request, content: bytes) -> None:
    if content is request.content:
        return
    request.headers["content-length"] = str(len(content))
    request.stream = httpx.ByteStream(content)
