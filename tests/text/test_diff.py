"""What differs between two texts, and nothing else."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from assistant.text.diff import Stretch, changed_stretches, diff_hunks, diff_of_removal, unified_diff

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


def test_a_unified_diff_names_the_file_and_shows_two_lines_around_a_change() -> None:
    before = "".join(f"{number}\n" for number in range(1, 9))
    assert unified_diff(before, before.replace("5", "five"), "USER.md").split("\n") == [
        "--- USER.md",
        "+++ USER.md",
        "@@ -3,5 +3,5 @@",
        " 3",
        " 4",
        "-5",
        "+five",
        " 6",
        " 7",
    ]


def test_the_diff_of_nothing_is_empty() -> None:
    assert unified_diff("a\n", "a\n", "USER.md") == ""


def test_a_long_change_is_shown_without_comparing_its_lines() -> None:
    old, new = [f"old {number}" for number in range(2_000)], [f"new {number}" for number in range(3)]
    hunks = diff_hunks(["same", *old], ["same", *new], 3)
    assert hunks == ["@@ -2,2000 +2,3 @@", *(f"-{line}" for line in old), *(f"+{line}" for line in new)]


def test_the_diff_of_a_removed_line_is_that_of_the_whole_text_without_context() -> None:
    assert diff_of_removal("USER.md", 2, "b").split("\n")[2:] == diff_hunks(["a", "b", "c"], ["a", "c"], 0)


@given(lines, lines)
def test_the_hunks_hold_every_line_that_differs(old: list[str], new: list[str]) -> None:
    hunks = [line for line in diff_hunks(old, new, max(len(old), len(new))) if not line.startswith("@@")]
    assert not hunks or [line[1:] for line in hunks if line[0] in " -"] == old
    assert not hunks or [line[1:] for line in hunks if line[0] in " +"] == new
    assert bool(hunks) == (old != new)
