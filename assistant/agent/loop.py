"""The loop around AgentScope's loop: a message in, our events out, a valid state at any end.

From the page's send to AgentScope a message passes these functions, each called by the one before it:

    assistant.assembly.assistant.Assistant.submit
    assistant.conversation.commands.submit
    assistant.conversation.conversation.Conversation.ask
    assistant.conversation.job_queue.JobQueue.add
    assistant.conversation.conversation.Conversation._carry_out
    assistant.conversation.turns.Turns.reply_to
    assistant.conversation.turns.Turns._run
    assistant.agent.loop.AgentLoop.reply
    agentscope.agent.Agent.reply_stream

AgentScope then repeats one step, a call of the model and the calls of tools that it asks for, until the model asks for
none. What happens around each step is the list in `AgentLoop._hooks`.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, Sequence

from agentscope.agent import Agent, ContextConfig, InjectionConfig, ReActConfig
from agentscope.event import ConfirmResult, UserConfirmResultEvent
from agentscope.middleware import MiddlewareBase
from agentscope.model import ChatModelBase
from agentscope.state import AgentState
from agentscope.tool import Toolkit

from assistant.agent.allowances import Allowances, Decision
from assistant.agent.compactor import Compactor
from assistant.agent.hooks.answer_notes import AnswerNoteHook
from assistant.agent.hooks.calls import CallHook
from assistant.agent.hooks.compaction import CompactionHook
from assistant.agent.hooks.new_day import NewDayHook
from assistant.agent.hooks.output_limit import OutputLimitHook
from assistant.agent.hooks.pictures import PictureHook
from assistant.agent.hooks.recall import RecallHook
from assistant.agent.hooks.repeated_calls import RepeatedCallHook
from assistant.agent.hooks.steps import StepHook
from assistant.agent.hooks.tool_results import ToolResultHook
from assistant.agent.session_state import SessionState
from assistant.agent.stream import ReplyTranslator, asked_event, finished_event
from assistant.agent.tools.approvals import judge
from assistant.agent.tools.toolkit import AgentTools
from assistant.config.prompts import render
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
from assistant.messages.events import AllowanceScope, ApprovalRequested, Event, ToolFinished, ToolOutput
from assistant.storage.sessions.stream_draft import StreamedWords

AGENT_NAME = "palimpsest"
"""Part of what a saved state means: a state written under another name is not recognised as the agent's own."""
# Our own step limit ends a turn cleanly; AgentScope's would pay one more call and speak English to the model.
_NO_LIMIT = 1_000_000_000


