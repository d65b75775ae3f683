"""Messages as blocks: keys, steps, turns, pairs and texts."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assistant.messages.blocks import (
    AssistantMsg,
    Base64Source,
    Block,
    BlockKey,
    DataBlock,
    HintBlock,
    Msg,
    Step,
    SystemMsg,
    TextBlock,
    ThinkingBlock,
    ToolCallBlock,
    ToolResultBlock,
    Turn,
    UserMsg,
    block_keys,
    block_text,
    call_arguments,
    copy_with_blocks,
    iterate_blocks,
    open_calls,
    result_text,
    steps_of,
    turns_of,
    with_result_text,
)

PICTURE = DataBlock(id="d", source=Base64Source(data="AA", media_type="image/png"))


def text(block_id: str) -> TextBlock:
    return TextBlock(id=block_id, text=block_id)


def call(block_id: str) -> ToolCallBlock:
    return ToolCallBlock(id=block_id, name="Bash", input='{"command": "ls"}')


def result(block_id: str) -> ToolResultBlock:
    return ToolResultBlock(id=block_id, name="Bash", output="out")


def reply(*blocks: Block) -> Msg:
    return AssistantMsg("palimpsest", list(blocks), id="reply")


QUESTION = UserMsg("user", [text("q")], id="question")
LOOP = reply(
    ThinkingBlock(id="t", thinking="hm"), call("1"), call("2"), result("2"), result("1"), call("3"), result("3")
)


def test_a_call_and_its_result_have_keys_that_differ_in_kind() -> None:
    assert block_keys([QUESTION, reply(call("1"), result("1"))]) == [
        BlockKey("question", "text", "q"),
        BlockKey("reply", "tool_call", "1"),
        BlockKey("reply", "tool_result", "1"),
    ]


def test_blocks_come_with_their_places() -> None:
    placed = list(iterate_blocks([QUESTION, reply(), reply(text("a"), text("b"))]))
    assert [(block.message_index, block.block_index, block.block.id) for block in placed] == [
        (0, 0, "q"),
        (2, 0, "a"),
        (2, 1, "b"),
    ]


@pytest.mark.parametrize(
    ("messages", "steps"),
    [
        ([], []),
        ([reply()], []),
        ([QUESTION], [Step(0, 0, 1)]),
        ([QUESTION, LOOP], [Step(0, 0, 1), Step(1, 0, 5), Step(1, 5, 7)]),
        ([reply(call("1"), result("1"), text("a"))], [Step(0, 0, 2), Step(0, 2, 3)]),
        ([reply(text("a"), call("1"))], [Step(0, 0, 2)]),
        ([reply(call("1"), result("1"), HintBlock(hint="h"), call("2"))], [Step(0, 0, 2), Step(0, 2, 4)]),
    ],
    ids=["nothing", "empty", "question", "loop", "answer", "open call", "hint"],
)
def test_a_step_is_what_one_model_call_brought(messages: list[Msg], steps: list[Step]) -> None:
    assert steps_of(messages) == steps


@pytest.mark.parametrize(
    ("roles", "turns"),
    [
        ("", []),
        ("u", [Turn(0, 1)]),
        ("uaua", [Turn(0, 2), Turn(2, 4)]),
        ("aua", [Turn(0, 1), Turn(1, 3)]),
        ("uu", [Turn(0, 1), Turn(1, 2)]),
        ("sa", [Turn(0, 2)]),
    ],
)
def test_a_turn_starts_at_a_user_message(roles: str, turns: list[Turn]) -> None:
    made = {"u": QUESTION, "a": reply(text("a")), "s": SystemMsg("system", "s")}
    assert turns_of([made[role] for role in roles]) == turns


def test_open_calls_are_those_without_a_result() -> None:
    waiting = call("2")
    assert open_calls(reply(call("1"), waiting, result("1"))) == [waiting]


def test_a_copy_with_other_blocks_leaves_the_original_alone() -> None:
    copy = copy_with_blocks(LOOP, [text("a")])
    assert (copy.id, copy.created_at, [block.id for block in copy.content]) == (LOOP.id, LOOP.created_at, ["a"])
    assert len(LOOP.content) == 7


@pytest.mark.parametrize(
    ("block", "shown"),
    [
        (text("words"), "words"),
        (ThinkingBlock(thinking="hm"), "hm"),
        (HintBlock(hint="hint"), "hint"),
        (HintBlock(hint=[text("one"), PICTURE]), "one\n[image/png]"),
        (call("1"), 'Bash({"command": "ls"})'),
        (result("1"), "out"),
        (ToolResultBlock(id="1", name="n", output=[text("one"), PICTURE]), "one\n[image/png]"),
        (PICTURE, "[image/png]"),
    ],
    ids=["text", "thinking", "hint", "hint parts", "call", "result", "result parts", "data"],
)
def test_a_block_reads_as_plain_text(block: Block, shown: str) -> None:
    assert block_text(block) == shown


def test_a_result_with_other_text_keeps_its_pictures_and_metadata() -> None:
    before = ToolResultBlock(id="1", name="n", output=[text("long"), PICTURE], metadata={"diff": "+a"})
    after = with_result_text(before, "short", {"artifact_id": "x"})
    assert result_text(after) == "short\n[image/png]"
    assert after.metadata == {"diff": "+a", "artifact_id": "x"}
    assert result_text(before) == "long\n[image/png]"
    assert with_result_text(result("1"), "short", {}).output == "short"


@pytest.mark.parametrize(
    ("written", "arguments"),
    [('{"a": 1}', {"a": 1}), ("", {}), ("[1]", {}), ('{"a":', {}), ("null", {}), ("[" * 100_000, {})],
    ids=["object", "empty", "list", "cut", "null", "deep"],
)
def test_arguments_that_are_no_object_are_empty(written: str, arguments: dict[str, object]) -> None:
    assert call_arguments(ToolCallBlock(id="1", name="n", input=written)) == arguments


kinds = st.sampled_from([text("a"), call("1"), result("1"), ThinkingBlock(thinking="t"), HintBlock(hint="h")])


@given(st.lists(st.lists(kinds, max_size=8), max_size=4))
def test_steps_and_turns_cover_every_block_once_and_in_order(contents: list[list[Block]]) -> None:
    messages = [message for blocks in contents for message in (QUESTION, reply(*blocks))]
    covered = [(step.message_index, index) for step in steps_of(messages) for index in range(step.start, step.stop)]
    assert covered == [(placed.message_index, placed.block_index) for placed in iterate_blocks(messages)]
    assert [index for turn in turns_of(messages) for index in range(turn.start, turn.stop)] == list(
        range(len(messages))
    )
