"""A turn takes a short way to AgentScope's loop, and the way that its module describes."""

from __future__ import annotations

import asyncio
import re
import sys
from collections.abc import Coroutine, Iterator, Sequence
from pathlib import Path
from types import CodeType
from typing import Any

from agentscope.agent import Agent

import assistant.agent.loop
from assistant.messages.blocks import Msg
from assistant.models.scripted import ScriptedModel
from tests.fakes.home import say, scripted_assistant, text

MAX_HOPS = 9


def names_outwards() -> Iterator[str]:
    """The functions of ours and of the agent that are on the way to here, the innermost first."""
    frame = sys._getframe(1)
    while frame is not None:
        module = frame.f_globals.get("__name__", "")
        if module.startswith("assistant."):
            yield f"{module}.{frame.f_code.co_qualname}"
        elif frame.f_code is agent_code():
            yield "agentscope.agent.Agent.reply_stream"
        frame = frame.f_back


def agent_code() -> CodeType:
    """The code of AgentScope's loop."""
    return Agent.reply_stream.__code__


def described() -> list[str]:
    """The way as the module describes it, the page's end first."""
    return re.findall(r"^    (\w+(?:\.\w+)+)$", assistant.agent.loop.__doc__ or "", re.MULTILINE)


async def test_a_message_passes_the_functions_that_the_loop_describes_and_no_others(home: Path) -> None:
    ways: list[list[str]] = []

    def note_task(loop: asyncio.AbstractEventLoop, work: Coroutine[Any, Any, Any], **options: Any) -> asyncio.Task[Any]:
        ways.append(list(names_outwards()))
        return asyncio.Task(work, loop=loop, **options)

    def answer(_: Sequence[Msg]) -> Sequence[Any]:
        ways.append(list(names_outwards()))
        return [text("Hello.")]

    async with scripted_assistant(home, ScriptedModel([answer])) as assistant:
        conversation = assistant.conversations.create()
        asyncio.get_running_loop().set_task_factory(note_task)
        try:
            await say(assistant, conversation, "Hi")
        finally:
            asyncio.get_running_loop().set_task_factory(None)

    submit = described()[0]
    to_task = next(way for way in ways if submit in way)
    in_task = next(way for way in ways if "agentscope.agent.Agent.reply_stream" in way)
    within_agent = in_task.index("agentscope.agent.Agent.reply_stream")
    way = [*reversed(to_task[: to_task.index(submit) + 1]), *reversed(in_task[within_agent:])]
    assert way == described()
    assert len(way) <= MAX_HOPS
