"""The words of an answer on a stream of their own, and the route that tells a tab that the page is there.

Gradio takes each value that an event yields for a change of the whole page. So its events are short, and what an
answer grows by goes past it.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from http import HTTPStatus

import gradio as gr
from starlette.requests import Request
from starlette.responses import Response, StreamingResponse
from starlette.routing import Route

from assistant.ui.server.asgi import PERSON
from assistant.ui.server.personal_names import PersonalNames
from assistant.ui.server.user_sessions import UserSessions

MAX_STREAMS = 256
"""Open at once, of all people together; a tab that gets none asks for its words with an event of the page."""
QUIET_SECONDS = 10.0
"""After so long without a word something is sent, so that nothing between here and the browser takes it for dead."""
_MAX_VERSION_CHARS = 20
_HEADERS = {"cache-control": "no-store", "x-accel-buffering": "no"}


class PatchStreams:
    """The streams that are open. They all end when the server is to close, which waits for none of them."""

    def __init__(self, users: UserSessions, names: PersonalNames) -> None:
        self._users = users
        self._names = names
        self._closing = asyncio.Event()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._open = 0

    def routes(self) -> list[Route]:
        """Where a tab reads its words, and Gradio's sign of life, which would hold a connection of the browser."""
        return [
            Route("/patches", self._answer, methods=["GET"]),
            Route("/gradio_api/heartbeat/{session_hash}", _alive, methods=["GET"]),
        ]

    def end(self) -> None:
        """End them all; may be called in any thread."""
        if self._loop is not None and not self._loop.is_closed():
            self._loop.call_soon_threadsafe(self._closing.set)

    async def _answer(self, request: Request) -> Response:
        self._loop = asyncio.get_running_loop()
        tab, version = request.query_params.get("session_hash", ""), request.query_params.get("version", "")
        user = self._users.entered(gr.Request(request=request, session_hash=tab))
        if user is None or not version.isdecimal() or len(version) > _MAX_VERSION_CHARS:
            return Response(status_code=HTTPStatus.NOT_FOUND)
        if self._open >= MAX_STREAMS or self._closing.is_set():
            return Response(status_code=HTTPStatus.SERVICE_UNAVAILABLE)
        words = self._until_closing(user.chat.words(tab, int(version)))
        events = (_event(words_patch, self._names, str(request.scope.get(PERSON) or "")) async for words_patch in words)
        return StreamingResponse(events, media_type="text/event-stream", headers=_HEADERS)

    async def _until_closing(self, patches: AsyncIterator[object]) -> AsyncIterator[object]:
        """The patches; None where nothing came for long."""
        closing = asyncio.create_task(self._closing.wait())
        coming = asyncio.create_task(_next(patches))
        self._open += 1
        try:
            while True:
                await asyncio.wait({coming, closing}, timeout=QUIET_SECONDS, return_when=asyncio.FIRST_COMPLETED)
                if closing.done() or (coming.done() and coming.result() is None):
                    return
                if not coming.done():
                    yield None
                    continue
                yield coming.result()
                coming = asyncio.create_task(_next(patches))
        finally:
            self._open -= 1
            closing.cancel()
            coming.cancel()
            await asyncio.gather(closing, coming, return_exceptions=True)


async def _alive(_: Request) -> Response:
    return Response("data: ALIVE\n\n", media_type="text/event-stream")


async def _next(patches: AsyncIterator[object]) -> object:
    return await anext(patches, None)


def _event(patch: object, names: PersonalNames, person: str) -> bytes:
    if patch is None:
        return b":\n\n"
    text = json.dumps(patch, ensure_ascii=False, separators=(",", ":"))
    return names.put_into(f"data: {text}\n\n".encode("utf-8", "replace"), person)
