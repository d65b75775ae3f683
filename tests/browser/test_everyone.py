"""The page on a phone, by keyboard, by screen reader, in the dark."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from playwright.sync_api import expect

from tests.browser.conftest import Chat

pytestmark = pytest.mark.browser

NAMELESS_BUTTONS = """() => [...document.querySelectorAll('button')]
    .filter(b => b.checkVisibility() && !b.closest('[inert]') && !b.closest('.visually-hidden'))
    .filter(b => !(b.getAttribute('aria-label') || b.innerText.trim() || b.title))
    .map(b => b.outerHTML.slice(0, 120))"""
LOW_CONTRAST = """() => {
    const parse = c => (c.match(/[\\d.]+/g) || []).map(Number);
    const linear = v => v <= .03928 ? v / 12.92 : ((v + .055) / 1.055) ** 2.4;
    const light = c => c.slice(0, 3).reduce((sum, v, i) => sum + linear(v / 255) * [.2126, .7152, .0722][i], 0);
    const behind = e => {
        for (; e; e = e.parentElement) {
            const c = parse(getComputedStyle(e).backgroundColor);
            if (c.length && (c[3] ?? 1) > .95) return c;
        }
        return [255, 255, 255];
    };
    const found = [];
    for (const e of document.querySelectorAll('p, span, h1, h2, button, code, summary, td, li, b, textarea')) {
        if (!e.checkVisibility({opacityProperty: true}) || e.closest('[inert], .cm-editor, .katex, pre')) continue;
        if (![...e.childNodes].some(n => n.nodeType === 3 && n.textContent.trim())) continue;
        const [a, b] = [light(parse(getComputedStyle(e).color)), light(behind(e))].sort((x, y) => y - x);
        const ratio = (a + .05) / (b + .05);
        if (ratio < 4.5) found.push(`${ratio.toFixed(2)} ${e.className} ${e.textContent.trim().slice(0, 30)}`);
    }
    return found;
}"""


def test_a_phone_shows_the_conversation_first_and_nothing_is_cut_off(open_tab: Callable[[], Chat]) -> None:
    chat = open_tab()
    chat.page.set_viewport_size({"width": 390, "height": 844})
    chat.open()
    expect(chat.page.locator(".sidebar.open")).to_have_count(0)
    chat.page.get_by_role("button", name="Show conversations").click()
    chat.page.locator("#new-chat").click()
    expect(chat.page.locator(".sidebar.open")).to_have_count(0)
    chat.say("compact now")
    chat.wait_for_end()
    assert chat.page.evaluate("document.documentElement.scrollWidth") <= 390
    for part in ("#top", "#meter", "#chat .p-compaction", "#compose"):
        box = chat.page.locator(part).first.bounding_box()
        assert box is not None
        assert box["x"] >= 0
        assert box["x"] + box["width"] <= 390
    chat.page.get_by_role("button", name="Show memory, context and model").click()
    expect(chat.page.locator("#editor")).to_be_visible()


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_every_button_has_a_name_and_every_word_can_be_read(open_tab: Callable[[], Chat], theme: str) -> None:
    chat = open_tab()
    chat.open(f"__theme={theme}")
    chat.start_new()
    for text in ("tools please", "compact now", "remember this", "approve it"):
        chat.say(text)
        chat.page.locator("#chat .p-approval" if text == "approve it" else "#chat .p-foot").last.wait_for()
        chat.page.wait_for_timeout(400)
    chat.page.mouse.move(700, 5)
    chat.page.wait_for_timeout(400)
    assert chat.page.evaluate(NAMELESS_BUTTONS) == []
    assert chat.page.evaluate(LOW_CONTRAST) == []
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
