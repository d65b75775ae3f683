"""A server whose count stands still while ours grows reads less than it is sent."""

from __future__ import annotations

import pytest

from assistant.messages.read_shares import ReadShares

Pairs = list[tuple[float, int]]


@pytest.mark.parametrize(
    ("pairs", "is_cut"),
    [
        pytest.param([(5_000, 4_096), (5_400, 4_096), (5_800, 4_096)], True, id="cut at a token"),
        pytest.param([(5_000, 4_090), (5_400, 4_096), (5_800, 4_093)], True, id="cut at about a token"),
        pytest.param([(5_000, 3_900), (6_000, 4_050), (7_000, 3_800)], True, id="whole messages left out"),
        pytest.param([(3_000, 2_900), (5_000, 4_096), (6_000, 4_096), (7_000, 4_096)], True, id="only once it is full"),
        pytest.param([(5_000, 4_900), (5_400, 5_300), (5_800, 5_700)], False, id="all is read"),
        pytest.param([(5_000, 4_096), (5_400, 4_096)], False, id="two readings tell nothing"),
        pytest.param([(5_000, 4_096), (5_010, 4_096), (5_020, 4_096)], False, id="hardly more was sent"),
        pytest.param(
            [(5_000, 4_096), (3_000, 2_900), (3_400, 3_300), (3_800, 3_700)], False, id="a compaction between"
        ),
        pytest.param([(5_000, 120), (5_400, 121), (5_800, 120)], False, id="only what its cache lacked is counted"),
        pytest.param([(5_000, 0), (5_400, 0), (5_800, 0)], False, id="nothing is counted"),
    ],
)
def test_a_count_that_stands_still_is_seen(pairs: Pairs, is_cut: bool) -> None:
    shares = ReadShares()
    assert [shares.note(sent, read) for sent, read in pairs][-1] == is_cut
