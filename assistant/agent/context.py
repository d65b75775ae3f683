"""What fills the model's window in one conversation: measured, compacted, undone, pinned."""

from __future__ import annotations

import json
import re
import uuid
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, replace

from agentscope.tool import Toolkit

from assistant.agent.hooks.system_prompt import SystemPromptHook
from assistant.agent.session_state import SessionKeeper
from assistant.compaction.budget import Guards, fits_alone, next_trigger
from assistant.compaction.pins import Pin, pin_tokens, pins_to_quote, tokens_over_pin_limit, write_summary_message
from assistant.compaction.pipeline import CompactionRequest, Outcome, Plan, compact, plan_compaction
from assistant.compaction.policy import UNDO_RATIO, CompactionPolicy
from assistant.compaction.record import CompactionRecord
from assistant.compaction.shorten.artifact_reference import ArtifactReader
from assistant.compaction.shorten.tool_results import Artifact, ArtifactPlace, cap_result, shorten_results
from assistant.compaction.summary.summary import Ask, SummaryFailure
from assistant.config.prompts import Language
from assistant.errors import CompactionError, ContextOverflowError
from assistant.messages.blocks import BlockKey, Msg, ToolCallBlock, ToolResultBlock, block_text
from assistant.messages.events import (
    CompactionReason,
    CompactionUndone,
    ContextMeasured,
    ContextPart,
    Event,
    Notice,
    Part,
)
from assistant.messages.tokens import TokenCounter
from assistant.models.failures import window_told_by
from assistant.storage.artifacts import Artifacts
from assistant.storage.atomic_io import replace_text
from assistant.storage.journal.past_events import compressed_event
from assistant.storage.workspace import Workspace

_GUARDS_KEY = "compaction_guards"
_REPORTED_KEY = "reported_input_tokens"
_FIGURES = re.compile(r"[\d,.]+")


@dataclass(frozen=True, slots=True)
class ContextItem:
    """One piece of what the model sees."""

    part: Part
    label: str
    text: str
    tokens: int
    key: BlockKey | None = None
    is_user: bool = False
    is_pinned: bool = False


@dataclass(frozen=True, slots=True)
class CompactionPreview:
    """What compacting now would do; nothing was changed."""

    previous_tokens: int
    folded_tokens: int
    folded: tuple[ContextItem, ...]
    kept_turns: int
    reason: str
    """Why nothing would be folded; empty when something would be."""


