"""Changed facts, follow-ups and silence, in a home of invented notes with the real encoder."""

from __future__ import annotations

from pathlib import Path

from benchmarks.remembered import changed_facts, follow_ups, measure, unrelated_messages


async def test_recall_hands_over_the_newest_finds_follow_ups_and_is_silent_on_the_rest(tmp_path: Path) -> None:
    assert (len(changed_facts()), len(follow_ups()), len(unrelated_messages())) == (40, 60, 100)
    figures = await measure(tmp_path / "home")
    assert [figure for figure in figures if not figure.is_met] == []
    with_lookup, without = (figure.value for figure in figures if figure.name.startswith("follow-ups"))
    assert with_lookup > without + 20
