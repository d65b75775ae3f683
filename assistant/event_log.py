"""The events of one conversation in this process, numbered, so that any number of readers can follow them."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from dataclasses import dataclass

from assistant.events import Event


@dataclass(frozen=True, slots=True)
class NumberedEvent:
    """An event and its place in the log; numbers rise by one and are never used twice."""

    number: int
    event: Event


class EventLog:
    """Append-only; readers wait for what is new. Belongs to one event loop."""

    def __init__(self) -> None:
        self._events: list[Event] = []
        self._first_number = 0
        self._changed = asyncio.Event()

    @property
    def end(self) -> int:
        """The number the next event will get."""
        return self._first_number + len(self._events)

    def emit(self, event: Event) -> None:
        """Append an event and wake every reader."""
        self._events.append(event)
        changed, self._changed = self._changed, asyncio.Event()
        changed.set()

    def forget_before(self, number: int) -> None:
        """Drop events that nobody needs any more; a reader further back goes on at `number`."""
        count = min(max(0, number - self._first_number), len(self._events))
        del self._events[:count]
        self._first_number += count

    def since(self, start: int) -> list[Event]:
        """The events from number `start` on, as far as they have come."""
        return self._events[max(0, start - self._first_number) :]

    async def wait_for(self, number: int, task: asyncio.Task[None] | None) -> None:
        """Return when the event of that number is there, or `task` has ended."""
        while number >= self.end and task is not None and not task.done():
            waiting = asyncio.ensure_future(self._changed.wait())
            await asyncio.wait({waiting, task}, return_when=asyncio.FIRST_COMPLETED)
            waiting.cancel()

    async def follow(self, start: int) -> AsyncGenerator[NumberedEvent]:
        """Every event from number `start` on, as it comes, without end."""
        number = start
        while True:
            number = max(number, self._first_number)
            while number < self.end:
                yield NumberedEvent(number, self._events[number - self._first_number])
                number = max(number + 1, self._first_number)
            await self._changed.wait()
