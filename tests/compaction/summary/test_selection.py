"""What stays under a limit: heavier before lighter, and some of every stretch."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from assistant.compaction.summary.selection import choose_newest, choose_spread

LINES = st.lists(st.tuples(st.integers(0, 3), st.integers(1, 9)), max_size=60)


def test_all_stay_where_all_fit() -> None:
    assert choose_spread([1, 2, 1], [3, 3, 3], 9) == [0, 1, 2]


def test_the_heavier_stay_first_and_the_newest_of_the_rest() -> None:
    assert choose_spread([0, 2, 0, 0, 2], [1, 1, 1, 1, 1], 3) == [1, 3, 4]


def test_of_equal_ones_every_second_stays() -> None:
    assert choose_spread([1] * 8, [1] * 8, 4) == [1, 3, 5, 7]


def test_one_that_fits_nowhere_keeps_no_other_out() -> None:
    assert choose_spread([1, 1, 1, 1], [2, 2, 2, 90], 4) == [1, 2]


def test_the_newest_that_fit_together() -> None:
    assert choose_newest([5, 2, 2, 1], 5) == [1, 2, 3]
    assert choose_newest([9], 5) == []


@given(LINES, st.integers(-5, 200))
def test_what_stays_fits_in_order_and_nothing_lighter_stays_where_a_heavier_went(
    lines: list[tuple[int, int]], max_size: int
) -> None:
    weights, sizes = [weight for weight, _ in lines], [size for _, size in lines]
    chosen = choose_spread(weights, sizes, max_size)
    gone = set(range(len(lines))) - set(chosen)
    assert chosen == sorted(set(chosen))
    assert sum(sizes[place] for place in chosen) <= max(0, max_size)
    assert all(weights[place] >= weights[other] for place in chosen for other in gone)
    again = choose_spread([weights[place] for place in chosen], [sizes[place] for place in chosen], max_size)
    assert again == list(range(len(chosen)))
