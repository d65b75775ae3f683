"""Gives every failure of a tool words: AgentScope hands on the text of an exception, and that can be empty."""

from __future__ import annotations

import logging
from collections.abc import AsyncGenerator, Callable
from typing import Any

from agentscope.tool import ToolBase, ToolChunk, ToolMiddlewareBase

from assistant.messages.blocks import TextBlock, ToolResultState

log = logging.getLogger(__name__)


class FailureWords(ToolMiddlewareBase):
    """An exception without a text is reported by its name; any other is raised on."""

    async def on_tool_call(  # pyright: ignore[reportIncompatibleMethodOverride]
        self,
        tool: ToolBase,
        input_kwargs: dict[str, Any],
        next_handler: Callable[..., AsyncGenerator[ToolChunk, None]],
    ) -> AsyncGenerator[ToolChunk, None]:
        """Every chunk as it comes."""
        try:
            async for chunk in next_handler(**input_kwargs):
                yield chunk
        except Exception as error:
            if str(error).strip():
                raise
            log.exception("the tool %s failed without a word", tool.name)
            failure = TextBlock(text=f"{tool.name} failed: {type(error).__name__}")
            yield ToolChunk(content=[failure], state=ToolResultState.ERROR)
