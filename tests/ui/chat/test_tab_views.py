"""What a tab shows: another model as soon as it answers; what it no longer shows was left."""

from __future__ import annotations

from pathlib import Path

import pytest

from assistant.assembly.assistant import open_assistant
from assistant.messages.blocks import text_of
from assistant.models.connection_report import ConnectionReport
from assistant.models.scripted import ScriptedRequest
from assistant.ui.chat.live import LiveViews
from assistant.ui.chat.sent_transcripts import DrawnTranscript
from assistant.ui.chat.tab import Tab
from assistant.ui.chat.tab_views import TabViews
from assistant.ui.components import PageUpdate
from assistant.ui.server.loading import Loaded
from tests.fakes.home import home_settings
from tests.fakes.past import write_past
from tests.fakes.players import SequencePlayer
from tests.fakes.provider import StrictProvider
from tests.ui.open_page import open_page

BOAT, CAT = "My boat is called Albatross.", "My cat is called Ada."


def news(tabs: TabViews, loaded: Loaded, shown: PageUpdate) -> PageUpdate:
    """What a tab that shows this does not show yet; it is told of nothing else."""
    tab, drawn = shown["tab"], shown["transcript"]
    assert isinstance(tab, Tab)
    assert isinstance(drawn, DrawnTranscript)
    has_news = tabs.has_news(loaded, "tab", drawn.part)
    update = tabs.news(loaded, tab, "tab", drawn.part)
    assert has_news == bool(update)
    return update


@pytest.mark.parametrize("session_id", ["", "s1"])
async def test_a_tab_that_rests_shows_a_model_that_was_found_meanwhile(home: Path, session_id: str) -> None:
    offline = home_settings(home, provider="offline", memory_store_backend="local")
    with StrictProvider(SequencePlayer()) as provider:
        found = home_settings(home, provider="openai", base_url=provider.base_url, api_key="any")
        async with open_assistant(offline, read_settings=lambda: found) as assistant:
            write_past(assistant.store, "s1", "Dentist")
            loaded, views = Loaded(assistant, len), LiveViews()
            tabs = TabViews(views)
            shown = tabs.show(loaded, Tab(session_id), "tab")
            before = news(tabs, loaded, shown)
            tabs.report = ConnectionReport(False, "Nothing answers.")
            await assistant.reconnect_model()
            after = news(tabs, loaded, shown)
            # A conversation goes on with the model that was found, so the tab gets it again.
            again = news(tabs, loaded, shown | after)
            await views.close()
            assert (before, "model" in again) == ({}, False)
            assert assistant.model.name == "strict-7b"
            assert "strict-7b" in str(after["model"])
            assert "Nothing answers." not in str(after)


@pytest.mark.parametrize(
    ("shown", "left"),
    [
        pytest.param([("tab", BOAT)], [], id="the first"),
        pytest.param([("tab", BOAT), ("tab", BOAT)], [], id="drawn again"),
        pytest.param([("tab", BOAT), ("tab", CAT)], [BOAT], id="another one"),
        pytest.param([("tab", BOAT), ("tab", "")], [BOAT], id="a new one"),
        pytest.param([("tab", ""), ("tab", BOAT)], [], id="from a new one"),
        pytest.param([("tab", BOAT), ("other", BOAT), ("tab", CAT)], [], id="another tab shows it"),
        pytest.param([("tab", BOAT), ("other", BOAT), ("tab", CAT), ("other", "")], [BOAT], id="the last tab"),
        pytest.param([("closed", BOAT), ("tab", BOAT), ("tab", CAT)], [BOAT], id="another tab showed it"),
    ],
)
async def test_a_conversation_is_left_with_the_last_tab_that_showed_it(
    home: Path, shown: list[tuple[str, str]], left: list[str]
) -> None:
    async with open_page(home, memory="on", recall="off") as page:
        session_ids = {
            "": "",
            **{words: (await page.talk(words, "And I am fond of it.")).session_id for words in (BOAT, CAT)},
        }
        views = LiveViews()
        tabs, loaded = TabViews(views), Loaded(page.assistant, len)
        for tab_hash, words in shown:
            tabs.leave("closed")
            tabs.show(loaded, Tab(session_ids[words]), tab_hash)
        await page.assistant.flushes.wait()
        await views.close()
        assert [remembered(request) for request in page.requests if "add_lines" in request.tools] == left


def remembered(request: ScriptedRequest) -> str:
    """Which conversation a request asks to write into memory."""
    asked = "\n".join(text_of(message) for message in request.messages)
    [words] = [words for words in (BOAT, CAT) if words in asked]
    return words
