"""Ends a loop of the model: a call that brought the same twice in a turn is not run a third time."""

from __future__ import annotations

import json
from collections import Counter

from agentscope.agent import Agent
from agentscope.middleware import MiddlewareBase
from agentscope.permission import PermissionBehavior, PermissionDecision
from agentscope.tool import ToolChoice, ToolResponse

from assistant.agent.hooks.calls import LanguageSource
from assistant.agent.hooks.signatures import Inputs, NextDecision, NextStream, Stream
from assistant.config.prompts import render
from assistant.messages.blocks import TextBlock, ToolCallBlock, call_arguments

MAX_EQUAL_CALLS = 2
"""Calls of a turn that may have the same name, arguments and result."""


class RepeatedCallHook(MiddlewareBase):
    """Refuses the third such call with a sentence that says so; the step after it has no tools, for an answer."""

    def __init__(self, source: LanguageSource) -> None:
        self._source = source
        self._results: dict[str, str] = {}
        self._equal: Counter[str] = Counter()
        self._has_refused = False

    def start_turn(self) -> None:
        """Forget the calls of the turn before."""
        self._results.clear()
        self._equal.clear()
        self._has_refused = False

    async def on_reasoning(self, agent: Agent, input_kwargs: Inputs, next_handler: NextStream) -> Stream:
        """The step as it is; without tools behind a call that was refused."""
        if self._has_refused:
            self._has_refused = False
            input_kwargs = {**input_kwargs, "tool_choice": ToolChoice(mode="none")}
        async for event in next_handler(**input_kwargs):
            yield event

    async def on_check_permission(
        self, agent: Agent, input_kwargs: Inputs, next_handler: NextDecision
    ) -> PermissionDecision:
        """A refusal of a call that brought the same twice, else what the others decide."""
        if self._equal[_key(input_kwargs["tool_call"])] < MAX_EQUAL_CALLS:
            return await next_handler(**input_kwargs)
        self._has_refused = True
        refusal = render("tool_call_repeated", self._source.language, count=MAX_EQUAL_CALLS)
        return PermissionDecision(behavior=PermissionBehavior.DENY, message=refusal, bypass_immune=True)

    async def on_acting(self, agent: Agent, input_kwargs: Inputs, next_handler: NextStream) -> Stream:
        """The call as it is; its result is compared with the one before."""
        async for chunk in next_handler(**input_kwargs):
            if isinstance(chunk, ToolResponse):
                key = _key(input_kwargs["tool_call"])
                result = "\n".join(part.text for part in chunk.content if isinstance(part, TextBlock))
                self._equal[key] = self._equal[key] + 1 if self._results.get(key) == result else 1
                self._results[key] = result
            yield chunk


def _key(call: ToolCallBlock) -> str:
    arguments = call_arguments(call)
    return f"{call.name} {json.dumps(arguments, sort_keys=True, ensure_ascii=False)}"
