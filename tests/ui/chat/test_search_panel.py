"""The search box finds, leads to the place, and says how far the index has come."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from pathlib import Path

import pytest

from assistant.assembly.assistant import Assistant
from assistant.index.memory_index import IndexStatus, SearchAnswer
from assistant.index.search import SearchHit
from assistant.storage.sessions.session_head import SessionSummary
from assistant.ui.cards import action
from assistant.ui.chat.search_panel import find_html, hits_html, index_html
from tests.ui.open_page import open_page


@pytest.fixture
async def assistant(home: Path) -> AsyncGenerator[Assistant]:
    """An assistant whose memory files can be found by their words."""
    async with open_page(home) as page:
        await page.assistant.index.sync_words()
        yield page.assistant


async def test_an_empty_box_finds_nothing(assistant: Assistant) -> None:
    assert await find_html(assistant, "  ") == ""


async def test_a_line_of_a_memory_file_leads_to_its_place(assistant: Assistant) -> None:
    html = await find_html(assistant, "lisbon")
    assert action("open-hit", "MEMORY.md:7") in html
    assert "1 place<" in html


def test_what_was_said_is_shown_with_title_and_day_and_leads_to_its_message() -> None:
    hit = SearchHit(
        path="dialog/2026-11-30.jsonl",
        first_line=9,
        last_line=9,
        heading="",
        snippet="<b>Tram 12</b>",
        text="<b>Tram 12</b>",
        relevance=0.9,
        kind="said",
        day="2026-11-30",
        session_id="s1",
        message_id="m2",
        message_ids=("m1", "m2"),
        line=9,
    )
    sessions = [SessionSummary("s1", "owner", "Dentist", "", has_file=True)]
    html = hits_html("tram", SearchAnswer((hit,), ("by words alone",)), sessions)
    for words in ("Dentist", "30 Nov 2026", "&lt;b&gt;Tram 12", "by words alone", action("open-message", "s1 m2 m1")):
        assert words in html
    assert "<b>Tram" not in html


def test_nothing_found_is_said() -> None:
    assert "Nothing was found" in hits_html("x", SearchAnswer(()), [])


def test_the_index_tells_of_itself_only_while_it_is_not_complete() -> None:
    assert index_html(IndexStatus(3, 30, 0, 1.0, "text")) == ""
    html = index_html(IndexStatus(3, 30, 12, 0.5, "text", ("The watcher rests.",)))
    assert "50 % made, 12 pieces to go" in html.replace("&#37;", "%")
    assert "The watcher rests." in html
