"""Requests of a conversation begin with what was sent before, so that a prompt cache has it."""

from __future__ import annotations

from pathlib import Path

from benchmarks.prefix import COMPACTED_AT, LEAST_SHARE, TURNS, sent_requests, steps_of


async def test_forty_turns_with_tools_recalls_saves_and_a_restart_begin_alike_but_for_the_compaction(
    tmp_path: Path,
) -> None:
    requests = await sent_requests(tmp_path / "home")
    steps = steps_of(requests)

    assert [step.turn for step in steps if step.share < LEAST_SHARE] == [COMPACTED_AT]
    assert [step.turn for step in steps if step.is_after_compaction] == [COMPACTED_AT]
    assert {request.turn for request in requests} == set(range(1, TURNS + 1))
    for stretch in (requests[:COMPACTED_AT], requests[COMPACTED_AT:]):
        said = stretch[-1].content.decode()
        assert [word for word in ("<recalled>", '"name": "memory_save"', '"name": "Read"') if word not in said] == []
        assert said.count("<recalled>") > 1


async def test_what_is_not_kept_costs_several_times_as_much(tmp_path: Path) -> None:
    kept, made_anew = [
        sum(step.new_tokens for step in steps_of(await sent_requests(tmp_path / str(is_kept), is_kept)))
        for is_kept in (True, False)
    ]
    assert kept * 3 < made_anew
