"""What axe, which knows the rules for pages that everyone can use, finds in each state, in both themes."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, cast

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Page

from tests.browser.conftest import Chat
from tests.browser.test_conversations import find

pytestmark = pytest.mark.browser

AXE = Axe()
SERIOUS = ("serious", "critical")


def findings(page: Page) -> list[str]:
    """The serious findings in the page as it is, each with its rule and its first places."""
    found = cast(list[dict[str, Any]], AXE.run(page).response["violations"])
    return [
        f"{one['id']}: {[node['html'][:160] for node in one['nodes'][:4]]}" for one in found if one["impact"] in SERIOUS
    ]


def rest(chat: Chat) -> None:
    """A new conversation."""


def answered(chat: Chat) -> None:
    """An answer with code, a table and tool calls, which are open."""
    chat.say("tools: when is Friday free?")
    chat.wait_for_end()
    for summary in chat.page.locator("#chat .p-row summary").all():
        summary.click()


def formula(chat: Chat) -> None:
    """Formulas, a wide table, a list of tasks, a quote."""
    wide = "|" + " a |" * 30 + "\n|" + "---|" * 30 + "\n|" + " b |" * 30
    chat.act("send", f"1 answer $x^2$ and\n\n$$\\int_0^1 x$$\n\n- [ ] one\n- [x] two\n\n> a quote\n\n{wide}")
    chat.page.locator("#chat table").last.wait_for()
    chat.wait_for_end()


def asked(chat: Chat) -> None:
    """A call that waits for the person."""
    chat.say("approve it")
    chat.page.locator(".p-approval").wait_for()


def remembered(chat: Chat) -> None:
    """A change of memory, whose chip is open."""
    chat.say("remember I like tea without milk")
    chat.page.locator(".p-memory summary, .p-chip summary").last.click()


def compacted(chat: Chat) -> None:
    """A compaction, whose summary is open."""
    chat.say_two("My dentist is on Friday 15:30.")
    chat.say("/compact")
    chat.page.locator(".p-summary summary").last.click()


def panel_of(name: str) -> Callable[[Chat], None]:
    """A tab of the right panel."""

    def reach(chat: Chat) -> None:
        chat.page.locator("#open-right button").click()
        chat.page.get_by_role("tab", name=name).click()

    return reach


def searched(chat: Chat) -> None:
    """What a search finds."""
    find(chat, "Lisbon")
    chat.page.locator("#hits .p-hit").first.wait_for()


def set_up(chat: Chat) -> None:
    """The settings."""
    chat.page.locator("#open-settings button").click()
    chat.page.locator(".p-settings").wait_for()


def keys(chat: Chat) -> None:
    """The sheet of keys."""
    chat.page.locator("#top h1").click()
    chat.page.keyboard.press("?")
    chat.page.locator("#dialog .p-dialog").wait_for()


STATES: Mapping[str, Callable[[Chat], None]] = {
    "rest": rest,
    "answer": answered,
    "formula": formula,
    "approval": asked,
    "memory change": remembered,
    "compaction": compacted,
    "memory": panel_of("Memory"),
    "context": panel_of("Context"),
    "model": panel_of("Model"),
    "search": searched,
    "settings": set_up,
    "keys": keys,
}


@pytest.mark.parametrize("state", STATES)
def test_axe_finds_nothing_serious(chat: Chat, state: str) -> None:
    STATES[state](chat)
    seen: dict[str, list[str]] = {}
    for theme in ("light", "dark"):
        chat.page.emulate_media(color_scheme=theme)  # type: ignore[arg-type]
        for width, height in ((1440, 900), (390, 844)):
            chat.page.set_viewport_size({"width": width, "height": height})
            chat.page.wait_for_function("document.getAnimations().every(one => one.playState !== 'running')")
            seen[f"{theme} {width}"] = findings(chat.page)
    assert {look: found for look, found in seen.items() if found} == {}
