"""The scripted model fails loudly on whatever its script does not say."""

import asyncio

import pytest
from agentscope.agent import Agent
from agentscope.model import ChatResponse
from agentscope.tool import FunctionTool, Toolkit

from assistant.messages.blocks import Msg, TextBlock, ThinkingBlock, ToolCallBlock, UserMsg, block_text
from assistant.models.scripted import ScriptedModel


async def last_response(model: ScriptedModel, messages: list[Msg]) -> ChatResponse:
    stream = await model(messages)
    assert not isinstance(stream, ChatResponse)
    return [chunk async for chunk in stream][-1]


async def test_a_real_agent_runs_its_tool_loop_on_the_script():
    def double(number: int) -> str:
        """Double a number.

        Args:
            number: The number.
        """
        return str(number * 2)

    model = ScriptedModel(
        [
            [
                ThinkingBlock(thinking="He wants it doubled."),
                ToolCallBlock(id="a", name="double", input='{"number": 21}'),
            ],
            lambda messages: [TextBlock(text=f"It is {block_text(messages[-1].content[-1])}.")],
        ]
    )
    agent = Agent("palimpsest", "Help.", model, Toolkit(tools=[FunctionTool(double, is_read_only=True)]))

    reply = await agent.reply(UserMsg("user", "Double 21"))

    assert block_text(reply.content[-1]) == "It is 42."
    assert [request.tools for request in model.requests] == [("double",), ("double",)]
    model.assert_complete()


async def test_a_call_beyond_the_script_fails():
    model = ScriptedModel([[TextBlock(text="one")]])
    await last_response(model, [UserMsg("user", "hello")])

    with pytest.raises(AssertionError, match="call 2 is not in the script"):
        await last_response(model, [UserMsg("user", "hello")])
    with pytest.raises(AssertionError, match="1 steps in the script, 2 calls"):
        model.assert_complete()


def test_steps_left_over_fail():
    model = ScriptedModel([[TextBlock(text="one")]])

    with pytest.raises(AssertionError, match="1 steps in the script, 0 calls"):
        model.assert_complete()


async def test_an_exception_is_raised_before_the_stream_or_in_the_middle_of_it():
    model = ScriptedModel([ValueError("refused"), [TextBlock(text="half an answer"), OSError("broken off")]])
    with pytest.raises(ValueError, match="refused"):
        await model([UserMsg("user", "hello")])

    received: list[str] = []
    stream = await model([UserMsg("user", "hello")])
    assert not isinstance(stream, ChatResponse)
    with pytest.raises(OSError, match="broken off"):
        async for chunk in stream:
            received += [block_text(block) for block in chunk.content]
    assert "".join(received) == "half an answer"


async def test_an_event_holds_the_stream_until_it_is_set():
    gate = asyncio.Event()
    model = ScriptedModel([[TextBlock(text="before"), gate, TextBlock(text="after")]])
    task = asyncio.create_task(last_response(model, [UserMsg("user", "hello")]))
    await asyncio.sleep(0)
    assert not task.done()

    gate.set()

    assert [block_text(block) for block in (await task).content] == ["before", "after"]


async def test_requests_are_copies_so_that_later_changes_do_not_show():
    message = UserMsg("user", "first")
    model = ScriptedModel([[TextBlock(text="ok")]])
    await last_response(model, [message])

    message.content.append(TextBlock(text="later"))

    assert [block_text(block) for block in model.requests[0].messages[0].content] == ["first"]
