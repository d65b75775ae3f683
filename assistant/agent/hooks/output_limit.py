"""Ends a turn whose answer the provider says it cut at the output limit; a call that was cut with it is refused first.

A call that was cut without a word from the provider is known by its text: see `calls`.
"""

from __future__ import annotations

import inspect
from collections.abc import AsyncGenerator
from contextlib import aclosing

from agentscope.agent import Agent
from agentscope.event import ToolResultEndEvent
from agentscope.middleware import MiddlewareBase
from agentscope.model import ChatResponse

from assistant.agent.hooks.signatures import Inputs, ModelAnswer, NextAnswer, NextStream, Stream
from assistant.agent.session_state import SessionState
from assistant.config.prompts import render
from assistant.errors import OutputLimitError
from assistant.messages.blocks import (
    ToolCallBlock,
    ToolCallState,
    ToolResultBlock,
    ToolResultState,
    open_calls,
    parse_object,
)
from assistant.models.providers.carried_notes import notes_of

MAX_CUT_STEPS = 3
"""Model calls in a row whose tool calls may be cut; a model that cannot keep within its limit would go on for ever."""


class OutputLimitHook(MiddlewareBase):
    """Listens for where an answer was cut, and looks at what is there once the step is over."""

    def __init__(self, state: SessionState) -> None:
        self._state = state
        self._cut_tokens: int | None = None
        self._cut_steps = 0

    async def on_model_call(self, agent: Agent, input_kwargs: Inputs, next_handler: NextAnswer) -> ModelAnswer:
        """The model's answer as it comes; where it was cut is remembered."""
        answer = await next_handler(**input_kwargs)
        return self._watched(answer) if inspect.isasyncgen(answer) else answer

    async def on_reasoning(self, agent: Agent, input_kwargs: Inputs, next_handler: NextStream) -> Stream:
        """A call that was cut gets an error as its result, and the model may make it again.

        Raises `OutputLimitError` where there is no call, and after a few steps in a row that were cut.
        """
        self._cut_tokens = None
        async for event in next_handler(**input_kwargs):
            yield event
        if self._cut_tokens is None:
            self._cut_steps = 0
            return
        self._cut_steps += 1
        call = _cut_call(agent)
        if call is not None:
            output = render("tool_call_cut", self._state.language, tokens=self._cut_tokens)
            call.state = ToolCallState.FINISHED
            result = ToolResultBlock(id=call.id, name=call.name, output=output, state=ToolResultState.ERROR)
            agent.state.context[-1].content.append(result)
            yield ToolResultEndEvent(reply_id=agent.state.reply_id, tool_call_id=call.id, state=ToolResultState.ERROR)
        # Whole calls that came before the cut are made, and the turn goes on with them.
        has_calls = bool(open_calls(agent.state.context[-1])) if agent.state.context else False
        if not has_calls and (call is None or self._cut_steps >= MAX_CUT_STEPS):
            self._cut_steps = 0
            raise OutputLimitError(self._cut_tokens)

    async def _watched(self, chunks: AsyncGenerator[ChatResponse, None]) -> AsyncGenerator[ChatResponse, None]:
        async with aclosing(chunks):
            async for chunk in chunks:
                tokens = notes_of(chunk).cut_tokens
                self._cut_tokens = self._cut_tokens if tokens is None else tokens
                yield chunk


def _cut_call(agent: Agent) -> ToolCallBlock | None:
    """The last block of the newest step where it is a call that is not whole: what was cut was written last."""
    content = agent.state.context[-1].content if agent.state.context else []
    last = content[-1] if content else None
    return last if isinstance(last, ToolCallBlock) and parse_object(last.input) is None else None
