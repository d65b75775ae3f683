"""The search box finds, leads to the place, and says how far the index has come."""

from __future__ import annotations

from pathlib import Path

from assistant.ui.cards import action
from assistant.ui.chat.search_panel import find_html, hits_html, index_html
from tests.fakes.conversation import FakeHit, FakeHits, FakeIndexState, FakeSession, fake_assistant


async def test_an_empty_box_finds_nothing(home: Path) -> None:
    assert await find_html(fake_assistant(home), "  ") == ""  # type: ignore[arg-type]


async def test_a_line_of_a_memory_file_leads_to_its_place(home: Path) -> None:
    html = await find_html(fake_assistant(home), "lisbon")  # type: ignore[arg-type]
    assert action("open-hit", "MEMORY.md:7") in html
    assert "1 place<" in html


def test_what_was_said_is_shown_with_title_and_day_and_leads_to_its_message() -> None:
    hit = FakeHit("dialog/2026-11-30.jsonl", 9, "<b>Tram 12</b>", "2026-11-30", "s1", "m2", ("m1", "m2"))
    html = hits_html("tram", FakeHits((hit,), ("by words alone",)), [FakeSession("s1", "Dentist", "")])
    for words in ("Dentist", "30 Nov 2026", "&lt;b&gt;Tram 12", "by words alone", action("open-message", "s1 m2 m1")):
        assert words in html
    assert "<b>Tram" not in html


def test_nothing_found_is_said() -> None:
    assert "Nothing was found" in hits_html("x", FakeHits(), [])


def test_the_index_tells_of_itself_only_while_it_is_not_complete() -> None:
    assert index_html(FakeIndexState()) == ""
    html = index_html(FakeIndexState(12, 0.5, ("The watcher rests.",)))
    assert "50 % made, 12 pieces to go" in html.replace("&#37;", "%")
    assert "The watcher rests." in html
