"""The search box finds, leads to the place, and says how far the index has come."""

from __future__ import annotations

import re
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
    for words in (
        "Dentist",
        "30 Nov 2026",
        "&lt;b&gt;<mark>Tram</mark> 12",
        "by words alone",
        action("open-message", "s1 m2 m1"),
    ):
        assert words in html
    assert "<b>Tram" not in html


def said(session_id: str, snippet: str, line: int = 1) -> SearchHit:
    return SearchHit(
        "dialog/2026-11-30.jsonl", line, line, "", snippet, snippet, 0.9, "said", "2026-11-30", session_id, line=line
    )


def test_hits_of_one_conversation_stand_together_under_one_title() -> None:
    sessions = [SessionSummary(name, "owner", name.title(), "", has_file=True) for name in ("boat", "tea")]
    found = (said("boat", "one"), said("tea", "two"), said("boat", "three", 7))
    html = hits_html("x", SearchAnswer(found), sessions)
    assert re.findall(r'p-hit-snippet">([^<]*)<', html) == ["one", "three", "two"]
    assert re.findall(r'p-hit-title">([^<]*)<', html) == ["Boat", "Tea"]


@pytest.mark.parametrize(
    ("query", "snippet", "marked"),
    [
        ("tram", "Tram 12, trams and a Bertram", ["Tram", "tram"]),
        ("<b> a+b", "<b>a and b</b>", ["b", "a", "a", "b", "b"]),
        ("茶", "喝茶和红茶", ["茶", "茶"]),
        ("...", "Tram 12", []),
    ],
    ids=["any case, at the begin of a word", "signs are no pattern", "Chinese", "no word"],
)
def test_the_words_that_were_asked_for_are_marked(query: str, snippet: str, marked: list[str]) -> None:
    html = hits_html(query, SearchAnswer((said("s", snippet),)), [])
    assert re.findall(r"<mark>([^<]*)</mark>", html) == marked
    assert "<b>" not in html


def test_nothing_found_is_said() -> None:
    assert "Nothing was found" in hits_html("x", SearchAnswer(()), [])


def test_the_index_tells_of_itself_only_while_it_is_not_complete() -> None:
    assert index_html(IndexStatus(3, 30, 0, 1.0, "text")) == ""
    html = index_html(IndexStatus(3, 30, 12, 0.5, "text", ("The watcher rests.",)))
    assert "50 % made, 12 pieces to go" in html.replace("&#37;", "%")
    assert "The watcher rests." in html
