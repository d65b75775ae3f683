"""A stream whose pieces hold whole characters: a server that counts in UTF-16 may cut an emoji in two."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import aclosing

from agentscope.model import ChatResponse

from assistant.messages.blocks import DataBlock, TextBlock, ThinkingBlock, ToolCallBlock
from assistant.text.encoding import storable


async def with_whole_characters(stream: AsyncGenerator[ChatResponse, None]) -> AsyncGenerator[ChatResponse, None]:
    """The same pieces; the first half of a character waits for the second, and what is no character becomes U+FFFD.

    A lone half would fail every file and request it gets into.
    """
    halves: dict[str, str] = {}
    async with aclosing(stream):
        async for chunk in stream:
            for block in chunk.content:
                match block:
                    case TextBlock():
                        block.text = _whole("text", block.text, halves)
                    case ThinkingBlock():
                        block.thinking = _whole("thinking", block.thinking, halves)
                    case ToolCallBlock():
                        block.input = _whole(block.id, block.input, halves)
                        block.name = storable(block.name)
                    case DataBlock():
                        pass
            yield chunk


def _whole(key: str, text: str, halves: dict[str, str]) -> str:
    text = halves.pop(key, "") + text
    if text and "\ud800" <= text[-1] <= "\udbff":
        halves[key] = text[-1]
        text = text[:-1]
    return storable(text)
