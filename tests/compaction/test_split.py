"""Where a conversation is cut: what always stays, what goes, and that nothing is lost or parted."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from assistant.compaction.policy import CompactionPolicy
from assistant.compaction.split import Split, has_whole_pairs, split, whole_steps
from assistant.messages.blocks import (
    HintBlock,
    Msg,
    Step,
    ToolCallState,
    block_keys,
    copy_with_blocks,
    open_calls,
    steps_of,
)
from assistant.messages.tokens import TokenCounter
from tests.compaction.conversations import (
    AT,
    CHINESE,
    COPAW,
    call,
    chat,
    grown_history,
    policy,
    reply,
    result,
    said,
    thought,
    tool_steps,
    user,
)


def parts(messages: list[Msg], keep_tokens: int, rules: CompactionPolicy = COPAW) -> Split:
    """The split by bytes / 4."""
    return split(messages, keep_tokens, TokenCounter("bytes"), rules)


def ids(messages: tuple[Msg, ...] | list[Msg]) -> list[str]:
    """Block ids, oldest first."""
    return [block.id for message in messages for block in message.content]


def test_everything_that_fits_stays() -> None:
    messages = chat(4)
    found = parts(messages, 1_000_000)
    assert (found.is_empty, found.kept, found.kept_turns) == (True, messages, 4)


def test_the_oldest_go_first() -> None:
    messages = chat(10)
    found = parts(messages, 250)
    assert ids(found.older) + ids(found.kept) == ids(messages)
    assert (len(found.older), found.kept_turns, found.turn_prefix, found.is_valid) == (16, 2, (), True)


def test_no_cut_parts_an_answer_from_its_question_in_a_turn_without_calls() -> None:
    messages = chat(10)
    for keep_tokens in range(0, 700, 7):
        found = parts(messages, keep_tokens)
        kept = found.kept[0].role
        assert (kept, len(found.older) % 2) == ("user", 0), keep_tokens
    for keep_messages in range(1, 9):
        found = parts(messages, 1, policy(16_000, keep_recent_messages=keep_messages))
        assert len(found.kept) in (keep_messages, keep_messages + 1)
        assert found.kept[0].role == "user"


def test_the_newest_question_stays_when_nothing_fits() -> None:
    found = parts(chat(3), 0)
    assert ids(found.kept) == ["u2.t", "s2"]


def test_the_question_stays_while_steps_of_its_tool_loop_go() -> None:
    messages = [*chat(2), user("the request", "u9"), reply(*tool_steps(20, "x" * 400), id_="a9")]
    found = parts(messages, 500)
    assert ids(found.kept) == ["u9.t", "c16", "c16", "c17", "c17", "c18", "c18", "c19", "c19"]
    assert ids(found.older) == ["u0.t", "s0", "u1.t", "s1"]
    assert ids(found.turn_prefix) == [f"c{n}" for n in range(16) for _ in range(2)]
    assert found.request is messages[4]


def test_the_running_reply_keeps_its_id_on_both_sides() -> None:
    messages = [user("go"), reply(*tool_steps(5), id_="running")]
    found = parts(messages, 0)
    assert [message.id for message in found.turn_prefix] == ["running"]
    assert [message.id for message in found.kept] == ["u1", "running"]


def test_a_reply_that_has_not_begun_stays_for_the_loop_to_fill() -> None:
    messages = [*chat(3), user("the request", "u9"), reply(id_="running")]
    assert [message.id for message in parts(messages, 0).kept] == ["u9", "running"]


def test_parallel_results_of_the_newest_step_stay_whole_even_above_the_budget() -> None:
    newest = [thought("plan"), call("p1"), call("p2"), result("p1", "x" * 50_000), result("p2", "y" * 50_000)]
    found = parts([user("the request"), reply(*tool_steps(3), *newest)], 0)
    assert ids(found.kept) == ["u1.t", "th1", "p1", "p2", "p1", "p2"]


def test_a_parked_approval_stays_with_its_siblings() -> None:
    parked = [call("p1", state=ToolCallState.ASKING), call("p2"), result("p2")]
    messages = [user("old"), reply(*tool_steps(2), *parked), user("new", "u2"), reply(said("answer"), id_="a2")]
    found = parts(messages, 0)
    assert ids(found.kept) == ["p1", "p2", "p2", "u2.t", "s1"]
    assert ids(found.older) == ["u1.t", "c0", "c0", "c1", "c1"]


def test_a_late_result_belongs_to_the_step_of_its_call() -> None:
    hint = HintBlock(id="h1", hint="note", created_at=AT)
    blocks = [*tool_steps(2), call("p1"), call("p2"), result("p1"), hint, result("p2"), *tool_steps(1, first=7)]
    messages = [user("go"), reply(*blocks)]
    assert Step(1, 4, 9) in whole_steps(messages)
    found = parts(messages, 20)
    assert found.is_valid
    assert ids(found.kept) == ["u1.t", "c7", "c7"]


def test_thinking_goes_or_stays_with_its_step() -> None:
    blocks = [b for n in range(6) for b in (thought("t" * 80, f"th{n}"), call(f"c{n}"), result(f"c{n}"))]
    found = parts([user("go"), reply(*blocks)], 100)
    assert ids(found.kept)[1:] == ["th4", "c4", "c4", "th5", "c5", "c5"] or ids(found.kept)[1] == "th3"
    assert len([i for i in ids(found.kept) if i.startswith("th")]) * 2 == len(
        [i for i in ids(found.kept) if i.startswith("c")]
    )


def test_at_most_the_newest_five_turns_stay_with_skill_compose() -> None:
    found = parts(chat(8), 1_000_000, policy(200_000, "skill_compose"))
    assert (found.kept_turns, len(found.older)) == (5, 6)


def test_the_newest_messages_stay_whatever_the_reserve_says_with_the_early_copaw() -> None:
    found = parts(chat(10), 10, policy(128_000, keep_recent_messages=10))
    assert (len(found.kept), len(found.older)) == (10, 10)
    assert len(parts(chat(10), 0, policy(128_000, keep_recent_messages=10)).kept) == 2


def test_a_chinese_tail_stays_within_the_budget_by_the_real_vocabulary() -> None:
    messages = [m for n in range(60) for m in (user(CHINESE * 5, f"u{n}"), reply(said(CHINESE * 10), id_=f"a{n}"))]
    counter = TokenCounter("qwen")
    kept = split(messages, 3_000, counter, COPAW).kept
    assert 2_500 < sum(counter.block(block) for message in kept for block in message.content) <= 3_000


def test_a_conversation_without_a_question_can_be_cut_too() -> None:
    found = parts([reply(*tool_steps(9, "x" * 400))], 0)
    assert (len(ids(found.older)), ids(found.kept), found.turn_prefix) == (16, ["c8", "c8"], ())


def test_an_empty_conversation_has_nothing_to_cut() -> None:
    assert parts([], 100) == Split((), (), [], None, 0, 0, True)


def test_a_result_without_its_call_is_no_whole_pair() -> None:
    assert not has_whole_pairs([reply(result("c1"))])
    assert not has_whole_pairs([reply(result("c1"), call("c1"))])


@settings(max_examples=150, deadline=None)
@given(st.integers(0, 2**32), st.integers(0, 6_000), st.sampled_from(["copaw", "skill_compose"]))
def test_any_history_is_cut_without_loss(seed: int, keep_tokens: int, preset: str) -> None:
    check_split(grown_history(seed, 80), keep_tokens, policy(100_000, preset))


def check_split(messages: list[Msg], keep_tokens: int, rules: CompactionPolicy) -> None:
    """Every promise of a split on one history."""
    before = [(message.id, len(message.content)) for message in messages]
    found = parts(messages, keep_tokens, rules)
    assert [(message.id, len(message.content)) for message in messages] == before
    order = {key: place for place, key in enumerate(block_keys(messages))}
    for side in (found.older, found.turn_prefix, found.kept):
        places = [order[key] for key in block_keys(side)]
        assert places == sorted(places)
        assert has_whole_pairs(side)
    folded, kept = block_keys(found.folded), block_keys(found.kept)
    assert sorted(order[key] for key in [*folded, *kept]) == list(range(len(order)))
    assert found.is_valid
    always = _always_kept(messages)
    assert set(always) <= set(kept)
    again = parts(found.kept, keep_tokens, rules)
    assert again.is_empty
    assert block_keys(again.kept) == kept


def _always_kept(messages: list[Msg]) -> list[object]:
    kept: list[object] = []
    questions = [message for message in messages if message.role == "user"]
    kept.extend(block_keys(questions[-1:]))
    steps = [copy_with_blocks(messages[s.message_index], messages[s.message_index].content[s.start : s.stop])
             for s in steps_of(messages)]  # fmt: skip
    kept.extend(block_keys(steps[-1:]))
    kept.extend(key for step in steps if open_calls(step) for key in block_keys([step]))
    return kept
