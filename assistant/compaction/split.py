"""Legal cuts through a conversation: what is folded and what stays, in linear time.

A cut is only made before a step or a user message, so a call never parts from its result,
and in a turn without calls no answer from its question. Always kept, wherever the
cut is: the newest user message, the newest step, and every step with a call that has no result yet.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass

from assistant.compaction.policy import CompactionPolicy
from assistant.messages.blocks import (
    Block,
    Msg,
    Step,
    ToolCallBlock,
    ToolResultBlock,
    copy_with_blocks,
    steps_of,
    turns_of,
)
from assistant.messages.tokens import TokenCounter


@dataclass(frozen=True, slots=True)
class Split:
    """Two parts of one conversation, each oldest first; a message cut in two keeps its id on both sides.

    `older` is what comes before the newest user message, `turn_prefix` the older steps that answer it: their request
    stays in `kept`. `request` is that user message when there is a prefix.
    """

    older: tuple[Msg, ...]
    turn_prefix: tuple[Msg, ...]
    kept: list[Msg]
    request: Msg | None
    folded_tokens: int
    kept_turns: int
    is_valid: bool

    @property
    def folded(self) -> tuple[Msg, ...]:
        """All that leaves the context."""
        return self.older + self.turn_prefix

    @property
    def is_empty(self) -> bool:
        """True when nothing could be folded."""
        return not self.older and not self.turn_prefix


def split(messages: Sequence[Msg], keep_tokens: int, counter: TokenCounter, policy: CompactionPolicy) -> Split:
    """The newest steps that fit `keep_tokens` stay, with what is always kept; 0 keeps only the latter."""
    if not messages:
        return Split((), (), [], None, 0, 0, True)
    steps = whole_steps(messages)
    newest_user = max((index for index, message in enumerate(messages) if message.role == "user"), default=-1)
    sizes = [_step_tokens(messages, step, counter) for step in steps]
    cut = _first_kept_step(messages, steps, sizes, keep_tokens, policy)
    open_steps = _steps_with_open_calls(messages, steps)
    is_kept = [
        index >= cut or index == len(steps) - 1 or index in open_steps or step.message_index == newest_user
        for index, step in enumerate(steps)
    ]
    folded = [step for step, kept in zip(steps, is_kept, strict=True) if not kept]
    older = _assemble(messages, [step for step in folded if step.message_index < newest_user or newest_user < 0])
    prefix = _assemble(messages, [step for step in folded if step.message_index > newest_user >= 0])
    # A reply that is about to begin has no block yet; the loop will append to it.
    begun = {index for index, message in enumerate(messages) if not message.content and index >= newest_user}
    kept = _assemble(messages, [step for step, stays in zip(steps, is_kept, strict=True) if stays], begun)
    return Split(
        older=tuple(older),
        turn_prefix=tuple(prefix),
        kept=kept,
        request=messages[newest_user] if prefix else None,
        folded_tokens=sum(size for size, stays in zip(sizes, is_kept, strict=True) if not stays),
        kept_turns=len(turns_of(kept)),
        is_valid=has_whole_pairs(kept),
    )


def whole_steps(messages: Sequence[Msg]) -> list[Step]:
    """The steps between which a cut is legal: a late result joins its own step with the one it answers."""
    steps: list[Step] = []
    step_of_call: dict[tuple[int, str], int] = {}
    for step in steps_of(messages):
        blocks = messages[step.message_index].content[step.start : step.stop]
        results = (block.id for block in blocks if isinstance(block, ToolResultBlock))
        first = min(
            (found for id_ in results if (found := step_of_call.get((step.message_index, id_))) is not None),
            default=len(steps),
        )
        for block in blocks:
            if isinstance(block, ToolCallBlock):
                step_of_call[step.message_index, block.id] = first
        if first < len(steps):
            steps[first:] = [Step(step.message_index, steps[first].start, step.stop)]
        else:
            steps.append(step)
    return steps


def has_whole_pairs(messages: Sequence[Msg]) -> bool:
    """True when every result comes after its call in the same message."""
    for message in messages:
        called: set[str] = set()
        for block in message.content:
            if isinstance(block, ToolCallBlock):
                called.add(block.id)
            elif isinstance(block, ToolResultBlock) and block.id not in called:
                return False
    return True


def _first_kept_step(
    messages: Sequence[Msg], steps: Sequence[Step], sizes: Sequence[int], keep_tokens: int, policy: CompactionPolicy
) -> int:
    cut, used = len(steps), 0
    while cut > 0 and used + sizes[cut - 1] <= keep_tokens:
        cut -= 1
        used += sizes[cut]
    if keep_tokens > 0 and policy.max_recent_turns is not None:
        newest_turns = turns_of(messages)[-policy.max_recent_turns :]
        first_message = newest_turns[0].start if newest_turns else 0
        cut = max(cut, sum(step.message_index < first_message for step in steps))
    if keep_tokens > 0 and policy.keep_recent_messages is not None:
        first_message = len(messages) - policy.keep_recent_messages
        most = sum(step.message_index < first_message for step in steps)
        if cut >= most:
            # So many messages stay at least: the question stays with its answer.
            return most - _parts_answer(messages, steps, most)
    while _parts_answer(messages, steps, cut):
        cut += 1
    return cut


def _parts_answer(messages: Sequence[Msg], steps: Sequence[Step], cut: int) -> bool:
    """True where this cut stands between a question, but the newest, and an answer without calls."""
    if not 0 < cut < len(steps) or messages[steps[cut].message_index].role == "user":
        return False
    question = steps[cut - 1].message_index
    if messages[question].role != "user" or all(message.role != "user" for message in messages[question + 1 :]):
        return False
    turn = next((at for at in range(cut, len(steps)) if messages[steps[at].message_index].role == "user"), len(steps))
    return not any(_has_call(messages, step) for step in steps[cut:turn])


def _has_call(messages: Sequence[Msg], step: Step) -> bool:
    blocks = messages[step.message_index].content[step.start : step.stop]
    return any(isinstance(block, ToolCallBlock) for block in blocks)


def _step_tokens(messages: Sequence[Msg], step: Step, counter: TokenCounter) -> int:
    return sum(counter.block(block) for block in messages[step.message_index].content[step.start : step.stop])


def _steps_with_open_calls(messages: Sequence[Msg], steps: Sequence[Step]) -> set[int]:
    found: set[int] = set()
    for index, step in enumerate(steps):
        blocks = messages[step.message_index].content[step.start : step.stop]
        answered = {block.id for block in blocks if isinstance(block, ToolResultBlock)}
        if any(isinstance(block, ToolCallBlock) and block.id not in answered for block in blocks):
            found.add(index)
    return found


def _assemble(messages: Sequence[Msg], steps: Sequence[Step], empty: Collection[int] = ()) -> list[Msg]:
    contents: dict[int, list[Block]] = {index: [] for index in empty}
    for step in steps:
        blocks = messages[step.message_index].content[step.start : step.stop]
        contents.setdefault(step.message_index, []).extend(blocks)
    return [
        messages[index] if len(blocks) == len(messages[index].content) else copy_with_blocks(messages[index], blocks)
        for index, blocks in sorted(contents.items(), key=lambda item: item[0])
    ]
