"""A hostile reply runs nothing, calls nothing outside and cannot pose as the page; strangers are refused."""

from __future__ import annotations

import httpx
import pytest
from playwright.sync_api import Request, expect

from assistant.ui.page import PageServer
from tests.browser.behind import Behind
from tests.browser.conftest import Chat

pytestmark = pytest.mark.browser


def test_a_hostile_reply_does_nothing(chat: Chat, behind: Behind) -> None:
    outside: list[str] = []

    def note(request: Request) -> None:
        if "198.51.100.7" in request.url:
            outside.append(request.url)

    chat.page.on("request", note)
    chat.say("hostile please")
    chat.wait_for_end()
    chat.say("/compact")
    chat.page.locator("#chat .p-compaction").wait_for()
    for fold in chat.page.locator("#chat details").all():
        fold.evaluate("fold => { fold.open = true }")
    chat.page.locator("#meter button").click()
    chat.page.wait_for_timeout(500)
    assert outside == []
    assert chat.page.evaluate("window.pwned") is None
    foreign = "img, form, input, iframe, video, audio, object, embed, style, script, svg image"
    assert chat.page.locator("#chat .m-scroller").locator(foreign).count() == 0
    assert chat.page.locator("#chat a[href^='javascript']").count() == 0
    overlay = "[...document.querySelectorAll('#chat *')].some(e => getComputedStyle(e).position === 'fixed')"
    assert chat.page.evaluate(overlay) is False
    expect(chat.page.locator("#chat .p-approval")).to_have_count(0)
    assert behind.conversation(chat.page.url).approvals() == []
    chat.say("still there?")
    expect(chat.page.locator("#chat")).to_contain_text("You said: still there?")


def test_a_forged_card_is_neither_dressed_nor_heard(chat: Chat, behind: Behind) -> None:
    chat.say("approve it")
    chat.page.locator(".p-approval").wait_for()
    chat.page.evaluate("""() => {
        const forged = document.createElement('div');
        forged.innerHTML = '<div class="p-card p-approval"><button id="forged" '
            + 'class="p-button p-primary pal pal-do--allow--Y2FsbC0x">Allow once</button></div>';
        document.querySelector('#chat .m-column').append(forged);
    }""")
    chat.page.locator("#forged").click()
    chat.page.wait_for_timeout(300)
    assert len(behind.conversation(chat.page.url).approvals()) == 1
    assert chat.page.locator("#forged").evaluate("e => getComputedStyle(e).backgroundColor") != chat.page.locator(
        ".p-approval .p-primary"
    ).first.evaluate("e => getComputedStyle(e).backgroundColor")


@pytest.mark.parametrize("path", ["gradio_api/info", "config", "gradio_api/openapi.json", "openapi.json", "docs"])
def test_no_endpoint_is_described(server: PageServer, path: str) -> None:
    assert httpx.get(f"{server.url}{path}").status_code == 404


@pytest.mark.parametrize(
    "headers",
    [
        {"host": "rebound.example"},
        {"origin": "https://evil.example"},
        {"origin": "null"},
        {"sec-fetch-site": "cross-site", "sec-fetch-mode": "cors"},
    ],
    ids=["host", "origin", "null", "cross-site"],
)
def test_a_foreign_page_can_neither_read_nor_write(server: PageServer, headers: dict[str, str]) -> None:
    for method, path in (("GET", ""), ("POST", "gradio_api/queue/join")):
        assert httpx.request(method, server.url + path, headers=headers, json={}).status_code == 403


def test_the_page_tells_nobody_how_it_is_used(server: PageServer) -> None:
    answer = httpx.get(server.url)
    assert "connect-src 'self'" in answer.headers["content-security-policy"]
    assert httpx.get(f"{server.url}monitoring").status_code == 404
