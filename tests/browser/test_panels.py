"""The panels beside the conversation, and the drawers they are where there is no room for them."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from playwright.sync_api import Page, expect

from tests.browser.behind import Behind
from tests.browser.conftest import Chat
from tests.browser.looks import WIDTHS, faults_at_rest

pytestmark = pytest.mark.browser

NARROW = [(390, 844), (820, 1180), (1024, 768), (1199, 800)]
SIDES = {"left": "conversations", "right": "memory, context and model"}


def opener(page: Page, side: str) -> str:
    """The selector of the button in the bar."""
    return f"#open-{side} button"


def at(open_tab: Callable[[], Chat], width: int, height: int, query: str = "") -> Chat:
    """The page on a screen of this size."""
    chat = open_tab()
    chat.page.set_viewport_size({"width": width, "height": height})
    chat.open(query)
    return chat


def test_the_right_panel_begins_closed_and_stays_as_it_was_left(open_tab: Callable[[], Chat]) -> None:
    chat = at(open_tab, 1440, 900)
    expect(chat.page.locator("#right")).not_to_be_visible()
    chat.page.locator("#open-right button").click()
    expect(chat.page.locator("#editor")).to_be_visible()
    chat.page.locator("#left .p-fold").click()
    chat.open()
    expect(chat.page.locator("#editor")).to_be_visible()
    expect(chat.page.locator("#sessions")).not_to_be_visible()
    chat.page.get_by_role("button", name="Hide memory, context and model").click()
    chat.page.locator("#left .p-fold").click()
    chat.open()
    expect(chat.page.locator("#right")).not_to_be_visible()
    expect(chat.page.locator("#sessions")).to_be_visible()


def test_the_folded_list_keeps_its_icons(open_tab: Callable[[], Chat]) -> None:
    chat = at(open_tab, 1440, 900, "c=lisbon")
    chat.page.get_by_role("button", name="Hide conversations").click()
    rail = chat.page.locator("#left")
    expect(rail.get_by_role("button")).to_have_count(4)
    chat.page.wait_for_function("document.querySelector('#left').getBoundingClientRect().width === 64")
    rail.get_by_role("button", name="New chat").click()
    chat.page.locator(".p-welcome .p-suggestion").first.wait_for()
    rail.get_by_role("button", name="Search").click()
    expect(chat.page.locator("#search :is(input, textarea)")).to_be_focused()


@pytest.mark.parametrize(("width", "height"), NARROW)
@pytest.mark.parametrize("side", SIDES)
def test_a_drawer_has_the_page_to_itself_and_gives_the_focus_back(
    open_tab: Callable[[], Chat], side: str, width: int, height: int
) -> None:
    chat = at(open_tab, width, height)
    button = chat.page.locator(opener(chat.page, side))
    for closing in ("Escape", "dim", "button"):
        button.focus()
        chat.page.keyboard.press("Enter")
        drawer = chat.page.get_by_role("dialog", name=SIDES[side])
        expect(drawer).to_be_visible()
        expect(drawer).to_have_attribute("aria-modal", "true")
        for _ in range(30):
            chat.page.keyboard.press("Tab")
            assert chat.page.evaluate("!document.activeElement.closest('#centre')")
        if closing == "Escape":
            chat.page.keyboard.press("Escape")
        elif closing == "dim" and not (side == "right" and width < 500):
            chat.page.mouse.click(width - 10 if side == "left" else 10, height / 2)
        else:
            drawer.get_by_role("button", name=f"Hide {SIDES[side]}").click()
        expect(chat.page.locator(f"#{side}")).not_to_be_visible()
        expect(button).to_be_focused()


def test_one_drawer_at_a_time_and_a_docked_panel_where_there_is_room(open_tab: Callable[[], Chat]) -> None:
    chat = at(open_tab, 1024, 768)
    chat.page.keyboard.press("Control+k")
    expect(chat.page.locator("#left")).to_be_visible()
    chat.act("open-file", "SOUL.md")
    expect(chat.page.locator("#right")).to_be_visible()
    expect(chat.page.locator("#left")).not_to_be_visible()
    chat.page.set_viewport_size({"width": 1440, "height": 900})
    expect(chat.page.locator("#left")).to_be_visible()
    expect(chat.page.locator("#right")).not_to_be_visible()
    assert chat.page.locator("#centre").evaluate("e => e.inert") is False


def test_a_dialog_keeps_the_focus_and_a_click_beside_it_closes_it(chat: Chat) -> None:
    chat.say("tools please")
    chat.wait_for_end()
    chat.act("open-trash", "")
    dialog = chat.page.get_by_role("dialog", name="Trash")
    expect(dialog.get_by_role("button", name="Close")).to_be_focused()
    for _ in range(4):
        chat.page.keyboard.press("Tab")
        assert chat.page.evaluate("!document.activeElement.closest('#centre, #left, #right')")
    chat.page.mouse.click(20, 450)
    expect(dialog).to_have_count(0)
    assert chat.page.locator("#centre").evaluate("e => e.inert") is False


def test_the_tab_has_a_dot_from_a_change_of_memory_until_it_is_looked_at(chat: Chat, behind: Behind) -> None:
    dot = chat.page.locator("#open-right .p-news")
    expect(dot).not_to_be_visible()
    path = behind.home / "MEMORY.md"
    path.write_text(f"{path.read_text('utf-8')}- The bicycle is red\n", "utf-8")
    expect(dot).to_be_visible()
    chat.page.locator("#open-right button").click()
    chat.page.get_by_role("button", name="Hide memory, context and model").click()
    expect(dot).not_to_be_visible()


def test_the_thin_line_tells_its_figures_on_request_and_opens_the_context(chat: Chat) -> None:
    chat.say("tools please")
    chat.wait_for_end()
    gauge = chat.page.locator("#meter button")
    figures = gauge.locator(".p-reading")
    expect(figures).not_to_be_visible()
    gauge.hover()
    expect(figures).to_be_visible()
    gauge.click()
    expect(chat.page.get_by_role("tab", name="Context")).to_have_attribute("aria-selected", "true")
    expect(chat.page.locator("#context")).to_be_visible()


def test_what_goes_with_a_message_comes_with_the_pointer(chat: Chat) -> None:
    for _ in range(2):
        chat.say("tools please")
        chat.wait_for_end()
    first, last = chat.page.locator("#chat .p-foot").first, chat.page.locator("#chat .p-foot").last
    chat.page.mouse.move(700, 5)
    expect(last).to_have_css("opacity", "1")
    expect(first).to_have_css("opacity", "0")
    first.hover()
    expect(first).to_have_css("opacity", "1")
    chat.page.mouse.move(700, 5)
    first.get_by_role("button", name="Copy").focus()
    expect(first).to_have_css("opacity", "1")


def test_nothing_moves_where_the_person_asked_for_less_motion(open_tab: Callable[[], Chat]) -> None:
    chat = open_tab()
    chat.page.emulate_media(reduced_motion="reduce")
    chat.open()
    moving = """() => [...document.querySelectorAll('#left, #right, #centre, #p-dim, #chat .m-card *')].filter(e => {
        const style = getComputedStyle(e);
        const lasts = times => times.split(',').some(time => parseFloat(time) > 0);
        return lasts(style.transitionDuration) || style.animationName !== 'none' && lasts(style.animationDuration);
    }).map(e => e.id || e.className)"""
    assert chat.page.evaluate(moving) == []


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_nothing_is_covered_cut_off_pale_or_too_small(open_tab: Callable[[], Chat], theme: str) -> None:
    chat = open_tab()
    chat.open(f"__theme={theme}")
    chat.start_new()
    seen: dict[str, object] = {}
    for state in ("welcome", "conversation"):
        if state == "conversation":
            chat.say_two("hello")
            chat.say("/compact")
            chat.page.locator("#chat .p-compaction").wait_for()
            for text in ("tools please", "remember I like tea with milk", "approve it"):
                chat.say(text)
                chat.page.locator("#chat .p-approval" if text == "approve it" else "#chat .p-foot").last.wait_for()
        for width, height in WIDTHS:
            chat.page.set_viewport_size({"width": width, "height": height})
            for side in ("none", *SIDES):
                if side != "none" and not chat.page.locator(f"#{side}").is_visible():
                    chat.page.locator(opener(chat.page, side)).click()
                chat.page.mouse.move(width / 2, 2)
                seen[f"{state} {width} {side}"] = faults_at_rest(chat.page)
                if width < 1200 or side == "right":
                    chat.page.evaluate(
                        "window.palimpsest.panels.close('right'), window.palimpsest.panels.closeDrawer()"
                    )
    assert {name: found for name, found in seen.items() if found} == {}


@pytest.mark.parametrize(("width", "height"), [(390, 844), (820, 1180)])
def test_the_bar_of_a_small_screen_has_large_buttons_and_says_who_answers(
    open_tab: Callable[[], Chat], width: int, height: int
) -> None:
    chat = at(open_tab, width, height, "c=lisbon")
    for name in (f"Show {name}" for name in SIDES.values()):
        box = chat.page.get_by_role("button", name=name).bounding_box()
        assert box is not None
        assert min(box["width"], box["height"]) >= 44
    expect(chat.page.locator("#top h1")).to_have_text("Lisbon trip")
    expect(chat.page.locator("#top .p-chip")).to_be_visible()
    assert chat.page.evaluate("document.documentElement.scrollWidth") == width
