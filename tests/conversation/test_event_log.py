"""Every reader gets every event once, in order, however far behind it is."""

from __future__ import annotations

import asyncio
import gc
from collections.abc import AsyncGenerator

from assistant.conversation.event_log import EventLog, NumberedEvent
from assistant.messages.events import Event, Notice, Recalled, RecalledLine, TurnFailed


def notice(number: int) -> Event:
    return Notice(f"event {number}")


async def take(reader: AsyncGenerator[NumberedEvent], count: int) -> list[NumberedEvent]:
    return [await anext(reader) for _ in range(count)]


async def test_a_reader_gets_what_was_there_and_what_comes() -> None:
    log = EventLog()
    log.emit(notice(0))
    reader = log.follow(0)
    first = await take(reader, 1)
    waiting = asyncio.ensure_future(anext(reader))
    await asyncio.sleep(0)
    log.emit(notice(1))

    assert [*first, await waiting] == [NumberedEvent(0, notice(0)), NumberedEvent(1, notice(1))]


async def test_nothing_is_forgotten_that_a_reader_still_has_to_read() -> None:
    log = EventLog()
    reader = log.follow(0)
    for number in range(3):
        log.emit(notice(number))
    first = await take(reader, 1)
    log.forget_before(3)
    log.emit(notice(3))

    assert [*first, *await take(reader, 3)] == [NumberedEvent(number, notice(number)) for number in range(4)]


async def test_who_comes_after_the_forgetting_begins_with_what_is_left() -> None:
    log = EventLog()
    for number in range(4):
        log.emit(notice(number))
    log.forget_before(2)

    assert await take(log.follow(0), 2) == [NumberedEvent(2, notice(2)), NumberedEvent(3, notice(3))]


async def test_a_reader_that_was_let_go_before_it_read_holds_nothing_back() -> None:
    log = EventLog()
    abandoned = log.follow(0)
    log.emit(notice(0))
    await abandoned.aclose()
    del abandoned
    gc.collect()
    log.forget_before(1)
    log.emit(notice(1))

    assert await take(log.follow(0), 1) == [NumberedEvent(1, notice(1))]


async def test_a_reader_ends_when_it_is_over_and_all_is_read() -> None:
    log = EventLog()
    is_over = False
    reader = log.follow(0, lambda: is_over)
    reading = asyncio.ensure_future(_all(reader))
    await asyncio.sleep(0)
    log.emit(notice(0))
    await asyncio.sleep(0)
    is_over = True
    log.wake()

    assert await reading == [NumberedEvent(0, notice(0))]


async def test_numbers_go_on_after_the_forgetting() -> None:
    log = EventLog()
    log.emit(notice(0))
    log.forget_before(1)
    log.emit(notice(1))

    assert log.end == 2


async def _all(reader: AsyncGenerator[NumberedEvent]) -> list[NumberedEvent]:
    return [numbered async for numbered in reader]


async def test_what_is_hidden_is_in_no_event() -> None:
    log = EventLog(lambda text: text.replace("plain-key", "⟦masked⟧"))
    log.emit(Recalled((RecalledLine("MEMORY.md", 1, "the plain-key", 0.9),)))
    log.emit(TurnFailed("turn", "401: plain-key"))
    told = [numbered.event for numbered in await take(log.follow(0), 2)]
    assert told == [
        Recalled((RecalledLine("MEMORY.md", 1, "the ⟦masked⟧", 0.9),)),
        TurnFailed("turn", "401: ⟦masked⟧"),
    ]
