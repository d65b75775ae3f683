"""Three-way merge: both sides' lines are kept, and what both changed is told."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assistant.memory.merge import Conflict, Merge, merge

BASE = "# A\none\ntwo\nthree\n"


@pytest.mark.parametrize(
    ("mine", "theirs", "merged"),
    [
        (BASE, BASE, BASE),
        ("# A\nONE\ntwo\nthree\n", BASE, "# A\nONE\ntwo\nthree\n"),
        ("# A\nONE\ntwo\nthree\n", "# A\none\ntwo\nTHREE\n", "# A\nONE\ntwo\nTHREE\n"),
        ("# A\none\nthree\n", BASE + "four\n", "# A\none\nthree\nfour\n"),
        (BASE + "mine\n", BASE + "theirs\n", BASE + "theirs\nmine\n"),
        (BASE + "same\n", BASE + "same\n", BASE + "same\n"),
        (BASE + "same\nmine\n", BASE + "same\n", BASE + "same\nmine\n"),
        ("# A\none\nTWO\nthree\n", "# A\none\nTWO\nthree\n", "# A\none\nTWO\nthree\n"),
        (BASE.strip() + "\nmine", BASE.strip(), BASE.strip() + "\nmine"),
        ("x\u2028y\n" + BASE, BASE + "z", "x\u2028y\n" + BASE + "z"),
    ],
    ids=[
        "nothing",
        "mine",
        "apart",
        "cut and added",
        "both added",
        "same",
        "more",
        "same change",
        "no end",
        "odd line",
    ],
)
def test_changes_at_different_places_come_together(mine: str, theirs: str, merged: str) -> None:
    assert merge(BASE, mine, theirs) == Merge(merged, ())


def test_lines_that_both_changed_are_a_conflict_and_both_are_kept() -> None:
    assert merge(BASE, "# A\none\nmine\nthree\n", "# A\none\ntheirs\nthree\n") == Merge(
        "# A\none\ntheirs\nmine\nthree\n", (Conflict("two", "mine", "theirs"),)
    )


def test_a_line_that_one_side_cut_and_the_other_changed_is_a_conflict() -> None:
    assert merge(BASE, "# A\none\nthree\n", "# A\none\nTWO\nthree\n") == Merge(
        "# A\none\nTWO\nthree\n", (Conflict("two", "", "TWO"),)
    )


texts = st.lists(st.sampled_from(["a", "b", "c", "d", ""]), max_size=8).flatmap(
    lambda lines: st.sampled_from(["\n".join(lines), "".join(f"{line}\n" for line in lines)])
)


@given(texts, texts)
def test_a_side_that_did_not_change_gives_way(base: str, other: str) -> None:
    assert merge(base, base, other) == Merge(other, ())
    assert merge(base, other, base) == Merge(other, ())
    assert merge(base, other, other) == Merge(other, ())


@given(texts, texts, texts)
def test_no_line_that_a_side_added_is_lost(base: str, mine: str, theirs: str) -> None:
    merged = set(merge(base, mine, theirs).text.split("\n"))
    for side in (mine, theirs):
        assert set(side.split("\n")) - set(base.split("\n")) <= merged | {""}
