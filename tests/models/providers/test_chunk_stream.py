"""What some servers leave out of their chunks does not end an answer."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from typing import Self

import pytest
from openai.types.chat import ChatCompletionChunk

from assistant.errors import EndlessReplyError, ModelError
from assistant.models.providers.call_ids import CallIds
from assistant.models.providers.chunk_stream import CheckedStream

TEXT: dict[str, object] = {"choices": [{"index": 0, "delta": {"content": "yes"}, "finish_reason": None}]}
END: dict[str, object] = {"choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]}


class Chunks:
    """A stream as the client hands it over: parsed, but checked by nobody."""

    def __init__(self, values: Sequence[dict[str, object]]) -> None:
        self._chunks = [ChatCompletionChunk.construct(**value) for value in values]  # type: ignore[arg-type]

    def take(self, chunks: Sequence[ChatCompletionChunk]) -> None:
        """These come too."""
        self._chunks += chunks

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        return None

    async def __aiter__(self) -> AsyncIterator[ChatCompletionChunk]:
        for chunk in self._chunks:
            yield chunk


async def told(*values: dict[str, object]) -> list[ChatCompletionChunk]:
    async with CheckedStream(Chunks(values), CallIds(), 1_000) as chunks:  # type: ignore[arg-type]
        return [chunk async for chunk in chunks]


@pytest.mark.parametrize(
    "odd",
    [
        {},
        {"choices": None},
        {"choices": [{"index": 0, "delta": None, "finish_reason": None}]},
        {"choices": [], "usage": {"prompt_tokens": "many", "completion_tokens": None}},
        {"choices": [], "usage": {"prompt_tokens": -5, "completion_tokens": -1}},
    ],
    ids=["nothing", "no choices", "no delta", "usage in words", "negative usage"],
)
async def test_an_odd_chunk_is_passed_over(odd: dict[str, object]) -> None:
    chunks = await told(TEXT, odd, END)
    assert [choice.delta.content for chunk in chunks for choice in chunk.choices if choice.delta.content] == ["yes"]
    assert [chunk.usage for chunk in chunks] == [None, None, None]


async def test_an_answer_without_its_end_is_told() -> None:
    with pytest.raises(ModelError, match="broke off"):
        await told(TEXT)


@pytest.mark.parametrize(
    ("reason", "is_cut"), [("length", True), ("MAX_TOKENS", True), ("stop", False), ("tool_calls", False)]
)
async def test_why_an_answer_ended_is_kept(reason: str, is_cut: bool) -> None:
    end = {"choices": [{"index": 0, "delta": {}, "finish_reason": reason}]}
    usage = {"choices": [], "usage": {"prompt_tokens": 9, "completion_tokens": 4096, "total_tokens": 4105}}
    checked = CheckedStream(Chunks([TEXT, end, usage]), CallIds(), 10_000)  # type: ignore[arg-type]
    async with checked as chunks:
        assert len([chunk async for chunk in chunks]) == 3
    assert (checked.facts.is_cut, checked.facts.output_tokens) == (is_cut, 4096)


@pytest.mark.parametrize(
    "delta",
    [
        {"content": "round and round and round it goes "},
        {"reasoning_content": "round and round and round it goes "},
        {
            "tool_calls": [
                {"index": 0, "id": "c1", "function": {"name": "Read", "arguments": "round and round it goes "}}
            ]
        },
    ],
    ids=["text", "thinking", "arguments"],
)
async def test_an_answer_without_end_is_ended(delta: dict[str, object]) -> None:
    piece: dict[str, object] = {"choices": [{"index": 0, "delta": delta, "finish_reason": None}]}
    values = [ChatCompletionChunk.model_validate({**FRAME, **piece}).model_dump(exclude_unset=True) for _ in range(10)]
    assert len(await parsed(*values, END)) == 11
    with pytest.raises(EndlessReplyError, match="1,000 tokens"):
        await parsed(*values * 100, END)


FRAME: dict[str, object] = {"id": "x", "created": 1, "model": "m", "object": "chat.completion.chunk"}


async def parsed(*values: dict[str, object]) -> list[ChatCompletionChunk]:
    chunks = Chunks([])
    chunks.take([ChatCompletionChunk.model_validate({**FRAME, **value}) for value in values])
    async with CheckedStream(chunks, CallIds(), 1_000) as stream:  # type: ignore[arg-type]
        return [chunk async for chunk in stream]
