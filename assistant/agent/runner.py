"""AgentScope's agent as a conversation drives it: a message in, our events out, a valid state at any end."""

from __future__ import annotations

from collections.abc import AsyncGenerator

from agentscope.agent import Agent
from agentscope.event import ConfirmResult, UserConfirmResultEvent

from assistant.agent.stream import ReplyTranslator, asked_event, finished_event
from assistant.agent.tools.approvals import Rules, judge
from assistant.messages.blocks import (
    Msg,
    TextBlock,
    ThinkingBlock,
    ToolCallBlock,
    ToolCallState,
    ToolResultBlock,
    ToolResultState,
    call_arguments,
    open_calls,
)
from assistant.messages.events import ApprovalRequested, Event, ToolFinished


class AgentRunner:
    """Runs replies of one agent. One reply at a time: two at once would corrupt the context."""

    def __init__(self, agent: Agent, rules: Rules) -> None:
        self._agent = agent
        self._rules = rules
        self._translator = ReplyTranslator(self._find_result, self._why_asked)

    @property
    def context(self) -> list[Msg]:
        """The messages in the agent's context."""
        return self._agent.state.context

    @property
    def translator(self) -> ReplyTranslator:
        """What the newest reply has told so far."""
        return self._translator

    async def reply(self) -> AsyncGenerator[Event]:
        """The events of a reply that goes on from where the context stands."""
        self._translator = ReplyTranslator(self._find_result, self._why_asked)
        async for event in self._translator.translate(self._agent.reply_stream(None)):
            yield event

    async def answer(self, call_id: str, is_allowed: bool) -> AsyncGenerator[Event]:
        """The events that follow the person's answer to a parked call; none when no such call is parked."""
        call = next((call for call in self.parked_calls() if call.id == call_id), None)
        if call is None:
            return
        self._translator = ReplyTranslator(self._find_result, self._why_asked)
        confirmation = UserConfirmResultEvent(
            reply_id=self._agent.state.reply_id,
            confirm_results=[ConfirmResult(confirmed=is_allowed, tool_call=call)],
        )
        async for event in self._translator.translate(self._agent.reply_stream(confirmation)):
            yield event

    def parked_calls(self) -> list[ToolCallBlock]:
        """Calls that wait for the person, oldest first."""
        return self._agent.state.get_awaiting_tool_calls(self._agent.name)

    def approvals(self) -> list[ApprovalRequested]:
        """The cards of all parked calls."""
        return [asked_event(call, self._why_asked(call)) for call in self.parked_calls()]

    def close_open_calls(self, output: str, state: ToolResultState) -> list[ToolFinished]:
        """Give every call without a result this one, so that the context is valid for any provider."""
        if not self.context:
            return []
        message = self.context[-1]
        events: list[ToolFinished] = []
        for call in open_calls(message):
            call.state = ToolCallState.FINISHED
            result = ToolResultBlock(id=call.id, name=call.name, output=output, state=state)
            message.content.append(result)
            events.append(finished_event(result))
        return events

    def keep_unsaved(self) -> None:
        """What was streamed before the model failed stands in the context as far as it came."""
        blocks: list[TextBlock | ThinkingBlock] = []
        if self._translator.unsaved_thinking:
            blocks.append(ThinkingBlock(thinking=self._translator.unsaved_thinking))
        if self._translator.unsaved_text:
            blocks.append(TextBlock(text=self._translator.unsaved_text))
        if blocks:
            # AgentScope's annotation leaves thinking out; its own loop appends it in the same way.
            self._agent.state.append_context(self._agent.name, blocks)  # type: ignore[arg-type]
        self._translator.unsaved_text = self._translator.unsaved_thinking = ""

    def _find_result(self, call_id: str) -> ToolResultBlock | None:
        for message in reversed(self.context):
            for block in reversed(message.content):
                if isinstance(block, ToolResultBlock) and block.id == call_id:
                    return block
        return None

    def _why_asked(self, call: ToolCallBlock) -> str:
        return judge(call.name, call_arguments(call), self._rules).reason
