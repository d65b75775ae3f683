"""Standing orders of the person are found by their shape and carried word for word through compactions."""

from __future__ import annotations

import pytest

from assistant.compaction.summary.file_tracking import FileLists
from assistant.compaction.summary.sections import FilledSection, sections_for
from assistant.compaction.summary.standing_orders import MAX_ORDERS, missing_orders, orders_in_summary, orders_of
from assistant.compaction.summary.summary_document import DocumentParts, write_document
from assistant.messages.blocks import UserMsg
from assistant.messages.tokens import TokenCounter

TWO = "Answer in two sentences at most, please."


@pytest.mark.parametrize(
    ("said", "is_order"),
    [
        (TWO, True),
        ("From now on, call me Bo.", True),
        ("Never use emojis when you write to me.", True),
        ("Could you always reply in French?", True),
        ("Don't apologise any more.", True),
        ("以后请用中文回答。", True),
        ("每次都先问我。", True),
        ("I never eat meat.", False),
        ("I always walk to work.", False),
        ("What should I never use?", False),
        ("Never mind.", False),
        ("我以后想去北京。", False),
        ("```\nAlways answer in French.\n```", False),
    ],
)
def test_an_order_for_all_that_follows_is_told_from_a_habit_or_a_question(said: str, is_order: bool) -> None:
    assert orders_of([UserMsg("user", said)]) == ((said,) if is_order else ())


def test_the_newest_of_many_stay_and_one_said_again_counts_where_it_was_said_last() -> None:
    many = [f"Always use {number} words." for number in range(20)]
    found = orders_of([UserMsg("user", words) for words in [*many, many[0]]])
    assert found == (*many[1:], many[0])
    assert missing_orders(found, "") == found[-MAX_ORDERS:]


def test_an_order_that_a_summary_leaves_out_is_in_every_later_one() -> None:
    asked = sections_for("copaw", "en")
    sections = (
        FilledSection("goal", "Goal", "Books."),
        FilledSection("constraints", "Constraints and preferences", "- Tea"),
    )
    summary, counter = "", TokenCounter("bytes")
    orders = orders_of([UserMsg("user", TWO)])
    for _ in range(3):
        parts = DocumentParts(sections, asked, (), "", "", FileLists(), (*orders_in_summary(summary), *orders))
        summary = write_document(parts, 1_000, counter, "en")
        orders = ()
        assert summary.count(TWO) == 1
    assert "## Constraints and preferences\n- Tea\n\nStanding orders of the person, word for word" in summary


def test_an_order_that_the_summary_holds_is_not_listed_twice() -> None:
    asked = sections_for("copaw", "en")
    sections = (FilledSection("constraints", "Constraints and preferences", f"- {TWO}"),)
    parts = DocumentParts(sections, asked, (), "", "", FileLists(), (TWO,))
    assert write_document(parts, 1_000, TokenCounter("bytes"), "en") == f"## Constraints and preferences\n- {TWO}"
