"""The list of compactions and the pane that compares their summaries."""

from __future__ import annotations

import datetime as dt
from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path

import pytest

from assistant.ui.actions import act_in_chat
from assistant.ui.cards import action
from assistant.ui.chat.chat_controller import ChatController
from assistant.ui.chat.compactions_list import compactions_html, summary_diff_html
from assistant.ui.chat.live import LiveViews
from assistant.ui.chat.tab import Tab
from assistant.ui.components import PageUpdate
from assistant.ui.server.loading import Loaded, Loading
from tests.fakes.conversation import HOSTILE, SUMMARY, FakeAssistant, compaction, fake_assistant, record_of

NOW = dt.datetime(2026, 11, 30, 20, 0, tzinfo=dt.UTC)


@pytest.fixture
def assistant(home: Path) -> FakeAssistant:
    """An assistant with one conversation that was compacted 45 times."""
    assistant = fake_assistant(home, pace_seconds=0.0)
    events = [replace(compaction(f"k{number}"), summary=f"{SUMMARY}\n- Step {number} is done") for number in range(45)]
    assistant.conversations.add("s1", "Dentist", events)
    return assistant


@pytest.fixture
async def controller(assistant: FakeAssistant) -> AsyncIterator[ChatController]:
    """The centre of the page."""
    loading, views = Loading(), LiveViews()
    loading.finish(Loaded(assistant, len))  # type: ignore[arg-type]
    yield ChatController(loading, views)
    await views.close()


async def last(updates: AsyncIterator[PageUpdate]) -> PageUpdate:
    """What the page shows in the end."""
    return [update async for update in updates][-1]


def test_each_compaction_tells_when_why_and_what_came_of_it() -> None:
    events = [
        replace(compaction("k1"), at="2026-11-29T14:05:00+00:00", previous_tokens=130_000),
        replace(compaction("k2"), fallback=True, is_undone=True, folded_messages=1, flush="pending"),
    ]
    newest, oldest = (f"<li{part}" for part in compactions_html(events, "k1", 20, NOW).split("<li")[1:])
    for words in ("14:05", "1 message folded", "taken back", "digest by rule", "memory: being written"):
        assert words in newest
    for words in ("29 Nov, 14:05", "130k → 23.7k", "46 messages folded", "started by itself", "memory: written"):
        assert words in oldest
    assert "counted before tool results were shortened" in oldest
    assert "counted before" not in newest
    assert (action("undo", "k1") in oldest, action("undo", "k2") in newest) == (True, False)


def test_the_newest_are_listed_and_the_older_ones_counted() -> None:
    events = [compaction(f"k{number}") for number in range(45)]
    html = compactions_html(events, "k44", 20, NOW)
    assert (html.count("<li"), action("transcript", "k25") in html, action("transcript", "k24") in html) == (
        20,
        True,
        False,
    )
    assert "Show 20 older" in html
    assert "25 older ones are not listed" in html
    assert "older" not in compactions_html(events, "k44", 60, NOW)
    assert "None yet" in compactions_html([], None, 20, NOW)


async def test_older_ones_are_listed_page_by_page(controller: ChatController) -> None:
    update = await last(act_in_chat(controller, "older-compactions", "", Tab("s1"), "tab"))
    assert str(update["compactions"]).count("<li") == 40
    assert isinstance(update["tab"], Tab)
    update = await last(act_in_chat(controller, "older-compactions", "", update["tab"], "tab"))
    assert str(update["compactions"]).count("<li") == 45


async def test_the_changes_to_a_summary_open_over_the_page(controller: ChatController) -> None:
    pane = str((await last(act_in_chat(controller, "summary-diff", "k7", Tab("s1"), "tab")))["dialog"])
    assert "1 line new, 1 gone" in pane
    assert '- Step <b class="p-word">6</b> is done' in pane
    assert '- Step <b class="p-word">7</b> is done' in pane
    first = str((await last(act_in_chat(controller, "summary-diff", "k0", Tab("s1"), "tab")))["dialog"])
    assert "There was no summary before this compaction" in first


async def test_no_summary_of_another_conversation_is_compared(
    controller: ChatController, assistant: FakeAssistant
) -> None:
    assistant.conversations.add("s2", "Other")
    with pytest.warns(UserWarning, match="Nothing was done"):
        assert "Step" not in str(
            (await last(act_in_chat(controller, "summary-diff", "k7", Tab("s2"), "tab"))).get("dialog")
        )


async def test_a_compaction_is_listed_while_its_turn_goes_on(
    controller: ChatController, assistant: FakeAssistant
) -> None:
    assistant.conversations.add("s2", "Other").pace_seconds = 0.05
    updates = [update async for update in controller.send("compact please", Tab("s2"), "tab")]
    listed = ["91.2k → 23.7k" in str(update.get("compactions")) for update in updates]
    assert any(listed[:-1])
    assert "Stop" in str(updates[listed.index(True)]["stop"])


def test_a_summary_is_data() -> None:
    html = summary_diff_html(record_of(replace(compaction("k1"), summary=HOSTILE), SUMMARY), NOW)
    assert "<img" not in html
    assert "<script" not in html
    assert "&lt;script&gt;" in html
    assert "The summary stayed as it was." in summary_diff_html(record_of(compaction("k1"), SUMMARY), NOW)
