"""A process that talks in one home and says what it does, for another one that kills it.

`python -m benchmarks.replaying.talker` reads an `Order` as JSON from standard input. It prints a line once what is to
be cut is under way, and puts into `Order.seen` a line for each piece of an answer that a person has seen.
"""

from __future__ import annotations

import asyncio
import json
import os
import sys
import time
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from typing import Literal

from assistant.assembly.assistant import Assistant, open_assistant
from assistant.config.settings import Settings
from assistant.conversation.conversation import Conversation
from assistant.conversation.left import LeftConversations
from assistant.messages.events import TextDelta

_IDLE_MINUTES = 30


@dataclass(frozen=True, slots=True)
class Order:
    """What to do in `home` with the model at `base_url`.

    `stream`: say all `messages` and tell every piece of the last answer. `go on`: go on with its turn that was cut.
    `idle`: say them, then let half an hour pass. `leave`: open the conversation, leave it and wait for its flush.
    """

    home: str
    base_url: str
    work: Literal["stream", "go on", "idle", "leave"]
    messages: list[str]
    seen: str = ""


def settings_for(
    home: Path, base_url: str, max_input_length: int | None = None, compact_threshold: int | None = None
) -> Settings:
    """A home that talks to the strict provider, whatever the environment says."""
    return Settings(
        home=home,
        provider="openai",
        base_url=base_url,
        max_input_length=max_input_length,
        compact_threshold=compact_threshold,
        embedder="none",
        timezone="UTC",
    )


async def talk(order: Order) -> None:
    """Do what was ordered, to its end."""
    async with open_assistant(settings_for(Path(order.home), order.base_url)) as assistant:
        conversation = assistant.conversations.newest_or_new()
        match order.work:
            case "stream":
                await _stream(conversation, order)
            case "idle":
                await _stay_idle(assistant, conversation, order.messages)
            case "go on":
                conversation.continue_turn()
                await conversation.wait()
            case "leave":
                assistant.left.leave(conversation.session_id)
                await assistant.flushes.wait()


async def _stream(conversation: Conversation, order: Order) -> None:
    for message in order.messages:
        start = conversation.next_number
        conversation.ask(message)
        async for numbered in conversation.follow_until_idle(start):
            if isinstance(numbered.event, TextDelta):
                append_line(Path(order.seen), {"at": time.time(), "text": numbered.event.text})
                _tell_working()


async def _stay_idle(assistant: Assistant, conversation: Conversation, messages: list[str]) -> None:
    for message in messages:
        conversation.ask(message)
        await conversation.wait()
    store = assistant.store
    left = LeftConversations(
        assistant.conversations,
        store.sessions,
        store.journal,
        assistant.flushes.leave,
        lambda: store.clock.now() + timedelta(minutes=_IDLE_MINUTES + 1),
    )
    left.look(_IDLE_MINUTES)
    _tell_working()
    await assistant.flushes.wait()


def append_line(path: Path, line: dict[str, object]) -> None:
    """One write, so that a kill leaves a whole line or none."""
    descriptor = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
    os.write(descriptor, (json.dumps(line, ensure_ascii=False) + "\n").encode())
    os.close(descriptor)


def _tell_working() -> None:
    print("working", flush=True)


if __name__ == "__main__":
    asyncio.run(talk(Order(**json.loads(sys.stdin.read()))))
