"""A process that has everything imported and forks children: each talks on in one home until it is killed.

`python -m benchmarks.replaying.fork_server` reads an `Order` as JSON from standard input and prints a `Tally` as JSON.
"""

from __future__ import annotations

import asyncio
import json
import logging
import os
import random
import select
import signal
import sys
import traceback
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path

from assistant.assembly.assistant import Assistant, open_assistant
from assistant.assembly.home import open_store
from assistant.compaction.record import CompactionRecord
from assistant.config.settings import Settings
from assistant.conversation.conversation import Conversation
from assistant.messages.events import ContextCompressed, TurnFailed, TurnFinished
from assistant.storage.journal.rows import BlockRow
from benchmarks.replaying.account import account_of
from benchmarks.replaying.path import task_text, write_task_files
from benchmarks.replaying.talker import append_line

# A child is killed at a random moment behind a random one of its first events: on a slow machine it takes longer.
_MOMENT_SECONDS = 0.05
_EVENT_SECONDS = 60.0
_END_SECONDS = 240.0
# Of the children, this share is killed at any moment from the fork on, while it opens the home.
_EARLY_SHARE = 0.2
_EARLY_SECONDS = 0.4
_TASK_EVERY = 15
_TASK_STEPS = 5
_LAST_MESSAGES = 3
# How often a child does more than talk.
_TWO_AT_ONCE, _STOPPED, _COMPACTED, _TAKEN_BACK = 0.2, 0.15, 0.25, 0.4


@dataclass(frozen=True, slots=True)
class Order:
    """What to do: kill children that send `messages` to the model at `base_url`, then let one come to its end."""

    home: str
    base_url: str
    window_tokens: int
    compact_threshold: int | None
    messages: list[str]
    kills: int
    most_events: int
    seed: int


@dataclass(slots=True)
class Tally:
    """What came of it; one line for each fault."""

    kills: int = 0
    cut_turns: int = 0
    compactions: int = 0
    questions: int = 0
    faults: list[str] = field(default_factory=list[str])


class ForkServer:
    """Forks, kills, and looks at what is left."""

    def __init__(self, order: Order) -> None:
        self._order = order
        self._chance = random.Random(order.seed)
        self._settings = Settings(
            home=Path(order.home),
            provider="openai",
            base_url=order.base_url,
            max_input_length=order.window_tokens,
            compact_threshold=order.compact_threshold,
            embedder="none",
            timezone="UTC",
        )
        self._told = Path(order.home).parent / "told.jsonl"
        self._told.touch()

    def run(self) -> Tally:
        """All kills, then a child that ends by itself."""
        paths = write_task_files(self._settings.home / "files" / "reports")
        plan = _with_tasks(self._order.messages, [str(path) for path in paths])
        tally = Tally()
        for number in range(1, self._order.kills + 1):
            is_killed = self._raise_child(plan, number)
            tally.kills += is_killed
            tally.faults += [f"after kill {number}: {fault}" for fault in self._faults(plan)]
            if not is_killed:
                tally.faults.append(f"child {number} ended before it was killed")
                break
        self._let_end(plan)
        tally.faults += self._faults(plan)
        self._count(tally)
        return tally

    def _raise_child(self, plan: Sequence[str], number: int) -> bool:
        """Fork, wait for a random moment, kill; False when the child had ended by itself."""
        ticks, pid = self._fork(plan, number, len(plan))
        if self._chance.random() < _EARLY_SHARE:
            _wait(ticks, self._chance.uniform(0.0, _EARLY_SECONDS))
        else:
            for _ in range(self._chance.randint(1, self._order.most_events)):
                _wait(ticks, _EVENT_SECONDS)
            _wait(ticks, self._chance.uniform(0.0, _MOMENT_SECONDS))
        is_alive = os.waitpid(pid, os.WNOHANG) == (0, 0)
        if is_alive:
            os.kill(pid, signal.SIGKILL)
            os.waitpid(pid, 0)
        os.close(ticks)
        return is_alive

    def _let_end(self, plan: Sequence[str]) -> None:
        ticks, pid = self._fork(plan, 0, _LAST_MESSAGES)
        while _wait(ticks, _END_SECONDS):
            pass
        os.waitpid(pid, 0)
        os.close(ticks)

    def _fork(self, plan: Sequence[str], number: int, most: int) -> tuple[int, int]:
        """The reading end of the child's pipe, and its process id."""
        reading, writing = os.pipe()
        pid = os.fork()
        if pid:
            os.close(writing)
            return reading, pid
        try:
            os.close(reading)
            child = _Child(self._settings, plan, self._told, writing, random.Random(self._order.seed + number))
            asyncio.run(child.talk_on(most))
        except BaseException:
            append_line(self._told, {"fault": traceback.format_exc()})
        finally:
            os._exit(0)

    def _faults(self, plan: Sequence[str]) -> list[str]:
        """What is wrong on disk now, and what the children told."""
        told = [json.loads(line) for line in self._told.read_text(encoding="utf-8").splitlines()]
        faults = [str(line["fault"]) for line in told if "fault" in line]
        store = open_store(self._settings)
        for summary in store.sessions.list():
            sent = [str(line["sent"]) for line in told if "sent" in line]
            session = store.sessions.load(summary.session_id)
            faults += account_of(store.workspace.dialog_folder, store.journal, session, sent, plan).faults
        return faults

    def _count(self, tally: Tally) -> None:
        store = open_store(self._settings)
        told = [json.loads(line) for line in self._told.read_text(encoding="utf-8").splitlines()]
        tally.cut_turns = sum("cut" in line for line in told)
        rows = [row for summary in store.sessions.list() for row in store.journal.rows(summary.session_id)]
        tally.compactions = sum(isinstance(row, CompactionRecord) for row in rows)
        tally.questions = sum(isinstance(row, BlockRow) and row.role == "user" for row in rows)


