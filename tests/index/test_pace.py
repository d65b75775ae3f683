"""How long work in the background rests beside a person."""

from __future__ import annotations

from assistant.index.pace import IndexPace


class Clock:
    def __init__(self) -> None:
        self.seconds = 100.0

    def __call__(self) -> float:
        return self.seconds


def test_with_nobody_near_the_work_goes_on() -> None:
    assert IndexPace(Clock()).rest_seconds(0.02) == 0.0


def test_beside_a_person_it_rests_four_times_as_long_as_it_worked_and_never_long() -> None:
    pace = IndexPace(Clock())
    with pace.beside_person(), pace.beside_person():
        assert [pace.rest_seconds(seconds) for seconds in (0.02, 60.0)] == [0.08, 0.5]


def test_for_some_seconds_after_a_person_did_something_the_next_thing_is_near() -> None:
    clock = Clock()
    pace = IndexPace(clock)
    pace.note_person()
    clock.seconds += 2.9
    assert pace.rest_seconds(0.02) == 0.08
    clock.seconds += 0.2
    assert pace.rest_seconds(0.02) == 0.0
    with pace.beside_person():
        clock.seconds += 60.0
    assert pace.rest_seconds(0.02) == 0.08


def test_while_somebody_waits_for_the_work_itself_it_does_not_rest() -> None:
    pace = IndexPace(Clock())
    with pace.beside_person():
        with pace.hurried():
            assert pace.rest_seconds(0.02) == 0.0
        assert pace.rest_seconds(0.02) == 0.08
