"""Reads what a provider said about an answer beside its text: thoughts in it, parts not shown, a filter, refusals."""

from __future__ import annotations

import inspect
from collections.abc import AsyncGenerator
from contextlib import aclosing

from agentscope.agent import Agent
from agentscope.middleware import MiddlewareBase
from agentscope.model import ChatResponse

from assistant.agent.hooks.signatures import Inputs, ModelAnswer, NextAnswer, NextStream, Stream
from assistant.agent.session_state import SessionState
from assistant.config.prompts import render
from assistant.messages.blocks import Block, TextBlock, ThinkingBlock, copy_with_blocks
from assistant.messages.events import Notice, TextRetracted
from assistant.models.providers.carried_notes import AnswerNotes, notes_of
from assistant.models.wire.request_parts import NOTED_PARTS


class AnswerNoteHook(MiddlewareBase):
    """Settles after each step what was noted of its answer; `take` gives the events that came of it, each once."""

    def __init__(self, state: SessionState) -> None:
        self._state = state
        self._noted = AnswerNotes()
        self._events: list[Notice | TextRetracted] = []

    def take(self) -> list[Notice | TextRetracted]:
        """The events since the last call."""
        taken, self._events = self._events, []
        return taken

    async def on_model_call(self, agent: Agent, input_kwargs: Inputs, next_handler: NextAnswer) -> ModelAnswer:
        """The model's answer as it comes; what is noted of it is remembered."""
        self._noted = AnswerNotes()
        answer = await next_handler(**input_kwargs)
        return self._watched(answer) if inspect.isasyncgen(answer) else answer

    async def on_reasoning(self, agent: Agent, input_kwargs: Inputs, next_handler: NextStream) -> Stream:
        """Makes thinking of text that turned out to be thinking, and has a notice for what cannot be shown."""
        async for event in next_handler(**input_kwargs):
            yield event
        noted, self._noted = self._noted, AnswerNotes()
        if noted.thought_chars and agent.state.context:
            last = agent.state.context[-1]
            text = next((block for block in reversed(last.content) if isinstance(block, TextBlock)), None)
            self._events += [TextRetracted(text.id, noted.thought_chars)] if text else []
            agent.state.context[-1] = copy_with_blocks(last, split_thought(last.content, noted.thought_chars))
        language = self._state.language
        self._events += [Notice(render(f"refused_{part}", language)) for part in noted.refused if part in NOTED_PARTS]
        self._events += [Notice(render("unread_part", language, kind=kind)) for kind in noted.unread]
        if noted.is_filtered:
            self._events.append(Notice(render("answer_filtered", language)))

    async def _watched(self, chunks: AsyncGenerator[ChatResponse, None]) -> AsyncGenerator[ChatResponse, None]:
        async with aclosing(chunks):
            async for chunk in chunks:
                noted = notes_of(chunk)
                self._noted = self._noted if noted == AnswerNotes() else noted
                yield chunk


def split_thought(blocks: list[Block], thought_chars: int) -> list[Block]:
    """The blocks with the first `thought_chars` characters of the newest step's text as thinking before it."""
    place = next((at for at in range(len(blocks) - 1, -1, -1) if isinstance(blocks[at], TextBlock)), None)
    if place is None:
        return blocks
    block = blocks[place]
    assert isinstance(block, TextBlock)
    thought = ThinkingBlock(thinking=block.text[:thought_chars].rstrip())
    rest = block.text[thought_chars:].lstrip()
    kept: list[Block] = [block.model_copy(update={"text": rest})] if rest else []
    return [*blocks[:place], thought, *kept, *blocks[place + 1 :]]
