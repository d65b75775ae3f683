"""The replay on a dialogue of the project's own: compacted, undone, compacted again, and every word accounted for."""

from __future__ import annotations

from pathlib import Path

from benchmarks.replay import replay
from benchmarks.replaying.dialogue import text_dialogue

EVERYDAY = Path(__file__).parent / "data" / "everyday.txt"


def test_a_long_dialogue_keeps_every_promise(tmp_path: Path) -> None:
    figures, faults = replay(tmp_path, text_dialogue(EVERYDAY), compact_threshold=10_000)

    assert faults == []
    assert [figure for figure in figures if not figure.is_met] == []
