"""A tab that rests shows another model as soon as it answers."""

from __future__ import annotations

from pathlib import Path

import pytest

from assistant.models.connection_report import ConnectionReport
from assistant.ui.chat.live import LiveViews
from assistant.ui.chat.tab import Tab
from assistant.ui.chat.tab_views import TabViews
from assistant.ui.server.loading import Loaded
from tests.fakes.conversation import OFFLINE, fake_assistant


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
