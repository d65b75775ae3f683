"""What a tab shows: another model as soon as it answers; what it no longer shows was left."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from assistant.models.connection_report import ConnectionReport
from assistant.ui.chat.live import LiveViews
from assistant.ui.chat.tab import Tab
from assistant.ui.chat.tab_views import TabViews
from assistant.ui.components import PageUpdate
from assistant.ui.server.loading import Loaded
from tests.fakes.conversation import OFFLINE, FakeAssistant, fake_assistant


@pytest.mark.parametrize("session_id", ["", "s1"])
async def test_a_tab_that_rests_shows_a_model_that_was_found_meanwhile(home: Path, session_id: str) -> None:
    assistant = fake_assistant(home, pace_seconds=0.0)
    assistant.conversations.add("s1", "Dentist")
    assistant.model = OFFLINE
    loaded, views = Loaded(assistant, len), LiveViews()  # type: ignore[arg-type]
    tabs = TabViews(views)
    tab = [update async for update in tabs.show(loaded, Tab(session_id), "tab")][-1]["tab"]
    assert isinstance(tab, Tab)
    before = tabs.news(loaded, tab, "tab")
    tabs.report = ConnectionReport(False, "Nothing answers.")
    await assistant.reconnect_model()
    after = tabs.news(loaded, tab, "tab")
    again = tabs.news(loaded, tab, "tab")
    await views.close()
    assert (before, again) == ({}, {})
    assert assistant.model.name in str(after["model"])
    assert "Nothing answers." not in str(after)


@pytest.fixture
def assistant(home: Path) -> FakeAssistant:
    """An assistant with two conversations."""
    assistant = fake_assistant(home, pace_seconds=0.0)
    for session_id in ("s1", "s2"):
        assistant.conversations.add(session_id, session_id)
    return assistant


@pytest.mark.parametrize(
    ("shown", "left"),
    [
        pytest.param([("tab", "s1")], [], id="the first"),
        pytest.param([("tab", "s1"), ("tab", "s1")], [], id="drawn again"),
        pytest.param([("tab", "s1"), ("tab", "s2")], ["s1"], id="another one"),
        pytest.param([("tab", "s1"), ("tab", "")], ["s1"], id="a new one"),
        pytest.param([("tab", ""), ("tab", "s1")], [], id="from a new one"),
        pytest.param([("tab", "s1"), ("other", "s1"), ("tab", "s2")], [], id="another tab shows it"),
        pytest.param([("tab", "s1"), ("other", "s1"), ("tab", "s2"), ("other", "")], ["s1"], id="the last tab"),
    ],
)
async def test_a_conversation_is_left_with_the_last_tab_that_showed_it(
    assistant: FakeAssistant, shown: list[tuple[str, str]], left: list[str]
) -> None:
    views = LiveViews()
    tabs = TabViews(views)
    loaded = Loaded(assistant, len)  # type: ignore[arg-type]
    for tab_hash, session_id in shown:
        await last(tabs.show(loaded, Tab(session_id), tab_hash))
    await views.close()
    assert assistant.left.session_ids == left


async def last(updates: AsyncIterator[PageUpdate]) -> PageUpdate:
    """What the page shows in the end."""
    return [update async for update in updates][-1]
