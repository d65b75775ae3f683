"""What makes room in a conversation's window: each compaction, what it leaves behind, and its undo."""

from __future__ import annotations

import json
import re
import uuid
from collections.abc import Callable
from dataclasses import asdict, dataclass, replace

from assistant.agent.requests import ContextRequests
from assistant.agent.session_state import SessionState, Usage
from assistant.agent.summariser import Summariser
from assistant.agent.window import ContextItem, ContextWindow
from assistant.compaction.budget import Guards
from assistant.compaction.pipeline import CompactionRequest, Outcome, compact, plan_compaction
from assistant.compaction.policy import UNDO_RATIO
from assistant.compaction.record import CompactionRecord
from assistant.compaction.shorten.result_limits import shorten_results
from assistant.compaction.summary.summary import SummaryFailure
from assistant.config.plain_reasons import plain_reason
from assistant.config.words import say
from assistant.errors import CompactionError, ContextOverflowError
from assistant.messages.blocks import Msg
from assistant.messages.events import CompactionReason, CompactionUndone, Event, Notice
from assistant.messages.read_shares import ReadShares
from assistant.models.failures import window_told_by
from assistant.storage.atomic_io import replace_text
from assistant.storage.journal.past_events import compressed_event

_FIGURES = re.compile(r"[\d,.]+")


@dataclass(frozen=True, slots=True)
class CompactionPreview:
    """What compacting now would do; nothing was changed."""

    previous_tokens: int
    folded_tokens: int
    folded: tuple[ContextItem, ...]
    kept_turns: int
    reason: str
    """Why nothing would be folded; empty when something would be."""


