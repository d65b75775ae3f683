"""What a provider wants back with its calls: reasoning, signatures and other fields it attached.

They are kept in the thinking block of the step, with the model they came from. The same model gets them back word for
word; another one gets none of them.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import aclosing
from dataclasses import dataclass, field

from agentscope.model import ChatResponse

from assistant.messages.blocks import Msg, ThinkingBlock, ToolCallBlock, ToolResultBlock
from assistant.models.wire.answer_facts import AnswerFacts
from assistant.text.json_values import is_list, is_object

WireMessage = dict[str, object]
ORIGIN = "origin"
"""The extra of a thinking block that names the model it came from."""
_FIELD, _CALLS, _MESSAGE = "thought_field", "call_extras", "message_extras"


@dataclass(slots=True)
class _Step:
    """What came with the calls of one step."""

    thoughts: dict[str, str] = field(default_factory=dict[str, str])
    calls: dict[str, Mapping[str, object]] = field(default_factory=dict[str, Mapping[str, object]])
    message: dict[str, object] = field(default_factory=dict[str, object])


async def with_carried(
    stream: AsyncGenerator[ChatResponse, None], facts: AnswerFacts, origin: str
) -> AsyncGenerator[ChatResponse, None]:
    """The same chunks; before the first call, one with what has to go back with it, where there is anything."""
    thinking_id: str | None = None
    is_carried = False
    async with aclosing(stream):
        async for chunk in stream:
            thinking = [block for block in chunk.content if isinstance(block, ThinkingBlock)]
            thinking_id = thinking[-1].id if thinking else thinking_id
            has_call = any(isinstance(block, ToolCallBlock) for block in chunk.content)
            if has_call and not is_carried and (block := _carrier(facts, origin, thinking_id)):
                is_carried = True
                yield ChatResponse(content=[block], is_last=False, id=chunk.id)
            yield chunk


def put_back(messages: Sequence[WireMessage], sources: Sequence[Msg], origin: str) -> list[WireMessage]:
    """The messages of a request with what came from `origin` beside their calls."""
    steps = _steps_by_call(sources, origin)
    return [_with_step(message, steps) for message in messages] if steps else list(messages)


def kept_call_extras(messages: Sequence[Msg]) -> dict[str, Mapping[str, object]]:
    """What came with each call by the call's id, whatever model it is from."""
    blocks = [block for message in messages for block in message.content if isinstance(block, ThinkingBlock)]
    kept = [calls for block in blocks if is_object(calls := (block.model_extra or {}).get(_CALLS))]
    return {str(call): value for calls in kept for call, value in calls.items() if is_object(value)}


def _carrier(facts: AnswerFacts, origin: str, thinking_id: str | None) -> ThinkingBlock | None:
    thought_field = facts.thought_field if thinking_id is not None else ""
    calls, message = facts.call_extras, facts.message_extras
    if not (thought_field or calls or message):
        return None
    extras = {ORIGIN: origin, _FIELD: thought_field, _CALLS: calls, _MESSAGE: message}
    given = {name: value for name, value in extras.items() if value}
    fresh = {} if thinking_id is None else {"id": thinking_id}
    return ThinkingBlock.model_validate({"thinking": "", **fresh, **given})


def _steps_by_call(sources: Sequence[Msg], origin: str) -> dict[str, _Step]:
    """The step of each call by the call's id; only steps that hold something of this origin."""
    found: dict[str, _Step] = {}
    for message in sources:
        step = _Step()
        for block in message.content:
            match block:
                case ThinkingBlock():
                    _remember(step, block, origin)
                case ToolCallBlock() if step.thoughts or step.calls or step.message:
                    found[block.id] = step
                case ToolResultBlock():
                    step = _Step()
                case _:
                    pass
    return found


def _remember(step: _Step, block: ThinkingBlock, origin: str) -> None:
    extras = block.model_extra or {}
    if extras.get(ORIGIN) != origin:
        return
    name, calls, message = extras.get(_FIELD), extras.get(_CALLS), extras.get(_MESSAGE)
    if isinstance(name, str) and name and block.thinking:
        step.thoughts[name] = step.thoughts.get(name, "") + block.thinking
    if is_object(calls):
        step.calls |= {str(call): value for call, value in calls.items() if is_object(value)}
    if is_object(message):
        step.message |= message


def _with_step(message: WireMessage, steps: Mapping[str, _Step]) -> WireMessage:
    calls = message.get("tool_calls")
    if not is_list(calls):
        return message
    ids = [str(call.get("id")) for call in calls if is_object(call)]
    step = next((steps[call_id] for call_id in ids if call_id in steps), None)
    if step is None:
        return message
    restored = [{**call, **step.calls.get(str(call.get("id")), {})} for call in calls if is_object(call)]
    return {**message, **step.message, **step.thoughts, "tool_calls": restored}
