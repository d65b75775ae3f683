"""Twenty people on one process, each in turns with a model on loopback: what is lost, crossed, slow, or kept in memory.

Ten minutes, or as long as `--minutes N` says. The model runs in another process and answers at once. Bare
requests to it are made meanwhile: what the first word takes longer than theirs is what the program adds.
"""

from __future__ import annotations

import argparse
import asyncio
import multiprocessing
import random
import re
import sys
import tempfile
import time
from collections.abc import Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass, field
from multiprocessing.connection import Connection
from pathlib import Path

import httpx
import psutil

from assistant.assembly.assistant import Assistant
from assistant.config.accounts import Account
from assistant.config.settings import Settings
from assistant.conversation.conversation import Conversation
from assistant.messages.events import TextDelta, TurnFailed, TurnFinished
from assistant.storage.journal.rows import BlockRow
from assistant.ui.people import open_member
from benchmarks.figures import Figure, report
from tests.fakes.players import RuleBasedPlayer
from tests.fakes.provider import StrictProvider
from tests.fakes.wire import ChatRequest, Reply

PEOPLE = 20
MINUTES = 10.0
PAUSE_SECONDS = (3.0, 9.0)
"""How long a person reads before the next message, from and to."""
WINDOW_TOKENS = 32_000
MAX_ADDED_SECONDS = 0.1
MAX_GROWTH = 0.1
"""Of the memory after the first turns, in the rest of the time."""
WARM_SHARE = 0.3
_MARK = re.compile(r"⟨(\d+)/(\d+)⟩")
_WORDS = "I read what you wrote, and here is what I think of it, at some length, so that it comes in many pieces. " * 6


@dataclass(slots=True)
class Seen:
    """What happened to all people together."""

    turns: int = 0
    first_word_seconds: list[float] = field(default_factory=list[float])
    bare_seconds: list[float] = field(default_factory=list[float])
    faults: list[str] = field(default_factory=list[str])


@dataclass(frozen=True, slots=True)
class Person:
    """One person: their number, their assistant and the conversation they are in."""

    number: int
    assistant: Assistant
    conversation: Conversation


class MarkedPlayer:
    """Answers every message with its own mark; what is asked beside a conversation is answered by rule."""

    def __init__(self) -> None:
        self._rest = RuleBasedPlayer()

    def __call__(self, request: ChatRequest) -> Reply:
        marks = _MARK.findall(request.last_user)
        return Reply(_answer(*map(int, marks[-1]))) if marks and request.tools else self._rest(request)


def main() -> int:
    """Open everybody, let them talk, report; the faults found go to standard error."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--minutes", type=float, default=MINUTES)
    parser.add_argument("--json", action="store_true")
    minutes: float = parser.parse_args().minutes
    own, others = multiprocessing.Pipe()
    model = multiprocessing.get_context("spawn").Process(target=serve_model, args=(others,), daemon=True)
    model.start()
    try:
        with tempfile.TemporaryDirectory() as folder:
            values = {
                "home": Path(folder),
                "provider": "openai",
                "base_url": str(own.recv()),
                "model": "strict-7b",
                "max_input_length": WINDOW_TOKENS,
                "embedder": "none",
                "timezone": "UTC",
            }
            settings = Settings.model_validate(values)
            seen, figures = asyncio.run(talk(settings, minutes * 60))
    finally:
        model.kill()
        model.join()
    for fault in seen.faults[:20]:
        print(fault, file=sys.stderr)
    return report(figures)


def serve_model(connection: Connection) -> None:
    """The model's server, until this process is ended."""
    with StrictProvider(MarkedPlayer(), window_tokens=WINDOW_TOKENS) as provider:
        connection.send(provider.base_url)
        connection.recv()


