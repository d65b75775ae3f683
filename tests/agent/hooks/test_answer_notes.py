"""What a provider said about an answer beside its text is settled after the step, and reported once."""

from __future__ import annotations

import pytest

from assistant.agent.hooks.answer_notes import split_thought
from assistant.messages.blocks import Block, TextBlock, ThinkingBlock, ToolCallBlock


def shape(blocks: list[Block]) -> list[tuple[str, str]]:
    """Kind and text of each block."""
    shown: list[tuple[str, str]] = []
    for block in blocks:
        match block:
            case TextBlock():
                shown.append(("text", block.text))
            case ThinkingBlock():
                shown.append(("thinking", block.thinking))
            case _:
                shown.append((block.type, ""))
    return shown


@pytest.mark.parametrize(
    ("text", "chars", "expected"),
    [
        ("Hm.\n\nYes.", 4, [("thinking", "Hm."), ("text", "Yes.")]),
        ("Hm.", 3, [("thinking", "Hm.")]),
    ],
    ids=["an answer behind it", "nothing behind it"],
)
def test_text_that_was_thinking_becomes_thinking(text: str, chars: int, expected: list[tuple[str, str]]) -> None:
    assert shape(split_thought([TextBlock(text=text)], chars)) == expected


def test_earlier_steps_and_calls_stay_as_they_are() -> None:
    call = ToolCallBlock(id="a", name="Read", input="{}")
    blocks: list[Block] = [TextBlock(text="First."), TextBlock(text="Hm. Yes."), call]
    assert shape(split_thought(blocks, 3)) == [
        ("text", "First."),
        ("thinking", "Hm."),
        ("text", "Yes."),
        ("tool_call", ""),
    ]


def test_blocks_without_text_are_left_alone() -> None:
    blocks: list[Block] = [ToolCallBlock(id="a", name="Read", input="{}")]
    assert split_thought(blocks, 3) == blocks