class Context:
    """One conversation's window. Its methods are called between two steps, never while one runs."""

    def __init__(
        self,
        *,
        keeper: SessionKeeper,
        toolkit: Toolkit,
        prompt: SystemPromptHook,
        policy: CompactionPolicy,
        counter: TokenCounter,
        artifacts: Artifacts,
        artifact_reader: ArtifactReader,
        workspace: Workspace,
        ask: Ask | None,
        summariser_window_tokens: int | None,
        language: Callable[[], Language],
        emit: Callable[[Event], None],
        on_compacted: Callable[[CompactionRecord], None],
    ) -> None:
        self._keeper = keeper
        self._toolkit = toolkit
        self._prompt = prompt
        self._policy = policy
        self._counter = counter
        self._artifacts = artifacts
        self._artifact_reader: ArtifactReader = artifact_reader
        self._workspace = workspace
        self._ask = ask
        self._summariser_window_tokens = summariser_window_tokens
        self._language = language
        self._emit = emit
        self._on_compacted = on_compacted
        self._schemas_json = ""
        self._counted_tokens = 0
        self._told: set[str] = set()

    @property
    def policy(self) -> CompactionPolicy:
        """The numbers in force."""
        return self._policy

    async def check(self, reason: CompactionReason, hint: str = "") -> None:
        """One check before a model call; commits and tells what it decides.

        Raises `ContextOverflowError` when even what is always kept does not fit the window.
        """
        await self.read_schemas()
        request = self._request(reason, hint)
        outcome = await compact(request, self._ask)
        self._store(outcome.artifacts)
        if outcome.failure is not None:
            self._keep_failure(request.compaction_id, outcome.failure)
        if outcome.record is not None:
            self._commit(outcome.record, outcome.messages)
        elif outcome.shortened:
            self._keeper.replace_messages(outcome.messages)
        self._remember_guards(outcome)
        self._tell_all(outcome)
        self._counted_tokens = outcome.after_tokens
        self._emit(self._measured(outcome.after_tokens, outcome.shortened))
        if outcome.is_over:
            raise ContextOverflowError(outcome.notices[-1].text)

    async def undo(self) -> None:
        """Take the newest compaction back; raises `CompactionError` with the figure when it would not fit any more."""
        await self.read_schemas()
        row = self._keeper.undo_compaction(self._fit_again)
        # It is done from here on, whatever becomes of the rest.
        self._emit(CompactionUndone(row.compaction_id, row.folded_messages))
        total = self._total(self._keeper.state.context)
        self._write_guards(replace(self._guards(), at_last_undo=total))
        self._keeper.keep()
        self.tell_measure()

    async def preview(self) -> CompactionPreview:
        """What a compaction by hand would fold now."""
        await self.read_schemas()
        plan = plan_compaction(self._request("manual", ""))
        return self._preview(plan)

    def pin(self, key: BlockKey) -> None:
        """Keep a block word for word in every context; raises `CompactionError` when pins would take too much."""
        pins = [*self._pins(), *(pin for pin in self._keeper.pins_of([key]) if key not in self._keeper.session.pins)]
        if over := tokens_over_pin_limit(pins, self._policy, self._counter):
            raise CompactionError(
                f"Pins may take {self._policy.pin_tokens:,} tokens together, a tenth of the window; with this one they "
                f"would be {over:,} over. Unpin something first."
            )
        self._keeper.pin([pin.key for pin in pins])

    def cap(self, block: ToolResultBlock) -> ToolResultBlock:
        """A tool result as the context may hold it; its full text goes to disk first."""
        capped = cap_result(
            block,
            self._policy.recent_max_bytes,
            self._place(),
            call=self._call_of(block.id),
            max_chars=self._policy.tool_result_max_chars,
        )
        if capped.artifact is not None:
            self._store([capped.artifact])
        return capped.block

    def tokens_of(self, text: str) -> int:
        """What a text costs."""
        return self._counter.text(text)

    def fits_alone(self, text: str) -> bool:
        """True when a message of this text could be sent if nothing else stood in the window."""
        fixed = sum(self._prompt.prompt.part_tokens.values()) + self._schema_tokens()
        return fits_alone(self._counter.text(text), fixed, self._policy)

    def learn_usage(self, input_tokens: int) -> None:
        """The provider's own count of the request that was just checked corrects the estimate."""
        self._counter.calibrate(self._counted_tokens, input_tokens)
        if input_tokens:
            self._keeper.state.middle_context[_REPORTED_KEY] = input_tokens

    def learn_overflow(self, error: Exception) -> None:
        """The provider refused a request: its window is what it says, or smaller than what was counted."""
        window = window_told_by(error)
        if window is not None and window < self._policy.max_input_length:
            self._policy = replace(self._policy, max_input_length=window)
            if self._summariser_window_tokens is not None:
                # Mostly the same model; another one only gets smaller pieces.
                self._summariser_window_tokens = min(self._summariser_window_tokens, window)
            self.tell(f"The provider says that this model's window is {window:,} tokens; it is used from now on.")
        self._counter.calibrate(self._counted_tokens, max(self._counted_tokens, self._policy.max_input_length))

    async def read_schemas(self) -> None:
        """Know what the tools cost; before this they count as nothing."""
        schemas = await self._toolkit.get_tool_schemas(self._keeper.state.tool_context.activated_groups)
        self._schemas_json = json.dumps(schemas, ensure_ascii=False) if schemas else ""

    @property
    def has_schemas(self) -> bool:
        """True once it is known what the tools cost."""
        return bool(self._schemas_json)

    def measure(self) -> ContextMeasured:
        """How full the window is now."""
        return self._measured(self._total(self._keeper.state.context), 0)

    def tell_measure(self) -> None:
        """Tell every reader how full the window is."""
        self._emit(self.measure())

    def tell(self, text: str) -> None:
        """Tell something once: the same notice with other figures is not repeated until it was no longer true."""
        self._tell(Notice(text))

    def items(self) -> list[ContextItem]:
        """What the model sees, in order."""
        prompt = self._prompt.prompt
        items = [ContextItem("system", "System prompt", prompt.text, self._counter.text(prompt.text))]
        if self._schemas_json:
            items.append(ContextItem("tools", "Tools", self._schemas_json, self._schema_tokens()))
        if message := write_summary_message(self._keeper.session.summary, (), self._language()):
            items.append(ContextItem("summary", "Summary", message, self._counter.text(message)))
        return [*items, *self._pin_items(), *self._message_items(self._keeper.state.context)]

    def _request(self, reason: CompactionReason, hint: str) -> CompactionRequest:
        state = self._keeper.state
        reported = state.middle_context.get(_REPORTED_KEY, 0)
        return CompactionRequest(
            messages=state.context,
            previous_summary=self._keeper.session.summary,
            policy=self._policy,
            counter=self._counter,
            system_tokens=sum(self._prompt.prompt.part_tokens.values()),
            tool_tokens=self._schema_tokens(),
            language=self._language(),
            place=self._place(),
            session_id=self._keeper.session.session_id,
            compaction_id=uuid.uuid4().hex,
            parent_id=self._keeper.session.compaction_id,
            at=self._keeper.at(),
            reason=reason,
            pins=tuple(self._pins()),
            guards=self._guards(),
            reported_tokens=reported if isinstance(reported, int) else 0,
            hint=hint,
            summariser_window_tokens=self._summariser_window_tokens,
        )

    def _commit(self, record: CompactionRecord, messages: Sequence[Msg]) -> None:
        self._keeper.commit_compaction(record, messages)
        # Usage of a request that was longer says nothing about the next one.
        self._keeper.state.middle_context.pop(_REPORTED_KEY, None)
        self._emit(compressed_event(record, record.flush, is_undone=False))
        self._on_compacted(record)

    def _remember_guards(self, outcome: Outcome) -> None:
        guards = self._guards()
        if outcome.record is not None:
            self._write_guards(Guards(after_last_compaction=outcome.after_tokens))
        elif outcome.failure is not None:
            self._write_guards(replace(guards, at_last_failure=outcome.measured.total_tokens))

    def _guards(self) -> Guards:
        stored = self._keeper.state.middle_context.get(_GUARDS_KEY)
        return Guards(**stored) if isinstance(stored, dict) else Guards()

    def _write_guards(self, guards: Guards) -> None:
        self._keeper.state.middle_context[_GUARDS_KEY] = asdict(guards)

    def _fit_again(self, messages: Sequence[Msg], summary: str) -> list[Msg]:
        """What comes back from the journal in full, with its tool results as short as any others in the context."""
        left_tokens = self._policy.threshold - self._total([], summary)
        short = shorten_results(list(messages), self._policy, left_tokens, self._counter, self._place())
        limit = int(self._policy.max_input_length * UNDO_RATIO)
        total = self._total(short.messages, summary)
        if total > limit:
            raise CompactionError(
                f"The messages of this compaction do not fit any more: with them the context would hold {total:,} "
                f"tokens, and {limit:,} may stand in it. They can be read in the transcript."
            )
        self._store(short.artifacts)
        return short.messages

    def _total(self, messages: Sequence[Msg], summary: str | None = None) -> int:
        chosen = self._keeper.session.summary if summary is None else summary
        fixed = sum(self._prompt.prompt.part_tokens.values()) + self._schema_tokens()
        rendered = self._keeper.render_summary(chosen, messages)
        return fixed + self._counter.text(rendered) + self._counter.messages(messages)

    def _measured(self, total: int, shortened: int) -> ContextMeasured:
        messages = self._keeper.state.context
        parts: dict[Part, int] = dict(self._prompt.prompt.part_tokens)
        parts["tools"] = self._schema_tokens()
        rendered = self._counter.text(self._keeper.render_summary(self._keeper.session.summary, messages))
        parts["summary"] = self._counter.text(write_summary_message(self._keeper.session.summary, (), self._language()))
        parts["pins"] = max(0, rendered - parts["summary"])
        parts["messages"] = max(0, total - sum(parts.values()))
        shown = tuple(ContextPart(name, tokens) for name, tokens in parts.items() if tokens)
        trigger = next_trigger(self._policy, self._guards())
        return ContextMeasured(total, trigger, self._policy.max_input_length, shown, shortened)

    def _pin_items(self) -> list[ContextItem]:
        return [
            ContextItem(
                "pins",
                f"{'You' if pin.role == 'user' else 'Assistant'}: pinned",
                pin.text,
                pin_tokens([pin], self._counter),
                pin.key,
                pin.role == "user",
                is_pinned=True,
            )
            for pin in pins_to_quote(self._pins(), self._keeper.state.context)
        ]

    def _message_items(self, messages: Sequence[Msg]) -> list[ContextItem]:
        return [
            ContextItem(
                "messages",
                f"{'You' if message.role == 'user' else 'Assistant'}: {block.type.replace('_', ' ')}",
                block_text(block),
                self._counter.block(block),
                key := BlockKey(message.id, block.type, block.id),
                message.role == "user",
                key in self._keeper.session.pins,
            )
            for message in messages
            for block in message.content
        ]

    def _preview(self, plan: Plan) -> CompactionPreview:
        if plan.split is None:
            reason = plan.notices[-1].text if plan.notices else "Nothing would be folded."
            return CompactionPreview(plan.before_tokens, 0, (), 0, reason)
        folded = tuple(self._message_items(plan.split.folded))
        return CompactionPreview(plan.before_tokens, plan.split.folded_tokens, folded, plan.split.kept_turns, "")

    def _store(self, artifacts: Sequence[Artifact]) -> None:
        for artifact in artifacts:
            self._artifacts.store_as(artifact.artifact_id, artifact.text)

    def _keep_failure(self, compaction_id: str, failure: SummaryFailure) -> None:
        path = self._workspace.compaction_failures_folder / f"{compaction_id}.json"
        values = {"at": self._keeper.at(), "session_id": self._keeper.session.session_id, **asdict(failure)}
        try:
            replace_text(path, json.dumps(values, ensure_ascii=False, indent=2, default=str))
        except OSError as error:
            # The digest that may stand in for the summary must not be lost with it.
            self.tell(f"The summary that was refused could not be kept as {path.name} ({error.strerror or error}).")

    def _tell_all(self, outcome: Outcome) -> None:
        if not outcome.notices:
            self._told.clear()
        for notice in outcome.notices:
            self._tell(notice)

    def _tell(self, notice: Notice) -> None:
        shape = _FIGURES.sub("#", notice.text)
        if shape not in self._told:
            self._told.add(shape)
            self._emit(notice)

    def _pins(self) -> list[Pin]:
        return self._keeper.pins_of(self._keeper.session.pins)

    def _place(self) -> ArtifactPlace:
        folder = self._workspace.tool_result_folder
        # A path of the home is shorter than a whole one, and all that the memory tool takes.
        shown = str(folder) if self._artifact_reader == "Read" else folder.name
        return ArtifactPlace(lambda: str(uuid.uuid4()), shown, self._language(), self._artifact_reader)

    def _call_of(self, call_id: str) -> ToolCallBlock | None:
        for message in reversed(self._keeper.state.context):
            for block in message.content:
                if isinstance(block, ToolCallBlock) and block.id == call_id:
                    return block
        return None

    def _schema_tokens(self) -> int:
        return self._counter.text(self._schemas_json) if self._schemas_json else 0
