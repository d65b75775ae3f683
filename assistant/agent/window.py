"""What fills the model's window in one conversation: measured, listed, pinned, and kept to its caps."""

from __future__ import annotations

import json
import uuid
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from assistant.agent.hooks.prompt_refresh import SystemPromptHook
from assistant.agent.session_state import SessionState
from assistant.agent.system_prompt import SystemPrompt
from assistant.agent.tools.toolkit import AgentTools
from assistant.compaction.budget import fits_alone, next_trigger
from assistant.compaction.pins import Pin, pin_tokens, pins_to_quote, tokens_over_pin_limit, write_summary_message
from assistant.compaction.policy import CompactionPolicy
from assistant.compaction.shorten.result_limits import Artifact, ArtifactPlace, cap_result
from assistant.config.words import say
from assistant.errors import CompactionError
from assistant.messages.blocks import BlockKey, Msg, ToolCallBlock, ToolResultBlock, block_text
from assistant.messages.events import ContextMeasured, ContextPart, Event, Part
from assistant.messages.hints import is_passing
from assistant.messages.tokens import TokenCounter


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


class ContextWindow:
    """The window of one conversation, and the numbers that hold for it."""

    def __init__(
        self,
        state: SessionState,
        tools: AgentTools,
        prompt: SystemPromptHook,
        policy: CompactionPolicy,
        counter: TokenCounter,
        emit: Callable[[Event], None],
    ) -> None:
        self.prompt = prompt
        self.counter = counter
        self._state = state
        self._tools = tools
        self._policy = policy
        self._emit = emit
        self._schemas_json = ""
        self._counted_prompt: tuple[SystemPrompt, float] | None = None

    @property
    def can_read_files(self) -> bool:
        """Whether the model has a tool that opens a file of the home."""
        return self._tools.artifact_reader == "Read"

    @property
    def policy(self) -> CompactionPolicy:
        """The numbers in force."""
        return self._policy

    @property
    def prompt_tokens(self) -> int:
        """What the system prompt costs, and what the provider counted beyond our count of the last request."""
        usage = self._state.usage
        beyond = usage.reported_tokens - round(usage.counted_tokens * self.counter.factor)
        return sum(self._part_tokens().values()) + (beyond if usage.counted_tokens else 0)

    def raw_total(self) -> float:
        """Our own count of the request as it is now, before the provider's counts correct it."""
        parts = sum(self._part_tokens().values()) + self.schema_tokens
        rendered = self._state.render_summary(self._state.session.summary, self._state.context)
        counted = parts + self.counter.text(rendered) + self.counter.messages(self._state.context)
        return counted / self.counter.factor

    @property
    def schema_tokens(self) -> int:
        """What the schemas of the tools cost, as far as they are known."""
        return self.counter.text(self._schemas_json) if self._schemas_json else 0

    @property
    def has_schemas(self) -> bool:
        """True once it is known what the tools cost."""
        return bool(self._schemas_json)

    async def read_schemas(self) -> None:
        """Know what the tools and what is said of skills cost; before this they count as nothing."""
        activated = self._state.agent_state.tool_context.activated_groups
        self.prompt.skills = await self._tools.toolkit.get_skill_instructions(activated) or ""
        schemas = await self._tools.toolkit.get_tool_schemas(activated)
        self._schemas_json = json.dumps(schemas, ensure_ascii=False) if schemas else ""

    def narrow(self, max_input_tokens: int) -> bool:
        """Take a smaller window from now on; False where the window is as small already."""
        is_narrower = max_input_tokens < self._policy.max_input_length
        if is_narrower:
            self._policy = replace(self._policy, max_input_length=max_input_tokens)
        return is_narrower

    def total(self, messages: Sequence[Msg], summary: str) -> int:
        """The tokens of a request with these messages and this summary."""
        rendered = self._state.render_summary(summary, messages)
        fixed = self.prompt_tokens + self.schema_tokens
        return fixed + self.counter.text(rendered) + self.counter.messages(messages)

    def fits_alone(self, text: str) -> bool:
        """True when a message of this text could be sent if nothing else were in the window."""
        return fits_alone(self.counter.text(text), self.prompt_tokens + self.schema_tokens, self._policy)

    def measured(self, total: int, shortened: int) -> ContextMeasured:
        """The measure of a context that has this many tokens in all, after so many results were shortened."""
        state = self._state
        parts = self._part_tokens()
        parts["tools"] = self.schema_tokens
        rendered = self.counter.text(state.render_summary(state.session.summary, state.context))
        parts["summary"] = self.counter.text(write_summary_message(state.session.summary, (), state.language))
        parts["pins"] = max(0, rendered - parts["summary"])
        parts["messages"] = max(0, total - sum(parts.values()))
        shown = tuple(ContextPart(name, tokens) for name, tokens in parts.items() if tokens)
        trigger = next_trigger(self._policy, state.guards)
        return ContextMeasured(total, trigger, self._policy.max_input_length, shown, shortened)

    def emit_measure(self) -> None:
        """Emit how full the window is now."""
        self._emit(self.measured(self.total(self._state.context, self._state.session.summary), 0))

    def items(self) -> list[ContextItem]:
        """What the model sees, in order."""
        prompt, state = self.prompt.prompt, self._state
        items = [ContextItem("system", say("agent", "part_system"), prompt.text, self.counter.text(prompt.text))]
        if self._schemas_json:
            items.append(ContextItem("tools", say("agent", "part_tools"), self._schemas_json, self.schema_tokens))
        if message := write_summary_message(state.session.summary, (), state.language):
            items.append(ContextItem("summary", say("agent", "part_summary"), message, self.counter.text(message)))
        return [*items, *self._pin_items(), *self.message_items(state.context)]

    def message_items(self, messages: Sequence[Msg]) -> list[ContextItem]:
        """The blocks of these messages, in order."""
        return [
            ContextItem(
                "messages",
                _label(message.role, block.type),
                block_text(block),
                self.counter.block(block),
                # What passes cannot be pinned.
                None if is_passing(block) else key,
                message.role == "user",
                key in self._state.session.pins,
            )
            for message in messages
            for block in message.content
            for key in [BlockKey(message.id, block.type, block.id)]
        ]

    def pins(self) -> list[Pin]:
        """What is kept word for word in every context."""
        return self._state.pins_of(self._state.session.pins)

    def pin(self, key: BlockKey) -> None:
        """Keep a block word for word in every context; raises `CompactionError` when pins would take too much."""
        state = self._state
        pins = [*self.pins(), *(pin for pin in state.pins_of([key]) if key not in state.session.pins)]
        if over := tokens_over_pin_limit(pins, self._policy, self.counter):
            raise CompactionError(say("agent", "pins_over_limit", limit=self._policy.pin_tokens, over=over))
        state.pin([pin.key for pin in pins])

    def unpin(self, key: BlockKey) -> None:
        """Let a pinned block go."""
        self._state.pin([pinned for pinned in self._state.session.pins if pinned != key])

    def cap(self, block: ToolResultBlock) -> ToolResultBlock:
        """A tool result as the context may hold it; its full text goes to disk first."""
        capped = cap_result(
            block,
            self._policy.recent_max_bytes,
            self.artifact_place(),
            call=self._call_of(block.id),
            max_chars=self._policy.tool_result_max_chars,
        )
        if capped.artifact is not None:
            self.store([capped.artifact])
        return capped.block

    def artifact_place(self) -> ArtifactPlace:
        """Where the full texts of shortened results are, and how the model opens them."""
        folder = self._state.workspace.tool_result_folder
        reader = self._tools.artifact_reader
        # A path of the home is shorter than a whole one, and all that the memory tool takes.
        shown = str(folder) if reader == "Read" else folder.name
        return ArtifactPlace(lambda: str(uuid.uuid4()), shown, self._state.language, reader)

    def store(self, artifacts: Sequence[Artifact]) -> None:
        """Write the full texts of shortened results to disk."""
        for artifact in artifacts:
            self._tools.artifacts.store_as(artifact.artifact_id, artifact.text)

    def _part_tokens(self) -> dict[Part, int]:
        """What each part of the prompt costs by the factor of now; it was counted by that of its making."""
        prompt, factor = self.prompt.prompt, self.counter.factor
        if self._counted_prompt is None or self._counted_prompt[0] is not prompt:
            self._counted_prompt = (prompt, factor)
        return {part: round(count * factor / self._counted_prompt[1]) for part, count in prompt.part_tokens.items()}

    def _pin_items(self) -> list[ContextItem]:
        return [
            ContextItem(
                "pins",
                _label(pin.role, "pinned"),
                pin.text,
                pin_tokens([pin], self.counter),
                pin.key,
                pin.role == "user",
                is_pinned=True,
            )
            for pin in pins_to_quote(self.pins(), self._state.context)
        ]

    def _call_of(self, call_id: str) -> ToolCallBlock | None:
        for message in reversed(self._state.context):
            for block in message.content:
                if isinstance(block, ToolCallBlock) and block.id == call_id:
                    return block
        return None


def _label(role: str, kind: str) -> str:
    """Who said a block, and what it is."""
    who = say("agent", "you" if role == "user" else "assistant")
    return say("agent", "part_message", who=who, kind=say("agent", f"kind_{kind}"))
