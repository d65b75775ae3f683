"""*Show me*: a sample conversation that plays by itself, compacted, undone and searched before one's eyes."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import AbstractAsyncContextManager, aclosing
from dataclasses import dataclass
from pathlib import Path

from assistant.assembly.sample.story import Story, StoryStep
from assistant.config.prompts import Language
from assistant.conversation.conversation import Conversation
from assistant.conversation.event_log import NumberedEvent
from assistant.errors import PalimpsestError
from assistant.messages.events import Event, Notice


@dataclass(frozen=True, slots=True)
class ShowPace:
    """How fast the sample conversation plays: seconds between two pieces of an answer, and between two steps."""

    piece_seconds: float = 0.0
    pause_seconds: float = 0.0


SHOW_PACE = ShowPace(0.02, 4.0)
"""A pace at which one can read along."""


class Show:
    """One sample: a conversation like any other in a home of its own, and the steps of its story.

    Nothing in it is a film: each step sends a message, compacts or takes back, and the real program does the rest.
    """

    def __init__(
        self,
        home: Path,
        story: Story,
        conversation: Conversation,
        settle: Callable[[], Awaitable[None]],
        pause_seconds: float,
    ) -> None:
        """`settle` returns once what was said is written and can be found; a pause to read goes before each step."""
        self.home = home
        self.conversation = conversation
        self._story = story
        self._settle = settle
        self._pause_seconds = pause_seconds
        self._played = 0
        self._is_over = False

    @property
    def steps_left(self) -> int:
        """How many steps are still to come."""
        return len(self._story.steps) - self._played

    async def next_step(self) -> bool:
        """Play one step to its end; False when there was none left."""
        if not self.steps_left:
            return False
        step = self._story.steps[self._played]
        self._played += 1
        self._tell(f"{self._played}/{len(self._story.steps)}  {step.told}")
        await self._carry_out(step)
        if not self.steps_left:
            self._is_over = True
            self._tell(self._story.end)
        return True

    async def play(self) -> None:
        """Play all steps that are left; what goes wrong is told, and ends it."""
        try:
            while self.steps_left:
                # Whoever is shown the sample follows it before it begins.
                await asyncio.sleep(self._pause_seconds if self._played else self._pause_seconds / 4)
                await self.next_step()
        except PalimpsestError as error:
            self._is_over = True
            self._tell(str(error))

    def follow(self) -> AsyncGenerator[Event]:
        """What the sample tells, from this call on to the end of its last step."""
        return self._told(self.conversation.follow(self.conversation.next_number))

    async def _told(self, live: AsyncGenerator[NumberedEvent]) -> AsyncGenerator[Event]:
        async with aclosing(live):
            async for numbered in live:
                yield numbered.event
                if self._is_over and numbered.number + 1 == self.conversation.next_number:
                    return

    async def _carry_out(self, step: StoryStep) -> None:
        match step.act:
            case "ask":
                self.conversation.ask(step.text)
            case "undo":
                self.conversation.undo()
            case "compact":
                self.conversation.compact()
            case "settle":
                pass
        await self.conversation.wait()
        if step.act != "ask":
            await self._settle()

    def _tell(self, text: str) -> None:
        self.conversation.emit(Notice(text, "info"))


OpenShow = Callable[[Language], AbstractAsyncContextManager[Show]]


class Shows:
    """The sample that plays in this process: a new one ends the one before."""

    def __init__(self, open_show: OpenShow) -> None:
        self._open_show = open_show
        self._task: asyncio.Task[None] | None = None
        self.current: Show | None = None

    async def start(self, language: Language) -> Show:
        """Open a sample and let it play; raises what opening it raised."""
        await self.close()
        opened: asyncio.Future[Show] = asyncio.get_running_loop().create_future()
        task = self._task = asyncio.create_task(self._run(language, opened), name="show me")
        await asyncio.wait({task, opened}, return_when=asyncio.FIRST_COMPLETED)
        if not opened.done():
            opened.cancel()
            self._task = None
            await task
        self.current = await opened
        return self.current

    async def close(self) -> None:
        """End the sample and throw its home away."""
        task, self._task, self.current = self._task, None, None
        if task is not None:
            task.cancel()
            await asyncio.gather(task, return_exceptions=True)

    async def _run(self, language: Language, opened: asyncio.Future[Show]) -> None:
        async with self._open_show(language) as show:
            opened.set_result(show)
            await show.play()
            # It stays to be looked at: opening a card, undoing, asking on.
            await asyncio.Event().wait()
