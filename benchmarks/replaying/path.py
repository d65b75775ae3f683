"""The path of the replay: feed, compact, undo, compact again, a task of many steps, an edit, a refused undo."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from contextlib import aclosing
from dataclasses import dataclass, field
from pathlib import Path

from assistant.assembly.assistant import Assistant, open_assistant
from assistant.config.settings import Settings
from assistant.conversation.conversation import Conversation
from assistant.memory.log import Origin
from assistant.messages.events import (
    CompactionUndone,
    ContextCompressed,
    ContextMeasured,
    Event,
    Notice,
    TextDelta,
    ToolFinished,
    TurnFailed,
    TurnFinished,
    TurnStarted,
)
from benchmarks.replaying.account import Account, account_of
from benchmarks.replaying.dialogue import Dialogue

OPENING = "Ahoy!"
"""What an edit of SOUL.md makes every answer begin with."""
_TASK_FILES = 3


@dataclass(slots=True)
class Walk:
    """What was seen on the way; `faults` holds one line for each promise that was not kept."""

    sent: list[str] = field(default_factory=list[str])
    compactions: int = 0
    fallbacks: int = 0
    restored_word_for_word: bool = False
    task_steps: int = 0
    is_edit_obeyed: bool = False
    refusal: str = ""
    fact_file: str = ""
    faults: list[str] = field(default_factory=list[str])
    account: Account | None = None


async def walk(settings: Settings, dialogue: Dialogue, *, task_steps: int = 30) -> Walk:
    """Walk the whole path in one home. The last twentieth of the dialogue is kept for after the task."""
    seen = Walk()
    async with open_assistant(settings) as assistant:
        walker = _Walker(assistant, assistant.conversations.create(), seen)
        tail = len(dialogue.messages) // 20
        for message in dialogue.messages[:-tail]:
            await walker.say(message)
            if seen.compactions == 1 and not seen.restored_word_for_word:
                await walker.undo_first()
        await walker.do_task(task_steps)
        await walker.edit_memory()
        for message in dialogue.messages[-tail:]:
            await walker.say(message)
        await walker.refuse_undo()
        await assistant.flushes.wait()
        seen.fact_file = _file_with(assistant, dialogue.fact)
        walker.compare_transcript()
    seen.account = _account(assistant, walker.conversation.session_id, seen.sent)
    seen.faults += seen.account.faults
    return seen


def write_task_files(folder: Path) -> list[Path]:
    """Text files that are read in the task, together larger than the window."""
    folder.mkdir(parents=True, exist_ok=True)
    paths: list[Path] = []
    for number in range(1, _TASK_FILES + 1):
        path = folder / f"report-{number}.txt"
        lines = (f"line {line} of report {number}: {line * number} crates were counted" for line in range(1, 401))
        path.write_text("\n".join(lines), encoding="utf-8")
        paths.append(path)
    return paths


def task_text(steps: int, paths: Sequence[Path]) -> str:
    """The order for a task of `steps` calls over the files."""
    return f"Do the {steps}-step shell and read task on {', '.join(map(str, paths))}, please."


class _Walker:
    def __init__(self, assistant: Assistant, conversation: Conversation, seen: Walk) -> None:
        self.assistant = assistant
        self.conversation = conversation
        self.seen = seen
        self.used_tokens = 0

    async def say(self, text: str) -> list[Event]:
        """Send a message or a command and take its events."""
        if not text.startswith("/"):
            self.seen.sent.append(text)
        events: list[Event] = []
        submitted = await self.assistant.submit(self.conversation, text)
        async with aclosing(submitted.events) as told:
            async for numbered in told:
                events.append(numbered.event)
                self._see(numbered.event)
        ends = [event.reason for event in events if isinstance(event, TurnFinished)]
        if not text.startswith("/") and (ends != ["completed"] or not _answer_in(events)):
            self.seen.faults.append(f"no whole answer to {text[:60]!r}: {ends}")
        return events

    async def undo_first(self) -> None:
        """Right after the first compaction: its messages come back as they were sent."""
        events = await self.say("/undo")
        if not any(isinstance(event, CompactionUndone) for event in events):
            self.seen.faults.append(f"the first compaction was not taken back: {events}")
        said = [item.text for item in self.conversation.context_items() if item.is_user]
        if said != self.seen.sent:
            self.seen.faults.append("after Undo the context does not hold every message word for word")
        self.seen.restored_word_for_word = said[:1] == self.seen.sent[:1]

    async def do_task(self, steps: int) -> None:
        """A task of many calls, compacted on the way."""
        paths = write_task_files(self.assistant.workspace.files_folder / "reports")
        events = await self.say(task_text(steps, paths))
        self.seen.task_steps = sum(isinstance(event, ToolFinished) and event.state == "success" for event in events)
        if f"All {steps} steps are done." not in _answer_in(events):
            self.seen.faults.append(f"the task did not end: {_answer_in(events)[-200:]!r}")

    async def edit_memory(self) -> None:
        """What the owner writes into SOUL.md is obeyed in the next answer."""
        notes = self.assistant.notes
        soul = notes.read("SOUL.md")
        notes.save("SOUL.md", f"{soul.text}\nBegin every answer with: {OPENING}\n", soul.digest, Origin("owner"))
        events = await self.say("What should I keep in mind about all this?")
        self.seen.is_edit_obeyed = _answer_in(events).startswith(OPENING)

    async def refuse_undo(self) -> None:
        """Talk on until the context is nearly full, then take compactions back until one no longer fits."""
        limit = self.assistant.policy.threshold - self.assistant.policy.guard_tokens // 2
        number = 0
        while self.used_tokens < limit and number < 200:
            number += 1
            await self.say(
                f"Diary entry {number}: on day {number} I walked {number} miles along the river and {_FILLER}"
            )
        is_taken_back = True
        while is_taken_back:
            events = await self.say("/undo")
            is_taken_back = any(isinstance(event, CompactionUndone) for event in events)
        notices = [event.text for event in events if isinstance(event, Notice)]
        self.seen.refusal = next((text for text in notices if "do not fit any more" in text), "")

    def compare_transcript(self) -> None:
        """The transcript holds every question in order, and every compaction as it was told."""
        history = self.conversation.attach().history
        asked = [event.text for event in history if isinstance(event, TurnStarted)]
        if asked != self.seen.sent:
            self.seen.faults.append(f"the transcript tells {len(asked)} questions of {len(self.seen.sent)}")
        compactions = sum(isinstance(event, ContextCompressed) for event in history)
        if compactions != self.seen.compactions:
            self.seen.faults.append(f"the transcript tells {compactions} compactions of {self.seen.compactions}")

    def _see(self, event: Event) -> None:
        match event:
            case ContextCompressed():
                self.seen.compactions += 1
                self.seen.fallbacks += event.fallback
            case ContextMeasured():
                self.used_tokens = event.used_tokens
            case TurnFailed():
                self.seen.faults.append(f"a turn failed: {event.error}")
            case _:
                pass


_FILLER = (
    "thought about the garden, the letters that still wait for an answer, the price of timber, the neighbour's boat, "
    "and whether the attic can be made into a room before the winter comes."
)


def _answer_in(events: Sequence[Event]) -> str:
    return "".join(event.text for event in events if isinstance(event, TextDelta))


def _file_with(assistant: Assistant, fact: str) -> str:
    workspace = assistant.workspace
    for path in workspace.memory_files():
        if fact in path.read_text(encoding="utf-8"):
            return workspace.relative_name(path)
    return ""


def _account(assistant: Assistant, session_id: str, sent: Sequence[str]) -> Account:
    store = assistant.store
    return account_of(store.workspace.dialog_folder, store.journal, store.sessions.load(session_id), sent, sent)


def run_walk(settings: Settings, dialogue: Dialogue, *, task_steps: int = 30) -> Walk:
    """`walk` in an event loop of its own."""
    return asyncio.run(walk(settings, dialogue, task_steps=task_steps))
