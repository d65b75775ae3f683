"""Every promise of a compaction over random histories: 2,000 small ones and some of thousands of blocks.

Each history grows from a drawn seed, so that a failing one is named by a number.
"""

from __future__ import annotations

import random

import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

from assistant.compaction.budget import Guards
from assistant.compaction.pipeline import CompactionRequest, Outcome
from assistant.compaction.shorten.result_limits import shorten_results
from assistant.compaction.split import has_whole_pairs
from assistant.errors import ModelError
from assistant.messages.blocks import (
    BlockKey,
    Msg,
    ToolCallState,
    ToolResultBlock,
    block_keys,
    copy_with_blocks,
    open_calls,
    result_text,
    steps_of,
)
from assistant.messages.tokens import TokenCounter
from tests.compaction.conversations import CHINESE, grown_history, place, policy, request, summary_text
from tests.compaction.scripted_ask import Answer, ScriptedAsk
from tests.compaction.test_pipeline import TURN_NOTES, run

SEEDS = st.integers(0, 2**40)
HISTORIES_A_SEED = 25
# Shrinking a seed leads nowhere: another number is another history.
NO_SHRINKING = (Phase.explicit, Phase.reuse, Phase.generate)


@pytest.mark.parametrize("part", range(8))
@settings(max_examples=2_000 // 8 // HISTORIES_A_SEED, deadline=None, phases=NO_SHRINKING)
@given(SEEDS)
def test_two_thousand_histories_lose_nothing(part: int, seed: int) -> None:
    for number in range(HISTORIES_A_SEED):
        check_history(seed + number + part * 2**41, blocks=20, window=2_500)


@pytest.mark.parametrize("blocks", [1_000, 4_000, 8_000])
@settings(max_examples=2, deadline=None, phases=NO_SHRINKING)
@given(SEEDS)
def test_histories_of_thousands_of_blocks_lose_nothing(blocks: int, seed: int) -> None:
    check_history(seed, blocks, window=32_000)


def check_history(seed: int, blocks: int, window: int) -> None:
    """Compact one history as its seed says, and hold the outcome to every promise."""
    chance = random.Random(seed)
    messages = grown_history(seed, blocks)
    keys = block_keys(messages)
    texts = result_texts(messages)
    asked = _random_request(chance, messages, window)
    outcome = run(asked, _random_ask(chance))
    assert block_keys(messages) == keys, "the given messages were changed"
    assert result_texts(messages) == texts, "the given results were changed"
    kept = block_keys(outcome.messages)
    folded = list(outcome.record.keys) if outcome.record else []
    assert in_order(keys, folded)
    assert in_order(keys, kept)
    places = {key: number for number, key in enumerate(keys)}
    assert sorted([*folded, *kept], key=places.__getitem__) == keys, "a key was lost or doubled"
    assert has_whole_pairs(outcome.messages)
    assert always_kept(messages) <= set(kept)
    assert parked(outcome.messages) == parked(messages)
    assert [message.id for message in outcome.messages] == list(dict.fromkeys(m.id for m in outcome.messages))
    if outcome.record is not None:
        _check_record(asked, outcome)
    elif outcome.failure is not None:
        assert outcome.summary == asked.previous_summary
    _check_second_run(asked, outcome)


def _check_record(asked: CompactionRequest, outcome: Outcome) -> None:
    record = outcome.record
    assert record is not None
    assert record.summary == outcome.summary != ""
    assert record.summary_tokens <= asked.policy.summary_cap_tokens + 2
    assert record.after_tokens == outcome.after_tokens
    assert outcome.is_over == (outcome.after_tokens >= asked.policy.overflow_tokens)


def _check_second_run(asked: CompactionRequest, outcome: Outcome) -> None:
    left = asked.policy.threshold
    again = shorten_results(outcome.messages, asked.policy, left, TokenCounter(), place())
    thrice = shorten_results(again.messages, asked.policy, left, TokenCounter(), place())
    assert thrice.messages is again.messages
    if outcome.record is None or outcome.is_over:
        return
    guards = Guards(after_last_compaction=outcome.after_tokens)
    second = request(
        outcome.messages, asked.policy, previous_summary=outcome.summary, language=asked.language, guards=guards
    )
    assert run(second, ScriptedAsk([AssertionError("asked again with nothing new")])).record is None


def _random_request(chance: random.Random, messages: list[Msg], window: int) -> CompactionRequest:
    preset = chance.choice(("copaw", "skill_compose"))
    return request(
        messages,
        policy(window, preset, recent_n=chance.choice((0, 3)), old_max_bytes=chance.choice((300, 3_000))),
        language=chance.choice(("en", "zh")),
        reason=chance.choice(("automatic", "automatic", "manual", "overflow")),
        previous_summary=chance.choice(("", summary_text("earlier"))),
        system_tokens=chance.choice((0, window // 4)),
        # Small windows make many pieces; most histories are asked for at once.
        summariser_window_tokens=chance.choice((None, 60_000, 60_000, 60_000)),
    )


def _random_ask(chance: random.Random) -> ScriptedAsk | None:
    answers: list[Answer] = [
        lambda asked: TURN_NOTES if "# request" in asked else summary_text(),
        summary_text("word " * 5_000),
        "ok",
        "",
        CHINESE * 50,
        ModelError("no answer"),
    ]
    return None if chance.random() < 0.2 else ScriptedAsk(chance.sample(answers, len(answers)))


def in_order(keys: list[BlockKey], part: list[BlockKey]) -> bool:
    """True when `part` stands in `keys` in this order."""
    rest = iter(keys)
    return all(key in rest for key in part)


def always_kept(messages: list[Msg]) -> set[BlockKey]:
    """What must stay: the newest question, the newest step, and every step with an unanswered call."""
    steps = [
        copy_with_blocks(messages[s.message_index], messages[s.message_index].content[s.start : s.stop])
        for s in steps_of(messages)
    ]
    questions = [message for message in messages if message.role == "user"]
    return set(block_keys([*questions[-1:], *steps[-1:], *(step for step in steps if open_calls(step))]))


def parked(messages: list[Msg]) -> list[str]:
    """Calls that wait for the person."""
    return [c.id for message in messages for c in open_calls(message) if c.state == ToolCallState.ASKING]


def result_texts(messages: list[Msg]) -> list[str]:
    """The text of every result."""
    return [result_text(b) for message in messages for b in message.content if isinstance(b, ToolResultBlock)]