class AgentLoop:
    """Runs replies of one conversation's agent. One reply at a time: two at once would corrupt the context."""

    def __init__(
        self,
        state: SessionState,
        model: ChatModelBase,
        tools: AgentTools,
        compactor: Compactor,
        recall: RecallHook | None,
        max_steps: int,
    ) -> None:
        """`recall` hands over what memory has on a message; `max_steps` counts the model calls of a turn."""
        self._state = state
        self._tools = tools
        self._compactor = compactor
        self._recall = recall
        self._new_day = NewDayHook(state)
        self._notes = AnswerNoteHook(state)
        self._steps = StepHook(state.keep, max_steps)
        self._pictures = PictureHook(state)
        self._repeated = RepeatedCallHook(state)
        self._agent = build_agent(model, tools.toolkit, state.agent_state, self._hooks())
        self._translator = ReplyTranslator(self._find_result, self._asked)

    def _hooks(self) -> list[MiddlewareBase]:
        """All that happens around a step, in order: before it from the top down, after it from the bottom up."""
        return [
            # Before a step: the prompt first, for the check of the context counts it.
            self._compactor.window.prompt,
            # Before a step: room is made before anything is added. A request too long for the provider is made again,
            # with all that follows here, so this encloses the rest.
            CompactionHook(self._compactor),
            # Before the first step: what was recalled comes after the check, which must not fold it; then the day.
            *([self._recall] if self._recall else []),
            self._new_day,
            # Before a step: counts it. After a step and around each call: writes to disk what all below have settled.
            self._steps,
            # After a step: text that turned out to be thinking becomes thinking before it is written to disk.
            self._notes,
            # After a step: a call that the provider cut is refused before anything is written or run.
            OutputLimitHook(self._state),
            # To a model call: the pictures that the messages name.
            self._pictures,
            # To a call: one that brought the same twice is refused before anybody is asked about it.
            self._repeated,
            # After a step: arguments are made readable before all others look. To a call: whether it may run at all.
            CallHook(self._state, self._tools.rules, self._tools.allowances),
            # To a call: caps the result innermost, so that nothing above ever sees the full one.
            ToolResultHook(self._compactor.window.cap, self._tools.known.mask),
        ]

    @property
    def context(self) -> list[Msg]:
        """The messages in the agent's context."""
        return self._state.context

    @property
    def allowances(self) -> Allowances:
        """What the person allowed before, in this conversation or always."""
        return self._tools.allowances

    @property
    def translator(self) -> ReplyTranslator:
        """What the newest reply has emitted so far."""
        return self._translator

    def start_turn(self) -> None:
        """Count the model calls of a turn from zero, and the calls of tools that are alike."""
        self._steps.start_turn()
        self._repeated.start_turn()

    async def reply(
        self, question: str = "", confirmation: UserConfirmResultEvent | None = None
    ) -> AsyncGenerator[Event]:
        """The events of a reply that goes on from the context as it is; memory is searched for a new question."""
        if question and self._recall is not None and (recalled := await self._recall.find(question)):
            self._state.recall(recalled)
            yield recalled
        self._translator = ReplyTranslator(self._find_result, self._asked)
        async for agent_event in self._agent.reply_stream(confirmation):
            if self._recall is not None and (again := self._recall.take_found_again()):
                self._state.recall(again)
                yield again
            for event in self._translator.translate(agent_event):
                yield event
            for noted in self._notes.take():
                yield noted

    async def answer(self, call_id: str, decision: Decision) -> AsyncGenerator[Event]:
        """The events that follow the person's answer to a parked call; none when no such call is parked."""
        call = self.parked_call(call_id)
        if call is None:
            return
        confirmation = UserConfirmResultEvent(
            reply_id=self._agent.state.reply_id,
            confirm_results=[ConfirmResult(confirmed=decision.is_allowed, tool_call=call)],
        )
        async for event in self.reply(confirmation=confirmation):
            match event:
                case ToolOutput(call_id=told) if told == call_id and not decision.is_allowed:
                    pass
                case ToolFinished(call_id=told, state="denied") if told == call_id and not decision.is_allowed:
                    yield self._denied(call_id, decision.why)
                case _:
                    yield event

    def parked_calls(self) -> list[ToolCallBlock]:
        """Calls that wait for the person, oldest first."""
        return self._agent.state.get_awaiting_tool_calls(self._agent.name)

    def parked_call(self, call_id: str) -> ToolCallBlock | None:
        """The call of this id; None where no such call waits for the person."""
        return next((call for call in self.parked_calls() if call.id == call_id), None)

    def allow(self, call_id: str, scope: AllowanceScope) -> None:
        """Allow from now on what a parked call is; raises `PalimpsestError` for what was not offered."""
        if call := self.parked_call(call_id):
            self.allowances.allow(call.name, call_arguments(call), scope)

    def approvals(self) -> list[ApprovalRequested]:
        """The cards of all parked calls."""
        return [self._asked(call) for call in self.parked_calls()]

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

    def take_up_draft(self) -> bool:
        """Put what was streamed when the program was killed into the context; False where it is there, or is none."""
        words = self._state.draft.read()
        if words is None or words.turn_id != self._state.turn_id or self._holds(words):
            return False
        self._translator.unsaved_text, self._translator.unsaved_thinking = words.text, words.thinking
        self.keep_unsaved()
        return True

    def _holds(self, words: StreamedWords) -> bool:
        """True where the step they belong to is in the context: it ended before the program did."""
        blocks = [block for message in self.context[-1:] for block in message.content]
        texts = [block.text for block in blocks if isinstance(block, TextBlock)]
        thoughts = [block.thinking for block in blocks if isinstance(block, ThinkingBlock)]
        is_said = not words.text or any(text.startswith(words.text) for text in texts)
        return is_said and (not words.thinking or any(thought.startswith(words.thinking) for thought in thoughts))

    def keep_unsaved(self) -> None:
        """Put what was streamed before the model failed into the context, as far as it came."""
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

    def _denied(self, call_id: str, why: str) -> ToolFinished:
        """The denial in the language of the conversation and with the person's words, before the model reads it."""
        result = self._find_result(call_id)
        assert result is not None
        result.output = render("tool_denied", self._state.language, text=why)
        return finished_event(result)

    def _asked(self, call: ToolCallBlock) -> ApprovalRequested:
        arguments = call_arguments(call)
        reason = judge(call.name, arguments, self._tools.rules).reason
        return asked_event(call, reason, self.allowances.offer(call.name, arguments))


def build_agent(
    model: ChatModelBase,
    toolkit: Toolkit,
    state: AgentState,
    hooks: Sequence[MiddlewareBase],
    *,
    name: str = AGENT_NAME,
    system_prompt: str = "",
    is_sidecar: bool = False,
) -> Agent:
    """AgentScope's agent, with its own compression and reminders off; the outermost hook comes first.

    A conversation's agent ends a cancelled reply in a valid state and returns; a sidecar's cancellation goes through.
    """
    return Agent(
        name=name,
        system_prompt=system_prompt,
        model=model,
        toolkit=toolkit,
        middlewares=list(hooks),
        state=state,
        context_config=ContextConfig(tool_result_limit=_NO_LIMIT, max_image_num=_NO_LIMIT),
        react_config=ReActConfig(max_iters=_NO_LIMIT, interruption_raise_cancelled_error=is_sidecar),
        injection_config=InjectionConfig(inject_runtime_state=False),
    )