async def talk(settings: Settings, seconds: float) -> tuple[Seen, list[Figure]]:
    """Everybody talks for so long; what was seen, and its figures."""
    seen = Seen()
    process = psutil.Process()
    async with AsyncExitStack() as stack:
        people = [await open_one(settings, number, stack) for number in range(PEOPLE)]
        started = time.monotonic()
        end = started + seconds
        talking = [asyncio.create_task(talk_as(person, end, seen)) for person in people]
        bare = asyncio.create_task(ask_barely(settings.base_url, end, seen))
        await asyncio.sleep(seconds * WARM_SHARE)
        warm_bytes = process.memory_info().rss
        turns = [turn for one in await asyncio.gather(*talking) for turn in [one]]
        await bare
        end_bytes = process.memory_info().rss
        for person, count in zip(people, turns, strict=True):
            seen.faults += missing_rows(person, count)
    growth = end_bytes / warm_bytes - 1
    return seen, [
        Figure("people", PEOPLE),
        Figure("turns", seen.turns, at_least=PEOPLE),
        Figure("events or words lost, doubled or crossed", len(seen.faults), at_most=0),
        Figure("median to the first word", quantile(seen.first_word_seconds, 0.5) * 1000, "ms"),
        Figure("p95 to the first word", quantile(seen.first_word_seconds, 0.95) * 1000, "ms"),
        Figure("p95 of a bare request", quantile(seen.bare_seconds, 0.95) * 1000, "ms"),
        Figure("p95 added", added_seconds(seen) * 1000, "ms", MAX_ADDED_SECONDS * 1000),
        Figure("memory at the end", end_bytes / 1e6, "MB"),
        Figure("memory grown since the first turns", growth * 100, "%", MAX_GROWTH * 100),
    ]


async def ask_barely(base_url: str, end: float, seen: Seen) -> None:
    """Ask the model without the program, again and again, from a process that is as busy."""
    body = {"model": "strict-7b", "stream": True, "messages": [{"role": "user", "content": "⟨0/0⟩ What do you think?"}]}
    async with httpx.AsyncClient(trust_env=False, timeout=60.0) as client:
        while time.monotonic() < end:
            began = time.monotonic()
            async with client.stream("POST", f"{base_url}/chat/completions", json=body) as response:
                await anext(response.aiter_lines())
            seen.bare_seconds.append(time.monotonic() - began)
            await asyncio.sleep(0.5)


def added_seconds(seen: Seen) -> float:
    """What the slowest twentieth takes longer than that of the bare requests."""
    return max(0.0, quantile(seen.first_word_seconds, 0.95) - quantile(seen.bare_seconds, 0.95))


async def open_one(settings: Settings, number: int, stack: AsyncExitStack) -> Person:
    """A person with a home of their own, as who signed in has one."""
    account = Account(f"person{number}", "")
    assistant = await stack.enter_async_context(open_member(settings, account))
    return Person(number, assistant, assistant.conversations.create())


async def talk_as(person: Person, end: float, seen: Seen) -> int:
    """Say something, read the answer, think, again; how many turns that were."""
    chance = random.Random(person.number)
    # Nobody begins in the same second.
    await asyncio.sleep(chance.uniform(0, PAUSE_SECONDS[1]))
    count = 0
    while time.monotonic() < end:
        await one_turn(person, count, seen)
        count += 1
        await asyncio.sleep(chance.uniform(*PAUSE_SECONDS))
    return count


async def one_turn(person: Person, count: int, seen: Seen) -> None:
    """One message and its answer, every event of it looked at."""
    said: list[str] = []
    began = time.monotonic()
    submitted = await person.assistant.submit(person.conversation, f"⟨{person.number}/{count}⟩ What do you think?")
    last_number, ending, first = -1, "", 0.0
    async for numbered in submitted.events:
        if last_number >= 0 and numbered.number != last_number + 1:
            seen.faults.append(f"{person.number}/{count}: event {numbered.number} after {last_number}")
        last_number = numbered.number
        match numbered.event:
            case TextDelta(text=text):
                first = first or time.monotonic() - began
                said.append(text)
            case TurnFinished(reason=reason):
                ending = reason
            case TurnFailed(error=error):
                ending = error
            case _:
                pass
    seen.turns += 1
    seen.first_word_seconds.append(first)
    if "".join(said) != _answer(person.number, count) or ending != "completed":
        seen.faults.append(f"{person.number}/{count}: {''.join(said)[:60]!r}, {ending!r}")


def missing_rows(person: Person, turns: int) -> list[str]:
    """What the journal of a person lacks, or has of somebody else."""
    rows = person.assistant.store.journal.rows(person.conversation.session_id, include_dropped=True)
    texts = [str(getattr(row.block, "text", "")) for row in rows if isinstance(row, BlockRow)]
    found = sorted(tuple(map(int, mark)) for text in texts for mark in _MARK.findall(text))
    expected = sorted((person.number, turn) for turn in range(turns) for _ in range(2))
    return [] if found == expected else [f"{person.number}: {len(found)} marks in the journal, not {len(expected)}"]


def quantile(values: Sequence[float], share: float) -> float:
    """The value below which this share of all is; 0 of none."""
    return sorted(values)[min(len(values) - 1, int(len(values) * share))] if values else 0.0


def _answer(number: int, count: int) -> str:
    return f"⟨{number}/{count}⟩ {_WORDS}".strip()


if __name__ == "__main__":
    sys.exit(main())
