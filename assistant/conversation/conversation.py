"""One conversation: its agent, its session, the running turn, and everyone who follows it."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncGenerator, Callable
from dataclasses import dataclass
from datetime import datetime

from assistant.agent.commit import SessionKeeper
from assistant.agent.context import CompactionPreview, Context, ContextItem
from assistant.agent.hooks.compaction import MemoryCompactionHook
from assistant.agent.hooks.steps import StepHook
from assistant.agent.memory_tools import MemoryDesk
from assistant.agent.recall import RecallHook
from assistant.agent.runner import AgentRunner
from assistant.atomic_io import replace_text, storable
from assistant.bootstrap import finish_bootstrap
from assistant.compaction.record import CompactionRecord
from assistant.conversation.event_log import EventLog, NumberedEvent
from assistant.conversation.job_queue import JobQueue
from assistant.conversation.jobs import Answer, Ask, Clear, Compact, Continue, Edit, Job, Measure, Reply, Retry, Undo
from assistant.conversation.past import RunningTurn, past_before, past_of
from assistant.errors import OutputLimitError, PalimpsestError, StepLimitError
from assistant.events import (
    ApprovalRequested,
    Event,
    FinishReason,
    MemoryChanged,
    Notice,
    Recalled,
    TurnFailed,
    TurnFinished,
    TurnStarted,
)
from assistant.journal.journal import Journal
from assistant.journal.transcript import DatedChange
from assistant.memory.log import MemoryChange, MemoryLog
from assistant.messages import BlockKey, Msg, ToolResultState, UserMsg, block_keys, text_of
from assistant.models.failures import explain_model_error
from assistant.prompts import Language, render
from assistant.workspace import Workspace

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
        steps: StepHook,
        recall: RecallHook | None,
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
        self._steps = steps
        self._recall = recall
        self.desk = desk
        """What the conversation may do with memory, for the person as for the model."""
        self._workspace = workspace
        self._language = language
        self._now = now
        self._jobs: JobQueue[Job] = JobQueue(self._run, events.wake, f"turn of {self.session_id}")
        self._running: RunningTurn | None = None
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
        self._refuse_closed()
        if not self._context.fits_alone(text):
            self._save_as_file(text)
            return
        message = UserMsg("user", storable(text))
        if self.is_running:
            self._keeper.queue(message)
            self._jobs.add(Ask(message))
        else:
            self._take(message)
            self._jobs.add(Reply(message))

    def take_up_queued(self) -> None:
        """Messages that were queued when the process ended stand in the context now, and wait for *Continue*."""
        if waiting := self._keeper.waiting():
            self._deny_parked(text_of(waiting[0]))
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
        self._refuse_closed()
        if not self._context.fits_alone(text):
            self._save_as_file(text)
            return
        message = UserMsg("user", storable(text))
        self._keeper.queue(message)
        self._submit(Edit(message_id, message))

    def compact(self, hint: str = "") -> None:
        """Compact now; while a turn runs, before its next step."""
        if self._running is not None:
            self._compaction.request(hint)
        else:
            self._submit(Compact(hint))

    def undo(self) -> None:
        """Take the newest compaction back; while a turn runs, before its next step."""
        if self._running is not None:
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
        if self._running is None:
            return Attached([*past_of(rows, compaction_id, approvals, changes), *self._kept], self._events.end)
        past = past_before(rows, compaction_id, self._running, approvals, changes)
        return Attached([*past, *self._kept], self._running.start)

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

    async def _carry_out(self, job: Job) -> None:
        match job:
            case Ask():
                self._take(job.message)
                await self._turn(self._reply_to(job.message))
            case Reply():
                await self._turn(self._reply_to(job.message))
            case Edit():
                self._drop_from(job)
                self._take(job.message)
                await self._turn(self._reply_to(job.message))
            case Retry():
                self._drop_answer()
                await self._turn(self._runner.reply())
            case Continue():
                if self._runner.parked_calls():
                    raise PalimpsestError("A call waits for your answer first: allow or deny it.")
                self._go_on()
                await self._turn(self._runner.reply())
            case Answer():
                await self._answer(job)
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

    def _take(self, message: Msg) -> None:
        """The message is in the journal and in the context, and its turn has begun."""
        text = text_of(message)
        self._deny_parked(text)
        self._keeper.start_turn(message)
        self._begin(RunningTurn(message.id, self._events.end), text)

    async def _answer(self, job: Answer) -> None:
        if any(call.id == job.call_id for call in self._runner.parked_calls()):
            self._go_on(is_same_turn=True)
            await self._turn(self._runner.answer(job.call_id, job.is_allowed))

    async def _reply_to(self, message: Msg) -> AsyncGenerator[Event]:
        if self._recall is not None:
            lines = await self._recall.find(text_of(message), self._runner.context)
            if lines:
                self._keeper.recall(lines)
                yield Recalled(lines)
        async for event in self._runner.reply():
            yield event

    def _go_on(self, is_same_turn: bool = False) -> None:
        """A turn goes on from where the context stands; what it told so far is past.

        The model calls that may be made are counted anew, unless the turn only waited for the person.
        """
        question_id = self._newest_question_id()
        self._keeper.keep()
        past_rows = len(self._journal.rows(self.session_id))
        parked_ids = frozenset(call.id for call in self._runner.parked_calls())
        self._begin(RunningTurn(question_id, self._events.end, past_rows, parked_ids), "", is_same_turn)

    def _begin(self, turn: RunningTurn, text: str, is_same_turn: bool = False) -> None:
        self._events.forget_before(turn.start)
        self._running = turn
        self.emit(TurnStarted(turn.turn_id, turn.turn_id, text, self._at()))
        if not is_same_turn:
            self._steps.start_turn()

    async def _turn(self, reply: AsyncGenerator[Event]) -> None:
        assert self._running is not None
        turn_id = self._running.turn_id
        try:
            reason, error = await self._follow_reply(reply)
            try:
                self._keeper.end_turn(turn_id, reason, error)
            except (OSError, PalimpsestError) as failure:
                log.exception("the end of turn %s could not be written", turn_id)
                error = error or _explain_unwritten(failure)
            self._tell_end(turn_id, reason, error)
            if finish_bootstrap(self._workspace):
                self.emit(
                    Notice("We have met: the guide for the first conversation (BOOTSTRAP.md) is gone now.", "info")
                )
        finally:
            self._running = None
            self._keep_requests()

    def _keep_requests(self) -> None:
        """What was asked for before the next step, when no step came."""
        is_undo_requested, hint = self._compaction.take_requests()
        if hint is not None:
            self._jobs.add(Compact(hint), is_next=True)
        if is_undo_requested:
            self._jobs.add(Undo(), is_next=True)

    async def _follow_reply(self, reply: AsyncGenerator[Event]) -> tuple[FinishReason, str]:
        try:
            async for event in reply:
                self.emit(event)
        except StepLimitError as limit:
            self.emit(Notice(str(limit), "info"))
            return "max_steps", ""
        except OutputLimitError:
            # The end of the turn tells it, with the tokens of the call that was cut.
            return "output_limit", ""
        except asyncio.CancelledError:
            self._runner.keep_unsaved()
            self._close_open_calls()
            return "interrupted", ""
        except Exception as error:
            log.exception("a turn of conversation %s failed", self.session_id)
            self._runner.keep_unsaved()
            self._close_open_calls()
            explained = _explain_unwritten(error) if isinstance(error, OSError) else explain_model_error(error)
            return "interrupted", explained
        if self._runner.parked_calls():
            return "awaiting_approval", ""
        return self._runner.translator.finish_reason, ""

    def _tell_end(self, turn_id: str, reason: FinishReason, error: str) -> None:
        self._context.tell_measure()
        if error:
            self.emit(TurnFailed(turn_id, error, self._at()))
            return
        translator = self._runner.translator
        if reason == "completed" and not translator.has_told:
            self.emit(Notice("The model ended its turn without a word. Ask again, or retry."))
        self.emit(TurnFinished(turn_id, reason, translator.input_tokens, translator.output_tokens, self._at()))

    def _drop_answer(self) -> None:
        question_id = self._newest_question_id()
        index = next(i for i, message in enumerate(self._runner.context) if message.id == question_id)
        text = text_of(self._runner.context[index])
        self._keeper.drop(block_keys(self._runner.context[index + 1 :]), "retry")
        self._begin(RunningTurn(question_id, self._events.end), text)

    def _drop_from(self, job: Edit) -> None:
        context = self._runner.context
        index = next((i for i, message in enumerate(context) if message.id == job.message_id), None)
        if index is None or context[index].role != "user":
            self._keeper.drop(block_keys([job.message]), "edit")
            raise PalimpsestError(
                "This message was folded into the summary and cannot be edited. Undo the compaction first."
            )
        self._keeper.drop(block_keys(context[index:]), "edit")

    def _save_as_file(self, text: str) -> None:
        """A message that no request could hold is not sent; it waits as a file to be read in parts."""
        path = self._workspace.files_folder / f"message-{self._now():%Y-%m-%d-%H%M%S-%f}.txt"
        replace_text(path, text)
        tokens, limit = self._context.tokens_of(text), self._context.policy.max_input_length
        self.emit(
            Notice(
                f"This message has about {tokens:,} tokens and cannot fit the window of {limit:,}, so it was not sent. "
                f"It was saved as files/{path.name}: ask to have it read in parts."
            )
        )

    def _newest_question_id(self) -> str:
        for message in reversed(self._runner.context):
            if message.role == "user":
                return message.id
        raise PalimpsestError("There is no message to go on from.")

    def _deny_parked(self, text: str) -> None:
        if self._runner.parked_calls():
            output = render("tool_denied", self._language(), text=text)
            for event in self._runner.close_open_calls(output, ToolResultState.DENIED):
                self.emit(event)
            self._keeper.keep()

    def _close_open_calls(self) -> None:
        output = render("tool_interrupted", self._language())
        for event in self._runner.close_open_calls(output, ToolResultState.INTERRUPTED):
            self.emit(event)

    def _at(self) -> str:
        return self._now().isoformat(timespec="milliseconds")


def told_change(change: MemoryChange) -> MemoryChanged:
    """A change to a memory file as readers are told of it."""
    return MemoryChanged(change.path, change.writer, change.diff, change.change_id)


def _explain_unwritten(error: OSError | PalimpsestError) -> str:
    reason = error.strerror if isinstance(error, OSError) and error.strerror else error
    return (
        f"The conversation could not be written to disk ({reason}). What was said stands here as long as the program "
        "runs and is written with the next turn that can be."
    )
