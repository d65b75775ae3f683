"""A follow-up is searched with what it follows; a message of its own never is."""

from __future__ import annotations

import pytest

from assistant.index.follow_up import follows_on, question_in_context

FOLLOW_UPS = (
    "and when was that?",
    "Where is it?",
    "How much did they cost?",
    "What about her sister?",
    "Why?",
    "when?",
    "And who came with him?",
    "Which one is cheaper?",
    "Is that still true?",
    "Who else was there?",
    "Who won?",
    "How often?",
    "那后来呢？",
    "为什么？",
    "他住在哪里？",
    "那是什么时候？",
    "还有谁？",
    "它多少钱？",
    "她呢？",
    "然后呢？",
    "谁赢了？",
    "多少钱？",
    "花了多少？",
    "是谁修的？",
    "缺的是哪枚？",
)
OWN_QUESTIONS = (
    "How do I descale an espresso machine with citric acid?",
    "When does the train to Lisbon leave on Friday?",
    "Explain the Sicilian Defence, Najdorf variation",
    "Where is the dentist in Harbour Lane?",
    "My van is a grey Transporter from 2009.",
    "怎么给变速自行车调后拨？",
    "洗衣机显示E4故障码是什么意思？",
    "我妹妹住在奥斯陆",
    "阳台上的茉莉花盆是谁送的？",
    "Who repaired the violin?",
)


@pytest.mark.parametrize("message", FOLLOW_UPS)
def test_a_short_message_that_leads_back_is_a_follow_up(message: str) -> None:
    assert follows_on(message)


@pytest.mark.parametrize("message", OWN_QUESTIONS)
def test_a_message_that_names_its_subject_is_none(message: str) -> None:
    assert not follows_on(message)
    assert question_in_context(message, ["The boat is in Split."]) == message


def test_a_follow_up_is_searched_with_the_beginning_of_what_was_said() -> None:
    assert question_in_context("When was that?", ["We sailed to Vis.", "", "x" * 900]) == (
        f"When was that?\nWe sailed to Vis.\n{'x' * 300}"
    )
    assert question_in_context("When was that?", []) == "When was that?"