class Compactor:
    """Changes what is in one conversation's window. Called between two steps, never while one runs."""

    def __init__(
        self,
        state: SessionState,
        window: ContextWindow,
        summariser: Summariser | None,
        emit: Callable[[Event], None],
        on_compacted: Callable[[CompactionRecord], None],
    ) -> None:
        """Without a summariser a digest, made by code, takes the place of each summary."""
        self.requests = ContextRequests()
        """What the person asked for and was not done yet."""
        self.window = window
        self._state = state
        self._summariser = summariser
        self._emit = emit
        self._on_compacted = on_compacted
        self._counted_tokens = 0
        self._sent_tokens = 0.0
        self._reported: set[str] = set()
        self._read_shares = ReadShares()
        self._has_told_cut = False

    async def check(self, reason: CompactionReason, hint: str = "") -> None:
        """One check before a model call; commits and emits what it decides.

        Raises `ContextOverflowError` when even what is always kept does not fit the window.
        """
        await self.window.read_schemas()
        request = self._request(reason, hint)
        outcome = await compact(request, self._summariser.ask if self._summariser else None)
        self.window.store(outcome.artifacts)
        if outcome.failure is not None:
            self._keep_failure(request.compaction_id, outcome.failure)
        if outcome.record is not None:
            self._commit(outcome.record, outcome.messages)
        elif outcome.shortened:
            self._state.replace_messages(outcome.messages)
        self._remember_guards(outcome)
        self._report_all(outcome)
        self._counted_tokens = outcome.after_tokens
        self._emit(self.window.measured(outcome.after_tokens, outcome.shortened))
        if outcome.is_over:
            raise ContextOverflowError(outcome.notices[-1].text)

    async def undo(self) -> None:
        """Take the newest compaction back; raises `CompactionError` with the figure when it would not fit any more."""
        await self.window.read_schemas()
        compaction = self._state.newest_compaction()
        if compaction is None:
            raise CompactionError(say("agent", "nothing_to_undo"))
        self._state.undo_compaction(compaction, self._fitted_before(compaction))
        self._state.usage = Usage()
        # It is done from here on, whatever becomes of the rest.
        self._emit(CompactionUndone(compaction.compaction_id, compaction.folded_messages))
        total = self.window.total(self._state.context, self._state.session.summary)
        self._state.guards = replace(self._state.guards, at_last_undo=total)
        self._state.keep()
        self.window.emit_measure()

    async def carry_out_requests(self) -> None:
        """Do what was asked for while no turn runs; raises what `undo` and `check` raise, and does the rest later."""
        if self.requests.take_undo():
            await self.undo()
        if (hint := self.requests.take_hint()) is not None:
            await self.check("manual", hint)

    async def preview(self) -> CompactionPreview:
        """What a compaction by hand would fold now."""
        await self.window.read_schemas()
        plan = plan_compaction(self._request("manual", ""))
        if plan.split is None:
            reason = plan.notices[-1].text if plan.notices else say("agent", "nothing_to_fold")
            return CompactionPreview(plan.before_tokens, 0, (), 0, reason)
        folded = tuple(self.window.message_items(plan.split.folded))
        return CompactionPreview(plan.before_tokens, plan.split.folded_tokens, folded, plan.split.kept_turns, "")

    def begin_call(self) -> None:
        """A request goes out: what is in the context now is what the provider counts."""
        self._sent_tokens = self.window.raw_total()

    def learn_usage(self, input_tokens: int) -> None:
        """The provider's own count of the request that was just made corrects the estimate."""
        counter, raw = self.window.counter, self._sent_tokens
        sent_tokens = round(raw * counter.factor)
        if self._read_shares.note(raw, input_tokens) and input_tokens < sent_tokens:
            # Its count says nothing of what a token of ours costs.
            if not self._has_told_cut:
                self._has_told_cut = True
                self._emit(Notice(say("agent", "server_reads_less", read=input_tokens, sent=sent_tokens)))
            return
        counter.calibrate(round(raw * counter.factor), input_tokens)
        if input_tokens:
            self._state.usage = Usage(input_tokens, round(raw))

    def learn_overflow(self, error: Exception) -> None:
        """The provider refused a request: its window is what it says, or smaller than what was counted."""
        limit = window_told_by(error)
        if limit is not None and self.window.narrow(limit):
            if self._summariser is not None:
                # Mostly the same model; another one only gets smaller pieces.
                smaller = min(self._summariser.window_tokens, limit)
                self._summariser = replace(self._summariser, window_tokens=smaller)
            self.report(say("agent", "window_learned", limit=limit))
        counted, longest = self._counted_tokens, self.window.policy.max_input_length
        self.window.counter.calibrate(counted, max(counted, longest))

    def report(self, text: str) -> None:
        """Emit a notice once: it is not repeated with other figures until it was no longer true."""
        self._report(Notice(text))

    def _request(self, reason: CompactionReason, hint: str) -> CompactionRequest:
        state, window = self._state, self.window
        return CompactionRequest(
            messages=state.context,
            previous_summary=state.session.summary,
            policy=window.policy,
            counter=window.counter,
            system_tokens=window.prompt_tokens,
            tool_tokens=window.schema_tokens,
            language=state.next_language,
            place=window.artifact_place(),
            session_id=state.session_id,
            compaction_id=uuid.uuid4().hex,
            parent_id=state.session.compaction_id,
            at=state.at(),
            reason=reason,
            pins=tuple(window.pins()),
            guards=state.guards,
            reported_tokens=state.usage.reported_tokens,
            hint=hint,
            summariser_window_tokens=self._summariser.window_tokens if self._summariser else None,
        )

    def _commit(self, record: CompactionRecord, messages: list[Msg]) -> None:
        self._state.commit_compaction(record, messages)
        # Usage of a request that was longer says nothing about the next one.
        self._state.usage = Usage()
        self._emit(compressed_event(record, record.flush, is_undone=False))
        self._on_compacted(record)

    def _remember_guards(self, outcome: Outcome) -> None:
        if outcome.record is not None:
            self._state.guards = Guards(after_last_compaction=outcome.after_tokens)
        elif outcome.failure is not None:
            self._state.guards = replace(self._state.guards, at_last_failure=outcome.measured.total_tokens)

    def _fitted_before(self, compaction: CompactionRecord) -> list[Msg]:
        """The context before a compaction, its tool results as short as any others; raises where it does not fit."""
        window, summary = self.window, compaction.previous_summary
        messages = self._state.messages_before(compaction)
        left_tokens = window.policy.threshold - window.total([], summary)
        short = shorten_results(messages, window.policy, left_tokens, window.counter, window.artifact_place())
        limit = int(window.policy.max_input_length * UNDO_RATIO)
        total = window.total(short.messages, summary)
        if total > limit:
            raise CompactionError(say("agent", "undo_does_not_fit", total=total, limit=limit))
        window.store(short.artifacts)
        return short.messages

    def _keep_failure(self, compaction_id: str, failure: SummaryFailure) -> None:
        path = self._state.workspace.compaction_failures_folder / f"{compaction_id}.json"
        values = {"at": self._state.at(), "session_id": self._state.session_id, **asdict(failure)}
        try:
            replace_text(path, json.dumps(values, ensure_ascii=False, indent=2, default=str))
        except OSError as error:
            # The digest that may take the place of the summary must not be lost with it.
            self.report(say("agent", "refused_summary_lost", name=path.name, reason=plain_reason(error)))

    def _report_all(self, outcome: Outcome) -> None:
        if not outcome.notices:
            self._reported.clear()
        for notice in outcome.notices:
            self._report(notice)

    def _report(self, notice: Notice) -> None:
        shape = _FIGURES.sub("#", notice.text)
        if shape not in self._reported:
            self._reported.add(shape)
            self._emit(notice)
