"""Memory hits handed over before a turn: found, shown, given as a fenced hint, and gone when the turn ends."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from agentscope.agent import Agent
from agentscope.middleware import MiddlewareBase

from assistant.agent.hooks.signatures import Inputs, NextStream, Stream
from assistant.agent.session_state import SessionState
from assistant.config.prompts import render
from assistant.index.memory_index import MemoryIndex
from assistant.index.search import SearchHit
from assistant.messages.blocks import HintBlock
from assistant.messages.events import RecalledLine
from assistant.storage.journal.journal import RECALL_SOURCE
from assistant.storage.workspace import PROMPT_FILES

MIN_RELEVANCE = 0.5
MAX_LINES = 3
MAX_TOKENS = 600


class RecallHook(MiddlewareBase):
    """Finds what belongs to a message, and puts it before the first model call of its turn."""

    def __init__(
        self, state: SessionState, index: MemoryIndex, count: Callable[[str], int], is_on: Callable[[], bool]
    ) -> None:
        """`is_on` is the person's switch."""
        self._state = state
        self._index = index
        self._count = count
        self._is_on = is_on
        self._hint: str | None = None

    async def find(self, text: str) -> tuple[RecalledLine, ...]:
        """The best hits that are not in the context already; they are handed over with the next model call.

        What was said in a conversation that is in the trash is not handed over.
        """
        if not self._is_on():
            self._hint = None
            return ()
        answer = await self._index.search(text, MAX_LINES * 3, MIN_RELEVANCE)
        trashed_ids = self._state.journal.deleted_ids()
        hits = [hit for hit in answer.hits if hit.session_id not in trashed_ids]
        lines = choose_lines(hits, {message.id for message in self._state.context}, self._count)
        self._hint = render("recall", self._state.language, lines=lines) if lines else None
        return lines

    async def on_reasoning(self, agent: Agent, input_kwargs: Inputs, next_handler: NextStream) -> Stream:
        """The hint comes before what the model will say, once."""
        hint, self._hint = self._hint, None
        if hint is not None:
            agent.state.append_context(agent.name, [HintBlock(hint=hint, source=RECALL_SOURCE)])
        async for event in next_handler(**input_kwargs):
            yield event


def choose_lines(
    hits: Sequence[SearchHit], message_ids: set[str], count: Callable[[str], int]
) -> tuple[RecalledLine, ...]:
    """At most `MAX_LINES` hits of `MAX_TOKENS` together, without what is in the prompt or the context."""
    chosen: list[RecalledLine] = []
    used = 0
    for hit in hits:
        if hit.path in PROMPT_FILES or (hit.message_id and hit.message_id in message_ids):
            continue
        tokens = count(hit.snippet)
        if len(chosen) < MAX_LINES and used + tokens <= MAX_TOKENS:
            place = (hit.session_id, hit.message_id)
            chosen.append(RecalledLine(hit.path, hit.line, hit.snippet, round(hit.relevance, 3), *place))
            used += tokens
    return tuple(chosen)
