"""The page on a phone, by keyboard, by screen reader, in the dark."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from playwright.sync_api import expect

from tests.browser.conftest import Chat

pytestmark = pytest.mark.browser


def test_a_phone_shows_the_conversation_first_and_nothing_is_cut_off(open_tab: Callable[[], Chat]) -> None:
    chat = open_tab()
    chat.page.set_viewport_size({"width": 390, "height": 844})
    chat.open()
    expect(chat.page.locator("#left, #right").filter(visible=True)).to_have_count(0)
    chat.page.get_by_role("button", name="Show conversations").click()
    chat.page.locator("#new-chat").click()
    expect(chat.page.locator("#left, #right").filter(visible=True)).to_have_count(0)
    chat.say_two("hello")
    chat.say("/compact")
    chat.page.locator("#chat .p-compaction").wait_for()
    assert chat.page.evaluate("document.documentElement.scrollWidth") <= 390
    for part in ("#top", "#meter", "#chat .p-compaction", "#compose"):
        box = chat.page.locator(part).first.bounding_box()
        assert box is not None
        assert box["x"] >= 0
        assert box["x"] + box["width"] <= 390
    chat.page.get_by_role("button", name="Show memory, context and model").click()
    expect(chat.page.locator("#editor")).to_be_visible()


def test_the_page_has_one_heading_of_its_own(chat: Chat) -> None:
    expect(chat.page.locator("h1")).to_have_count(1)


def test_focus_can_be_seen(chat: Chat) -> None:
    chat.page.locator("#composer textarea").click()
    seen: set[str] = set()
    for _ in range(12):
        chat.page.keyboard.press("Tab")
        outline = chat.page.evaluate("getComputedStyle(document.activeElement).outlineStyle")
        name = chat.page.evaluate("document.activeElement.innerText || document.activeElement.ariaLabel || ''")
        if chat.page.evaluate("document.activeElement.tagName") == "BUTTON":
            assert outline == "solid", name
            seen.add(name)
    assert seen


def test_messages_are_announced_by_who_speaks(chat: Chat) -> None:
    chat.say("hello")
    chat.wait_for_end()
    names = chat.page.locator("#chat .m-node").evaluate_all(
        "elements => elements.map(e => e.getAttribute('aria-label'))"
    )
    assert set(names) == {"You", "Palimpsest"}
