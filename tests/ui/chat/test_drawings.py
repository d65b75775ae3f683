"""A tab that does not show what it was sent is sent it again."""

from __future__ import annotations

import pytest

from assistant.ui.chat.drawings import Drawings, Showing, showing_of
from assistant.ui.chat.tab import Tab


@pytest.mark.parametrize(
    ("said", "lost"),
    [
        (["2.50"], [False]),
        (["2.50", "2.50"], [False, False]),
        (["2.51"] * 2, [False, False]),  # its words come by another way
        (["1.50", "2.50"], [False, False]),  # it was on its way
        (["1.50", "1.50"], [False, True]),
        (["3.50", "3.50"], [False, True]),  # drawn over by one of another program
        (["2.49", "2.49"], [False, True]),
        (["2.48", "2.49"], [False, False]),  # it goes on
        (["1.50", "2.50", "1.50"], [False, False, False]),
        (["0.0", "0.0", "0.0"], [False, True, True]),
        (["", "", "", "2", "x.y", "2.50.1", "-2.50", "²." + "9" * 30], [False] * 8),
    ],
)
def test_what_is_missing_twice_is_lost(said: list[str], lost: list[bool]) -> None:
    drawings = Drawings()
    drawings.draw("tab", Tab("s1"))
    drawings.draw("tab", Tab("s2"))
    assert [drawings.is_lost("tab", showing_of(words), 50) for words in said] == lost
    assert drawings.take_lost("tab") == (Tab("s2") if lost[-1] else None)
    assert drawings.take_lost("tab") is None


def test_a_tab_that_was_drawn_nothing_misses_nothing() -> None:
    drawings = Drawings()
    assert [drawings.is_lost("tab", Showing(7, 7), 50) for _ in range(2)] == [False, False]


def test_a_new_drawing_takes_the_place_of_a_lost_one() -> None:
    drawings = Drawings()
    drawings.draw("tab", Tab("s1"))
    assert [drawings.is_lost("tab", Showing(0, 50), 50) for _ in range(2)] == [False, True]
    assert drawings.draw("tab", Tab("s2")) == 2
    assert drawings.take_lost("tab") is None


def test_tabs_are_numbered_apart_until_they_are_closed() -> None:
    drawings = Drawings()
    assert [drawings.draw(tab, Tab()) for tab in ("one", "one", "two")] == [1, 2, 1]
    drawings.leave("one")
    assert drawings.draw("one", Tab()) == 1
