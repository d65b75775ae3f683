"""The turns of one conversation, one at a time: how each begins, what it emits, how it ends."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncGenerator, Awaitable, Callable
from dataclasses import dataclass, replace

from assistant.agent.allowances import Decision
from assistant.agent.loop import AgentLoop
from assistant.agent.session_state import SessionState
from assistant.config.plain_reasons import plain_reason
from assistant.config.prompts import render
from assistant.config.words import say
from assistant.conversation.answering import Answering
from assistant.conversation.event_log import EventLog
from assistant.conversation.past import RunningTurn, versions_known
from assistant.errors import OutputLimitError, PalimpsestError, StepLimitError
from assistant.memory.bootstrap import finish_bootstrap
from assistant.messages.attached import AttachedFile
from assistant.messages.attached_blocks import attached_files
from assistant.messages.blocks import Msg, ToolResultState, block_keys, text_of
from assistant.messages.events import (
    Event,
    FinishReason,
    Notice,
    Spent,
    TextDelta,
    ThinkingDelta,
    TurnFailed,
    TurnFinished,
    TurnStarted,
    VersionedPart,
    VersionShown,
)
from assistant.models.failures import explain_model_error
from assistant.storage.sessions.stream_draft import StreamedWords
from assistant.text.encoding import storable

log = logging.getLogger(__name__)

DRAFT_SECONDS = 1.0
"""A kill takes no more than the words of so many seconds."""


@dataclass(frozen=True, slots=True)
class _Ending:
    """How a reply ended; `error` is empty unless it failed."""

    reason: FinishReason
    error: str = ""


class Turns:
    """Runs a turn and emits its events; whatever cuts it off, the context is valid when it has ended."""

    def __init__(
        self,
        state: SessionState,
        answering: Answering,
        events: EventLog,
        prepare: Callable[[], Awaitable[None]],
    ) -> None:
        """`prepare` is called when a turn has begun, and may set who is `answering` it."""
        self.answering = answering
        """Who answers from the next reply on."""
        self._state = state
        self._events = events
        self._prepare = prepare
        self._running: RunningTurn | None = None
        self._saving: asyncio.TimerHandle | None = None
        self._spent: tuple[str, Spent] = ("", Spent())

    @property
    def _loop(self) -> AgentLoop:
        return self.answering.loop

    @property
    def running(self) -> RunningTurn | None:
        """The turn that has begun and not ended."""
        return self._running

    def begin(self, message: Msg) -> None:
        """The message is in the journal and in the context, and its turn has begun; `reply_to` runs it."""
        text = text_of(message)
        self.deny_parked(text)
        self._state.start_turn(message)
        self._start(RunningTurn(message.id, self._events.end), text, attached_files(message.content))

    def take_up_draft(self) -> None:
        """What was streamed when the program was killed is in the context and the journal on return."""
        if self._loop.take_up_draft():
            self._state.keep()
        self._state.draft.remove()

    async def reply_to(self, message: Msg) -> None:
        """Run the turn of this message, which begins now where it has not begun yet."""
        if self._running is None:
            self.begin(message)
        await self._run(lambda: self._loop.reply(text_of(message)))

    async def retry(self) -> None:
        """Answer the newest message again; the answer so far leaves the context."""
        question_id = self._newest_question_id()
        index = next(i for i, message in enumerate(self._loop.context) if message.id == question_id)
        text = text_of(self._loop.context[index])
        self._state.drop(block_keys(self._loop.context[index + 1 :]), "retry")
        self._spent = ("", Spent())
        self._start(RunningTurn(question_id, self._events.end), text)
        self._tell_versions()
        await self._run(lambda: self._loop.reply())

    async def edit(self, message_id: str, message: Msg) -> None:
        """Answer this in place of a message of the context, which leaves it with all behind it."""
        context = self._loop.context
        index = next((i for i, known in enumerate(context) if known.id == message_id), None)
        if index is None or context[index].role != "user":
            self._state.drop(block_keys([message]), "edit")
            raise PalimpsestError(say("conversation", "folded_not_editable"))
        self._state.drop(block_keys(context[index:]), "edit")
        self.begin(message)
        self._tell_versions()
        await self.reply_to(message)

    def show_version(self, part: VersionedPart, message_id: str, number: int) -> None:
        """Let another version stand in the conversation, which goes on from it; nothing leaves the journal."""
        if self._loop.parked_calls():
            raise PalimpsestError(say("conversation", "call_waits"))
        known = (one for one in self._state.told().versions if (one.part, one.message_id) == (part, message_id))
        if (versions := next(known, None)) is None:
            raise PalimpsestError(say("conversation", "no_versions"))
        if number == versions.shown + 1:
            return
        self._state.show_version(versions, number)
        # A call that waited when its version was left waits for nobody any more.
        self._close_calls()
        self._state.keep()
        shown = {key.message_id for key in versions.tails[number - 1]}
        texts = [text_of(message) for message in self._loop.context if message.id in shown]
        count = len([tail for tail in versions.tails if tail])
        self._events.emit(VersionShown(part, message_id, number, count, "\n\n".join(filter(None, texts))))

    async def go_on(self) -> None:
        """Go on with the newest turn; its model calls are counted from zero."""
        if self._loop.parked_calls():
            raise PalimpsestError(say("conversation", "call_waits"))
        self._start_again()
        self._loop.start_turn()
        await self._run(lambda: self._loop.reply())

    async def answer(self, call_id: str, decision: Decision) -> None:
        """Go on with the turn that waited for this answer; nothing happens where no such call is parked."""
        if self._loop.parked_call(call_id) is not None:
            # What was not offered leaves the call waiting.
            if decision.scope is not None:
                self._loop.allow(call_id, decision.scope)
            self._start_again()
            await self._run(lambda: self._loop.answer(call_id, decision))

    def deny_parked(self, text: str) -> None:
        """Calls that wait for the person are denied by what they say instead."""
        if self._loop.parked_calls():
            output = render("tool_denied", self._state.language, text=text)
            for event in self._loop.close_open_calls(output, ToolResultState.DENIED):
                self._events.emit(event)
            self._state.keep()

    def _start(self, turn: RunningTurn, text: str, attached: tuple[AttachedFile, ...] = ()) -> None:
        self._emit_start(turn, text, attached)
        self._loop.start_turn()

    def _start_again(self) -> None:
        """A turn goes on from the context as it is; what it emitted so far is past."""
        question_id = self._newest_question_id()
        self._state.keep()
        past_rows = len(self._state.told().rows)
        parked_ids = frozenset(call.id for call in self._loop.parked_calls())
        self._emit_start(RunningTurn(question_id, self._events.end, past_rows, parked_ids), "")

    def _emit_start(self, turn: RunningTurn, text: str, attached: tuple[AttachedFile, ...] = ()) -> None:
        self._events.forget_before(turn.start)
        self._running = turn
        self._events.emit(TurnStarted(turn.turn_id, turn.turn_id, text, self._state.at(), attached))

    async def _run(self, reply: Callable[[], AsyncGenerator[Event]]) -> None:
        assert self._running is not None
        turn_id = self._running.turn_id
        try:
            try:
                await self._prepare()
                async for event in reply():
                    self._events.emit(event)
                    if self._saving is None and isinstance(event, TextDelta | ThinkingDelta):
                        later = asyncio.get_running_loop().call_later
                        self._saving = later(DRAFT_SECONDS, self._save_draft, turn_id)
                is_parked = bool(self._loop.parked_calls())
                ending = _Ending("awaiting_approval" if is_parked else self._loop.translator.finish_reason)
            except (Exception, asyncio.CancelledError) as error:
                ending = self._cut_off(error)
            self._end(turn_id, ending)
        finally:
            self._running = None
            if self._saving is not None:
                self._saving.cancel()
                self._saving = None
            self._state.draft.remove()

    def _save_draft(self, turn_id: str) -> None:
        """Write what was streamed of the running step; a step that has ended is in the journal."""
        self._saving = None
        streamed = self._loop.translator
        words = StreamedWords(turn_id, storable(streamed.unsaved_text), storable(streamed.unsaved_thinking))
        try:
            if words.text or words.thinking:
                self._state.draft.write(words)
            else:
                self._state.draft.remove()
        except OSError as error:
            log.warning("what is streamed could not be written beside the journal: %s", error)

    def _cut_off(self, error: Exception | asyncio.CancelledError) -> _Ending:
        """What a reply ends with that did not come to its own end; the context is valid on return."""
        match error:
            case StepLimitError():
                self._events.emit(Notice(str(error), "info"))
                return _Ending("max_steps")
            case OutputLimitError():
                # The end of the turn says it, with the tokens of the call that was cut.
                return _Ending("output_limit")
            case asyncio.CancelledError():
                self._mend_context()
                return _Ending("interrupted")
            case _:
                log.error("a turn of conversation %s failed", self._state.session_id, exc_info=error)
                self._mend_context()
                explained = _explain_unwritten(error) if isinstance(error, OSError) else explain_model_error(error)
                return _Ending("interrupted", explained)

    def _end(self, turn_id: str, ending: _Ending) -> None:
        try:
            self._state.end_turn(turn_id, ending.reason, ending.error)
        except (OSError, PalimpsestError) as failure:
            log.exception("the end of turn %s could not be written", turn_id)
            ending = _Ending(ending.reason, ending.error or _explain_unwritten(failure))
        self._emit_end(turn_id, ending)
        if finish_bootstrap(self._state.workspace):
            self._events.emit(Notice(say("conversation", "bootstrap_gone"), "info"))

    def _tell_versions(self) -> None:
        for event in versions_known(self._state.told().versions):
            self._events.emit(event)

    def _mend_context(self) -> None:
        """What was said so far is kept, and every call has a result."""
        self._loop.keep_unsaved()
        self._close_calls()

    def _close_calls(self) -> None:
        output = render("tool_interrupted", self._state.language)
        for event in self._loop.close_open_calls(output, ToolResultState.INTERRUPTED):
            self._events.emit(event)

    def _emit_end(self, turn_id: str, ending: _Ending) -> None:
        self.answering.compactor.window.emit_measure()
        if ending.error:
            self._events.emit(TurnFailed(turn_id, ending.error, self._state.at()))
            return
        translator = self._loop.translator
        spent = self._spent_in(turn_id, translator.spent)
        if ending.reason == "completed" and not translator.has_spoken:
            self._events.emit(Notice(say("conversation", "silent_model")))
        self._events.emit(
            TurnFinished(
                turn_id, ending.reason, translator.input_tokens, translator.output_tokens, self._state.at(), spent
            )
        )

    def _spent_in(self, turn_id: str, spent: Spent) -> Spent:
        """What the turn took with this reply; one that waited for an answer has had a reply before."""
        known_id, before = self._spent
        price = self.answering.model.price
        # Another profile may have answered before, at another price.
        priced = spent if price is None else replace(spent, usd=price.of(spent))
        whole = before + priced if known_id == turn_id else priced
        self._spent = (turn_id, whole)
        return whole

    def _newest_question_id(self) -> str:
        for message in reversed(self._loop.context):
            if message.role == "user":
                return message.id
        raise PalimpsestError(say("conversation", "nothing_to_continue"))


def _explain_unwritten(error: OSError | PalimpsestError) -> str:
    return say("conversation", "not_written", reason=plain_reason(error))
