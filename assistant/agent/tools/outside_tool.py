"""A tool of an MCP server as the agent calls it."""

from __future__ import annotations

import json

from agentscope.permission import PermissionBehavior, PermissionDecision
from agentscope.tool import ToolBase, ToolChunk

from assistant.agent.tools.mcp_connection import CallOutcome, ServerConnection
from assistant.agent.tools.mcp_results import result_blocks
from assistant.agent.tools.mcp_schemas import ListedTool
from assistant.agent.tools.own_tool import error_chunk
from assistant.config.prompts import language_of, render
from assistant.config.words import Language
from assistant.messages.blocks import ToolResultState


class OutsideTool(ToolBase):
    """One tool of a server, under a name that every provider takes."""

    is_mcp = True
    is_concurrency_safe = False
    is_read_only = False

    def __init__(self, name: str, tool: ListedTool, server: ServerConnection) -> None:
        super().__init__()
        self.name = name
        self.description = tool.description
        self.input_schema = tool.schema
        self.mcp_name = server.name
        self._tool = tool.name
        self._server = server

    async def check_permissions(self, *args: object, **kwargs: object) -> PermissionDecision:
        """Ask: what a server says of its tools is no reason to trust them."""
        return PermissionDecision(behavior=PermissionBehavior.ASK, message="")

    async def call(self, /, **arguments: object) -> ToolChunk:  # pyright: ignore[reportIncompatibleMethodOverride]
        """The result of the tool; a failure is one that the model reads."""
        outcome = await self._server.call(self._tool, arguments)
        language = language_of(json.dumps(arguments, ensure_ascii=False))
        return self._failure(outcome, language) if outcome.failure else _success(outcome, language)

    def _failure(self, outcome: CallOutcome, language: Language) -> ToolChunk:
        values = {"failure": outcome.failure, "server": self._server.name, "words": outcome.words}
        return error_chunk(render("outside_failure", language, **values))


def _success(outcome: CallOutcome, language: Language) -> ToolChunk:
    is_error = outcome.result.get("isError") is True
    state = ToolResultState.ERROR if is_error else ToolResultState.SUCCESS
    return ToolChunk(content=result_blocks(outcome.result, language), state=state)
