"""Runs whole calls only: one whose text breaks off in the middle of its arguments is refused, and made again.

Many servers cut an answer at its limit and do not say so; then the call's own text is the only sign. Where they say so,
`output_limit` has refused it already.
"""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable
from typing import Any

from agentscope.agent import Agent
from agentscope.middleware import MiddlewareBase
from agentscope.permission import PermissionBehavior, PermissionDecision

from assistant.config.prompts import Language, render


class WholeCallHook(MiddlewareBase):
    """Stands before whatever judges a call.

    AgentScope mends broken JSON, and half a command or half a file is another one than the model meant.
    """

    def __init__(self, language: Callable[[], Language]) -> None:
        self._language = language

    async def on_check_permission(
        self,
        agent: Agent,
        input_kwargs: dict[str, Any],
        next_handler: Callable[..., Awaitable[PermissionDecision]],
    ) -> PermissionDecision:
        """Deny what ends within a text; leave the rest to the next."""
        if ends_within_text(input_kwargs["tool_call"].input):
            refusal = render("tool_call_cut", self._language(), tokens=None)
            return PermissionDecision(behavior=PermissionBehavior.DENY, message=refusal, bypass_immune=True)
        return await next_handler(**input_kwargs)


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
