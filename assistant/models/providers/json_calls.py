"""Tool calls that a small local model writes as plain JSON, in a fence or in tags, where its server missed them."""

from __future__ import annotations

import json
import re
from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import aclosing
from dataclasses import dataclass

from agentscope.model import ChatResponse
from agentscope.types import JSONSerializableObject

from assistant.messages.blocks import TextBlock, ToolCallBlock
from assistant.models.providers.call_ids import CallIds
from assistant.text.json_parsing import parse_json

_FENCE = re.compile(r"^```(?:json|tool_call|tool_code)?\s*\n?(.*?)\n?```$", re.DOTALL)
_TAG = re.compile(r"<tool_call>\s*(.*?)\s*(?:</tool_call>|$)", re.DOTALL)
# As long as what has come could still be one of these, it is held back from the page.
_OPENINGS = ("{", "[", "```", "<tool_call>")


@dataclass(frozen=True, slots=True)
class JsonCall:
    """A call read from text: a known tool and arguments that fit it."""

    name: str
    arguments: dict[str, object]


async def read_json_calls(
    stream: AsyncGenerator[ChatResponse, None], tools: Sequence[dict[str, object]], ids: CallIds
) -> AsyncGenerator[ChatResponse, None]:
    """The same stream; a text that is nothing but a call of one of `tools` arrives as the call.

    Text is held back only while it can still turn out to be one, so an ordinary answer streams as it comes.
    """
    held: list[TextBlock] = []
    # What a chunk says about the answer goes with what is left of it.
    metadata: dict[str, JSONSerializableObject] = {}
    is_text = False
    async with aclosing(stream):
        async for chunk in stream:
            held += [block for block in chunk.content if isinstance(block, TextBlock)]
            has_call = any(isinstance(block, ToolCallBlock) for block in chunk.content)
            is_text = is_text or has_call or not _may_become_call("".join(block.text for block in held))
            others = [block for block in chunk.content if not isinstance(block, TextBlock)]
            metadata |= chunk.metadata
            chunk.content = [*(_release(held) if is_text else ()), *others]
            yield chunk
    text = "".join(block.text for block in held)
    if not text:
        return
    calls = find_json_calls(text, tools)
    if calls:
        blocks = [ToolCallBlock(id=ids.unique(""), name=call.name, input=_to_json(call.arguments)) for call in calls]
        yield ChatResponse(content=list(blocks), is_last=False, metadata=metadata)
    else:
        yield ChatResponse(content=list(_release(held)), is_last=False, metadata=metadata)


def find_json_calls(text: str, tools: Sequence[dict[str, object]]) -> list[JsonCall]:
    """The calls a text consists of; empty when it is anything else, or one of them does not fit its tool."""
    schemas = _schemas(tools)
    calls: list[JsonCall] = []
    for value in _values(text.strip()):
        call = _read_call(value, schemas)
        if call is None:
            return []
        calls.append(call)
    return calls


def _may_become_call(text: str) -> bool:
    start = text.lstrip()
    return not start or any(start.startswith(opening) or opening.startswith(start) for opening in _OPENINGS)


def _release(held: list[TextBlock]) -> list[TextBlock]:
    released = list(held)
    held.clear()
    return released


def _values(text: str) -> list[object]:
    """The JSON values the text holds; empty when it holds anything beside them."""
    bodies = _TAG.findall(text) if text.startswith("<tool_call>") else []
    if not bodies:
        fence = _FENCE.match(text)
        bodies = [fence[1] if fence else text]
    values: list[object] = []
    for body in bodies:
        try:
            value = parse_json(body)
        except ValueError:
            return []
        values += value if isinstance(value, list) else [value]
    return values


def _read_call(value: object, schemas: Mapping[str, dict[str, object]]) -> JsonCall | None:
    if not isinstance(value, dict):
        return None
    inner = value.get("function")
    if isinstance(inner, dict):
        value = inner
    name = value.get("name") or value.get("tool") or value.get("function")
    arguments = next((value[key] for key in ("arguments", "parameters", "args") if key in value), {})
    if isinstance(arguments, str):
        try:
            arguments = parse_json(arguments)
        except ValueError:
            return None
    if not isinstance(name, str) or name not in schemas or not isinstance(arguments, dict):
        return None
    return JsonCall(name, arguments) if _fits(arguments, schemas[name]) else None


def _fits(arguments: dict[str, object], schema: dict[str, object]) -> bool:
    """All required arguments and none that the tool does not know; their types are checked when the tool is called."""
    required, known = schema.get("required"), schema.get("properties")
    names = set(required) if isinstance(required, list) else set[object]()
    return names <= arguments.keys() and (not isinstance(known, dict) or arguments.keys() <= known.keys())


def _schemas(tools: Sequence[dict[str, object]]) -> dict[str, dict[str, object]]:
    found: dict[str, dict[str, object]] = {}
    for tool in tools:
        function = tool.get("function")
        if isinstance(function, dict):
            parameters = function.get("parameters")
            found[str(function.get("name"))] = parameters if isinstance(parameters, dict) else {}
    return found


def _to_json(arguments: dict[str, object]) -> str:
    return json.dumps(arguments, ensure_ascii=False)
