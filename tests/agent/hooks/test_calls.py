"""A call that asks runs once it was allowed, and what is refused stays refused."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from agentscope.permission import PermissionBehavior
from agentscope.state import AgentState
from agentscope.tool import Bash, Toolkit

from assistant.agent.hooks.calls import CallHook
from assistant.agent.loop import build_agent
from assistant.agent.tools.approvals import Rules
from assistant.config.words import Language
from assistant.messages.blocks import AssistantMsg, ToolCallBlock, ToolCallState
from assistant.models.scripted import ScriptedModel


class English:
    """What a conversation in English says of its language."""

    language: Language = "en"


@pytest.mark.parametrize(
    ("command", "state", "behavior"),
    [
        ("pwd", ToolCallState.PENDING, PermissionBehavior.ALLOW),
        ("touch made", ToolCallState.PENDING, PermissionBehavior.ASK),
        ("touch made", ToolCallState.ALLOWED, PermissionBehavior.ALLOW),
        ("cat .env", ToolCallState.PENDING, PermissionBehavior.DENY),
        ("cat .env", ToolCallState.ALLOWED, PermissionBehavior.DENY),
    ],
    ids=["reads", "asks", "allowed", "refused", "refused though allowed"],
)
async def test_the_decision_on_a_call(
    tmp_path: Path, command: str, state: ToolCallState, behavior: PermissionBehavior
) -> None:
    hook = CallHook(English(), Rules("ask", tmp_path, tmp_path))
    call = ToolCallBlock(id="call_1", name="Bash", input=json.dumps({"command": command}), state=state)
    state_of_agent = AgentState(context=[AssistantMsg("palimpsest", [call])])
    agent = build_agent(ScriptedModel([]), Toolkit(tools=[Bash()]), state_of_agent, [hook])

    async def never(**_: object) -> None:
        raise AssertionError("AgentScope's own engine is not asked")

    decision = await hook.on_check_permission(
        agent, {"tool_call": call, "tool": Bash(), "tool_input": {"command": command}}, never
    )
    assert decision.behavior == behavior
