"""Why an answer ended is read where the wire says it, for both providers, and told to whoever reads the stream."""

from __future__ import annotations

import pytest
from agentscope.model import ChatModelBase, ChatResponse

from assistant.messages.blocks import TextBlock, ToolCallBlock, UserMsg
from assistant.models.providers.carried_notes import AnswerNotes, notes_chunk, notes_of
from assistant.models.providers.provider_models import DashScopeModel, OpenAICompatibleModel
from tests.fakes.players import SequencePlayer
from tests.fakes.provider import StrictProvider
from tests.fakes.wire import Reply, ReplyCall

TOOL = {"type": "function", "function": {"name": "Bash", "description": "", "parameters": {"type": "object"}}}
HALF_CALL = Reply(text="I look.", calls=(ReplyCall("Bash", '{"command": "ls'),), is_cut=True)


async def told(model: ChatModelBase, tools: list[dict[str, object]] | None = None) -> list[ChatResponse]:
    """All chunks of one answer, the joined one last."""
    stream = await model([UserMsg("user", "Well?")], tools=tools)  # type: ignore[arg-type]
    return [chunk async for chunk in stream]  # type: ignore[union-attr]


def cuts(chunks: list[ChatResponse]) -> list[int]:
    """After how many tokens the answer was cut, by each chunk that says so."""
    return [tokens for chunk in chunks if (tokens := notes_of(chunk).cut_tokens) is not None]


@pytest.mark.parametrize("provider_name", ["openai", "dashscope"])
@pytest.mark.parametrize(
    ("reply", "is_cut"),
    [
        (Reply(text="The first half", is_cut=True), True),
        (Reply(thinking="Hm, let me see", is_cut=True), True),
        (HALF_CALL, True),
        (Reply(text='{"name": "Bash", "arguments": {"comm', is_cut=True), True),
        (Reply(text="All of it."), False),
        (Reply(is_cut=True), False),
    ],
    ids=["text", "thinking", "call", "call written as text", "whole", "nothing"],
)
async def test_a_cut_is_told_once_and_adds_nothing(provider_name: str, reply: Reply, is_cut: bool) -> None:
    with StrictProvider(SequencePlayer(reply)) as provider:
        if provider_name == "openai":
            model: OpenAICompatibleModel | DashScopeModel = OpenAICompatibleModel(
                "strict-7b", provider.base_url, "", 16_000, 1_000
            )
        else:
            model = DashScopeModel("strict-7b", provider.dashscope_url, "key", 16_000, 1_000)
        chunks = await told(model, [TOOL])
        await model.client.close()
    assert [tokens > 0 for tokens in cuts(chunks)] == ([True] if is_cut else [])
    blocks = chunks[-1].content
    assert "".join(block.text for block in blocks if isinstance(block, TextBlock)) == reply.text
    assert [block.input for block in blocks if isinstance(block, ToolCallBlock)] == [
        call.arguments for call in reply.calls
    ]


def test_other_chunks_say_nothing_of_a_cut() -> None:
    assert notes_of(ChatResponse(content=[TextBlock(text="hello")], is_last=False)) == AnswerNotes()
    notes = AnswerNotes(0, 7, ("image_url",), True, ("tools",))
    assert notes_of(notes_chunk(TextBlock(text="hello"), notes)) == notes
