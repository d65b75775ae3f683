"""One conversation: what it can be asked to do, one job after the other, and everyone who follows it."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncGenerator, Sequence
from dataclasses import dataclass

from assistant.agent.allowances import Allowances, Decision
from assistant.agent.attachments.file_reading import GivenFile
from assistant.agent.compactor import CompactionPreview, Compactor
from assistant.agent.loop import AgentLoop
from assistant.agent.session_state import SessionState
from assistant.agent.tools.memory_tools import MemoryTools
from assistant.agent.turn_gate import TurnGate
from assistant.agent.window import ContextItem, ContextWindow
from assistant.compaction.record import CompactionRecord
from assistant.config.plain_reasons import plain_reason
from assistant.config.profiles import Profiles
from assistant.config.words import Language, say
from assistant.conversation.answering import Answering, ModelSwitch
from assistant.conversation.asked_messages import AskedMessages
from assistant.conversation.event_log import EventLog, NumberedEvent
from assistant.conversation.job_queue import JobQueue
from assistant.conversation.jobs import (
    Answer,
    Ask,
    CarryOutRequests,
    Clear,
    Continue,
    Edit,
    Job,
    Measure,
    Retry,
    ShowVersion,
)
from assistant.conversation.past import change_event, past_before, past_of, versions_known
from assistant.conversation.turns import Turns
from assistant.errors import PalimpsestError
from assistant.messages.blocks import BlockKey, text_of
from assistant.messages.events import (
    AllowanceScope,
    ApprovalRequested,
    Event,
    Notice,
    RecalledLine,
    RecallRefused,
    VersionedPart,
    VersionsKnown,
)
from assistant.messages.hints import without_hints
from assistant.models.chat_model import ChatModel
from assistant.storage.journal.past_events import DatedChange
from assistant.text.encoding import storable

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Attached:
    """What a new reader needs: all that is past, and the number from which to follow what is live."""

    history: list[Event]
    start: int


@dataclass(frozen=True, slots=True)
class Question:
    """A message of the person that is in the context, and how many messages come after it."""

    message_id: str
    later_messages: int


class Conversation:
    """Owns its turn: jobs run one after the other in tasks of its own, so a reader that leaves ends nothing."""

    def __init__(
        self,
        state: SessionState,
        answering: Answering,
        events: EventLog,
        switch: ModelSwitch,
        gate: TurnGate,
    ) -> None:
        """`answering` is what it begins with, `switch` knows who answers next; `gate` is told when a turn runs."""
        self._state = state
        self._answering = answering
        self._events = events
        self._switch = switch
        self._turns = Turns(state, answering, events, self._take_chosen_model)
        self._jobs: JobQueue[Job] = JobQueue(self._carry_out, events.wake, f"turn of {self.session_id}")
        self._gate = gate

    @property
    def memory(self) -> MemoryTools:
        """What the conversation can do with memory, for the person as for the model."""
        return self._answering.memory

    @property
    def model(self) -> ChatModel:
        """The model that answers. After a start it is that of the settings until the chosen profile's is connected."""
        return self._answering.model

    async def model_found(self) -> ChatModel:
        """The model that answers, once that of the chosen profile was looked for; in a turn, that of the turn."""
        if self._turns.running is None:
            self._submit(Measure())
            await self.wait()
        return self.model

    @property
    def profile(self) -> str:
        """The profile that is to answer; empty for the settings' own."""
        return self._switch.chosen

    @property
    def profiles(self) -> Profiles:
        """What can be chosen beside the settings' own."""
        return self._switch.profiles

    def choose_profile(self, name: str) -> None:
        """Let another profile answer from the next turn on, also after the next start; what that changes is told.

        Raises `SettingsError` where there is none of that name.
        """
        self._refuse_closed()
        self._switch.choose(name)
        self._submit(Measure())

    @property
    def _loop(self) -> AgentLoop:
        return self._answering.loop

    @property
    def _compactor(self) -> Compactor:
        return self._answering.compactor

    @property
    def _window(self) -> ContextWindow:
        return self._answering.compactor.window

    @property
    def session_id(self) -> str:
        """Names the conversation for ever."""
        return self._state.session_id

    @property
    def title(self) -> str:
        """What the list shows."""
        return self._state.session.title

    @property
    def compaction_id(self) -> str | None:
        """The compaction that its context is based on; None where there is none."""
        return self._state.session.compaction_id

    @property
    def language(self) -> Language:
        """The language it is held in, or that is set."""
        return self._state.language

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

    def ask(self, text: str, files: Sequence[GivenFile] = ()) -> None:
        """Begin a turn, or queue the message behind the running one; on return it and its files are on disk.

        A call that waits for approval is denied with it. A message too long for any request becomes a file.
        """
        self._refuse_closed()
        message = self._asked().of(text, files)
        # A model that is only looked for changes nothing of what was said, so the turn begins beside it.
        if all(isinstance(job, Measure) for job in self._jobs.unfinished):
            self._turns.begin(message)
        else:
            self._state.queue(message)
        self._jobs.add(Ask(message))

    def take_up_queued(self) -> None:
        """What was streamed or queued when the process ended is in the context now, and waits for *Continue*."""
        self._turns.take_up_draft()
        if waiting := self._state.waiting():
            self._turns.deny_parked(text_of(waiting[0]))
            self._state.start_turn(*waiting)
            self._state.keep()

    def answer(self, call_id: str, is_allowed: bool, scope: AllowanceScope | None = None, why: str = "") -> None:
        """Allow a parked call once, or with a `scope` also from now on; or deny it, with words why for the model."""
        self._submit(Answer(call_id, Decision(is_allowed, scope, storable(why))))

    @property
    def allowances(self) -> Allowances:
        """What the person allowed before, in this conversation or always."""
        return self._loop.allowances

    def continue_turn(self) -> None:
        """Go on after a step limit, an interruption or a crash."""
        self._submit(Continue())

    def retry(self) -> None:
        """Answer the newest message again; the answer so far leaves the context, not the journal."""
        self._submit(Retry())

    def show_version(self, part: VersionedPart, message_id: str, number: int) -> None:
        """Let version `number` (from 1) of a message, or of the answer to it, stand, and what followed it."""
        self._submit(ShowVersion(part, message_id, number))

    def versions(self) -> list[VersionsKnown]:
        """The answers and messages that have several versions, as they came about."""
        return versions_known(self._state.told().versions)

    def questions(self) -> list[Question]:
        """The person's messages that can be edited: those in the context, oldest first."""
        context = without_hints(self._loop.context)
        return [
            Question(message.id, len(context) - index)
            for index, message in enumerate(context, 1)
            if message.role == "user"
        ]

    def edit(self, message_id: str, text: str) -> None:
        """Ask something else in place of a message in the context, with its files; all of it stays in the journal."""
        self._refuse_closed()
        replaced = next((one for one in self._loop.context if one.id == message_id), None)
        message = self._asked().in_place_of(replaced, text)
        self._state.queue(message)
        self._submit(Edit(message_id, message))

    def compact(self, hint: str = "") -> None:
        """Compact now; while a turn runs, before its next step."""
        self._compactor.requests.compact(hint)
        self._carry_out_unless_in_turn()

    def undo(self) -> None:
        """Take the newest compaction back; while a turn runs, before its next step."""
        self._compactor.requests.undo()
        self._carry_out_unless_in_turn()

    def compaction(self, compaction_id: str) -> CompactionRecord | None:
        """The journal's record of a compaction of this conversation."""
        rows = self._state.journal.rows(self.session_id)
        records = (row for row in rows if isinstance(row, CompactionRecord) and row.compaction_id == compaction_id)
        return next(records, None)

    async def preview_compaction(self) -> CompactionPreview:
        """What compacting now would fold and keep; nothing is changed."""
        return await self._compactor.preview()

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
        told = self._state.told()
        rows, known = told.rows, versions_known(told.versions)
        compaction_id, approvals = self._state.session.compaction_id, self._loop.approvals()
        changes = self._written_changes()
        running = self._turns.running
        if running is None:
            past = past_of(rows, compaction_id, approvals, changes)
            return Attached([*known, *past, *self._events.kept], self._events.end)
        past = past_before(rows, compaction_id, running, approvals, changes)
        return Attached([*known, *past, *self._events.kept], running.start)

    def _written_changes(self) -> list[DatedChange]:
        try:
            changes = self.memory.changes()
        except OSError as error:
            notice = Notice(say("conversation", "log_unreadable", reason=plain_reason(error)))
            if notice not in self._events.kept:
                self.emit_kept(notice)
            return []
        return [DatedChange(change.at, change_event(change)) for change in changes]

    def follow(self, start: int) -> AsyncGenerator[NumberedEvent]:
        """Live events from number `start` on, without end."""
        return self._events.follow(start)

    def follow_until_idle(self, start: int) -> AsyncGenerator[NumberedEvent]:
        """Live events from number `start` on, until nothing runs and nothing waits."""
        return self._events.follow(start, lambda: not self.is_running)

    def emit(self, event: Event) -> None:
        """Emit something that belongs to this conversation to every reader."""
        self._events.emit(event)

    def emit_kept(self, event: Event) -> None:
        """Emit something to every reader, those who come later too, as long as this process runs."""
        self._events.emit_kept(event)

    @property
    def kept(self) -> tuple[Event, ...]:
        """What every reader is to know, as long as this process runs."""
        return self._events.kept

    @property
    def is_waiting(self) -> bool:
        """True while a call waits for the person."""
        return bool(self._loop.parked_calls())

    def approvals(self) -> list[ApprovalRequested]:
        """The cards of the calls that wait for the person."""
        return self._loop.approvals()

    def measure(self) -> None:
        """Emit how full the window is now."""
        if self._window.has_schemas or self.is_running:
            self._window.emit_measure()
        else:
            self._submit(Measure())

    def context_items(self) -> list[ContextItem]:
        """What the model sees, in order, with tokens."""
        return self._window.items()

    def rename(self, title: str) -> None:
        """Give the conversation a title."""
        self._state.rename(title)

    @property
    def is_on_top(self) -> bool:
        """True where the person keeps it above the others in the list."""
        return self._state.session.is_on_top

    def put_on_top(self, is_on_top: bool) -> None:
        """Keep the conversation above the others in the list, or no longer."""
        self._state.put_on_top(is_on_top)

    def pin(self, key: BlockKey) -> None:
        """Keep a block verbatim in every context; raises `CompactionError` when pins would take too much."""
        self._window.pin(key)

    def unpin(self, key: BlockKey) -> None:
        """Let a pinned block go."""
        self._window.unpin(key)

    def refuse_recall(self, line: RecalledLine) -> None:
        """Keep a recalled passage out of recall in this conversation."""
        self._state.refuse_recall(line)
        self.emit(RecallRefused(line.mark))

    def leave_recalled(self) -> None:
        """Take what was recalled out of the context; the next turn looks for it again."""
        self._state.leave_recalled()

    def clear(self) -> None:
        """Empty the context; the journal keeps every word."""
        self._submit(Clear())

    def _submit(self, job: Job) -> None:
        self._refuse_closed()
        self._jobs.add(job)

    def _refuse_closed(self) -> None:
        if self._jobs.is_closed:
            raise PalimpsestError(say("conversation", "is_closed"))

    def _carry_out_unless_in_turn(self) -> None:
        if self._turns.running is None:
            self._submit(CarryOutRequests())

    async def _carry_out(self, job: Job) -> None:
        try:
            match job:
                case Measure() | Clear() | ShowVersion():
                    await self._take_chosen_model()
                    await self._change_context(job)
                case Ask():
                    with self._gate.turn():
                        await self._turns.reply_to(job.message)
                case _:
                    with self._gate.turn():
                        await self._go_on(job)
        except asyncio.CancelledError:
            self.emit(Notice(say("conversation", "stopped"), "info"))
        except PalimpsestError as error:
            self.emit(Notice(str(error)))
        except Exception as error:
            log.exception("a job of conversation %s failed", self.session_id)
            self.emit(Notice(say("conversation", "job_failed", reason=plain_reason(error))))
        finally:
            # What was asked for before the next step of a turn, when no step came.
            if self._compactor.requests.are_pending:
                self._jobs.add(CarryOutRequests(), is_next=True)

    async def _go_on(self, job: Edit | Retry | Continue | Answer | CarryOutRequests) -> None:
        match job:
            case CarryOutRequests():
                await self._take_chosen_model()
                await self._compactor.carry_out_requests()
            case Edit():
                await self._turns.edit(job.message_id, job.message)
            case Retry():
                await self._turns.retry()
            case Continue():
                await self._turns.go_on()
            case Answer():
                await self._turns.answer(job.call_id, job.decision)

    async def _take_chosen_model(self) -> None:
        """Go on with the model of the chosen profile; what was asked for and not done yet is still to be done."""
        if (answering := await self._switch.renewed()) is None:
            return
        answering.compactor.requests = self._compactor.requests
        self._answering = answering
        self._turns.answering = answering

    def _asked(self) -> AskedMessages:
        return AskedMessages(self._state, self._window, self._events.emit)

    async def _change_context(self, job: Measure | Clear | ShowVersion) -> None:
        match job:
            case ShowVersion():
                self._turns.show_version(job.part, job.message_id, job.number)
                self._window.emit_measure()
            case Measure():
                await self._window.read_schemas()
                self._window.emit_measure()
            case Clear():
                self._state.clear()
                self._window.emit_measure()
                self.emit(Notice(say("conversation", "context_cleared"), "info"))
