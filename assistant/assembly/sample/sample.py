"""The sample conversation: it plays by itself, and is compacted, undone and searched before the reader's eyes."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from contextlib import aclosing
from dataclasses import dataclass

from assistant.assembly.assistant import Assistant
from assistant.assembly.sample.story import Story, StoryStep
from assistant.conversation.conversation import Conversation
from assistant.conversation.event_log import NumberedEvent
from assistant.errors import PalimpsestError
from assistant.messages.events import Event, Notice


@dataclass(frozen=True, slots=True)
class Pace:
    """How fast the sample conversation plays: seconds between two pieces of an answer, and between two steps."""

    piece_seconds: float = 0.0
    pause_seconds: float = 0.0


READING_PACE = Pace(0.02, 4.0)
"""A pace at which one can read along."""


class Sample:
    """A conversation like any other in a home of its own, and the steps of its story.

    Nothing in it is a film: each step sends a message, compacts or takes back, and the real program does the rest.
    """

    def __init__(self, assistant: Assistant, story: Story, pause_seconds: float) -> None:
        """`assistant` is that of the home; a pause to read goes before each step."""
        self.assistant = assistant
        self.conversation: Conversation = assistant.conversations.create(story.title)
        self._story = story
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
        self._emit(f"{self._played}/{len(self._story.steps)}  {step.told}")
        await self._carry_out(step)
        if not self.steps_left:
            self._is_over = True
            self._emit(self._story.end)
        return True

    async def play(self) -> None:
        """Play all steps that are left; an error is emitted as a notice and ends it."""
        try:
            while self.steps_left:
                # The reader follows it before it begins.
                await asyncio.sleep(self._pause_seconds if self._played else self._pause_seconds / 4)
                await self.next_step()
        except PalimpsestError as error:
            self._is_over = True
            self._emit(str(error))

    def follow(self) -> AsyncGenerator[Event]:
        """The events of the sample, from this call on to the end of its last step."""
        return self._until_over(self.conversation.follow(self.conversation.next_number))

    async def _until_over(self, live: AsyncGenerator[NumberedEvent]) -> AsyncGenerator[Event]:
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
            # What was said is written and can be found.
            await self.assistant.flushes.wait()
            await self.assistant.index.sync_words()

    def _emit(self, text: str) -> None:
        self.conversation.emit(Notice(text, "info"))
