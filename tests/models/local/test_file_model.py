"""A real model answers from its file, in a process that never outlives us."""

from __future__ import annotations

import asyncio
import subprocess
import sys
from collections.abc import AsyncGenerator
from contextlib import aclosing, asynccontextmanager
from pathlib import Path

import psutil
import pytest
from agentscope.model import ChatResponse, FinishedReason

from assistant.config.settings import Settings
from assistant.errors import ContextOverflowError, ModelError, SettingsError
from assistant.messages.blocks import TextBlock, UserMsg
from assistant.models.chat_model import ChatModel, connect_available, connect_or_stand_in
from tests.models.local.gguf_heads import write_gguf
from tests.models.small_model import installed_small_model
from tests.source_files import ROOT

WINDOW = 2_048


@pytest.fixture(scope="module")
def path() -> Path:
    """The small model."""
    return installed_small_model()


def settings_for(path: Path, **more: object) -> Settings:
    return Settings.model_validate(
        {"provider": "local", "model_file": str(path), "max_input_length": WINDOW, "max_reply_tokens": 200, **more}
    )


@asynccontextmanager
async def connected(settings: Settings) -> AsyncGenerator[ChatModel]:
    chat = await connect_available(settings)
    try:
        yield chat
    finally:
        await chat.close()


async def chunks_of(chat: ChatModel, text: str) -> AsyncGenerator[ChatResponse]:
    stream = await chat.model([UserMsg("user", text)])
    assert not isinstance(stream, ChatResponse)
    async with aclosing(stream):
        async for chunk in stream:
            yield chunk


async def first_words(chat: ChatModel, text: str) -> str:
    """What an answer begins with: so small a model does not always find an end."""
    async with aclosing(chunks_of(chat, text)) as chunks:
        async for chunk in chunks:
            if said := "".join(block.text for block in chunk.content if isinstance(block, TextBlock)).strip():
                return said
    return ""


def children() -> list[psutil.Process]:
    """The processes with a model that belong to this one."""
    return [one for one in psutil.Process().children() if "worker.py" in " ".join(one.cmdline())]


async def test_a_file_answers_with_the_window_it_was_given(path: Path) -> None:
    async with connected(settings_for(path)) as chat:
        assert await first_words(chat, "Name three colours.")
        assert (chat.name, chat.title) == (path.stem, path.stem)
        assert (chat.provider, chat.window_tokens, chat.is_local, chat.is_fit_for_summaries) == (
            "local",
            WINDOW,
            True,
            False,
        )
        assert chat.how == f"{path.stem}, from a file on this machine."
        with pytest.raises(ContextOverflowError):
            await first_words(chat, "The keeper counted the boats again. " * WINDOW)
        assert len(children()) == 1
    assert children() == []
    await chat.close()


async def test_a_file_that_is_named_answers_without_the_name_of_a_provider(path: Path) -> None:
    async with connected(settings_for(path, provider="auto", openai_api_key="k-not-asked")) as chat:
        assert chat.provider == "local"


async def test_an_answer_that_is_stopped_ends_where_it_is_and_the_next_one_comes(path: Path) -> None:
    chunks: list[ChatResponse] = []
    has_begun = asyncio.Event()

    async def listen(chat: ChatModel) -> None:
        async for chunk in chunks_of(chat, "Write a long story about a lighthouse and all its keepers."):
            chunks.append(chunk)
            has_begun.set()

    async with connected(settings_for(path)) as chat:
        listening = asyncio.create_task(listen(chat))
        await has_begun.wait()
        listening.cancel()
        await asyncio.wait({listening})
        assert chunks[-1].finished_reason == FinishedReason.INTERRUPTED
        assert await first_words(chat, "Say yes.")


async def test_a_process_that_died_is_started_again_for_the_next_question(path: Path) -> None:
    async with connected(settings_for(path)) as chat:
        (first,) = children()
        first.kill()
        first.wait()
        assert await first_words(chat, "Say yes.")
        (second,) = children()
        assert second.pid != first.pid


def test_the_process_ends_when_the_program_is_killed(path: Path) -> None:
    code = (
        "import asyncio, sys\n"
        "from assistant.config.settings import Settings\n"
        "from assistant.models.chat_model import connect_model\n"
        "async def main():\n"
        "    chat = await connect_model(Settings(provider='local', model_file=sys.argv[1], max_input_length=2048))\n"
        "    print('ready', flush=True)\n"
        "    await asyncio.Event().wait()\n"
        "asyncio.run(main())\n"
    )
    program = subprocess.Popen([sys.executable, "-c", code, str(path)], cwd=ROOT, stdout=subprocess.PIPE)
    with program:
        assert program.stdout is not None
        assert program.stdout.readline() == b"ready\n"
        models = psutil.Process(program.pid).children()
        program.kill()
    gone, alive = psutil.wait_procs(models, timeout=30)
    assert (len(gone), alive) == (1, [])


async def test_a_broken_file_is_told_and_the_built_in_assistant_stands_in(path: Path, tmp_path: Path) -> None:
    broken = tmp_path / "broken.gguf"
    broken.write_bytes(path.read_bytes()[:5_000_000])
    with pytest.raises(ModelError, match="cannot be loaded: the file is broken or was not downloaded to its end"):
        await connect_available(settings_for(broken))
    async with connected_or_stand_in(settings_for(broken)) as chat:
        assert (chat.is_stand_in, "the file is broken" in chat.how) == (True, True)
    assert children() == []


@asynccontextmanager
async def connected_or_stand_in(settings: Settings) -> AsyncGenerator[ChatModel]:
    chat = await connect_or_stand_in(settings)
    yield chat
    await chat.close()


async def test_too_little_memory_is_told_before_anything_is_loaded(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("assistant.models.local.file_model.free_memory_bytes", lambda: 300_000_000)
    monkeypatch.setattr("assistant.models.local.model_process.has_llama", lambda: True)
    with pytest.raises(ModelError, match="needs about 0.4 GB of memory with a window of 2,048 tokens, and 0.3 GB are"):
        await connect_available(settings_for(write_gguf(tmp_path / "m.gguf")))
    assert children() == []


async def test_without_the_library_the_command_that_brings_it_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("assistant.models.local.model_process.has_llama", lambda: False)
    with pytest.raises(SettingsError) as caught:
        await connect_available(settings_for(write_gguf(tmp_path / "m.gguf")))
    line = "PALIMPSEST_PROVIDER: 'local' needs a package that is not installed: pip install xllamacpp"
    assert str(caught.value) == line
