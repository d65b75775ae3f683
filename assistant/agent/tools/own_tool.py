"""Tools of our own: a function with its description; the judgement on a call is the approval hook's."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

from agentscope.permission import PermissionBehavior, PermissionDecision
from agentscope.tool import FunctionTool, ToolBase, ToolChunk

from assistant.agent.tools.tool_failures import FailureWords
from assistant.messages.blocks import TextBlock, ToolResultState


def own_tool(
    function: Callable[..., Awaitable[ToolChunk]], description: str, *, is_read_only: bool = False
) -> ToolBase:
    """The function as a tool: its schema from the annotations, its name from the function."""
    return FunctionTool(
        function,
        description=description,
        is_read_only=is_read_only,
        is_concurrency_safe=is_read_only,
        middlewares=[FailureWords()],
        permission=PermissionDecision(behavior=PermissionBehavior.ALLOW, message=""),
    )


def text_chunk(text: str) -> ToolChunk:
    """A result of one text."""
    return ToolChunk(content=[TextBlock(text=text)], state=ToolResultState.SUCCESS)


def error_chunk(text: str) -> ToolChunk:
    """A failure that the model reads, so that it can do something else."""
    return ToolChunk(content=[TextBlock(text=text)], state=ToolResultState.ERROR)
