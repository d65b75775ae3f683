"""One conversation: its agent, its session, the running turn, and everyone who follows it."""

from __future__ import annotations

import asyncio
import logging
from collections import deque
from collections.abc import AsyncGenerator, Callable
from dataclasses import dataclass
from datetime import datetime

from assistant.agent.commit import SessionKeeper
from assistant.agent.context import CompactionPreview, Context, ContextItem
from assistant.agent.hooks.compaction import MemoryCompactionHook
from assistant.agent.hooks.steps import StepHook
from assistant.agent.recall import RecallHook
from assistant.agent.runner import AgentRunner
from assistant.atomic_io import replace_text
from assistant.bootstrap import finish_bootstrap
from assistant.errors import PalimpsestError, StepLimitError
from assistant.event_log import EventLog, NumberedEvent
from assistant.events import (
    ApprovalRequested,
    Event,
    FinishReason,
    Notice,
    Recalled,
    ToolFinished,
    TurnFailed,
    TurnFinished,
    TurnStarted,
)
from assistant.journal import Journal
from assistant.journal_rows import BlockRow, Row
from assistant.messages import BlockKey, Msg, ToolResultState, UserMsg, block_keys
from assistant.models.failures import explain_model_error
from assistant.prompts import Language, render
from assistant.transcript import events_of_rows
from assistant.workspace import Workspace

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Ask:
    """A message of the person."""

    text: str


@dataclass(frozen=True, slots=True)
class Answer:
    """The person's answer to a parked call."""

    call_id: str
    is_allowed: bool


@dataclass(frozen=True, slots=True)
class Continue:
    """Go on from where the context stands."""


@dataclass(frozen=True, slots=True)
class Retry:
    """Drop the answer to the newest message and answer it again."""


@dataclass(frozen=True, slots=True)
class Edit:
    """Drop a message of the person and all that followed, and ask this instead."""

    message_id: str
    text: str


@dataclass(frozen=True, slots=True)
class Compact:
    """Compact now, whatever the guards say."""

    hint: str


@dataclass(frozen=True, slots=True)
class Undo:
    """Take the newest compaction back."""


Job = Ask | Answer | Continue | Retry | Edit | Compact | Undo


@dataclass(frozen=True, slots=True)
class Attached:
    """What a new reader needs: all that is past, and the number from which to follow what is live."""

    history: list[Event]
    start: int


@dataclass(frozen=True, slots=True)
class _RunningTurn:
    """How things stood when the turn began: its first live event, the record under the summary, what was in context."""

    turn_id: str
    text: str
    start: int
    compaction_id: str | None
    known: frozenset[BlockKey]


