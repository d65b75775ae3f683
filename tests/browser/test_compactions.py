"""The list of compactions: long, current while a turn goes on, and each with what it changed in the summary."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest
from playwright.sync_api import expect

from tests.browser.conftest import Chat
from tests.fakes.conversation import SUMMARY, FakeAssistant, compaction

pytestmark = [pytest.mark.browser, pytest.mark.usefixtures("panel_left_open")]


@pytest.fixture
def panel(open_tab: Callable[[], Chat], assistant: FakeAssistant) -> Chat:
    """A tab on a conversation that was compacted 300 times, with the Context panel open."""
    events = [replace(compaction(f"k{number}"), summary=f"{SUMMARY}\n- Step {number} is done") for number in range(300)]
    assistant.conversations.add("many", "Many compactions", events)
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


def test_a_compaction_is_listed_while_its_turn_goes_on(chat: Chat) -> None:
    chat.page.get_by_role("tab", name="Context").click()
    chat.say("compact please")
    expect(chat.page.locator("#compactions li")).to_contain_text("91.2k → 23.7k")
    chat.wait_for_end()
    expect(chat.page.locator("#compactions").get_by_role("button", name="Undo")).to_be_visible()
