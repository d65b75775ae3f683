"""When compaction is due, when it must be, and what holds it back."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assistant.compaction.budget import Budget, Guards, Occupied, fits_alone, measure, next_trigger
from assistant.compaction.policy import policy_for

COPAW = policy_for("copaw", 100_000)
SKILL = policy_for("skill_compose", 100_000)


def full(messages: int, fixed: int = 0) -> Occupied:
    """A window with so many tokens of messages and of everything else."""
    return Occupied(system=fixed, tools=0, summary=0, pins=0, messages=messages)


def verdict(budget: Budget) -> tuple[str, str]:
    """Urgency and hold."""
    return budget.urgency, budget.hold


@pytest.mark.parametrize(
    ("total", "expected"),
    [
        pytest.param(69_999, "none", id="one below"),
        pytest.param(70_000, "due", id="at the threshold"),
        pytest.param(94_999, "due", id="below overflow"),
        pytest.param(95_000, "must", id="at overflow"),
    ],
)
def test_copaw_fires_at_the_threshold(total: int, expected: str) -> None:
    assert measure(full(total), COPAW).urgency == expected


@pytest.mark.parametrize(
    ("counted", "reported", "expected"),
    [
        pytest.param(80_000, 70_000, "none", id="reported exactly at the threshold"),
        pytest.param(10_000, 70_001, "due", id="reported one above"),
        pytest.param(70_000, 0, "due", id="nothing reported yet: the count"),
        pytest.param(69_999, 0, "none", id="nothing reported, below"),
        pytest.param(95_000, 100, "must", id="overflow goes by the count"),
    ],
)
def test_skill_compose_fires_above_the_threshold_by_the_providers_count(
    counted: int, reported: int, expected: str
) -> None:
    assert measure(full(counted), SKILL, reported_tokens=reported).urgency == expected


def test_everything_that_is_sent_counts() -> None:
    occupied = Occupied(system=1, tools=20, summary=300, pins=4_000, messages=50_000)
    budget = measure(occupied, COPAW)
    assert (budget.total_tokens, budget.left_tokens) == (54_321, 70_000 - 4_321)


def test_messages_keep_the_reserve_or_half_of_what_is_left() -> None:
    assert measure(full(75_000), COPAW).keep_tokens == 10_000
    assert measure(full(20_000, fixed=60_000), COPAW).keep_tokens == 5_000


def test_no_compaction_while_the_fixed_parts_alone_reach_the_threshold() -> None:
    assert verdict(measure(full(10_000, fixed=70_000), COPAW)) == ("none", "gate")


def test_the_gate_opens_when_the_window_overflows() -> None:
    assert verdict(measure(full(10_000, fixed=85_000), COPAW)) == ("must", "none")


@pytest.mark.parametrize(
    ("guards", "expected"),
    [
        pytest.param(Guards(after_last_compaction=65_000), ("none", "cooldown"), id="too soon after the last"),
        pytest.param(Guards(after_last_compaction=60_000), ("due", "none"), id="enough new content"),
        pytest.param(Guards(at_last_undo=69_000), ("none", "undone"), id="just undone"),
        pytest.param(Guards(at_last_undo=60_000), ("due", "none"), id="undone long ago"),
        pytest.param(Guards(at_last_failure=65_000), ("none", "failed"), id="a summary just failed"),
        pytest.param(Guards(at_last_failure=60_000), ("due", "none"), id="failed long ago"),
    ],
)
def test_a_tenth_of_the_window_must_come_in_between_two_tries(guards: Guards, expected: tuple[str, str]) -> None:
    assert verdict(measure(full(70_000), COPAW, guards)) == expected


def test_after_an_undo_the_trigger_stands_at_nine_tenths() -> None:
    guards = Guards(at_last_undo=85_000)
    assert verdict(measure(full(89_999), COPAW, guards)) == ("none", "undone")
    assert verdict(measure(full(90_000), COPAW, guards)) == ("due", "none")


@pytest.mark.parametrize("way", ["overflow", "refused", "manual"])
def test_no_guard_holds_at_overflow_nor_against_the_person(way: str) -> None:
    guards = Guards(after_last_compaction=94_000, at_last_undo=94_000, at_last_failure=94_000)
    total = 95_000 if way == "overflow" else 70_000
    budget = measure(full(total), COPAW, guards, is_refused=way == "refused", is_manual=way == "manual")
    assert verdict(budget) == ("due" if way == "manual" else "must", "none")


def test_at_overflow_only_what_is_always_kept_stays() -> None:
    assert measure(full(95_000), COPAW).keep_tokens == 0
    assert measure(full(10_000), COPAW, is_refused=True).keep_tokens == 0


def test_a_message_that_cannot_fit_even_alone_is_known_before_it_is_sent() -> None:
    assert fits_alone(90_000, 4_999, COPAW)
    assert not fits_alone(90_000, 5_000, COPAW)


@pytest.mark.parametrize(
    ("guards", "expected"),
    [
        pytest.param(Guards(), 70_000, id="nothing holds"),
        pytest.param(Guards(at_last_undo=72_000), 82_000, id="until new content after an undo"),
        pytest.param(Guards(at_last_undo=85_000), 90_000, id="at most nine tenths after an undo"),
        pytest.param(Guards(after_last_compaction=20_000), 70_000, id="long after a compaction"),
        pytest.param(Guards(after_last_compaction=65_000), 75_000, id="soon after a compaction"),
        pytest.param(Guards(at_last_failure=94_000), 95_000, id="never above overflow"),
    ],
)
def test_the_next_trigger_is_where_a_compaction_starts_by_itself(guards: Guards, expected: int) -> None:
    assert next_trigger(COPAW, guards) == expected


_LEVELS = st.none() | st.integers(0, 95_000)


@given(st.builds(Guards, _LEVELS, _LEVELS, _LEVELS))
def test_nothing_starts_below_the_next_trigger_and_something_at_it(guards: Guards) -> None:
    trigger = next_trigger(COPAW, guards)
    assert measure(full(trigger - 1), COPAW, guards).urgency == "none"
    assert measure(full(trigger), COPAW, guards).urgency != "none"