class Conversation:
    """Owns its turn: jobs run one after the other in tasks of its own, so a reader that leaves ends nothing."""

    def __init__(
        self,
        *,
        keeper: SessionKeeper,
        runner: AgentRunner,
        journal: Journal,
        events: EventLog,
        context: Context,
        compaction: MemoryCompactionHook,
        steps: StepHook,
        recall: RecallHook | None,
        workspace: Workspace,
        language: Callable[[], Language],
        now: Callable[[], datetime],
    ) -> None:
        self._keeper = keeper
        self._runner = runner
        self._journal = journal
        self._events = events
        self._context = context
        self._compaction = compaction
        self._steps = steps
        self._recall = recall
        self._workspace = workspace
        self._language = language
        self._now = now
        self._jobs: deque[Job] = deque()
        self._task: asyncio.Task[None] | None = None
        self._running: _RunningTurn | None = None
        self._is_closed = False

    @property
    def session_id(self) -> str:
        """Names the conversation for ever."""
        return self._keeper.session.session_id

    @property
    def title(self) -> str:
        """What the list shows."""
        return self._keeper.session.title

    @property
    def is_running(self) -> bool:
        """True while a turn or another job runs or waits to run."""
        return bool(self._jobs) or (self._task is not None and not self._task.done())

    @property
    def queued(self) -> tuple[str, ...]:
        """Messages that wait for the running turn to end."""
        return tuple(job.text for job in self._jobs if isinstance(job, Ask))

    def ask(self, text: str) -> None:
        """Queue a message; a call that waits for approval is denied with it."""
        self._submit(Ask(text))

    def answer(self, call_id: str, is_allowed: bool) -> None:
        """Allow a parked call once, or deny it."""
        self._submit(Answer(call_id, is_allowed))

    def continue_turn(self) -> None:
        """Go on after a step limit, an interruption or a crash."""
        self._submit(Continue())

    def retry(self) -> None:
        """Answer the newest message again; the answer so far leaves the context, not the journal."""
        self._submit(Retry())

    def edit(self, message_id: str, text: str) -> None:
        """Ask something else in place of a message that is still in the context."""
        self._submit(Edit(message_id, text))

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

    async def preview_compaction(self) -> CompactionPreview:
        """What compacting now would fold and keep; nothing is changed."""
        return await self._context.preview()

    async def stop(self) -> None:
        """End the running turn and wait until its state is valid; queued messages go on."""
        task = self._task
        if task is not None and not task.done():
            task.cancel()
            await asyncio.wait({task})

    async def wait(self) -> None:
        """Return when nothing runs and nothing waits."""
        while self._task is not None and not self._task.done():
            await asyncio.wait({self._task})

    async def close(self) -> None:
        """End the running turn and take no more."""
        self._is_closed = True
        self._jobs.clear()
        await self.stop()

    def attach(self) -> Attached:
        """The past as events, and where to follow on; a running turn is followed from its start."""
        rows = self._journal.rows(self.session_id)
        if self._running is None:
            history = events_of_rows(rows, self._keeper.session.compaction_id)
            return Attached(self._with_parked(history), self._events.end)
        past = events_of_rows(_rows_before(rows, self._running), self._running.compaction_id)
        return Attached(past, self._running.start)

    def follow(self, start: int) -> AsyncGenerator[NumberedEvent]:
        """Live events from number `start` on, without end."""
        return self._events.follow(start)

    def emit(self, event: Event) -> None:
        """Tell every reader something that belongs to this conversation."""
        self._events.emit(event)

    def events_since(self, start: int) -> list[Event]:
        """Live events from number `start` on, as far as they have come."""
        return self._events.since(start)

    async def wait_for_event(self, number: int) -> None:
        """Return when the event of that number is there, or nothing runs any more."""
        await self._events.wait_for(number, self._task)

    def approvals(self) -> list[ApprovalRequested]:
        """The calls that wait for the person."""
        return self._runner.approvals()

    def measure(self) -> None:
        """Tell every reader how full the window is now."""
        self._context.tell_measure()

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
        self._keeper.clear()
        self._context.tell_measure()

    def _submit(self, job: Job) -> None:
        if self._is_closed:
            raise PalimpsestError("This conversation is closed.")
        self._jobs.append(job)
        if self._task is None or self._task.done():
            self._start_next()

    def _start_next(self) -> None:
        if self._jobs and not self._is_closed:
            self._task = asyncio.create_task(self._run(self._jobs.popleft()), name=f"turn of {self.session_id}")
            self._task.add_done_callback(lambda _: self._start_next())

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
                await self._ask(job.text)
            case Edit():
                self._drop_from(job.message_id)
                await self._ask(job.text)
            case Retry():
                await self._retry()
            case Continue():
                await self._turn(self._newest_question_id(), "", self._runner.reply(None))
            case Answer():
                await self._turn(self._newest_question_id(), "", self._runner.answer(job.call_id, job.is_allowed))
            case Compact():
                await self._context.check("manual", job.hint)
            case Undo():
                self._context.undo()

    async def _ask(self, text: str) -> None:
        if not self._context.fits_alone(text):
            self._save_as_file(text)
            return
        self._deny_parked(text)
        message = UserMsg("user", text)
        self._keeper.start_turn(message)
        await self._turn(message.id, text, self._reply_to(message))

    async def _reply_to(self, message: Msg) -> AsyncGenerator[Event]:
        if self._recall is not None:
            lines = await self._recall.find(message.get_text_content() or "", [*self._runner.context, message])
            if lines:
                self._keeper.recall(lines)
                yield Recalled(lines)
        async for event in self._runner.reply(message):
            yield event

    async def _turn(self, turn_id: str, text: str, reply: AsyncGenerator[Event]) -> None:
        self._events.forget_before(self._events.end)
        self._running = _RunningTurn(
            turn_id,
            text,
            self._events.end,
            self._keeper.session.compaction_id,
            frozenset(block_keys(self._runner.context)),
        )
        self.emit(TurnStarted(turn_id, turn_id, text, self._at()))
        self._steps.start_turn()
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

    async def _follow_reply(self, reply: AsyncGenerator[Event]) -> tuple[FinishReason, str]:
        try:
            async for event in reply:
                self.emit(event)
        except StepLimitError as limit:
            self.emit(Notice(str(limit), "info"))
            return "max_steps", ""
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
        self.emit(TurnFinished(turn_id, reason, translator.input_tokens, translator.output_tokens, self._at()))

    async def _retry(self) -> None:
        question_id = self._newest_question_id()
        index = next(i for i, message in enumerate(self._runner.context) if message.id == question_id)
        text = self._runner.context[index].get_text_content() or ""
        self._keeper.drop(block_keys(self._runner.context[index + 1 :]), "retry")
        await self._turn(question_id, text, self._runner.reply(None))

    def _drop_from(self, message_id: str) -> None:
        context = self._runner.context
        index = next((i for i, message in enumerate(context) if message.id == message_id), None)
        if index is None or context[index].role != "user":
            raise PalimpsestError(
                "This message was folded into the summary and cannot be edited. Undo the compaction first."
            )
        self._keeper.drop(block_keys(context[index:]), "edit")

    def _save_as_file(self, text: str) -> None:
        """A message that no request could hold is not sent; it waits as a file to be read in parts."""
        path = self._workspace.files_folder / f"message-{self._now():%Y-%m-%d-%H%M%S}.txt"
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

    def _with_parked(self, history: list[Event]) -> list[Event]:
        """A call that waits for the person is shown as its card, not as interrupted."""
        approvals = self._runner.approvals()
        waiting = {approval.call_id for approval in approvals}
        if not waiting:
            return history
        kept = [event for event in history if not (isinstance(event, ToolFinished) and event.call_id in waiting)]
        while kept and isinstance(kept[-1], TurnFinished | TurnFailed):
            kept.pop()
        return [*kept, *approvals, TurnFinished(self._newest_question_id(), "awaiting_approval")]

    def _at(self) -> str:
        return self._now().isoformat(timespec="milliseconds")


def _explain_unwritten(error: OSError | PalimpsestError) -> str:
    reason = error.strerror if isinstance(error, OSError) and error.strerror else error
    return (
        f"The conversation could not be written to disk ({reason}). What was said stands here as long "
        "as the program runs and is written with the next turn that can be."
    )


def _rows_before(rows: list[Row], turn: _RunningTurn) -> list[Row]:
    """What was written before the turn began, as far as its live events do not tell it."""
    blocks = [(index, row) for index, row in enumerate(rows) if isinstance(row, BlockRow)]
    if turn.text:
        stop = next((index for index, row in blocks if row.message_id == turn.turn_id), len(rows))
    else:
        newest_known = max((index for index, row in blocks if row.key in turn.known), default=-1)
        stop = next((index for index, _ in blocks if index > newest_known), len(rows))
    return rows[:stop]
