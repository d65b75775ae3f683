"""The cards of forget: what was found under its places, what is ticked, what went."""

from __future__ import annotations

import re
from pathlib import Path
from typing import get_args

from assistant.assembly.home import open_store
from assistant.memory.forget.forgetter import ForgetItem, ForgetPreview, Receipt
from assistant.memory.forget.places import ForgetPlace, Gone, PlaceKind
from assistant.memory.log import Origin
from assistant.ui.memory.forget_panel import (
    MAX_ITEMS,
    PLACE_KINDS,
    mark_of,
    preview_html,
    receipt_html,
    ticked_items,
    words_html,
    words_of,
)
from tests.fakes.home import home_settings

EXACT = ForgetItem(
    "my cat is ada",
    "My cat is Ada.",
    "exact",
    (
        ForgetPlace("memory", "MEMORY.md", 4),
        ForgetPlace("journal", "dialog/2026-11-30.jsonl", 7),
        ForgetPlace("context", "sessions/a.json"),
    ),
)
WORDS = ForgetItem("ada, my cat, sleeps", "Ada, my cat, sleeps", "words", (ForgetPlace("summary", "sessions/a.json"),))
PREVIEW = ForgetPreview("my cat", (EXACT, WORDS))


def test_every_kind_of_place_has_a_name() -> None:
    assert get_args(PlaceKind) == PLACE_KINDS


def test_sentences_stand_under_their_places_and_the_very_words_are_ticked() -> None:
    html = preview_html(PREVIEW)
    assert re.findall(r'<p class="p-heading">(.*?)</p>', html) == ["Memory files", "Summaries"]
    assert re.findall(r'value="(\d+)"( checked)?>', html) == [("0", " checked"), ("1", "")]
    assert "MEMORY.md:4 · conversations × 1 · contexts × 1" in html
    assert "2 sentences found" in html


def test_what_was_typed_is_asked_for_again_and_harmless() -> None:
    html = words_html('"><script>${1+1}</script>\nsecond', "Say what is to be forgotten.")
    assert "<script>" not in html
    assert "${" not in html
    assert "&#10;second" in html
    assert "Say what is to be forgotten." in html


def test_nothing_found_says_so_and_offers_nothing() -> None:
    html = preview_html(ForgetPreview("zebra", ()))
    assert "It stands nowhere" in html
    assert "checkbox" not in html


def test_no_more_is_ticked_than_is_shown() -> None:
    many = ForgetPreview(
        "fact", tuple(ForgetItem(f"k{n}", f"Fact {n}", "exact", (ForgetPlace("title", "a"),)) for n in range(250))
    )
    assert preview_html(many).count("checkbox") == MAX_ITEMS
    assert "50 more are not shown" in preview_html(many)
    assert len(ticked_items(many, [str(n) for n in range(250)])) == MAX_ITEMS
    assert ticked_items(many, ["3", "x", "-1", "249"]) == [many.items[3]]


def test_ticks_belong_to_one_card() -> None:
    assert mark_of(PREVIEW) != mark_of(ForgetPreview("my cat", (EXACT,)))


def test_a_receipt_says_what_went_where() -> None:
    html = receipt_html(
        Receipt(2, (Gone("journal", "dialog", 3), Gone("memory", "MEMORY.md", 1), Gone("memory", "USER.md", 2)))
    )
    assert re.findall(r"<b>(.*?)</b><span>(.*?)<", html) == [("3 ×", "Memory files"), ("3 ×", "Conversations")]
    assert "MEMORY.md, USER.md" in html
    assert "hold it no more" in html
    still = receipt_html(Receipt(1, (), ("The search index still holds it.",)))
    assert "It stood nowhere any more." in still
    assert "hold it no more" not in still


def test_the_words_of_a_change_are_what_it_wrote_or_what_it_took(home: Path) -> None:
    notes = open_store(home_settings(home)).notes
    added = notes.add_lines("USER.md", "Pets", ["My cat is Ada.", "It is grey."], Origin("assistant", "s1"))
    assert added is not None
    assert words_of(added) == "- My cat is Ada.\n- It is grey."
    undone = notes.undo(added.change_id, "owner")
    assert undone is not None
    assert words_of(undone) == words_of(added)
