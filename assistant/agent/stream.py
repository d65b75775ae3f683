"""AgentScope's stream of a reply, translated into our events."""

from __future__ import annotations

from collections.abc import Callable
from typing import assert_never

from agentscope.event import (
    AgentEvent,
    ModelCallEndEvent,
    ModelCallStartEvent,
    ReplyEndEvent,
    RequireUserConfirmEvent,
    TextBlockDeltaEvent,
    ThinkingBlockDeltaEvent,
    ToolCallDeltaEvent,
    ToolCallEndEvent,
    ToolCallStartEvent,
    ToolResultEndEvent,
    ToolResultTextDeltaEvent,
)
from agentscope.types import ReplyFinishedReason

from assistant.agent.allowances import Offer
from assistant.agent.tools.call_preview import preview
from assistant.messages.blocks import Msg, ToolCallBlock, ToolResultBlock, ToolResultState, call_arguments, result_text
from assistant.messages.events import (
    ApprovalRequested,
    Event,
    FinishReason,
    Spent,
    TextDelta,
    ThinkingDelta,
    ToolFinished,
    ToolOutput,
    ToolStarted,
    ToolState,
    allowed_by,
)
from assistant.text.encoding import storable

SHOWN_OUTPUT_MAX_CHARS = 30_000
"""A running tool's output is streamed up to here; the result that follows says what it left out."""

FindResult = Callable[[str], ToolResultBlock | None]
Ask = Callable[[ToolCallBlock], ApprovalRequested]


class ReplyTranslator:
    """Turns one reply's events into ours and remembers what was streamed but is not in the context yet."""

    def __init__(self, find_result: FindResult, ask: Ask) -> None:
        self._find_result = find_result
        self._ask = ask
        self._calls: dict[str, tuple[str, list[str]]] = {}
        self._output_chars: dict[str, int] = {}
        self.unsaved_text = ""
        self.unsaved_thinking = ""
        self.input_tokens = 0
        self.output_tokens = 0
        self.spent = Spent()
        """What all requests of this reply took."""
        self.finish_reason: FinishReason = "completed"
        self.has_spoken = False
        """True once the newest model call brought text, or a call of a tool."""

    def translate(self, event: AgentEvent | Msg) -> list[Event]:
        """Our events for one of AgentScope's; none for an event nobody needs."""
        match event:
            case Msg():
                pass
            case ModelCallStartEvent():
                self.unsaved_text = self.unsaved_thinking = ""
                self.has_spoken = False
            case TextBlockDeltaEvent(delta="") | ThinkingBlockDeltaEvent(delta=""):
                pass
            case TextBlockDeltaEvent():
                self.unsaved_text += event.delta
                self.has_spoken = True
                return [TextDelta(event.block_id, event.delta)]
            case ThinkingBlockDeltaEvent():
                self.unsaved_thinking += event.delta
                return [ThinkingDelta(event.block_id, event.delta)]
            case ModelCallEndEvent():
                self.unsaved_text = self.unsaved_thinking = ""
                self.input_tokens, self.output_tokens = event.input_tokens, event.output_tokens
                self.spent += Spent(event.input_tokens, event.cache_input_tokens, event.output_tokens)
            case ReplyEndEvent():
                is_cut = event.finished_reason == ReplyFinishedReason.INTERRUPTED
                self.finish_reason = "interrupted" if is_cut else "completed"
            case _:
                return self._translate_tool(event)
        return []

    def _translate_tool(self, event: AgentEvent) -> list[Event]:
        match event:
            case ToolCallStartEvent():
                self._calls[event.tool_call_id] = (event.tool_call_name, [])
            case ToolCallDeltaEvent():
                self._calls[event.tool_call_id][1].append(event.delta)
            case ToolCallEndEvent():
                name, pieces = self._calls[event.tool_call_id]
                return [ToolStarted(event.tool_call_id, name, "".join(pieces))]
            case ToolResultTextDeltaEvent():
                return self._output(event.tool_call_id, event.delta)
            case ToolResultEndEvent():
                block = self._find_result(event.tool_call_id)
                return [finished_event(block)] if block else []
            case RequireUserConfirmEvent():
                return [self._ask(call) for call in event.tool_calls]
            case _:
                pass
        return []

    def _output(self, call_id: str, text: str) -> list[Event]:
        shown = self._output_chars.get(call_id, 0)
        self._output_chars[call_id] = shown + len(text)
        piece = text[: max(0, SHOWN_OUTPUT_MAX_CHARS - shown)]
        return [ToolOutput(call_id, piece)] if piece else []


def finished_event(block: ToolResultBlock) -> ToolFinished:
    """The event of a tool result."""
    return ToolFinished(
        call_id=block.id,
        name=block.name,
        state=_state_of(block),
        output=result_text(block),
        diff=_text_or_none(block.metadata.get("diff")),
        artifact_id=_text_or_none(block.metadata.get("artifact_id")),
        allowed=allowed_by(block.metadata),
    )


def asked_event(call: ToolCallBlock, reason: str, offer: Offer) -> ApprovalRequested:
    """The event of a call that waits for the person."""
    shown = storable(preview(call.name, call_arguments(call)))
    return ApprovalRequested(
        call.id, call.name, call.input, shown, storable(reason), offer.scopes, storable(offer.text)
    )


def _state_of(block: ToolResultBlock) -> ToolState:
    match block.state:
        case ToolResultState.SUCCESS | ToolResultState.RUNNING:
            return "success"
        case ToolResultState.ERROR:
            return "error"
        case ToolResultState.DENIED:
            return "denied"
        case ToolResultState.INTERRUPTED:
            return "interrupted"
        case _:
            assert_never(block.state)


def _text_or_none(value: object) -> str | None:
    return value if isinstance(value, str) and value else None
