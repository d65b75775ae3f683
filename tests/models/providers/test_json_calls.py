"""Calls that arrive as text: only what is nothing but a fitting call is one, and ordinary text is never held back."""

from __future__ import annotations

from collections.abc import AsyncGenerator

import pytest
from agentscope.model import ChatResponse
from hypothesis import given
from hypothesis import strategies as st

from assistant.messages.blocks import TextBlock, ToolCallBlock, block_text
from assistant.models.providers.call_ids import CallIds
from assistant.models.providers.json_calls import JsonCall, find_json_calls, read_json_calls


def tool(name: str, required: list[str], *optional: str) -> dict[str, object]:
    properties = {key: {"type": "string"} for key in [*required, *optional]}
    parameters = {"type": "object", "properties": properties, "required": required}
    return {"type": "function", "function": {"name": name, "parameters": parameters}}


TOOLS = [tool("Read", ["file_path"], "limit"), tool("now", [])]


@pytest.mark.parametrize(
    ("text", "calls"),
    [
        ('{"name": "Read", "arguments": {"file_path": "a"}}', [JsonCall("Read", {"file_path": "a"})]),
        ('{"name": "Read", "parameters": {"file_path": "a"}}', [JsonCall("Read", {"file_path": "a"})]),
        ('{"tool": "Read", "args": {"file_path": "a"}}', [JsonCall("Read", {"file_path": "a"})]),
        ('{"function": {"name": "now", "arguments": "{}"}}', [JsonCall("now", {})]),
        ('{"name": "now"}', [JsonCall("now", {})]),
        ('[{"name": "now"}, {"name": "now"}]', [JsonCall("now", {}), JsonCall("now", {})]),
        ('```\n{"name": "now"}\n```', [JsonCall("now", {})]),
        ('<tool_call>{"name": "now"}</tool_call>\n<tool_call>{"name": "now"}', [JsonCall("now", {})] * 2),
        ('{"name": "Write", "arguments": {}}', []),
        ('{"name": "Read", "arguments": {}}', []),
        ('{"name": "Read", "arguments": {"file_path": "a", "colour": "red"}}', []),
        ('{"name": "Read", "arguments": "not json"}', []),
        ('Use {"name": "now"}', []),
        ('{"name": "now"} and then tell me', []),
        ('{"name": "now"', []),
        ("[]", []),
        ("", []),
    ],
)
def test_a_text_is_calls_only_when_it_is_nothing_else_and_fits_the_tools(text: str, calls: list[JsonCall]):
    assert find_json_calls(text, TOOLS) == calls


async def stream_of(pieces: list[str]) -> AsyncGenerator[ChatResponse, None]:
    for piece in pieces:
        yield ChatResponse(content=[TextBlock(text=piece, id="t")], is_last=False)


async def read(pieces: list[str]) -> list[list[str]]:
    chunks = read_json_calls(stream_of(pieces), TOOLS, CallIds())
    return [[block_text(block) for block in chunk.content] async for chunk in chunks]


async def test_ordinary_text_streams_as_it_comes():
    assert await read(["Hel", "lo {", "you}"]) == [["Hel"], ["lo {"], ["you}"]]


async def test_text_that_begins_like_a_call_and_is_none_comes_whole_at_the_point_where_that_is_known():
    assert await read(["`", "``py", "\nprint()"]) == [[], [], [], ["`", "``py", "\nprint()"]]
    assert await read(["``", "nothing``", " more"]) == [[], ["``", "nothing``"], [" more"]]


async def test_a_call_in_pieces_becomes_one_call_with_a_fresh_id():
    assert await read(['{"name"', ': "now"}']) == [[], [], ["now({})"]]


async def test_a_real_call_beside_text_leaves_both_alone():
    async def stream() -> AsyncGenerator[ChatResponse, None]:
        yield ChatResponse(content=[TextBlock(text="[note]")], is_last=False)
        yield ChatResponse(content=[ToolCallBlock(id="a", name="now", input="{}")], is_last=False)

    chunks = [chunk async for chunk in read_json_calls(stream(), TOOLS, CallIds())]
    assert [[block.type for block in chunk.content] for chunk in chunks] == [[], ["text", "tool_call"]]


@given(st.lists(st.text(alphabet='{}[]`"ab<: \n', max_size=6), max_size=8))
async def test_no_character_of_a_text_is_lost_or_moved(pieces: list[str]):
    assert "".join(text for chunk in await read(pieces) for text in chunk) == "".join(pieces)
