"""The visitor's cookie: given once, to the page alone, and believed only in the form we give it."""

from __future__ import annotations

import gradio as gr
import pytest
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import PlainTextResponse
from starlette.routing import Route
from starlette.testclient import TestClient

from assistant.ui.server.visitors import COOKIE, VisitorCookie, visitor_of

MARK = "a" * 43


async def answer(_: Request) -> PlainTextResponse:
    """Any page."""
    return PlainTextResponse("here")


def client(is_space: bool = False) -> TestClient:
    """A browser in front of a page that gives cookies."""
    middleware = [Middleware(VisitorCookie, is_space=is_space)]  # type: ignore[arg-type]
    return TestClient(Starlette(routes=[Route("/", answer), Route("/other", answer)], middleware=middleware))


def test_a_browser_gets_one_cookie_that_scripts_cannot_read() -> None:
    browser = client()
    first, second = browser.get("/"), browser.get("/")
    given = first.headers["set-cookie"]
    assert given.startswith(f"{COOKIE}=") and given.endswith("; Path=/; HttpOnly; SameSite=Strict")
    assert "set-cookie" not in second.headers


def test_two_browsers_get_two_cookies() -> None:
    assert client().get("/").headers["set-cookie"] != client().get("/").headers["set-cookie"]


def test_in_the_frame_of_a_space_the_cookie_is_sent_all_the_same() -> None:
    assert client(is_space=True).get("/").headers["set-cookie"].endswith("; Secure; SameSite=None; Partitioned")


def test_only_the_page_gives_it() -> None:
    assert "set-cookie" not in client().get("/other").headers


@pytest.mark.parametrize(
    ("header", "visitor"),
    [
        (f"{COOKIE}={MARK}", MARK),
        (f"theme=dark; {COOKIE}={MARK}; x=1", MARK),
        ("", "tab t1"),
        (f"{COOKIE}=../../etc", "tab t1"),
        (f"{COOKIE}=", "tab t1"),
    ],
    ids=["ours", "among others", "none", "forged", "empty"],
)
def test_a_visitor_is_the_cookie_or_else_the_tab(header: str, visitor: str) -> None:
    scope = {"type": "http", "headers": [(b"cookie", header.encode())] if header else []}
    assert visitor_of(gr.Request(request=Request(scope), session_hash="t1")) == visitor
