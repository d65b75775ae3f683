"""Envelopes, pleasantries and questions, in English and Chinese."""

from __future__ import annotations

import pytest

from assistant.openclaw.wording import asks_something, first_sentence, is_pleasantry, own_words

ENVELOPES = {
    "reminder": ("<system-reminder>Be kind.\nAlways.</system-reminder>\n好的", "好的"),
    "injected-file": ('<file path="a.md"># Title\nbody</file>What does it say?', "What does it say?"),
    "channel": ("[Telegram Ann id:1 2026-04-21 12:00] please go on", "please go on"),
    "date": ("[Tue 2026-04-21 12:00 GMT+8] go on", "go on"),
    "metadata": ('Conversation info (untrusted metadata):\n```json\n{"a": 1}\n```\n\nhello Bob', "hello Bob"),
    "heartbeat": ("Read HEARTBEAT.md if it exists (workspace context).", ""),
    "system-line": ("System: [12:00] node connected\nwhat now?", "what now?"),
    "nothing-to-strip": ("a < b and [x] stay", "a < b and [x] stay"),
    "unclosed": ("<file> stays", "<file> stays"),
}


@pytest.mark.parametrize(("text", "words"), ENVELOPES.values(), ids=ENVELOPES.keys())
def test_what_programs_wrapped_round_a_message_is_not_the_persons(text: str, words: str) -> None:
    assert own_words(text) == words


POLITE = (
    "ok",
    "Thanks!",
    "thank you so much",
    "好的",
    "好的，谢谢！",
    "嗯嗯",
    "收到👍",
    "哈哈哈",
    "Great, thanks.",
    "不客气",
    "你好！",
    "ok thanks again",
)
MEANT = (
    "ok, delete it",
    "好的，就按这个做",
    "thanks, now add a test",
    "不错，但是太长了",
    "no",
    "hi " * 60,
    "好" * 79 + "x",
)


@pytest.mark.parametrize("text", POLITE)
def test_words_of_politeness_are_pleasantries(text: str) -> None:
    assert is_pleasantry(text)


@pytest.mark.parametrize("text", MEANT, ids=range(len(MEANT)))
def test_a_message_that_wants_something_is_no_pleasantry(text: str) -> None:
    assert not is_pleasantry(text)


def test_no_text_is_slow_to_refuse() -> None:
    # Sixteen thousand million ways to read it, if the pattern were allowed to try them.
    assert not is_pleasantry("ok " * 26 + "x")
    assert not is_pleasantry("哈" * 78 + "x")


@pytest.mark.parametrize(
    "text", ["Shall I go on?", "Should I delete it.", "要不要继续", "你确定吗", "Which one do you mean", "请确认"]
)
def test_a_text_that_ends_in_a_question_waits_for_an_answer(text: str) -> None:
    assert asks_something(text)


@pytest.mark.parametrize("text", ["Done.", "已经完成。", "Is it? " + "It is. " * 60])
def test_a_statement_waits_for_none(text: str) -> None:
    assert not asks_something(text)


def test_the_first_sentence_ends_at_a_stop_not_inside_a_name() -> None:
    assert first_sentence("See a.py v1.2 first. Then go.") == "See a.py v1.2 first."
    assert first_sentence("先看这里。然后继续。") == "先看这里。"
    assert first_sentence("x" * 50, 10) == "x" * 9 + "…"
