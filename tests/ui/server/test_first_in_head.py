"""The page begins with elements of ours."""

from __future__ import annotations

import httpx
import pytest

from assistant.ui.server.asgi import AsgiReceive, AsgiScope, AsgiSend
from assistant.ui.server.first_in_head import FirstInHead

PAGE = b"<html><head><title>x</title></head><body><pre>&lt;head></pre></body></html>"


async def answered(path: str, *, has_length: bool = True) -> httpx.Response:
    """What a browser gets."""

    async def app(scope: AsgiScope, receive: AsgiReceive, send: AsgiSend) -> None:
        headers = [(b"content-type", b"text/html")]
        headers += [(b"content-length", str(len(PAGE)).encode())] if has_length else []
        await send({"type": "http.response.start", "status": 200, "headers": headers})
        for part, is_last in ((PAGE[:30], False), (PAGE[30:], True)):
            await send({"type": "http.response.body", "body": part, "more_body": not is_last})

    transport = httpx.ASGITransport(FirstInHead(app, "<script>first()</script>"))  # type: ignore[arg-type]
    async with httpx.AsyncClient(transport=transport, base_url="http://page") as browser:
        return await browser.get(path)


@pytest.mark.parametrize("has_length", [True, False])
async def test_the_elements_are_before_all_else(has_length: bool) -> None:
    answer = await answered("/", has_length=has_length)
    assert answer.text == PAGE.decode().replace("<head>", "<head><script>first()</script>", 1)
    assert answer.headers.get("content-length") == (str(len(answer.content)) if has_length else None)


async def test_what_is_no_page_is_left_as_it_is() -> None:
    assert (await answered("/other")).content == PAGE
