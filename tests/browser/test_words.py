"""The words of a turn come on a stream of their own, to many tabs at once, and also where there is no stream."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from playwright.sync_api import Request, expect

from tests.browser.conftest import Chat
from tests.fakes.page_player import PagePlayer

pytestmark = pytest.mark.browser

TABS = 8
"""More than a browser has connections to one server."""


def asked_for(chat: Chat, path: str) -> int:
    """How often a tab asked for something."""
    return sum(path in url for url in chat.requests)


def test_a_turn_is_one_stream_and_few_events(chat: Chat) -> None:
    chat.requests.clear()
    chat.say("stream it")
    chat.page.locator("#stop button").wait_for()
    expect(chat.page.locator("#stop button")).to_have_count(0, timeout=60_000)
    assert asked_for(chat, "/patches?") == 1
    # The message, what fills the context, and the end; 200 pieces of words came.
    assert asked_for(chat, "/queue/join") <= 6


def test_many_tabs_follow_one_turn_and_none_waits_for_another(
    chat: Chat, open_tab: Callable[[], Chat], player: PagePlayer
) -> None:
    chat.say("slow please")
    chat.page.get_by_text("It begins …").wait_for()
    query = chat.page.url.partition("?")[2]
    tabs = [chat, *(open_tab() for _ in range(TABS - 1))]
    for tab in tabs[1:]:
        tab.open(query)
        tab.page.get_by_text("It begins …").wait_for()
    player.gate.set()
    for tab in tabs:
        expect(tab.page.locator("#chat")).to_contain_text("and it ends.")
        expect(tab.page.locator("#stop button")).to_have_count(0)
    tabs[-1].say("still there?")
    for tab in tabs:
        expect(tab.page.locator("#chat")).to_contain_text("You said: still there?")


@pytest.mark.console_says("net::ERR_FAILED")
def test_without_a_stream_every_word_is_shown(chat: Chat, player: PagePlayer) -> None:
    chat.page.route("**/patches?*", lambda route: route.abort())
    chat.say("slow please")
    chat.page.get_by_text("It begins …").wait_for()
    chat.say("and then this")
    expect(chat.page.locator(".p-queued")).to_contain_text("and then this")
    player.gate.set()
    expect(chat.page.locator("#chat")).to_contain_text("and it ends.")
    expect(chat.page.locator("#chat")).to_contain_text("You said: and then this")
    chat.wait_for_end()


def test_a_stream_that_breaks_off_is_taken_up_again(chat: Chat, player: PagePlayer) -> None:
    is_broken = False

    def break_first(route: object) -> None:
        nonlocal is_broken
        if is_broken:
            route.continue_()  # type: ignore[attr-defined]
            return
        is_broken = True
        route.fulfill(status=200, content_type="text/event-stream", body=":\n\n")  # type: ignore[attr-defined]

    chat.page.route("**/patches?*", break_first)
    chat.say("slow please")
    chat.page.get_by_text("It begins …").wait_for()
    player.gate.set()
    expect(chat.page.locator("#chat")).to_contain_text("and it ends.")
    chat.wait_for_end()


def test_a_page_that_is_hidden_holds_no_stream(chat: Chat, player: PagePlayer) -> None:
    with chat.page.expect_request(lambda request: "/patches?" in request.url) as asked:
        chat.say("slow please")
    chat.page.get_by_text("It begins …").wait_for()
    with chat.page.expect_event("requestfailed", lambda request: _is_same(request, asked.value)):
        chat.page.evaluate("""() => {
            Object.defineProperty(document, 'hidden', { get: () => window.isHiddenNow, configurable: true });
            window.isHiddenNow = true;
            document.dispatchEvent(new Event('visibilitychange'));
        }""")
    with chat.page.expect_request(lambda request: "/patches?" in request.url):
        chat.page.evaluate("""() => {
            window.isHiddenNow = false;
            document.dispatchEvent(new Event('visibilitychange'));
        }""")
    player.gate.set()
    expect(chat.page.locator("#chat")).to_contain_text("and it ends.")
    chat.wait_for_end()


def _is_same(request: Request, asked: Request) -> bool:
    return request.url == asked.url
