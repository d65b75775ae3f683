"""What the person is told, in one line with figures."""

from __future__ import annotations

import pytest

from assistant.compaction.budget import Occupied, measure
from assistant.compaction.notices import (
    failure_notice,
    fallback_notice,
    gate_notice,
    over_notice,
    too_little_notice,
)
from assistant.compaction.summary.summary import SummaryFailure
from assistant.compaction.summary.summary_prompt import SummaryPrompt
from tests.compaction.conversations import policy

FAILED = SummaryFailure(SummaryPrompt("", "", ""), (), "no_answer", "out of quota")
BUDGET = measure(Occupied(system=6_000, tools=1_500, summary=0, pins=0, messages=800), policy(10_000))


def test_each_notice_says_what_happened_and_what_stays() -> None:
    assert "take 7,500 tokens, and compaction starts at 7,000" in gate_notice(BUDGET).text
    assert failure_notice(FAILED).text == (
        "No compaction took place: the model gave no answer (out of quota). All messages stay; it is tried again later."
    )
    assert fallback_notice(FAILED).text == (
        "A digest written without a model stands in for the summary: the model gave no answer (out of quota)."
    )
    assert "takes 12,000 of 10,000 tokens" in over_notice(12_000, policy(10_000)).text


@pytest.mark.parametrize(
    ("occupied", "told"),
    [
        (
            Occupied(system=2_000, tools=500, summary=0, pins=0, messages=800),
            "The newest turn stays as it is, and so do the newest 1,000 tokens. To see a compression now, type /show.",
        ),
        (
            Occupied(system=2_000, tools=500, summary=300, pins=0, messages=800),
            "The newest turn stays as it is, and so do the newest 1,000 tokens.",
        ),
        (BUDGET.occupied, "The newest turn stays as it is. To see a compression now, type /show."),
    ],
    ids=["never compressed", "compressed before", "nothing may be kept"],
)
def test_a_compression_asked_for_too_early_is_told_with_its_figures(occupied: Occupied, told: str) -> None:
    notice = too_little_notice(measure(occupied, policy(10_000)))
    assert notice.text == f"Nothing to compress yet: your messages take 800 tokens. {told}"
