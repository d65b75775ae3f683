"""Hints stand before the question they belong to, and leave without a trace."""

from __future__ import annotations

import pytest

from assistant.messages.blocks import AssistantMsg, HintBlock, Msg, TextBlock, UserMsg
from assistant.messages.hints import (
    DAY_SOURCE,
    RECALL_SOURCE,
    hints_from,
    insert_hint,
    is_passing,
    newest_hints,
    with_hints_before_question,
    without_hints,
    without_trailing_hints,
)

FIRST, SECOND = UserMsg("user", "Where is the dentist?"), UserMsg("user", "And the baker?")
ANSWER = AssistantMsg("palimpsest", [TextBlock(text="In Harbour Lane.")])
RECALLED, DAY = HintBlock(hint="the dentist", source=RECALL_SOURCE), HintBlock(hint="a new day", source=DAY_SOURCE)
OTHER = HintBlock(hint="from a tool", source="team")
TALK = [FIRST, ANSWER, SECOND]


def hint(block: HintBlock) -> Msg:
    """The hint as a message."""
    return AssistantMsg("palimpsest", [block], id=block.id)


def test_ours_pass_and_others_stay() -> None:
    assert [is_passing(block) for block in (RECALLED, DAY, OTHER, TextBlock(text="x"))] == [True, True, False, False]


def test_a_hint_comes_before_the_newest_question() -> None:
    messages = insert_hint(insert_hint(TALK, "palimpsest", RECALLED), "palimpsest", DAY)
    assert [message.content for message in messages[2:4]] == [[RECALLED], [DAY]]
    assert (messages[:2], messages[4:]) == (TALK[:2], [SECOND])
    assert hints_from(RECALL_SOURCE, messages) == [RECALLED]


def test_what_is_without_hints_is_what_was_before() -> None:
    messages = [hint(RECALLED), FIRST, ANSWER, hint(DAY), SECOND]
    assert without_hints(messages) == TALK
    assert without_hints(messages, {DAY.id}) == [messages[0], *TALK]
    assert newest_hints(messages) == [messages[3]]
    assert with_hints_before_question(TALK, newest_hints(messages)) == messages[1:]


def test_a_message_that_is_still_empty_and_what_stands_beside_a_hint_stay() -> None:
    begun = AssistantMsg("palimpsest", [])
    mixed = AssistantMsg("palimpsest", [RECALLED, TextBlock(text="x")])
    kept = without_hints([SECOND, mixed, begun])
    assert [[*message.content] for message in kept] == [[*SECOND.content], [mixed.content[1]], []]


@pytest.mark.parametrize("question", [[], [SECOND]], ids=["left", "there"])
def test_hints_without_their_question_leave(question: list[Msg]) -> None:
    messages = [FIRST, ANSWER, hint(RECALLED), hint(DAY), *question]
    assert without_trailing_hints(messages) == (messages if question else [FIRST, ANSWER])
