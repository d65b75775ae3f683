"""Hints that stand in the context before a question: what was recalled for it, and what day it is (pure).

They are no part of the conversation: the journal does not keep them, and they leave the context with a compaction.
Until then they stay where they are, for whatever stands behind a block that leaves has to be processed again.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence

from assistant.messages.blocks import AssistantMsg, Block, HintBlock, Msg, copy_with_blocks

RECALL_SOURCE = "recall"
"""`source` of a hint that holds recalled memory."""
DAY_SOURCE = "day"
"""`source` of a hint that says what day it is."""


def is_passing(block: Block) -> bool:
    """True for a hint that no journal keeps."""
    return isinstance(block, HintBlock) and block.source in (RECALL_SOURCE, DAY_SOURCE)


def hints_from(source: str, messages: Sequence[Msg]) -> list[HintBlock]:
    """The hints of one source, oldest first."""
    blocks = (block for message in messages for block in message.content)
    return [block for block in blocks if isinstance(block, HintBlock) and block.source == source]


def recalled_ids(messages: Sequence[Msg]) -> set[str]:
    """The ids of the hints that hold recalled memory."""
    return {hint.id for hint in hints_from(RECALL_SOURCE, messages)}


def insert_hint(messages: Sequence[Msg], name: str, hint: HintBlock) -> list[Msg]:
    """The messages with the hint, as a message of `name`, before the newest one of the person."""
    return with_hints_before_question(messages, [AssistantMsg(name, [hint])])


def without_hints(messages: Sequence[Msg], ids: Collection[str] | None = None) -> list[Msg]:
    """The messages without passing hints, or without those of these ids; one that held nothing else is gone."""
    return [kept for message in messages if (kept := _without(message, ids)).content or not message.content]


def without_recalled(messages: Sequence[Msg]) -> list[Msg]:
    """The messages without what was recalled for them."""
    return without_hints(messages, recalled_ids(messages))


def without_trailing_hints(messages: Sequence[Msg]) -> list[Msg]:
    """The messages without the hints at their end: the question that these belonged to has left."""
    end = len(messages)
    while end and _is_hint_alone(messages[end - 1]):
        end -= 1
    return list(messages[:end])


def newest_hints(messages: Sequence[Msg]) -> list[Msg]:
    """The messages of hints that stand right before the newest one of the person, oldest first."""
    place = _newest_question(messages)
    return list(messages[len(without_trailing_hints(messages[:place])) : place])


def with_hints_before_question(messages: Sequence[Msg], hints: Sequence[Msg]) -> list[Msg]:
    """The messages with these before the newest one of the person."""
    place = _newest_question(messages)
    return [*messages[:place], *hints, *messages[place:]]


def _newest_question(messages: Sequence[Msg]) -> int:
    """The index of the person's newest message; that behind the last message where there is none."""
    return max((i for i, message in enumerate(messages) if message.role == "user"), default=len(messages))


def _is_hint_alone(message: Msg) -> bool:
    return bool(message.content) and all(map(is_passing, message.content))


def _without(message: Msg, ids: Collection[str] | None) -> Msg:
    blocks = [block for block in message.content if not (is_passing(block) and (ids is None or block.id in ids))]
    return message if len(blocks) == len(message.content) else copy_with_blocks(message, blocks)
