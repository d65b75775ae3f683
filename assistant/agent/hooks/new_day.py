"""Says what day it is where that changed since the system prompt was made, which stays as it is."""

from __future__ import annotations

from agentscope.agent import Agent
from agentscope.middleware import MiddlewareBase

from assistant.agent.hooks.signatures import Inputs, NextStream, Stream
from assistant.agent.session_state import SessionState
from assistant.config.prompts import render
from assistant.messages.blocks import HintBlock
from assistant.messages.hints import DAY_SOURCE, hints_from, insert_hint


class NewDayHook(MiddlewareBase):
    """A line before the person's message, before the first model call of a turn, once a day."""

    def __init__(self, state: SessionState) -> None:
        self._state = state

    async def on_reasoning(self, agent: Agent, input_kwargs: Inputs, next_handler: NextStream) -> Stream:
        """The day is that of the person; a turn that goes on past midnight hears of it with the next one."""
        today = self._state.now().date().isoformat()
        context, basis = agent.state.context, self._state.frozen_prompt.basis
        is_turn_new = bool(context) and context[-1].role == "user"
        if is_turn_new and basis is not None and today != self._told_day(basis.day):
            hint = render("new_day", self._state.language, today=today)
            block = HintBlock(id=today, hint=hint, source=DAY_SOURCE)
            agent.state.context = insert_hint(context, agent.name, block)
        async for event in next_handler(**input_kwargs):
            yield event

    def _told_day(self, first: str) -> str:
        """The day that the context names last."""
        told = hints_from(DAY_SOURCE, self._state.context)
        return told[-1].id if told else first
