"""Tells a tab whether anything changed without its doing. What it is, an event of the page brings."""

from __future__ import annotations

from http import HTTPStatus

import gradio as gr
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from assistant.ui.chat.drawings import Showing, showing_of
from assistant.ui.chat.search_panel import index_state_html
from assistant.ui.memory.memory_wiring import has_memory_news
from assistant.ui.server.user_sessions import UserSession, UserSessions


class NewsRoute:
    """Asked every two seconds by every tab; an event of the page as often would keep the browser busy."""

    def __init__(self, users: UserSessions) -> None:
        self._users = users

    def routes(self) -> list[Route]:
        """Where a tab asks, and where it says that it is closed."""
        return [Route("/news", self._answer, methods=["GET"]), Route("/leave", self._leave, methods=["POST"])]

    async def _answer(self, request: Request) -> Response:
        query = request.query_params
        tab_hash = query.get("session_hash", "")
        user = self._users.entered(gr.Request(request=request, session_hash=tab_hash))
        is_edited = query.get("edited") == "1"
        shown = showing_of(query.get("shown", ""))
        has_news = user is not None and await _has_news(user, tab_hash, shown, query.get("given", ""), is_edited)
        return JSONResponse({"news": has_news}, headers={"cache-control": "no-store"})

    async def _leave(self, request: Request) -> Response:
        # The guard has seen that this names a tab of the person's.
        tab_hash = str((await request.json())["session_hash"])
        if user := self._users.entered(gr.Request(request=request, session_hash=tab_hash)):
            user.leave(tab_hash)
        return Response(status_code=HTTPStatus.NO_CONTENT)


async def _has_news(user: UserSession, tab_hash: str, shown: Showing | None, given: str, is_edited: bool) -> bool:
    loaded = user.loading.loaded
    if loaded is None:
        return False
    if user.chat.has_news(loaded, tab_hash, shown) or await index_state_html(loaded) != (
        user.index_states.get(tab_hash) or ""
    ):
        return True
    home = loaded.of(user.chat.session_of(tab_hash))
    return await has_memory_news(user, home, tab_hash, given, is_edited)
