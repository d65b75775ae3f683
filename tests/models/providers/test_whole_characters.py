"""No half of a character leaves the stream of a model."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator

from agentscope.model import ChatResponse
from hypothesis import given
from hypothesis import strategies as st

from assistant.messages.blocks import TextBlock, ThinkingBlock, ToolCallBlock
from assistant.models.providers.whole_characters import with_whole_characters


async def texts_of(pieces: list[str]) -> list[str]:
    async def stream() -> AsyncGenerator[ChatResponse, None]:
        for piece in pieces:
            yield ChatResponse(content=[TextBlock(text=piece)], is_last=False)

    told = [chunk async for chunk in with_whole_characters(stream())]
    return [block.text for chunk in told for block in chunk.content if isinstance(block, TextBlock)]


async def test_a_character_cut_in_two_comes_whole() -> None:
    assert await texts_of(["so \ud83d", "\ude00 glad"]) == ["so ", "😀 glad"]


async def test_a_half_that_stays_alone_is_marked() -> None:
    assert await texts_of(["a\ud83d", "b\ude00c", "\ud83d"]) == ["a", "�b�c", ""]


async def test_thinking_and_calls_are_kept_apart() -> None:
    async def stream() -> AsyncGenerator[ChatResponse, None]:
        yield ChatResponse(content=[ThinkingBlock(thinking="\ud83d")], is_last=False)
        yield ChatResponse(content=[ToolCallBlock(id="a", name="x\ud83d", input="\ud83d")], is_last=False)
        yield ChatResponse(content=[ThinkingBlock(thinking="\ude00")], is_last=False)
        yield ChatResponse(content=[ToolCallBlock(id="a", name="x", input="\ude00")], is_last=False)

    blocks = [chunk.content[0] async for chunk in with_whole_characters(stream())]
    assert [block.thinking for block in blocks if isinstance(block, ThinkingBlock)] == ["", "😀"]
    calls = [(block.name, block.input) for block in blocks if isinstance(block, ToolCallBlock)]
    assert calls == [("x�", ""), ("x", "😀")]


@given(st.lists(st.text(alphabet=st.sampled_from("a\ud83d\ude00中"), max_size=4), max_size=6))
def test_every_piece_can_be_written(pieces: list[str]) -> None:
    told = "".join(asyncio.run(texts_of(pieces)))
    assert told.encode().decode() == told
