"""Caps a tool result as it arrives, before it comes into the context; the full text goes to disk first."""

from __future__ import annotations

from collections.abc import Callable
from typing import cast

from agentscope.agent import Agent
from agentscope.middleware import MiddlewareBase
from agentscope.tool import ToolResponse

from assistant.agent.hooks.signatures import Inputs, NextStream, Stream
from assistant.messages.blocks import DataBlock, TextBlock, ToolResultBlock
from assistant.text.encoding import storable

CapResult = Callable[[ToolResultBlock], ToolResultBlock]


class ToolResultHook(MiddlewareBase):
    """The page streams the full output; the context and the journal get what `cap` leaves of it."""

    def __init__(self, cap: CapResult, mask: Callable[[str], str]) -> None:
        """`mask` takes the values of known keys out of whatever a tool brought."""
        self._cap = cap
        self._mask = mask

    async def on_acting(self, agent: Agent, input_kwargs: Inputs, next_handler: NextStream) -> Stream:
        """Every chunk as it comes; the last one, which is what the context gets, is capped."""
        call = input_kwargs["tool_call"]
        async for chunk in next_handler(**input_kwargs):
            # A file name need not be UTF-8; as a result it would fail every request from here on.
            chunk = chunk.model_copy(update={"content": [self._clean(part) for part in chunk.content]})
            if isinstance(chunk, ToolResponse):
                # AgentScope does not say what is in it.
                metadata = cast(dict[str, object], chunk.metadata)  # pyright: ignore[reportUnknownMemberType]
                block = ToolResultBlock(
                    id=call.id, name=call.name, output=chunk.content, state=chunk.state, metadata=metadata
                )
                capped = self._cap(block)
                output = [TextBlock(text=capped.output)] if isinstance(capped.output, str) else capped.output
                content: list[TextBlock | DataBlock] = list(output)
                yield chunk.model_copy(update={"content": content, "metadata": capped.metadata})
            else:
                yield chunk

    def _clean(self, part: TextBlock | DataBlock) -> TextBlock | DataBlock:
        if not isinstance(part, TextBlock):
            return part
        return part.model_copy(update={"text": self._mask(storable(part.text))})
