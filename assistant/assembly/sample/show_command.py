"""`/show`: the command that plays the sample conversation beside a person's own."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager

from assistant.assembly.assistant import Assistant
from assistant.assembly.sample.sample import READING_PACE, Sample
from assistant.assembly.sample.sample_home import open_sample
from assistant.config.words import Language
from assistant.conversation.commands import Call, Command
from assistant.conversation.conversation import Conversation

Play = Callable[[Language], Awaitable[Conversation | None]]
"""Plays the sample; returns its conversation if the person is in that one afterwards."""


@asynccontextmanager
async def with_show_command(opened: AbstractAsyncContextManager[Assistant]) -> AsyncGenerator[Assistant]:
    """An assistant that has `/show`, whose conversation is a guest of it while the sample plays."""
    async with opened as assistant:
        player = SamplePlayer(assistant)
        assistant.commands["show"] = show_command(player.start)
        try:
            yield assistant
        finally:
            await player.close()


def show_command(play: Play) -> Command:
    """The command, which plays in the language that is typed after it, else in that of the conversation."""

    async def run(call: Call) -> Conversation:
        languages: dict[str, Language] = {"en": "en", "zh": "zh"}
        language = languages.get(call.argument.lower(), call.conversation.language)
        return await play(language) or call.conversation

    return Command("show", run)


class SamplePlayer:
    """Plays one sample at a time: a new one ends the one before."""

    def __init__(self, host: Assistant) -> None:
        self._host = host
        self._task: asyncio.Task[None] | None = None

    async def start(self, language: Language) -> Conversation:
        """Open a sample and let it play; raises what opening it raises."""
        await self.close()
        opened: asyncio.Future[Sample] = asyncio.get_running_loop().create_future()
        task = self._task = asyncio.create_task(self._run(language, opened), name="sample")
        await asyncio.wait({task, opened}, return_when=asyncio.FIRST_COMPLETED)
        if not opened.done():
            opened.cancel()
            self._task = None
            await task
        return (await opened).conversation

    async def close(self) -> None:
        """End the sample and throw its home away."""
        task, self._task = self._task, None
        if task is not None:
            task.cancel()
            await asyncio.gather(task, return_exceptions=True)

    async def _run(self, language: Language, opened: asyncio.Future[Sample]) -> None:
        async with open_sample(self._host.settings, language, READING_PACE) as sample:
            with self._host.host(sample.conversation, sample.assistant):
                opened.set_result(sample)
                await sample.play()
                # It stays to be looked at: opening a card, undoing, asking on.
                await asyncio.Event().wait()
