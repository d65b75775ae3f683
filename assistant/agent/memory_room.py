"""How many tokens of memory go into the context: by the size of the window, and by what is left in it."""

from __future__ import annotations

from assistant.agent.session_state import SessionState
from assistant.compaction.policy import CompactionPolicy
from assistant.index.packing import Room
from assistant.messages.blocks import HintBlock
from assistant.messages.hints import RECALL_SOURCE, hints_from
from assistant.messages.tokens import TokenCounter

LEAST_RECALL_TOKENS = 600
RECALL_SHARE = 0.015
STANDING_SHARE = 0.05
"""Of the window, what was recalled in earlier turns may take together with what comes now."""
SEARCH_TOKENS = 2_000
# A part of what is left in the window; the rest is for the turn that needs it.
_RECALL_SHARE_OF_LEFT = 0.25
_SEARCH_SHARE_OF_LEFT = 0.5


def most_recall_tokens(policy: CompactionPolicy) -> int:
    """The most that is handed over before a turn."""
    return max(LEAST_RECALL_TOKENS, round(RECALL_SHARE * policy.max_input_length))


class MemoryRoom:
    """The room for memory in the window of one conversation."""

    def __init__(self, state: SessionState, policy: CompactionPolicy, counter: TokenCounter) -> None:
        self._state = state
        self._policy = policy
        self._counter = counter

    def for_recall(self) -> Room:
        """For what is handed over before a turn."""
        return self._room(most_recall_tokens(self._policy), _RECALL_SHARE_OF_LEFT)

    def for_search(self, asked_tokens: int = SEARCH_TOKENS) -> Room:
        """For the result of a search by the model."""
        return self._room(asked_tokens, _SEARCH_SHARE_OF_LEFT)

    def has_room_for_hint(self, hint: HintBlock) -> bool:
        """False where a recalled hint would take too much of the window with those that stand in the context."""
        standing = [*hints_from(RECALL_SOURCE, self._state.context), hint]
        return sum(map(self._counter.block, standing)) <= STANDING_SHARE * self._policy.max_input_length

    def _room(self, tokens: int, share_of_left: float) -> Room:
        left = self._policy.max_input_length - self._counter.messages(self._state.context)
        return Room(max(0, min(tokens, round(share_of_left * left))), self._counter.text)
