"""What the tests of the providers ask of a model, and how they read its answer."""

from __future__ import annotations

import asyncio

from agentscope.model import ChatModelBase, ChatResponse
from agentscope.tool import FunctionTool

from assistant.messages.blocks import (
    AssistantMsg,
    Block,
    Msg,
    SystemMsg,
    TextBlock,
    ThinkingBlock,
    ToolCallBlock,
    ToolResultBlock,
    UserMsg,
    block_text,
)
from assistant.models.providers.native_model import NativeModel

QUESTION = UserMsg("user", "Hello there, how are you?")
SCHEMA: dict[str, object] = {
    "type": "function",
    "function": {
        "name": "add",
        "description": "Add two numbers.",
        "parameters": {
            "type": "object",
            "properties": {"first": {"type": "integer"}, "second": {"type": "integer"}},
            "required": ["first", "second"],
        },
    },
}


def add_tool() -> FunctionTool:
    """The tool of the schema."""

    def add(first: int, second: int) -> str:
        """Add two numbers.

        Args:
            first: One number.
            second: The other.
        """
        return str(first + second)

    return FunctionTool(add, is_read_only=True)


def left_behind() -> list[Msg]:
    """A conversation with what a cut turn and another provider left in it: blank texts, broken arguments, thoughts."""
    return [
        SystemMsg("system", "You help."),
        UserMsg("user", "Look."),
        AssistantMsg(
            "a name with spaces",
            [
                ThinkingBlock(thinking="A thought of another model."),
                TextBlock(text=""),
                TextBlock(text=" "),
                ToolCallBlock(id="functions.add:0", name="add", input='{"first": 1, "sec'),
                ToolResultBlock(id="functions.add:0", name="add", output="[interrupted]", state="interrupted"),  # type: ignore[arg-type]
                ToolCallBlock(id="silent", name="add", input='{"first": 1, "second": 1}'),
                ToolResultBlock(id="silent", name="add", output="", state="success"),  # type: ignore[arg-type]
            ],
        ),
        AssistantMsg("palimpsest", [ThinkingBlock(thinking="Stopped in a thought.")]),
        UserMsg("user", "Go on."),
    ]


async def all_chunks(
    model: ChatModelBase, messages: list[Msg], tools: list[dict[str, object]] | None = None
) -> list[ChatResponse]:
    """Every chunk of an answer; the last holds it whole."""
    stream = await model(messages, tools)
    assert not isinstance(stream, ChatResponse)
    return [chunk async for chunk in stream]


async def stopped_once_begun(model: ChatModelBase, within_seconds: float) -> list[ChatResponse]:
    """What came of an answer that is stopped at its first words, and that has to end within this time."""
    has_begun = asyncio.Event()
    received: list[ChatResponse] = []

    async def listen() -> None:
        stream = await model([UserMsg("user", "Hello")])
        assert not isinstance(stream, ChatResponse)
        async for chunk in stream:
            received.append(chunk)
            has_begun.set()

    task = asyncio.create_task(listen())
    await has_begun.wait()
    task.cancel()
    async with asyncio.timeout(within_seconds):
        await task
    return received


async def ask_it_and_another(model: NativeModel, other: NativeModel) -> None:
    """Ask a model; then ask it, and `other` as if it were another one, with the answer in the conversation."""
    other._line.origin = "another model"
    answer = AssistantMsg("palimpsest", list((await all_chunks(model, [QUESTION], [SCHEMA]))[-1].content))
    for one in (model, other):
        await all_chunks(one, [QUESTION, answer, UserMsg("user", "And?")])
        await one.close()


def shown(blocks: list[Block]) -> list[tuple[str, str]]:
    """Kind and text of each block."""
    return [(block.type, block_text(block)) for block in blocks]
