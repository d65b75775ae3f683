"""The built-in offline assistant: no language model, but the real tool loop, driven by fixed rules."""

from __future__ import annotations

import json
import re
from collections.abc import AsyncGenerator, Sequence
from pathlib import Path
from typing import Literal

from agentscope.credential import CredentialBase
from agentscope.formatter import OpenAIChatFormatter
from agentscope.model import ChatModelBase, ChatResponse
from agentscope.tool import ToolChoice

from assistant.config.prompts import language_of
from assistant.config.words import Language
from assistant.messages.blocks import Msg, TextBlock, ToolCallBlock, ToolResultBlock, block_text, result_text, text_of
from assistant.models.offline.offline_requests import Whose, read_request
from assistant.models.offline.offline_tools import OfferedTool, PlannedCall, ToolOutcome
from assistant.models.offline.replies import next_move
from assistant.models.providers.call_ids import fresh_call_id
from assistant.text.json_values import is_list, is_object
from assistant.text.labels import is_filled

OFFLINE_NAME = "offline"
_PIECE_CHARS = 48
_PROMPT_FILE = re.compile(r'^<file path="(?P<path>[^"]*)">\n(?P<text>.*?)\n</file>$', re.MULTILINE | re.DOTALL)

_TODAY = re.compile(r"^(?:Today is|今天是) (?P<day>\d{4}-\d{2}-\d{2})", re.MULTILINE)


class OfflineModel(ChatModelBase):
    """Lists, reads and searches files, saves and looks up memories; answers nothing it has not looked up.

    Deterministic: the same conversation and tools bring the same reply. It replies in the language of the message
    unless one is set.
    """

    type = "offline_chat"

    def __init__(self, window_tokens: int, home: Path, language: Literal["auto", "en", "zh"] = "auto") -> None:
        super().__init__(
            CredentialBase(), OFFLINE_NAME, self.Parameters(), stream=True, max_retries=0, context_size=window_tokens
        )
        self.formatter = OpenAIChatFormatter()
        self._home = home
        self._language: Literal["auto", "en", "zh"] = language

    async def _call_api(
        self,
        model_name: str,
        messages: list[Msg],
        tools: list[dict[str, object]] | None = None,
        tool_choice: ToolChoice | None = None,
        **kwargs: object,
    ) -> AsyncGenerator[ChatResponse, None]:
        asked = _newest_request(messages)
        language: Language = language_of(asked) if self._language == "auto" else self._language
        may_call = tool_choice is None or tool_choice.mode != "none"
        offered = [_read_tool(tool) for tool in tools or ()] if may_call else []
        request, outcomes = read_request(asked), _outcomes(messages)
        return _stream(
            next_move(request, outcomes, offered, self._home, language, _nameless(messages), _today(messages))
        )


async def _stream(move: PlannedCall | str) -> AsyncGenerator[ChatResponse, None]:
    if isinstance(move, PlannedCall):
        arguments = json.dumps(move.arguments, ensure_ascii=False)
        call = ToolCallBlock(id=fresh_call_id(), name=move.tool, input=arguments)
        yield ChatResponse(content=[call], is_last=False)
        return
    block = TextBlock(text="")
    for start in range(0, len(move), _PIECE_CHARS):
        piece = TextBlock(text=move[start : start + _PIECE_CHARS], id=block.id)
        yield ChatResponse(content=[piece], is_last=False)


def _newest_request(messages: Sequence[Msg]) -> str:
    message = next((message for message in reversed(messages) if message.role == "user"), None)
    return text_of(message) if message else ""


def _nameless(messages: Sequence[Msg]) -> frozenset[Whose]:
    """Who has no name yet, while the prompt has the guide of the first conversation."""
    files = {found["path"]: found["text"] for found in _PROMPT_FILE.finditer(_prompt(messages))}
    if "BOOTSTRAP.md" not in files:
        return frozenset()
    owners: dict[str, Whose] = {"USER.md": "person", "SOUL.md": "assistant"}
    return frozenset(whose for name, whose in owners.items() if not is_filled(files.get(name, "")))


def _today(messages: Sequence[Msg]) -> str:
    """The date in the prompt; empty where it has none."""
    found = _TODAY.search(_prompt(messages))
    return found["day"] if found else ""


def _prompt(messages: Sequence[Msg]) -> str:
    return "".join(block_text(block) for message in messages if message.role == "system" for block in message.content)


def _outcomes(messages: Sequence[Msg]) -> list[ToolOutcome]:
    """What the calls after the newest user message brought, oldest first."""
    outcomes: list[ToolOutcome] = []
    for message in messages:
        if message.role == "user":
            outcomes.clear()
        results = [block for block in message.content if isinstance(block, ToolResultBlock)]
        outcomes += [ToolOutcome(block.name, str(block.state), result_text(block)) for block in results]
    return outcomes


def _read_tool(tool: dict[str, object]) -> OfferedTool:
    function = tool.get("function")
    if not is_object(function):
        return OfferedTool("")
    parameters = function.get("parameters")
    properties = parameters.get("properties") if is_object(parameters) else None
    choices = {
        name: tuple(map(str, values))
        for name, schema in (properties.items() if is_object(properties) else ())
        if is_object(schema) and is_list(values := schema.get("enum"))
    }
    return OfferedTool(str(function.get("name")), choices)
