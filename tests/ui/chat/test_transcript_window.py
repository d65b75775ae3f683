"""Which part of a conversation is drawn, and where things are in it."""

from __future__ import annotations

from assistant.ui.chat.entries import CompactionEntry, Entry, TextEntry, Transcript, UserEntry
from assistant.ui.chat.transcript_window import (
    MAX_WINDOW,
    Place,
    Window,
    earlier_window,
    place_of_folded,
    place_of_message,
)
from tests.ui.sample_events import compaction


def turns(count: int) -> list[Entry]:
    """Questions and answers."""
    return [
        entry
        for number in range(count)
        for entry in (UserEntry(f"q{number}", f"m{number}", ""), TextEntry(f"b{number}", "a"))
    ]


def test_what_came_before_is_added_until_the_window_is_as_large_as_it_may_be() -> None:
    transcript, window = Transcript(tuple(turns(2_000))), Window()
    assert earlier_window(transcript, window) == Window(400)
    assert earlier_window(transcript, Window(MAX_WINDOW)) == Window(200, end=3_020)


def test_a_message_is_found_with_its_answer_behind_it() -> None:
    entries = turns(2_000)
    assert place_of_message(entries, ["gone", "m100"]) == Place(Window(200, end=202), 200)
    assert place_of_message(entries, ["m1999"]) == Place(Window(), 3_998)
    assert place_of_message(entries, ["m1990"]) == Place(Window(), 3_980)
    assert place_of_message(entries, ["nowhere"]) is None


def test_what_a_compaction_folded_begins_behind_the_one_before() -> None:
    entries = [*turns(2), CompactionEntry(compaction("k1")), *turns(2), CompactionEntry(compaction("k2")), *turns(1)]
    assert place_of_folded(Transcript(tuple(entries)), Window(), "k1") == Place(Window(), 0)
    assert place_of_folded(Transcript(tuple(entries)), Window(), "k2") == Place(Window(), 5)
    assert place_of_folded(Transcript(tuple(entries)), Window(), "k3") is None


def test_a_long_folded_part_is_drawn_from_its_beginning() -> None:
    entries = [*turns(1_000), CompactionEntry(compaction("k1")), *turns(500)]
    assert place_of_folded(Transcript(tuple(entries)), Window(), "k1") == Place(Window(MAX_WINDOW, end=1_000), 0)
