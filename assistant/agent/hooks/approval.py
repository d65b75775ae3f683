"""Asks the person before anything risky runs; the judgement is `approvals.judge`."""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable
from typing import Any

from agentscope.agent import Agent
from agentscope.middleware import MiddlewareBase
from agentscope.permission import PermissionBehavior, PermissionDecision

from assistant.agent.tools.approvals import Rules, judge
from assistant.config.prompts import Language, render
from assistant.messages.blocks import ToolCallBlock, ToolCallState, call_arguments
from assistant.text.encoding import storable

_BEHAVIORS = {
    "allow": PermissionBehavior.ALLOW,
    "ask": PermissionBehavior.ASK,
    "deny": PermissionBehavior.DENY,
}


class ApprovalHook(MiddlewareBase):
    """Replaces AgentScope's permission engine: its read-only fast path would read any file of the machine."""

    def __init__(self, rules: Rules, language: Callable[[], Language]) -> None:
        self._rules = rules
        self._language = language

    async def on_check_permission(
        self,
        agent: Agent,
        input_kwargs: dict[str, Any],
        next_handler: Callable[..., Awaitable[PermissionDecision]],
    ) -> PermissionDecision:
        """The decision on one call; one that asks is looked at again once the person has allowed it.

        Nothing that was allowed is remembered for the next call.
        """
        arguments: dict[str, object] = input_kwargs["tool_input"]
        verdict = judge(input_kwargs["tool"].name, arguments, self._rules)
        if verdict.behavior == "ask":
            _write_out(agent, input_kwargs["tool_call"].id, arguments)
        if verdict.behavior == "ask" and input_kwargs["tool_call"].state == ToolCallState.ALLOWED:
            return PermissionDecision(behavior=PermissionBehavior.ALLOW, message="The person allowed this call.")
        message = verdict.reason
        if verdict.refusal is not None:
            message = render("tool_refused", self._language(), refusal=verdict.refusal, subject=verdict.subject)
        return PermissionDecision(behavior=_BEHAVIORS[verdict.behavior], message=message, bypass_immune=True)


def _write_out(agent: Agent, call_id: str, arguments: dict[str, object]) -> None:
    """Put the arguments that were judged, and will run, in place of what the model wrote.

    AgentScope mends broken JSON and wrong types, so what stands in the call can read as another command, or as none.
    """
    for block in (block for message in agent.state.context[-1:] for block in message.content):
        if isinstance(block, ToolCallBlock) and block.id == call_id and call_arguments(block) != arguments:
            block.input = storable(json.dumps(arguments, ensure_ascii=False))
