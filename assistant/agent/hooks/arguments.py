"""Takes out of a call what no parser can read: arguments nested so deep that they would end the turn."""

from __future__ import annotations

import json
from collections.abc import AsyncGenerator, Callable
from typing import Any

from agentscope.agent import Agent
from agentscope.middleware import MiddlewareBase

from assistant.config.prompts import Language, render
from assistant.messages.blocks import ToolCallBlock
from assistant.text.json_parsing import MAX_NESTING, is_nested_too_deep


class ArgumentsHook(MiddlewareBase):
    """The call fails as one with wrong arguments does: the model reads why, and the turn goes on."""

    def __init__(self, language: Callable[[], Language]) -> None:
        self._language = language

    async def on_reasoning(
        self, agent: Agent, input_kwargs: dict[str, Any], next_handler: Callable[..., AsyncGenerator[Any, None]]
    ) -> AsyncGenerator[Any, None]:
        """Looks at the calls of a step once they are whole, before AgentScope parses them."""
        async for event in next_handler(**input_kwargs):
            yield event
        for message in agent.state.context[-1:]:
            for block in message.content:
                if isinstance(block, ToolCallBlock) and is_nested_too_deep(block.input):
                    refusal = render("tool_arguments_too_deep", self._language(), levels=MAX_NESTING)
                    block.input = json.dumps({"refused": refusal}, ensure_ascii=False)
