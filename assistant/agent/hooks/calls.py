"""The one guard of tool calls: a call must be whole, be readable, and be allowed.

Many servers cut an answer at its limit and do not say so; then the call's own text is the only sign. Where they say so,
`output_limit` has refused the call before it comes here.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict
from typing import Protocol, cast

from agentscope.agent import Agent
from agentscope.middleware import MiddlewareBase
from agentscope.permission import PermissionBehavior, PermissionDecision
from agentscope.tool import ToolResponse

from assistant.agent.allowances import Allowances
from assistant.agent.hooks.signatures import Inputs, NextDecision, NextStream, Stream
from assistant.agent.tools.approvals import Rules, judge
from assistant.agent.tools.tool_paths import with_whole_path
from assistant.config.prompts import render
from assistant.config.words import Language, say
from assistant.messages.blocks import ToolCallBlock, ToolCallState, call_arguments
from assistant.messages.events import ALLOWED_KEY, AllowedBy
from assistant.text.encoding import storable
from assistant.text.json_parsing import MAX_NESTING, is_nested_too_deep

_BEHAVIORS = {
    "allow": PermissionBehavior.ALLOW,
    "ask": PermissionBehavior.ASK,
    "deny": PermissionBehavior.DENY,
}


class LanguageSource(Protocol):
    """A conversation, or a flush: where the language of a refusal comes from."""

    @property
    def language(self) -> Language:
        """The language now."""
        ...


class CallHook(MiddlewareBase):
    """Refuses half a call and arguments nobody can read, and asks the person before anything risky runs.

    It replaces AgentScope's permission engine, whose read-only fast path would read any file of the machine. Without
    rules, as for a sidecar agent that has tools of our own alone, each tool decides by itself.
    """

    def __init__(self, source: LanguageSource, rules: Rules | None, allowances: Allowances | None = None) -> None:
        """`allowances` are what the person allowed before; None where nobody is asked."""
        self._source = source
        self._rules = rules
        self._allowances = allowances
        self._allowed_by: dict[str, AllowedBy] = {}

    async def on_reasoning(self, agent: Agent, input_kwargs: Inputs, next_handler: NextStream) -> Stream:
        """Takes arguments out of a call that are nested so deep that to parse them would end the turn.

        The call then fails as one with wrong arguments does: the model reads why, and the turn goes on.
        """
        async for event in next_handler(**input_kwargs):
            yield event
        for message in agent.state.context[-1:]:
            for block in message.content:
                if isinstance(block, ToolCallBlock) and is_nested_too_deep(block.input):
                    refusal = render("tool_arguments_too_deep", self._source.language, levels=MAX_NESTING)
                    block.input = json.dumps({"refused": refusal}, ensure_ascii=False)

    async def on_check_permission(
        self, agent: Agent, input_kwargs: Inputs, next_handler: NextDecision
    ) -> PermissionDecision:
        """The decision on one call: first whether it is whole, then whether it is allowed.

        AgentScope mends broken JSON, and half a command or half a file is another one than the model meant.
        """
        if ends_within_text(input_kwargs["tool_call"].input):
            refusal = render("tool_call_cut", self._source.language, tokens=None)
            return PermissionDecision(behavior=PermissionBehavior.DENY, message=refusal, bypass_immune=True)
        if self._rules is None:
            return await next_handler(**input_kwargs)
        return self._judge(agent, input_kwargs, self._rules)

    def _judge(self, agent: Agent, input_kwargs: Inputs, rules: Rules) -> PermissionDecision:
        """The judgement of `approvals`; a call that asks is judged again once the person has allowed it.

        Of what was allowed nothing holds for the next call but what the person allowed for longer.
        """
        arguments = with_whole_path(input_kwargs["tool"].name, input_kwargs["tool_input"], rules.start_folder)
        verdict = judge(input_kwargs["tool"].name, arguments, rules)
        if verdict.behavior == "ask":
            _write_out(agent, input_kwargs["tool_call"].id, arguments)
        if verdict.behavior == "ask" and self._is_allowed(input_kwargs["tool_call"], arguments):
            return PermissionDecision(behavior=PermissionBehavior.ALLOW, message=say("agent", "allowed"))
        message = verdict.reason
        if verdict.refusal is not None:
            message = render("tool_refused", self._source.language, refusal=verdict.refusal, subject=verdict.subject)
        return PermissionDecision(behavior=_BEHAVIORS[verdict.behavior], message=message, bypass_immune=True)

    async def on_acting(self, agent: Agent, input_kwargs: Inputs, next_handler: NextStream) -> Stream:
        """The call as it is; the result of one that was allowed before says so."""
        allowed_by = self._allowed_by.pop(input_kwargs["tool_call"].id, None)
        async for chunk in next_handler(**input_kwargs):
            if allowed_by is not None and isinstance(chunk, ToolResponse):
                # AgentScope does not say what is in it.
                metadata = cast(dict[str, object], chunk.metadata)  # pyright: ignore[reportUnknownMemberType]
                yield chunk.model_copy(update={"metadata": {**metadata, ALLOWED_KEY: asdict(allowed_by)}})
            else:
                yield chunk

    def _is_allowed(self, call: ToolCallBlock, arguments: Mapping[str, object]) -> bool:
        if self._allowances is not None and (allowed_by := self._allowances.find(call.name, arguments)):
            self._allowed_by[call.id] = allowed_by
            return True
        return call.state == ToolCallState.ALLOWED


def ends_within_text(arguments: str) -> bool:
    """True where JSON ends before a text in it does, as at a model's limit of tokens."""
    try:
        # Line ends within a text are no end of it.
        json.loads(arguments, strict=False)
    except json.JSONDecodeError as error:
        return error.msg.startswith("Unterminated string") or (
            error.msg.startswith("Invalid \\uXXXX") and error.pos >= len(arguments) - len("\\uXXXX")
        )
    except RecursionError:
        return False
    return False


def _write_out(agent: Agent, call_id: str, arguments: dict[str, object]) -> None:
    """Put the arguments that were judged, and will run, in place of what the model wrote.

    AgentScope mends broken JSON and wrong types, so what is in the call can read as another command, or as none.
    """
    for block in (block for message in agent.state.context[-1:] for block in message.content):
        if isinstance(block, ToolCallBlock) and block.id == call_id and call_arguments(block) != arguments:
            block.input = storable(json.dumps(arguments, ensure_ascii=False))
