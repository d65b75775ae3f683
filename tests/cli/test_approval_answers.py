"""What is typed at the question of a call, as a decision."""

from __future__ import annotations

import pytest

from assistant.agent.allowances import Decision
from assistant.cli.approval_answers import terminal_answer


@pytest.mark.parametrize(
    ("typed", "decision"),
    [
        ("y", Decision(True)),
        (" YES ", Decision(True)),
        ("是", Decision(True)),
        ("c", Decision(True, "conversation")),
        ("A", Decision(True, "always")),
        ("", Decision(False)),
        ("n", Decision(False)),
        ("always", Decision(False, why="always")),
        ("yes please", Decision(False, why="yes please")),
        ("Not that folder", Decision(False, why="Not that folder")),
    ],
)
def test_a_letter_allows_and_words_deny(typed: str, decision: Decision) -> None:
    assert terminal_answer(typed) == decision
