"""Tells whatever watches over the server that it answers, and nothing of anybody."""

from __future__ import annotations

from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Route


def health_route() -> Route:
    """Where a container asks whether its page is there."""
    return Route("/health", _answer, methods=["GET"])


async def _answer(_: Request) -> Response:
    return PlainTextResponse("ok", headers={"cache-control": "no-store"})
