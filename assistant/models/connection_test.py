"""Test a connection: one short reply and one tool call, with the time each took."""

from __future__ import annotations

import asyncio
import secrets
import time
from dataclasses import dataclass

from agentscope.model import ChatResponse
from agentscope.tool import ToolChoice

from assistant.config.prompts import render
from assistant.config.words import Language, say
from assistant.errors import ModelError
from assistant.messages.blocks import Block, TextBlock, ToolCallBlock, UserMsg, call_arguments
from assistant.models.chat_model import ChatModel

TOOL_NAME = "connection_check"
_WAIT_SECONDS = 90.0


@dataclass(frozen=True, slots=True)
class ConnectionTest:
    """What the test found. `problem` says in plain words what is wrong; None when the model answers and calls tools."""

    reply: str = ""
    reply_seconds: float = 0.0
    called_tool: bool = False
    tool_seconds: float = 0.0
    problem: str | None = None

    @property
    def is_ok(self) -> bool:
        """True when the model answers and calls tools."""
        return self.problem is None


async def test_connection(
    chat: ChatModel, language: Language = "en", wait_seconds: float = _WAIT_SECONDS
) -> ConnectionTest:
    """Ask the model for one word and for one tool call; each may take `wait_seconds`. Never raises."""
    if not chat.is_language_model:
        return ConnectionTest(problem=say("models", "test_offline"))
    try:
        started = time.monotonic()
        reply = await _ask(chat, render("connection_reply", language), None, wait_seconds)
        reply_seconds = time.monotonic() - started
    except (ModelError, TimeoutError) as error:
        return ConnectionTest(problem=_problem_of(error, wait_seconds))
    text = "".join(block.text for block in reply if isinstance(block, TextBlock)).strip()
    if not text:
        return ConnectionTest(reply_seconds=reply_seconds, problem=say("models", "test_silent", name=chat.name))
    return await _test_tool(chat, language, ConnectionTest(text, reply_seconds), wait_seconds)


async def _test_tool(
    chat: ChatModel, language: Language, so_far: ConnectionTest, wait_seconds: float
) -> ConnectionTest:
    code = secrets.token_hex(3)
    tool = _tool(render("connection_tool_description", language))
    request = render("connection_tool", language, tool=TOOL_NAME, code=code)
    called, problem = False, None
    started = time.monotonic()
    try:
        blocks = await _ask(chat, request, tool, wait_seconds)
        calls = [block for block in blocks if isinstance(block, ToolCallBlock)]
        called = any(call.name == TOOL_NAME and call_arguments(call).get("code") == code for call in calls)
        if not called:
            problem = _no_call(chat.name, has_tried=bool(calls))
    except (ModelError, TimeoutError) as error:
        problem = say("models", "test_fails_with_tool", name=chat.name, error=_problem_of(error, wait_seconds))
    return ConnectionTest(so_far.reply, so_far.reply_seconds, called, time.monotonic() - started, problem)


async def _ask(chat: ChatModel, text: str, tool: dict[str, object] | None, wait_seconds: float) -> list[Block]:
    async with asyncio.timeout(wait_seconds) as limit:
        choice = ToolChoice(mode="auto") if tool else None
        response = await chat.model([UserMsg("user", text)], tools=[tool] if tool else None, tool_choice=choice)
        if not isinstance(response, ChatResponse):
            async for chunk in response:
                response = chunk
    # AgentScope turns the cancellation of a stream into an answer that ends early.
    if limit.expired():
        raise TimeoutError
    return list(response.content) if isinstance(response, ChatResponse) else []


def _tool(description: str) -> dict[str, object]:
    parameters = {"type": "object", "properties": {"code": {"type": "string"}}, "required": ["code"]}
    return {"type": "function", "function": {"name": TOOL_NAME, "description": description, "parameters": parameters}}


def _no_call(name: str, has_tried: bool) -> str:
    if has_tried:
        return say("models", "test_wrong_call", name=name)
    return say("models", "test_no_call", name=name)


def _problem_of(error: Exception, wait_seconds: float) -> str:
    if isinstance(error, TimeoutError):
        return say("models", "test_no_answer", wait_seconds=wait_seconds)
    return str(error)
