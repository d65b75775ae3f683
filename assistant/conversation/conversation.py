"""One conversation: what it can be asked to do, one job after the other, and everyone who follows it."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncGenerator, Callable
from dataclasses import dataclass
from datetime import datetime

from assistant.agent.context import CompactionPreview, Context, ContextItem
from assistant.agent.hooks.compaction import MemoryCompactionHook
from assistant.agent.runner import AgentRunner
from assistant.agent.session_state import SessionKeeper
from assistant.agent.tools.memory_tools import MemoryDesk
from assistant.compaction.record import CompactionRecord
from assistant.config.prompts import Language
from assistant.conversation.event_log import EventLog, NumberedEvent
from assistant.conversation.job_queue import JobQueue
from assistant.conversation.jobs import Answer, Ask, Clear, Compact, Continue, Edit, Job, Measure, Reply, Retry, Undo
from assistant.conversation.past import past_before, past_of, told_change
from assistant.conversation.turns import Turns
from assistant.errors import PalimpsestError
from assistant.memory.log import MemoryLog
from assistant.messages.blocks import BlockKey, Msg, UserMsg, text_of
from assistant.messages.events import (
    ApprovalRequested,
    Event,
    Notice,
)
from assistant.storage.atomic_io import replace_text
from assistant.storage.journal.journal import Journal
from assistant.storage.journal.past_events import DatedChange
from assistant.storage.workspace import Workspace
from assistant.text.encoding import storable

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Attached:
    """What a new reader needs: all that is past, and the number from which to follow what is live."""

    history: list[Event]
    start: int


@dataclass(frozen=True, slots=True)
class Question:
    """A message of the person that stands in the context, and how many messages stand behind it."""

    message_id: str
    later_messages: int


class Conversation:
    """Owns its turn: jobs run one after the other in tasks of its own, so a reader that leaves ends nothing."""

    def __init__(
        self,
        *,
        keeper: SessionKeeper,
        runner: AgentRunner,
        journal: Journal,
        memory_log: MemoryLog,
        events: EventLog,
        context: Context,
        compaction: MemoryCompactionHook,
        turns: Turns,
        desk: MemoryDesk,
        workspace: Workspace,
        language: Callable[[], Language],
        now: Callable[[], datetime],
    ) -> None:
        self._keeper = keeper
        self._runner = runner
        self._journal = journal
        self._memory_log = memory_log
        self._events = events
        self._context = context
        self._compaction = compaction
        self._turns = turns
        self.desk = desk
        """What the conversation may do with memory, for the person as for the model."""
        self._workspace = workspace
        self._language = language
        self._now = now
        self._jobs: JobQueue[Job] = JobQueue(self._run, events.wake, f"turn of {self.session_id}")
        self._kept: list[Event] = []

    @property
    def session_id(self) -> str:
        """Names the conversation for ever."""
        return self._keeper.session.session_id

    @property
    def title(self) -> str:
        """What the list shows."""
        return self._keeper.session.title

    @property
    def language(self) -> Language:
        """The language it is held in, or that is set."""
        return self._language()

    @property
    def is_running(self) -> bool:
        """True while a turn or another job runs or waits to run."""
        return self._jobs.is_busy

    @property
    def queued(self) -> tuple[str, ...]:
        """Messages that wait for the running turn to end."""
        return tuple(text_of(job.message) for job in self._jobs.waiting if isinstance(job, Ask))

    @property
    def next_number(self) -> int:
        """The number the next event will get."""
        return self._events.end

    def ask(self, text: str) -> None:
        """Begin a turn, or queue the message behind the running one; on return it is on disk.

        A call that waits for approval is denied with it. A message too long for any request becomes a file.
        """
        message = self._message(text)
        if message is None:
            return
        if self.is_running:
            self._keeper.queue(message)
            self._jobs.add(Ask(message))
        else:
            self._turns.begin(message)
            self._jobs.add(Reply(message))

    def take_up_queued(self) -> None:
        """Messages that were queued when the process ended stand in the context now, and wait for *Continue*."""
        if waiting := self._keeper.waiting():
            self._turns.deny_parked(text_of(waiting[0]))
            self._keeper.start_turn(*waiting)
            self._keeper.keep()

    def answer(self, call_id: str, is_allowed: bool) -> None:
        """Allow a parked call once, or deny it."""
        self._submit(Answer(call_id, is_allowed))

    def continue_turn(self) -> None:
        """Go on after a step limit, an interruption or a crash."""
        self._submit(Continue())

    def retry(self) -> None:
        """Answer the newest message again; the answer so far leaves the context, not the journal."""
        self._submit(Retry())

    def questions(self) -> list[Question]:
        """The person's messages that can be edited: those in the context, oldest first."""
        context = self._runner.context
        return [
            Question(message.id, len(context) - index)
            for index, message in enumerate(context, 1)
            if message.role == "user"
        ]

    def edit(self, message_id: str, text: str) -> None:
        """Ask something else in place of a message in the context; it and all behind it stay in the journal."""
        message = self._message(text)
        if message is not None:
            self._keeper.queue(message)
            self._submit(Edit(message_id, message))

    def compact(self, hint: str = "") -> None:
        """Compact now; while a turn runs, before its next step."""
        if self._turns.running is not None:
            self._compaction.request(hint)
        else:
            self._submit(Compact(hint))

    def undo(self) -> None:
        """Take the newest compaction back; while a turn runs, before its next step."""
        if self._turns.running is not None:
            self._compaction.request_undo()
        else:
            self._submit(Undo())

    def compaction(self, compaction_id: str) -> CompactionRecord | None:
        """The journal's record of a compaction of this conversation."""
        rows = self._journal.rows(self.session_id)
        records = (row for row in rows if isinstance(row, CompactionRecord) and row.compaction_id == compaction_id)
        return next(records, None)

    async def preview_compaction(self) -> CompactionPreview:
        """What compacting now would fold and keep; nothing is changed."""
        return await self._context.preview()

    async def stop(self) -> None:
        """End the running turn and wait until its state is valid; queued messages go on."""
        await self._jobs.stop()

    async def wait(self) -> None:
        """Return when nothing runs and nothing waits."""
        while self.is_running:
            await self._events.change()

    async def close(self) -> None:
        """End the running turn and take no more; what is queued is taken up when the conversation is opened again."""
        await self._jobs.close()

    def attach(self) -> Attached:
        """The past as events, and where to follow on; a running turn is followed from its start."""
        rows = self._journal.rows(self.session_id)
        compaction_id, approvals = self._keeper.session.compaction_id, self._runner.approvals()
        changes = self._written_changes()
        running = self._turns.running
        if running is None:
            return Attached([*past_of(rows, compaction_id, approvals, changes), *self._kept], self._events.end)
        past = past_before(rows, compaction_id, running, approvals, changes)
        return Attached([*past, *self._kept], running.start)

    def _written_changes(self) -> list[DatedChange]:
        try:
            changes = self._memory_log.changes_in(self.session_id)
        except OSError as error:
            notice = Notice(
                f"memory_log.jsonl cannot be read ({error.strerror or error}), so what was written to memory does not "
                "show in this conversation. The memory files are not touched by this."
            )
            if notice not in self._kept:
                self.emit_kept(notice)
            return []
        return [DatedChange(change.at, told_change(change)) for change in changes]

    def follow(self, start: int) -> AsyncGenerator[NumberedEvent]:
        """Live events from number `start` on, without end."""
        return self._events.follow(start)

    def follow_until_idle(self, start: int) -> AsyncGenerator[NumberedEvent]:
        """Live events from number `start` on, until nothing runs and nothing waits."""
        return self._events.follow(start, lambda: not self.is_running)

    def emit(self, event: Event) -> None:
        """Tell every reader something that belongs to this conversation."""
        self._events.emit(event)

    def emit_kept(self, event: Event) -> None:
        """Tell every reader something, those who come later too, as long as this process runs."""
        self._kept.append(event)
        self.emit(event)

    def approvals(self) -> list[ApprovalRequested]:
        """The calls that wait for the person."""
        return self._runner.approvals()

    def measure(self) -> None:
        """Tell every reader how full the window is now."""
        if self._context.has_schemas or self.is_running:
            self._context.tell_measure()
        else:
            self._submit(Measure())

    def context_items(self) -> list[ContextItem]:
        """What the model sees, in order, with tokens."""
        return self._context.items()

    def rename(self, title: str) -> None:
        """Give the conversation a title."""
        self._keeper.rename(title)

    def pin(self, key: BlockKey) -> None:
        """Keep a block verbatim in every context; raises `CompactionError` when pins would take too much."""
        self._context.pin(key)

    def unpin(self, key: BlockKey) -> None:
        """Let a pinned block go."""
        self._keeper.pin([pinned for pinned in self._keeper.session.pins if pinned != key])

    def clear(self) -> None:
        """Empty the context; the journal keeps every word."""
        self._submit(Clear())

    def _submit(self, job: Job) -> None:
        self._refuse_closed()
        self._jobs.add(job)

    def _refuse_closed(self) -> None:
        if self._jobs.is_closed:
            raise PalimpsestError("This conversation is closed.")

    async def _run(self, job: Job) -> None:
        try:
            await self._carry_out(job)
        except asyncio.CancelledError:
            self.emit(Notice("Stopped.", "info"))
        except PalimpsestError as error:
            self.emit(Notice(str(error)))
        except Exception as error:
            log.exception("a job of conversation %s failed", self.session_id)
            self.emit(Notice(f"{type(error).__name__}: {error}"))
        finally:
            self._keep_requests()

    async def _carry_out(self, job: Job) -> None:
        match job:
            case Ask():
                self._turns.begin(job.message)
                await self._turns.reply_to(job.message)
            case Reply():
                await self._turns.reply_to(job.message)
            case Edit():
                await self._turns.edit(job.message_id, job.message)
            case Retry():
                await self._turns.retry()
            case Continue():
                await self._turns.go_on()
            case Answer():
                await self._turns.answer(job.call_id, job.is_allowed)
            case _:
                await self._change_context(job)

    async def _change_context(self, job: Compact | Undo | Measure | Clear) -> None:
        match job:
            case Compact():
                await self._context.check("manual", job.hint)
            case Undo():
                await self._context.undo()
            case Measure():
                await self._context.read_schemas()
                self._context.tell_measure()
            case Clear():
                self._keeper.clear()
                self._context.tell_measure()
                self.emit(Notice("The context is empty now. Every word is still in the journal and in search.", "info"))

    def _keep_requests(self) -> None:
        """What was asked for before the next step of a turn, when no step came."""
        is_undo_requested, hint = self._compaction.take_requests()
        if hint is not None:
            self._jobs.add(Compact(hint), is_next=True)
        if is_undo_requested:
            self._jobs.add(Undo(), is_next=True)

    def _message(self, text: str) -> Msg | None:
        """What the person says; None where no request could hold it, and it waits as a file to be read in parts."""
        self._refuse_closed()
        if self._context.fits_alone(text):
            return UserMsg("user", storable(text))
        self._save_as_file(text)
        return None

    def _save_as_file(self, text: str) -> None:
        path = self._workspace.files_folder / f"message-{self._now():%Y-%m-%d-%H%M%S-%f}.txt"
        replace_text(path, text)
        tokens, limit = self._context.tokens_of(text), self._context.policy.max_input_length
        self.emit(
            Notice(
                f"This message has about {tokens:,} tokens and cannot fit the window of {limit:,}, so it was not sent. "
                f"It was saved as files/{path.name}: ask to have it read in parts."
            )
        )
