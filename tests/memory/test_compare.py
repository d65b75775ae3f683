"""What differs between two texts, and nothing else."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from assistant.memory.compare import Stretch, changed_stretches

lines = st.lists(st.sampled_from("abc"), max_size=12)


def test_an_insertion_a_change_and_a_removal_are_told_apart() -> None:
    assert changed_stretches("abcdef", "abXcdf") == [Stretch(2, 2, 2, 3), Stretch(4, 5, 5, 5)]
    assert changed_stretches("abc", "aXc") == [Stretch(1, 2, 1, 2)]
    assert changed_stretches("", "") == []


@given(lines, lines)
def test_the_stretches_make_the_one_from_the_other(old: list[str], new: list[str]) -> None:
    made = list(old)
    for stretch in reversed(changed_stretches(old, new)):
        made[stretch.start : stretch.stop] = new[stretch.new_start : stretch.new_stop]
    assert made == new


def test_a_long_text_of_equal_lines_with_one_more_is_compared_at_once() -> None:
    assert changed_stretches(["x"] * 200_000, ["x"] * 200_001) == [Stretch(200_000, 200_000, 200_000, 200_001)]
