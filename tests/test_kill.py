"""SIGKILL at random moments: the next process goes on, and every block is accounted for once."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from benchmarks.replaying.dialogue import text_dialogue
from benchmarks.replaying.kills import kill_again_and_again

EVERYDAY = Path(__file__).parent / "data" / "everyday.txt"


@pytest.mark.skipif(not hasattr(os, "fork"), reason="children are forked once everything is imported")
def test_nothing_is_lost_or_told_twice_by_ten_kills(tmp_path: Path) -> None:
    killing = kill_again_and_again(tmp_path, text_dialogue(EVERYDAY), 10, compact_threshold=5_000)

    assert killing.faults == ()
    assert (killing.kills, killing.malformed) == (10, 0)
    assert killing.compactions >= 1
