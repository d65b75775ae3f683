"""A step is on disk as it begins to act and as it ends."""

from __future__ import annotations

from collections.abc import AsyncGenerator

from agentscope.state import AgentState
from agentscope.tool import Toolkit

from assistant.agent.hooks.steps import StepHook
from assistant.agent.loop import build_agent
from assistant.models.scripted import ScriptedModel


async def test_a_call_is_kept_before_it_runs_so_that_a_kill_never_asks_about_it_again() -> None:
    happened: list[str] = []

    async def run(**_: object) -> AsyncGenerator[str]:
        happened.append("ran")
        yield "result"

    hook = StepHook(lambda: happened.append("kept"), max_steps=1)
    agent = build_agent(ScriptedModel([]), Toolkit(), AgentState(), [hook])
    chunks = [chunk async for chunk in hook.on_acting(agent, {}, run)]
    assert (chunks, happened) == (["result"], ["kept", "ran", "kept"])
