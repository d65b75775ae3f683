"""Calls and results in words, for a provider that refuses a request which has them and offers no tools."""

from __future__ import annotations

from collections.abc import Sequence

from assistant.config.prompts import language_of, render
from assistant.messages.blocks import (
    Block,
    HintBlock,
    Msg,
    TextBlock,
    ToolCallBlock,
    ToolResultBlock,
    block_text,
    copy_with_blocks,
    result_text,
)


def with_calls_as_words(messages: Sequence[Msg]) -> list[Msg]:
    """The same messages; a call is a line of the assistant's, its result is told by the user."""
    return [copy_with_blocks(message, map(_in_words, message.content)) for message in messages]


def _in_words(block: Block) -> Block:
    match block:
        case ToolCallBlock():
            return TextBlock(text=block_text(block))
        case ToolResultBlock():
            text = result_text(block)
            return HintBlock(hint=render("tool_result_in_words", language_of(text), name=block.name, text=text))
        case _:
            return block
