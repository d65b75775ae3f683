"""What memory has on a message, handed over before its turn: found, shown, given as a fenced hint.

The hint stays where it is until a compaction, for what stands behind it would be processed again if it left.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace

from agentscope.agent import Agent
from agentscope.middleware import MiddlewareBase

from assistant.agent.hooks.prompt_refresh import SystemPromptHook
from assistant.agent.hooks.signatures import Inputs, NextStream, Stream
from assistant.agent.memory_room import MemoryRoom
from assistant.agent.session_state import SessionState
from assistant.config.prompts import render
from assistant.index.follow_up import question_in_context
from assistant.index.left_out import is_left_out, sentence_marks
from assistant.index.memory_index import MemoryIndex
from assistant.index.quotes import Quote
from assistant.index.search import SearchHit
from assistant.messages.blocks import HintBlock, block_text, text_of
from assistant.messages.events import Recalled, RecalledLine
from assistant.messages.hints import RECALL_SOURCE, insert_hint, recalled_ids, without_hints
from assistant.storage.workspace import PROMPT_FILES

SURE_RELEVANCE = 0.35
LEAST_RELEVANCE = 0.25
# The hits after the first are taken to be about something else.
_RELATED_HITS = 5
_TIMES_THE_UNRELATED = 2.0


@dataclass(frozen=True, slots=True)
class RecallCost:
    """What recall takes of the window for each message: at most, and on average since the start."""

    most_tokens: int
    messages: int
    tokens_a_message: int


class RecallSwitch:
    """The person's switch of recall, for all conversations of a home, and what recall cost since the start."""

    def __init__(self, is_on: bool) -> None:
        self.is_on = is_on
        self.messages = 0
        """Before which memory was looked into."""
        self.tokens = 0
        """Handed over in all."""

    def note(self, tokens: int) -> None:
        """Count one message."""
        self.messages += 1
        self.tokens += tokens

    @property
    def tokens_a_message(self) -> int:
        """On average; messages for which nothing was found count as well."""
        return round(self.tokens / self.messages) if self.messages else 0


@dataclass(frozen=True, slots=True)
class _Hint:
    """What is handed over, the marks of its sentences, and whether the hints of earlier turns make room for it."""

    block: HintBlock
    marks: tuple[str, ...]
    is_alone: bool = False


class RecallHook(MiddlewareBase):
    """Finds what belongs to a message, and puts it in front of the message before the first model call of its turn."""

    def __init__(
        self,
        state: SessionState,
        index: MemoryIndex,
        room: MemoryRoom,
        prompt: SystemPromptHook,
        switch: RecallSwitch,
    ) -> None:
        """`switch` is the person's; it also learns what recall costs."""
        self._state = state
        self._index = index
        self._room = room
        self._prompt = prompt
        self._switch = switch
        self._asked = ""
        self._standing_ids: set[str] = set()
        self._hint: _Hint | None = None
        self._found_again: Recalled | None = None

    async def find(self, text: str) -> Recalled | None:
        """The best passages that are not in the context already; they are handed over with the next model call.

        What was said in a conversation that is in the trash is not handed over, nor what the person refused.
        """
        self._asked, self._standing_ids = text, recalled_ids(self._state.context)
        recalled = await self._find(text)
        if self._switch.is_on:
            self._switch.note(recalled.tokens if recalled else 0)
        return recalled

    def take_found_again(self) -> Recalled | None:
        """What was looked up anew because a compaction took what `find` had relied on; told once."""
        found, self._found_again = self._found_again, None
        return found

    async def _find(self, text: str) -> Recalled | None:
        self._hint = None
        if not self._switch.is_on:
            return None
        quotes = await self._quotes(text, self._state.frozen_prompt.recalled_marks(self._state.context))
        if not quotes:
            return None
        hint = self._hint_of(quotes)
        if not self._room.has_room_for_hint(hint.block):
            # Those of earlier turns leave, so that what they say is looked for as well.
            quotes = await self._quotes(text, frozenset())
            hint = replace(self._hint_of(quotes), is_alone=True)
        self._hint = hint
        return Recalled(tuple(map(_recalled, quotes)), self._room.for_recall().count(block_text(hint.block)))

    def _hint_of(self, quotes: Sequence[Quote]) -> _Hint:
        text = render("recall", self._state.language, quotes=quotes)
        marks = sentence_marks("\n".join(row.text for quote in quotes for row in quote.rows))
        return _Hint(HintBlock(hint=text, source=RECALL_SOURCE), marks)

    async def _quotes(self, text: str, standing_marks: frozenset[str]) -> tuple[Quote, ...]:
        question = question_in_context(text, self._said_before())
        answer = await self._index.search_widely(question, LEAST_RELEVANCE)
        left_out_ids = self._state.journal.deleted_ids()
        marks = self._state.refused_marks() | standing_marks
        hits = [hit for hit in answer.hits if hit.session_id not in left_out_ids and not self._is_known(hit, marks)]
        if not is_about_memory(hits):
            return ()
        known_ids = {message.id for message in self._state.context}
        return await self._index.quote(question, hits, self._room.for_recall(), known_ids, marks)

    def _is_known(self, hit: SearchHit, marks: Collection[str]) -> bool:
        """True for what stands in the prompt, was recalled before and stands in the context, or was refused."""
        is_in_prompt = hit.path in PROMPT_FILES and self._prompt.holds(hit.path, hit.text)
        return is_in_prompt or is_left_out(hit.text, marks)

    def _said_before(self) -> list[str]:
        """The person's last message before the newest one, and the last answer."""
        said = self._state.context[:-1]
        asked = [text_of(message) for message in said if message.role == "user"]
        answered = [text for message in said if message.role == "assistant" and (text := text_of(message))]
        return [*asked[-1:], *answered[-1:]]

    async def on_reasoning(self, agent: Agent, input_kwargs: Inputs, next_handler: NextStream) -> Stream:
        """The hint comes before the person's message, once: a small model answers what it reads last.

        Where it would be too much with those of earlier turns, these leave together. What a compaction took since the
        message was looked up is looked up again.
        """
        asked, self._asked = self._asked, ""
        if asked and not self._standing_ids <= recalled_ids(self._state.context):
            self._found_again = await self._find(asked)
        hint, self._hint = self._hint, None
        if hint is not None:
            if hint.is_alone:
                agent.state.context = without_hints(agent.state.context)
            self._state.frozen_prompt.note_recalled(hint.block.id, hint.marks)
            agent.state.context = insert_hint(agent.state.context, agent.name, hint.block)
        async for event in next_handler(**input_kwargs):
            yield event


def is_about_memory(hits: Sequence[SearchHit]) -> bool:
    """True when the best hit answers for sure, or at least scores clearly above those that answer something else."""
    relevances = sorted((hit.relevance for hit in hits), reverse=True)
    if not relevances:
        return False
    unrelated = relevances[_RELATED_HITS:]
    bar = _TIMES_THE_UNRELATED * sum(unrelated) / len(unrelated) if unrelated else 0.0
    return relevances[0] >= SURE_RELEVANCE or relevances[0] >= max(LEAST_RELEVANCE, bar)


def _recalled(quote: Quote) -> RecalledLine:
    text = "\n".join(f"{row.place.speaker}: {row.text}" if row.place.speaker else row.text for row in quote.rows)
    return RecalledLine(
        quote.path,
        quote.first_line,
        text,
        round(quote.relevance, 3),
        quote.session_id,
        quote.message_id,
        quote.last_line,
        quote.day,
    )
