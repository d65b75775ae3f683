"""How much of a question a text has, by the weight of its words and in whatever form of them."""

from __future__ import annotations

import pytest

from assistant.index.question_words import QuestionWords


@pytest.mark.parametrize(("term", "text"), [("drinks", "I drink"), ("city", "two cities"), ("living", "She lived")])
def test_a_word_is_found_in_another_form(term: str, text: str) -> None:
    assert QuestionWords({term: 1.0}).share_in(text) == 1.0


def test_a_rare_word_counts_for_more() -> None:
    words = QuestionWords({"harbour": 3.0, "lane": 1.0})
    assert [words.share_in(text) for text in ("the harbour", "the lane", "Harbour Lane", "the sea")] == [
        0.75,
        0.25,
        1.0,
        0.0,
    ]


def test_a_question_without_words_has_no_share() -> None:
    assert QuestionWords({}).share_in("anything") == 0.0
