"""The list of compactions: long, current while a turn goes on, and each with what it changed in the summary."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from playwright.sync_api import expect

from tests.browser.behind import COMPACT_TOKENS, Behind
from tests.browser.conftest import Chat
from tests.fakes.page_player import PagePlayer
from tests.fakes.past import PastConversation

pytestmark = [pytest.mark.browser, pytest.mark.usefixtures("panel_left_open")]


@pytest.fixture(scope="module")
def many(behind: Behind) -> None:
    """A conversation that was compacted 300 times."""
    past = PastConversation(behind.store, "many", "Many compactions")
    past.add_turns(1)
    for number in range(300):
        past.add_turns(1)
        past.fold(f"## Goal\n- Move the dentist appointment\n- Step {number} is done")


@pytest.fixture
def panel(open_tab: Callable[[], Chat], many: None) -> Chat:
    """A tab on that conversation, with the Context panel open."""
    chat = open_tab()
    chat.open("c=many")
    chat.page.get_by_role("tab", name="Context").click()
    return chat


def test_the_newest_compactions_are_listed_and_older_ones_on_request(panel: Chat) -> None:
    rows = panel.page.locator("#compactions li")
    expect(rows).to_have_count(20)
    expect(panel.page.locator("#compactions")).to_contain_text("280 older ones are not listed")
    panel.page.get_by_role("button", name="Show 20 older").click()
    expect(rows).to_have_count(40)


def test_the_changes_to_a_summary_open_over_the_page_and_close(panel: Chat) -> None:
    panel.page.get_by_role("button", name="Changes to the summary").first.click()
    pane = panel.page.get_by_role("dialog", name="Changes to the summary")
    expect(pane.locator(".p-diff-minus .p-word")).to_have_text(["298"])
    expect(pane.locator(".p-diff-plus .p-word")).to_have_text(["299"])
    expect(pane.get_by_role("button", name="Close")).to_be_focused()
    panel.page.keyboard.press("Escape")
    expect(pane).to_have_count(0)


def test_a_compaction_is_listed_while_its_turn_goes_on(chat: Chat, behind: Behind, player: PagePlayer) -> None:
    chat.page.get_by_role("tab", name="Context").click()
    seen = " ".join(f"I have seen ferry number {number} today." for number in range(COMPACT_TOKENS // 18))
    chat.act("send", f"1 answer {seen}")
    chat.wait_for_end()
    chat.say("slow please")
    expect(chat.page.locator("#compactions li")).to_contain_text("2 messages folded")
    expect(chat.page.get_by_role("button", name="Stop the answer")).to_be_visible()
    player.gate.set()
    chat.wait_for_end()
    expect(chat.page.locator("#compactions").get_by_role("button", name="Undo")).to_be_visible()