class _Child:
    """Opens the home, goes on where the last child was killed, and sends what was not sent yet."""

    def __init__(self, settings: Settings, plan: Sequence[str], told: Path, pipe: int, chance: random.Random) -> None:
        self._settings = settings
        self._plan = plan
        self._told = told
        self._pipe = pipe
        self._chance = chance

    async def talk_on(self, most: int) -> None:
        """Go on with a turn that was cut, then send what was not sent yet, at most so many messages."""
        async with open_assistant(self._settings) as assistant:
            conversation = assistant.conversations.newest_or_new()
            self._tick()
            if _is_cut(conversation):
                append_line(self._told, {"cut": conversation.session_id})
                conversation.continue_turn()
                await conversation.wait()
            asked = _asked(assistant, conversation)
            waiting = [text for text in self._plan if text not in asked][:most]
            while waiting:
                await self._say(conversation, waiting)
            await assistant.flushes.wait()

    async def _say(self, conversation: Conversation, waiting: list[str]) -> None:
        """Send a message, or two at once, as a person would who also stops, compacts and takes back."""
        told = conversation.follow_until_idle(conversation.next_number)
        for text in [waiting.pop(0) for _ in range(2 if self._happens(_TWO_AT_ONCE) else 1) if waiting]:
            conversation.ask(text)
            # What `ask` has taken may not be lost any more.
            append_line(self._told, {"sent": text})
        if self._happens(_STOPPED):
            await asyncio.sleep(self._chance.uniform(0.0, 0.05))
            await conversation.stop()
            conversation.continue_turn()
        is_compacted = False
        async for numbered in told:
            self._tick()
            is_compacted |= isinstance(numbered.event, ContextCompressed)
            if isinstance(numbered.event, TurnFailed):
                append_line(self._told, {"fault": f"a turn failed: {numbered.event.error}"})
        if self._happens(_COMPACTED):
            conversation.compact()
        elif is_compacted and self._happens(_TAKEN_BACK):
            conversation.undo()
        await conversation.wait()

    def _tick(self) -> None:
        os.write(self._pipe, b".")

    def _happens(self, share: float) -> bool:
        return self._chance.random() < share


def _is_cut(conversation: Conversation) -> bool:
    ends = [event for event in conversation.attach().history if isinstance(event, TurnFinished | TurnFailed)]
    return bool(ends) and isinstance(ends[-1], TurnFinished) and ends[-1].reason == "interrupted"


def _asked(assistant: Assistant, conversation: Conversation) -> set[str]:
    rows = assistant.store.journal.rows(conversation.session_id)
    return {
        row.block.text for row in rows if isinstance(row, BlockRow) and row.role == "user" and row.block.type == "text"
    }


def _with_tasks(messages: Sequence[str], paths: Sequence[str]) -> list[str]:
    plan: list[str] = []
    for number, message in enumerate(messages, start=1):
        plan.append(message)
        if number % _TASK_EVERY == 0:
            plan.append(f"{task_text(_TASK_STEPS, [Path(path) for path in paths])} It is number {number}.")
    return plan


def _wait(pipe: int, seconds: float) -> bool:
    """Wait for the next event of the child, at most so long; False when none came or the child has ended."""
    return bool(select.select([pipe], [], [], seconds)[0] and os.read(pipe, 1))


def main() -> None:
    """One order, one tally."""
    logging.basicConfig(level=logging.ERROR)
    order = Order(**json.loads(sys.stdin.read()))
    print(json.dumps(asdict(ForkServer(order).run()), ensure_ascii=False))


if __name__ == "__main__":
    main()
