"""Keeps every step on disk as it ends, and ends a turn that has used up its model calls."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from agentscope.agent import Agent
from agentscope.middleware import MiddlewareBase

from assistant.agent.hooks.signatures import Inputs, NextStream, Stream
from assistant.config.words import say
from assistant.errors import ModelError, StepLimitError
from assistant.messages.blocks import Msg, ThinkingBlock

MAX_SILENT_STEPS = 3
"""Model calls in a row that may bring thoughts alone."""


class StepHook(MiddlewareBase):
    """`keep` is called after each model call and after each tool result; `max_steps` counts model calls of a turn."""

    def __init__(self, keep: Callable[[], None], max_steps: int) -> None:
        self._keep = keep
        self._max_steps = max_steps
        self._steps = 0
        self._silent_steps = 0

    def start_turn(self) -> None:
        """Count from zero again; *Continue* counts as a new turn here."""
        self._steps = self._silent_steps = 0

    async def on_reasoning(self, agent: Agent, input_kwargs: Inputs, next_handler: NextStream) -> Stream:
        """Raises `StepLimitError` in place of the model call that would be one too many.

        AgentScope asks again after thoughts alone; a model that has nothing else to give would be paid for them to the
        limit, so after a few times in a row it is a `ModelError`.
        """
        if self._steps >= self._max_steps:
            raise StepLimitError(self._max_steps)
        if self._silent_steps >= MAX_SILENT_STEPS:
            raise ModelError(say("agent", "only_thought", steps=self._silent_steps))
        self._steps += 1
        async for event in next_handler(**input_kwargs):
            yield event
        self._silent_steps = self._silent_steps + 1 if _ends_in_thought(agent.state.context) else 0
        self._keep()

    async def on_acting(self, agent: Agent, input_kwargs: Inputs, next_handler: NextStream) -> Stream:
        """Keeps that the call begins, so that a kill never asks again about what ran, and then its result.

        The agent has the result in its context by the time the last chunk was taken.
        """
        self._keep()
        async for chunk in next_handler(**input_kwargs):
            yield chunk
        self._keep()


def _ends_in_thought(messages: Sequence[Msg]) -> bool:
    last = messages[-1].content[-1:] if messages else []
    return bool(last) and isinstance(last[0], ThinkingBlock)
