"""Gives every failure of a tool plain words: AgentScope hands on the text of an exception, whatever that is."""

from __future__ import annotations

import logging
from collections.abc import AsyncGenerator, Callable
from typing import Any

from agentscope.tool import ToolBase, ToolChunk, ToolMiddlewareBase

from assistant.config.plain_reasons import kind_of, plain_reason
from assistant.config.words import say
from assistant.errors import PalimpsestError
from assistant.messages.blocks import TextBlock, ToolResultState

log = logging.getLogger(__name__)


class FailureWords(ToolMiddlewareBase):
    """An exception whose text was written for the model is raised on; any other is reported in plain words."""

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
            if _speaks_to_the_model(error):
                raise
            log.exception("the tool %s failed", tool.name)
            failure = TextBlock(text=say("agent", "tool_failed", tool=tool.name, reason=plain_reason(error)))
            yield ToolChunk(content=[failure], state=ToolResultState.ERROR)


def _speaks_to_the_model(error: Exception) -> bool:
    """True for errors of ours, and for a sentence of AgentScope's tools on what to do otherwise."""
    if isinstance(error, PalimpsestError):
        return True
    is_a_sentence = isinstance(error, RuntimeError | ValueError) and kind_of(error) == "unforeseen"
    return bool(str(error).strip()) and (is_a_sentence or type(error).__module__.startswith("agentscope."))
