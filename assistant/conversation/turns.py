"""The turns of one conversation, one at a time: how each begins, what is told of it, how it ends."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncGenerator, Callable
from dataclasses import dataclass
from datetime import datetime

from assistant.agent.context import Context
from assistant.agent.hooks.recall import RecallHook
from assistant.agent.hooks.steps import StepHook
from assistant.agent.runner import AgentRunner
from assistant.agent.session_state import SessionKeeper
from assistant.config.prompts import Language, render
from assistant.conversation.event_log import EventLog
from assistant.conversation.past import RunningTurn
from assistant.errors import OutputLimitError, PalimpsestError, StepLimitError
from assistant.memory.bootstrap import finish_bootstrap
from assistant.messages.blocks import Msg, ToolResultState, block_keys, text_of
from assistant.messages.events import Event, FinishReason, Notice, Recalled, TurnFailed, TurnFinished, TurnStarted
from assistant.models.failures import explain_model_error
from assistant.storage.journal.journal import Journal
from assistant.storage.workspace import Workspace

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class _Ending:
    """How a reply ended; `error` is empty unless it failed."""

    reason: FinishReason
    error: str = ""


class Turns:
    """Runs a turn and tells its events; whatever cuts it off, the context is valid when it has ended."""

    def __init__(
        self,
        *,
        keeper: SessionKeeper,
        runner: AgentRunner,
        journal: Journal,
        events: EventLog,
        context: Context,
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
        self._steps = steps
        self._recall = recall
        self._workspace = workspace
        self._language = language
        self._now = now
        self._running: RunningTurn | None = None

    @property
    def running(self) -> RunningTurn | None:
        """The turn that has begun and not ended."""
        return self._running

    def begin(self, message: Msg) -> None:
        """The message is in the journal and in the context, and its turn has begun; `reply_to` runs it."""
        text = text_of(message)
        self.deny_parked(text)
        self._keeper.start_turn(message)
        self._start(RunningTurn(message.id, self._events.end), text)

    async def reply_to(self, message: Msg) -> None:
        """Run the turn that has begun with this message."""
        await self._run(self._recalled_reply(message))

    async def retry(self) -> None:
        """Answer the newest message again; the answer so far leaves the context."""
        question_id = self._newest_question_id()
        index = next(i for i, message in enumerate(self._runner.context) if message.id == question_id)
        text = text_of(self._runner.context[index])
        self._keeper.drop(block_keys(self._runner.context[index + 1 :]), "retry")
        self._start(RunningTurn(question_id, self._events.end), text)
        await self._run(self._runner.reply())

    async def edit(self, message_id: str, message: Msg) -> None:
        """Answer this in place of a message of the context, which leaves it with all behind it."""
        context = self._runner.context
        index = next((i for i, known in enumerate(context) if known.id == message_id), None)
        if index is None or context[index].role != "user":
            self._keeper.drop(block_keys([message]), "edit")
            raise PalimpsestError(
                "This message was folded into the summary and cannot be edited. Undo the compaction first."
            )
        self._keeper.drop(block_keys(context[index:]), "edit")
        self.begin(message)
        await self.reply_to(message)

    async def go_on(self) -> None:
        """Go on with the newest turn; its model calls are counted anew."""
        if self._runner.parked_calls():
            raise PalimpsestError("A call waits for your answer first: allow or deny it.")
        self._start_again()
        self._steps.start_turn()
        await self._run(self._runner.reply())

    async def answer(self, call_id: str, is_allowed: bool) -> None:
        """Go on with the turn that waited for this answer; nothing happens where no such call is parked."""
        if any(call.id == call_id for call in self._runner.parked_calls()):
            self._start_again()
            await self._run(self._runner.answer(call_id, is_allowed))

    def deny_parked(self, text: str) -> None:
        """Calls that wait for the person are denied by what they say instead."""
        if self._runner.parked_calls():
            output = render("tool_denied", self._language(), text=text)
            for event in self._runner.close_open_calls(output, ToolResultState.DENIED):
                self._events.emit(event)
            self._keeper.keep()

    async def _recalled_reply(self, message: Msg) -> AsyncGenerator[Event]:
        if self._recall is not None:
            lines = await self._recall.find(text_of(message), self._runner.context)
            if lines:
                self._keeper.recall(lines)
                yield Recalled(lines)
        async for event in self._runner.reply():
            yield event

    def _start(self, turn: RunningTurn, text: str) -> None:
        self._tell_start(turn, text)
        self._steps.start_turn()

    def _start_again(self) -> None:
        """A turn goes on from where the context stands; what it told so far is past."""
        question_id = self._newest_question_id()
        self._keeper.keep()
        past_rows = len(self._journal.rows(self._keeper.session.session_id))
        parked_ids = frozenset(call.id for call in self._runner.parked_calls())
        self._tell_start(RunningTurn(question_id, self._events.end, past_rows, parked_ids), "")

    def _tell_start(self, turn: RunningTurn, text: str) -> None:
        self._events.forget_before(turn.start)
        self._running = turn
        self._events.emit(TurnStarted(turn.turn_id, turn.turn_id, text, self._at()))

    async def _run(self, reply: AsyncGenerator[Event]) -> None:
        assert self._running is not None
        turn_id = self._running.turn_id
        try:
            ending = await self._follow(reply)
            try:
                self._keeper.end_turn(turn_id, ending.reason, ending.error)
            except (OSError, PalimpsestError) as failure:
                log.exception("the end of turn %s could not be written", turn_id)
                ending = _Ending(ending.reason, ending.error or _explain_unwritten(failure))
            self._tell_end(turn_id, ending)
            if finish_bootstrap(self._workspace):
                self._events.emit(
                    Notice("We have met: the guide for the first conversation (BOOTSTRAP.md) is gone now.", "info")
                )
        finally:
            self._running = None

    async def _follow(self, reply: AsyncGenerator[Event]) -> _Ending:
        try:
            async for event in reply:
                self._events.emit(event)
        except StepLimitError as limit:
            self._events.emit(Notice(str(limit), "info"))
            return _Ending("max_steps")
        except OutputLimitError:
            # The end of the turn tells it, with the tokens of the call that was cut.
            return _Ending("output_limit")
        except asyncio.CancelledError:
            self._mend_context()
            return _Ending("interrupted")
        except Exception as error:
            log.exception("a turn of conversation %s failed", self._keeper.session.session_id)
            self._mend_context()
            explained = _explain_unwritten(error) if isinstance(error, OSError) else explain_model_error(error)
            return _Ending("interrupted", explained)
        if self._runner.parked_calls():
            return _Ending("awaiting_approval")
        return _Ending(self._runner.translator.finish_reason)

    def _mend_context(self) -> None:
        """What was said so far is kept, and every call has a result."""
        self._runner.keep_unsaved()
        output = render("tool_interrupted", self._language())
        for event in self._runner.close_open_calls(output, ToolResultState.INTERRUPTED):
            self._events.emit(event)

    def _tell_end(self, turn_id: str, ending: _Ending) -> None:
        self._context.tell_measure()
        if ending.error:
            self._events.emit(TurnFailed(turn_id, ending.error, self._at()))
            return
        translator = self._runner.translator
        if ending.reason == "completed" and not translator.has_told:
            self._events.emit(Notice("The model ended its turn without a word. Ask again, or retry."))
        self._events.emit(
            TurnFinished(turn_id, ending.reason, translator.input_tokens, translator.output_tokens, self._at())
        )

    def _newest_question_id(self) -> str:
        for message in reversed(self._runner.context):
            if message.role == "user":
                return message.id
        raise PalimpsestError("There is no message to go on from.")

    def _at(self) -> str:
        return self._now().isoformat(timespec="milliseconds")


def _explain_unwritten(error: OSError | PalimpsestError) -> str:
    reason = error.strerror if isinstance(error, OSError) and error.strerror else error
    return (
        f"The conversation could not be written to disk ({reason}). What was said stands here as long as the program "
        "runs and is written with the next turn that can be."
    )
