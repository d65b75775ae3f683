"""An answer that a provider cut at its output limit: how a stream of AgentScope's chunks says so.

No model class of AgentScope reads why an answer ended, and its own finish reasons know only *completed* and
*interrupted*. What the wire said is handed on in the metadata of one last chunk; it adds nothing to a block that is
there, because a chunk without content would be left out on its way.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import aclosing

from agentscope.model import ChatResponse

from assistant.messages.blocks import DataBlock, TextBlock, ThinkingBlock, ToolCallBlock
from assistant.models.providers.chunk_stream import CheckedStream

_KEY = "cut_at_output_tokens"
ReplyBlock = TextBlock | ThinkingBlock | ToolCallBlock | DataBlock


async def with_cut_told(
    stream: AsyncGenerator[ChatResponse, None], checked: CheckedStream
) -> AsyncGenerator[ChatResponse, None]:
    """The same chunks, and one more where the provider cut the answer."""
    newest: ReplyBlock | None = None
    async with aclosing(stream):
        async for chunk in stream:
            newest = chunk.content[-1] if chunk.content else newest
            yield chunk
    if checked.is_cut and newest is not None:
        yield cut_chunk(newest, checked.output_tokens)


def cut_chunk(newest: ReplyBlock, output_tokens: int) -> ChatResponse:
    """Says that the answer was cut within or behind its newest block; 0 tokens where the provider gave no count."""
    return ChatResponse(content=[_nothing_more(newest)], is_last=False, metadata={_KEY: output_tokens})


def cut_tokens(chunk: ChatResponse) -> int | None:
    """After how many tokens the answer was cut, if this chunk says that it was."""
    tokens = chunk.metadata.get(_KEY)
    return tokens if isinstance(tokens, int) else None


def _nothing_more(block: ReplyBlock) -> ReplyBlock:
    match block:
        case ThinkingBlock():
            return ThinkingBlock(id=block.id, thinking="")
        case ToolCallBlock():
            return ToolCallBlock(id=block.id, name=block.name, input="")
        case TextBlock():
            return TextBlock(id=block.id, text="")
        case DataBlock():
            return TextBlock(text="")
