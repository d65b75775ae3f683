"""The events of one conversation in this process, numbered, so that any number of readers can follow them."""

from __future__ import annotations

import asyncio
import weakref
from collections.abc import AsyncGenerator, Callable
from dataclasses import dataclass

from assistant.messages.events import Event, with_texts_changed


@dataclass(frozen=True, slots=True)
class NumberedEvent:
    """An event and its place in the log; numbers rise by one and are never used twice."""

    number: int
    event: Event


class EventLog:
    """Append-only; readers wait for what is new. Belongs to one event loop."""

    def __init__(self, mask: Callable[[str], str] = str) -> None:
        """`mask` takes secrets out of all that is told."""
        self._mask = mask
        self._events: list[Event] = []
        self._kept: list[Event] = []
        self._first_number = 0
        self._changed = asyncio.Event()
        # A reader that was let go, even one that never began to read, holds nothing back.
        self._readers: weakref.WeakSet[_Reader] = weakref.WeakSet()

    @property
    def end(self) -> int:
        """The number the next event will get."""
        return self._first_number + len(self._events)

    def emit(self, event: Event) -> None:
        """Append an event and wake every reader."""
        self._events.append(self._masked(event))
        self.wake()

    def emit_kept(self, event: Event) -> None:
        """Append an event that is also for those who come later, as long as this process runs."""
        self._kept.append(self._masked(event))
        self.emit(event)

    @property
    def kept(self) -> tuple[Event, ...]:
        """What every reader is to know, as long as this process runs."""
        return tuple(self._kept)

    def _masked(self, event: Event) -> Event:
        return with_texts_changed(event, self._mask)

    def wake(self) -> None:
        """Let every reader look again: something it waits for may be over without an event."""
        changed, self._changed = self._changed, asyncio.Event()
        changed.set()

    async def change(self) -> None:
        """Return at the next event or `wake`."""
        await self._changed.wait()

    def forget_before(self, number: int) -> None:
        """Drop events that are older and that every reader has read."""
        kept_from = min([number, *(reader.number for reader in self._readers)])
        count = min(max(0, kept_from - self._first_number), len(self._events))
        del self._events[:count]
        self._first_number += count

    def follow(self, start: int, is_over: Callable[[], bool] | None = None) -> AsyncGenerator[NumberedEvent]:
        """Every event from number `start` on, as it comes; without `is_over` it has no end.

        From this call on, nothing is forgotten that the reader has to read. It ends when `is_over` and all is read.
        """
        reader = _Reader(max(start, self._first_number))
        self._readers.add(reader)
        return self._read(reader, is_over)

    async def _read(self, reader: _Reader, is_over: Callable[[], bool] | None) -> AsyncGenerator[NumberedEvent]:
        while True:
            while reader.number < self.end:
                number = reader.number
                event = self._events[number - self._first_number]
                reader.number += 1
                yield NumberedEvent(number, event)
            if is_over is not None and is_over():
                return
            await self._changed.wait()


class _Reader:
    """How far somebody has read: the number of the event to read next."""

    def __init__(self, number: int) -> None:
        self.number = number
