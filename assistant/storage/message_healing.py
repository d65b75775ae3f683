"""Messages made fit to be sent again after a crash: every call has its result, every result its call (pure)."""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence

from assistant.messages.blocks import (
    Block,
    Msg,
    ToolCallBlock,
    ToolCallState,
    ToolResultBlock,
    ToolResultState,
    copy_with_blocks,
    open_calls,
)

INTERRUPTED_OUTPUT = "[interrupted]"
"""The result that is given to a call that never got one."""


def heal(messages: Sequence[Msg]) -> list[Msg]:
    """The messages with every call paired inside its step; the given ones are untouched.

    A call without a result gets one that says it was interrupted, a result without a call is left out. In a last
    message that waits for the person's approval the calls that have not begun stay: they run after the answer.
    """
    return [
        _with_begun_ended(message) if message is messages[-1] and is_parked(message) else _with_pairs(message)
        for message in messages
    ]


def is_parked(message: Msg) -> bool:
    """True when a call of the message waits for an approval or for a result from outside."""
    return any(call.state in (ToolCallState.ASKING, ToolCallState.SUBMITTED) for call in open_calls(message))


def _with_begun_ended(message: Msg) -> Msg:
    """Calls that were allowed and running when the program ended are not run again."""
    begun = [call for call in open_calls(message) if call.state == ToolCallState.ALLOWED]
    if not begun:
        return message
    content: list[Block] = [
        _finished(block) if isinstance(block, ToolCallBlock) and block in begun else block for block in message.content
    ]
    return copy_with_blocks(message, [*content, *(_interrupted(call) for call in begun)])


def _with_pairs(message: Msg) -> Msg:
    results: dict[str, deque[tuple[int, ToolResultBlock]]] = {}
    for index, block in enumerate(message.content):
        if isinstance(block, ToolResultBlock):
            results.setdefault(block.id, deque()).append((index, block))
    content: list[Block] = []
    for step in _without_results(message.content):
        found: list[tuple[int, ToolResultBlock]] = []
        for block in step:
            content.append(block)
            if isinstance(block, ToolCallBlock):
                content[-1] = _finished(block)
                waiting = results.get(block.id)
                # What had no result comes behind the results that are there.
                found.append(waiting.popleft() if waiting else (len(message.content), _interrupted(block)))
        content += [_ended(result) for _, result in sorted(found, key=lambda pair: pair[0])]
    return message if content == message.content else copy_with_blocks(message, content)


def _without_results(blocks: Sequence[Block]) -> list[list[Block]]:
    """The blocks of each step without its results; a new step starts where something follows a result."""
    steps: list[list[Block]] = [[]]
    is_behind_result = False
    for block in blocks:
        if isinstance(block, ToolResultBlock):
            is_behind_result = True
            continue
        if is_behind_result:
            steps.append([])
            is_behind_result = False
        steps[-1].append(block)
    return steps


def _finished(call: ToolCallBlock) -> ToolCallBlock:
    if call.state == ToolCallState.FINISHED:
        return call
    return call.model_copy(update={"state": ToolCallState.FINISHED})


def _ended(result: ToolResultBlock) -> ToolResultBlock:
    if result.state != ToolResultState.RUNNING:
        return result
    return result.model_copy(update={"state": ToolResultState.INTERRUPTED})


def _interrupted(call: ToolCallBlock) -> ToolResultBlock:
    return ToolResultBlock(
        id=call.id,
        name=call.name,
        output=INTERRUPTED_OUTPUT,
        state=ToolResultState.INTERRUPTED,
        created_at=call.created_at,
        finished_at=call.created_at,
    )
