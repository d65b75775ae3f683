"""What is to be known of an answer beside its blocks: how a stream of AgentScope's chunks carries it.

No model class of AgentScope reads why an answer ended, and its own finish reasons know only *completed* and
*interrupted*. What the wire said is handed on in the metadata of one last chunk; it adds nothing to a block that is
there, because a chunk without content would be left out on its way.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import aclosing
from dataclasses import dataclass

from agentscope.model import ChatResponse
from agentscope.types import JSONSerializableObject

from assistant.messages.blocks import DataBlock, TextBlock, ThinkingBlock, ToolCallBlock
from assistant.models.wire.answer_facts import AnswerFacts
from assistant.models.wire.request_parts import REQUEST_PARTS, RequestPart

_CUT, _THOUGHT, _UNREAD, _FILTERED, _REFUSED = (
    "cut_at_output_tokens",
    "thought_chars",
    "unread_parts",
    "is_filtered",
    "refused_parts",
)
ReplyBlock = TextBlock | ThinkingBlock | ToolCallBlock | DataBlock


@dataclass(frozen=True, slots=True)
class AnswerNotes:
    """What a person or the next step has to know of an answer.

    `cut_tokens`: it was cut at the provider's output limit after so many tokens (0: no count was given). The first
    `thought_chars` characters of its text are thinking. `unread` names parts that cannot be shown, `refused` what the
    server refused in the request and is left out from now on. `is_filtered`: a content filter ended it.
    """

    cut_tokens: int | None = None
    thought_chars: int = 0
    unread: tuple[str, ...] = ()
    is_filtered: bool = False
    refused: tuple[RequestPart, ...] = ()


async def with_notes(
    stream: AsyncGenerator[ChatResponse, None],
    facts: AnswerFacts,
    take_refused: Callable[[], Sequence[RequestPart]],
) -> AsyncGenerator[ChatResponse, None]:
    """The same chunks, and one more where there is something to know; `take_refused` gives each refusal once."""
    newest: ReplyBlock | None = None
    async with aclosing(stream):
        async for chunk in stream:
            newest = chunk.content[-1] if chunk.content else newest
            yield chunk
    notes = AnswerNotes(
        cut_tokens=facts.output_tokens if facts.is_cut else None,
        thought_chars=facts.thought_chars,
        unread=facts.unread,
        is_filtered=facts.is_filtered,
        refused=tuple(take_refused()) if newest is not None else (),
    )
    if newest is not None and notes != AnswerNotes():
        yield notes_chunk(newest, notes)


def notes_chunk(newest: ReplyBlock, notes: AnswerNotes) -> ChatResponse:
    """The chunk that carries the notes behind the newest block."""
    unread: list[JSONSerializableObject] = list(notes.unread)
    refused: list[JSONSerializableObject] = list(notes.refused)
    values: dict[str, JSONSerializableObject] = {
        _THOUGHT: notes.thought_chars,
        _UNREAD: unread,
        _FILTERED: notes.is_filtered,
        _REFUSED: refused,
    }
    metadata: dict[str, JSONSerializableObject] = {name: value for name, value in values.items() if value}
    if notes.cut_tokens is not None:
        metadata[_CUT] = notes.cut_tokens
    return ChatResponse(content=[_nothing_more(newest)], is_last=False, metadata=metadata)


def notes_of(chunk: ChatResponse) -> AnswerNotes:
    """What this chunk says of the answer; the empty notes for an ordinary chunk."""
    cut, thought, unread, refused = (chunk.metadata.get(name) for name in (_CUT, _THOUGHT, _UNREAD, _REFUSED))
    names = [str(name) for name in refused] if isinstance(refused, list) else []
    return AnswerNotes(
        cut_tokens=cut if isinstance(cut, int) else None,
        thought_chars=thought if isinstance(thought, int) else 0,
        unread=tuple(map(str, unread)) if isinstance(unread, list) else (),
        is_filtered=chunk.metadata.get(_FILTERED) is True,
        refused=tuple(part for part in REQUEST_PARTS if part in names),
    )


def _nothing_more(block: ReplyBlock) -> ReplyBlock:
    match block:
        case ThinkingBlock():
            return ThinkingBlock(id=block.id, thinking="")
        case ToolCallBlock():
            return ToolCallBlock(id=block.id, name=block.name, input="")
        case TextBlock():
            return TextBlock(id=block.id, text="")
        case DataBlock():
            return TextBlock(text="")
