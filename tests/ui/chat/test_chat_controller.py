"""The words of a turn, patch by patch, and what a tab is told while they come."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from pathlib import Path

import pytest

from assistant.ui.chat.chat_controller import ChatController
from assistant.ui.chat.tab import Tab
from assistant.ui.server.loading import Loaded
from tests.fakes.past import write_past
from tests.ui.open_page import OpenPage, held, last, open_page
from tests.ui.turns import drawn, only


@pytest.fixture
def gate() -> asyncio.Event:
    """The answer to the first message ends once it is open."""
    return asyncio.Event()


@pytest.fixture
async def page(home: Path, gate: asyncio.Event) -> AsyncGenerator[OpenPage]:
    """A page with two past conversations."""
    async with open_page(home, held(gate)) as page:
        for session_id, title in (("s1", "Dentist"), ("s2", "Trip")):
            write_past(page.assistant.store, session_id, title)
        yield page
        gate.set()


@pytest.fixture
def controller(page: OpenPage) -> ChatController:
    """Its centre."""
    return page.controller


@pytest.fixture
async def loaded(controller: ChatController) -> Loaded:
    """Its assistant."""
    return await controller.loaded()


async def begun(controller: ChatController, session_id: str = "s1") -> int:
    """Ask something; the version that the tab shows then."""
    version, said = drawn(controller, await last(controller.send("hello", Tab(session_id), "tab")))
    assert (said["tab"], said["live"]) == ("tab", True)
    return version


async def test_words_come_until_the_turn_has_ended(controller: ChatController, gate: asyncio.Event) -> None:
    version = await begun(controller)
    patches = []
    async for patch in controller.words("tab", version):
        patches.append(only(patch))
        if "It begins" in str(patch):
            gate.set()
    assert [said["base"] for _, said in patches] == [version, *(number for number, _ in patches[:-1])]
    assert "it ends." in str(patches)
    assert (patches[-1][1]["live"], patches[-1][1]["beside"]) == (False, True)
    assert all("live" not in said for _, said in patches[:-1])


@pytest.mark.parametrize("is_restarted", [True, False], ids=["of an earlier run", "that missed a patch"])
async def test_a_tab_that_cannot_go_on_is_sent_everything(controller: ChatController, is_restarted: bool) -> None:
    version = await begun(controller)
    words = controller.words("tab", version + 1 if is_restarted else 0)
    assert only(await anext(words))[1]["base"] is None
    assert only(await anext(words))[1]["base"] is not None


async def test_a_patch_that_is_still_on_its_way_is_not_sent_again(controller: ChatController) -> None:
    version = await begun(controller)
    assert only(await anext(controller.words("tab", version - 1)))[1]["base"] == version


async def test_a_second_reader_of_a_tab_takes_the_place_of_the_first(
    controller: ChatController, gate: asyncio.Event
) -> None:
    first = controller.words("tab", await begun(controller))
    version, _ = only(await anext(first))
    second = controller.words("tab", version)
    version, said = only(await anext(second))
    assert said["base"] == version - 1
    gate.set()
    assert [patch async for patch in first] == []
    assert only([patch async for patch in second][-1])[1]["live"] is False


async def test_words_end_where_the_tab_shows_another_conversation(
    controller: ChatController, loaded: Loaded, gate: asyncio.Event
) -> None:
    words = controller.words("tab", await begun(controller))
    await anext(words)
    _, said = drawn(controller, controller.tabs.show(loaded, Tab("s2"), "tab"))
    assert said["session"] == "s2"
    gate.set()
    assert [patch async for patch in words] == []


@pytest.mark.parametrize("tab", ["a new one", "of no conversation"])
async def test_a_tab_of_no_conversation_has_no_words(controller: ChatController, tab: str) -> None:
    controller.sent(await last(controller.start_new("of no conversation")), "of no conversation")
    assert [patch async for patch in controller.words(tab, 0)] == []


async def test_where_nobody_reads_what_is_new_is_there_for_the_asking(
    controller: ChatController, loaded: Loaded, gate: asyncio.Event
) -> None:
    await begun(controller)
    view = controller.tabs.view(loaded, "s1")
    async for _ in view.updates(-1):
        if "It begins" in str(view.transcript.entries):
            break
    assert controller.has_news(loaded, "tab")
    news = controller.news(loaded, Tab("s1"), "tab")
    assert "It begins" in str(news["transcript"])
    assert {"meter", "transcript"} >= set(news)
    gate.set()
    async for _ in view.updates(view.version):
        pass
    assert {"stop", "sessions", "transcript"} <= set(controller.news(loaded, Tab("s1"), "tab"))


async def test_a_tab_at_rest_and_one_that_reads_have_no_news(controller: ChatController, loaded: Loaded) -> None:
    view = controller.tabs.view(loaded, "s2")
    async for _ in view.updates(-1):
        pass
    assert not controller.has_news(loaded, "tab")
    drawn(controller, controller.tabs.show(loaded, Tab("s2"), "tab"))
    assert (controller.has_news(loaded, "tab"), controller.news(loaded, Tab("s2"), "tab")) == (False, {})
    words = controller.words("tab", await begun(controller, "s2"))
    await anext(words)
    view.touch()
    assert not controller.has_news(loaded, "tab")


async def test_a_tab_that_was_sent_another_conversation_meanwhile_is_told_nothing_of_the_old_one(
    controller: ChatController, loaded: Loaded
) -> None:
    drawn(controller, controller.tabs.show(loaded, Tab("s2"), "tab"))
    assert controller.news(loaded, Tab("s1"), "tab") == {}
