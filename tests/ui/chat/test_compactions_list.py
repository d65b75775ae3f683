"""The list of compactions and the pane that compares their summaries."""

from __future__ import annotations

import asyncio
import datetime as dt
from collections.abc import AsyncGenerator
from dataclasses import replace
from pathlib import Path

import pytest

from assistant.ui.actions import act_in_chat
from assistant.ui.cards import action
from assistant.ui.chat.chat_controller import ChatController
from assistant.ui.chat.compactions_list import compactions_html, summary_diff_html
from assistant.ui.chat.tab import Tab
from tests.fakes import home as homes
from tests.fakes.hostile import HOSTILE
from tests.fakes.past import PastConversation, write_past
from tests.ui.open_page import OpenPage, echo, held, last, open_page
from tests.ui.sample_events import SUMMARY, compaction, record_of
from tests.ui.turns import drawn, only

NOW = dt.datetime(2026, 11, 30, 20, 0, tzinfo=dt.UTC)


@pytest.fixture
async def page(home: Path) -> AsyncGenerator[OpenPage]:
    """The page of a conversation that was compacted 45 times."""
    async with open_page(home) as page:
        past = PastConversation(page.assistant.store, "s1", "Dentist")
        for number in range(45):
            past.add_turns(2)
            past.fold(f"{SUMMARY}\n- Step {number} is done")
        yield page


@pytest.fixture
def controller(page: OpenPage) -> ChatController:
    """Its centre."""
    return page.controller


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


async def test_no_summary_of_another_conversation_is_compared(controller: ChatController, page: OpenPage) -> None:
    write_past(page.assistant.store, "s2", "Other")
    with pytest.warns(UserWarning, match="Nothing was done"):
        assert "Step" not in str(
            (await last(act_in_chat(controller, "summary-diff", "k7", Tab("s2"), "tab"))).get("dialog")
        )


async def test_a_compaction_is_listed_while_its_turn_goes_on(home: Path) -> None:
    gate = asyncio.Event()
    async with open_page(home, echo, [homes.text(homes.SUMMARY)], held(gate)) as page:
        long = "The cellar key hangs behind the door. " * 380
        conversation = await page.talk(long)
        running: list[str] = []
        tab = Tab(conversation.session_id)
        version, _ = drawn(page.controller, await last(page.controller.send(long, tab, "tab")))
        words: list[str] = []
        async for patch in page.controller.words("tab", version):
            words.append(str(patch))
            if "beside" not in only(patch)[1] or gate.is_set():
                continue
            news = page.controller.news(await page.controller.loaded(), tab, "tab")
            page.controller.sent(news, "tab")
            if "messages folded" in str(news.get("compactions")):
                running.append(str(news["stop"]))
                gate.set()
        assert ["Stop" in stop for stop in running] == [True]
        assert "it ends." in "".join(words)


def test_a_summary_is_data() -> None:
    html = summary_diff_html(record_of(replace(compaction("k1"), summary=HOSTILE), SUMMARY), NOW)
    assert "<img" not in html
    assert "<script" not in html
    assert "&lt;script&gt;" in html
    assert "The summary stayed as it was." in summary_diff_html(record_of(compaction("k1"), SUMMARY), NOW)
