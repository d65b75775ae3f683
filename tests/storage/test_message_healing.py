"""Messages after a crash are fit to be sent again: whole pairs, in their steps, nothing else changed."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from assistant.messages.blocks import (
    AssistantMsg,
    Block,
    Msg,
    TextBlock,
    ToolCallBlock,
    ToolCallState,
    ToolResultBlock,
    ToolResultState,
    UserMsg,
    steps_of,
)
from assistant.storage.message_healing import heal, is_parked


def call(name: str, state: ToolCallState = ToolCallState.FINISHED) -> ToolCallBlock:
    return ToolCallBlock(id=name, name="Bash", input="{}", state=state, created_at="then")


def result(name: str, output: str = "out", state: ToolResultState = ToolResultState.SUCCESS) -> ToolResultBlock:
    return ToolResultBlock(id=name, name="Bash", output=output, state=state, created_at="then", finished_at="then")


def lost(name: str) -> ToolResultBlock:
    return result(name, "[interrupted]", ToolResultState.INTERRUPTED)


def text(name: str) -> TextBlock:
    return TextBlock(id=name, text=name, created_at="then")


def reply(*blocks: Block) -> Msg:
    return AssistantMsg("palimpsest", list(blocks), id="reply", created_at="then")


def healed(*blocks: Block) -> list[Block]:
    return heal([reply(*blocks)])[0].content


def test_whole_messages_come_back_as_the_same_objects() -> None:
    messages = [UserMsg("user", "hi"), reply(text("a"), call("1"), call("2"), result("2"), result("1"), text("b"))]
    assert all(new is old for new, old in zip(heal(messages), messages, strict=True))


def test_a_call_without_a_result_gets_one_in_its_step() -> None:
    blocks = [call("1", ToolCallState.ALLOWED), call("2"), result("2"), text("b")]
    assert healed(*blocks) == [call("1"), call("2"), result("2"), lost("1"), text("b")]
    assert blocks[0] == call("1", ToolCallState.ALLOWED)


def test_a_result_that_was_still_running_is_interrupted() -> None:
    assert healed(call("1"), result("1", "half", ToolResultState.RUNNING)) == [
        call("1"),
        result("1", "half", ToolResultState.INTERRUPTED),
    ]


def test_a_result_that_stands_steps_later_comes_to_its_call() -> None:
    assert healed(call("1"), call("2"), result("2"), text("b"), result("1")) == [
        call("1"),
        call("2"),
        result("2"),
        result("1"),
        text("b"),
    ]


def test_a_result_without_a_call_is_left_out() -> None:
    assert healed(result("1"), text("a"), result("2")) == [text("a")]


def test_a_call_id_that_repeats_takes_the_results_in_order() -> None:
    assert healed(call("1"), result("1", "one"), call("1"), result("1", "two"), call("1")) == [
        call("1"),
        result("1", "one"),
        call("1"),
        result("1", "two"),
        call("1"),
        lost("1"),
    ]


def test_a_last_message_that_waits_for_an_approval_stays_as_it_is() -> None:
    parked = reply(call("1", ToolCallState.ASKING), call("2", ToolCallState.PENDING))
    assert is_parked(parked)
    assert heal([parked])[0] is parked
    assert heal([parked, UserMsg("user", "go on")])[0].content == [call("1"), call("2"), lost("1"), lost("2")]


def test_an_answered_call_does_not_wait() -> None:
    asked = reply(call("1", ToolCallState.ASKING), result("1"))
    assert not is_parked(asked)
    assert heal([asked])[0].content == [call("1"), result("1")]


blocks = st.lists(
    st.one_of(
        st.builds(call, st.sampled_from("123"), st.sampled_from(ToolCallState)),
        st.builds(result, st.sampled_from("1234"), st.just("out"), st.sampled_from(ToolResultState)),
        st.builds(text, st.sampled_from("abc")),
    ),
    max_size=14,
)


@given(blocks)
def test_every_call_has_one_result_in_its_step_and_a_second_run_changes_nothing(content: list[Block]) -> None:
    messages = [reply(*content), UserMsg("user", "next", id="m", created_at="then")]
    once = heal(messages)
    assert heal(once) == once
    content_after = once[0].content
    assert [block for block in content_after if isinstance(block, TextBlock)] == [
        block for block in content if isinstance(block, TextBlock)
    ]
    for step in steps_of(once):
        part = once[step.message_index].content[step.start : step.stop]
        calls = sorted(block.id for block in part if isinstance(block, ToolCallBlock))
        assert calls == sorted(block.id for block in part if isinstance(block, ToolResultBlock))


def test_beside_a_call_that_waits_one_that_had_begun_is_not_run_again() -> None:
    begun, waiting = call("begun", ToolCallState.ALLOWED), call("waiting", ToolCallState.ASKING)
    assert healed(begun, waiting) == [call("begun"), waiting, lost("begun")]
