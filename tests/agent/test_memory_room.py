"""The room for memory: by the size of the window, and less of it the fuller the window is."""

from __future__ import annotations

from pathlib import Path

import pytest

from assistant.agent.memory_room import MemoryRoom
from assistant.compaction.policy import policy_for
from assistant.messages.blocks import UserMsg
from assistant.messages.tokens import TokenCounter
from tests.agent.tools.test_memory_tools import state_in


@pytest.mark.parametrize(
    ("window_tokens", "context_words", "recall_tokens", "search_tokens"),
    [(32_000, 0, 600, 2_000), (128_000, 0, 1_920, 2_000), (2_000, 0, 500, 1_000), (2_000, 4_000, 0, 0)],
    ids=["ordinary", "large", "small", "full"],
)
def test_the_room_follows_the_window(
    home: Path, window_tokens: int, context_words: int, recall_tokens: int, search_tokens: int
) -> None:
    state = state_in(home)
    if context_words:
        state.context.append(UserMsg("user", "word " * context_words))
    room = MemoryRoom(state, policy_for("copaw", window_tokens), TokenCounter())
    assert (room.for_recall().tokens, room.for_search().tokens) == (recall_tokens, search_tokens)


def test_a_search_may_ask_for_more_and_for_less(home: Path) -> None:
    room = MemoryRoom(state_in(home), policy_for("copaw", 32_000), TokenCounter())
    assert [room.for_search(tokens).tokens for tokens in (100, 5_000, 50_000)] == [100, 5_000, 16_000]
