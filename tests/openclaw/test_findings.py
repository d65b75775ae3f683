"""What is worth keeping is found in both languages, and small talk is not."""

from __future__ import annotations

import pytest

from assistant.openclaw.findings import Finder, SessionFinding, newest_once
from tests.openclaw.sessions import Session, survey

HEARD = {
    "preference": (
        "user",
        "By the way, I prefer tabs over spaces. Go on.",
        "Preference",
        "By the way, I prefer tabs over spaces.",
    ),
    "preference-zh": ("user", "我喜欢简短的回答。继续吧", "Preference", "我喜欢简短的回答。"),
    "fact": ("user", "My timezone is UTC+8", "Preference", "My timezone is UTC+8"),
    "rule": ("user", "From now on answer in French.", "Preference", "From now on answer in French."),
    "decision": (
        "assistant",
        "Fine. We decided to use SQLite for the index.",
        "Decision",
        "We decided to use SQLite for the index.",
    ),
    "decision-zh": ("assistant", "讨论完毕。我们决定采用方案B。", "Decision", "我们决定采用方案B。"),
    "technical": (
        "assistant",
        "The root cause was a stale lock file.",
        "Technical",
        "The root cause was a stale lock file.",
    ),
    "technical-zh": ("assistant", "问题出在缓存没有刷新。", "Technical", "问题出在缓存没有刷新。"),
    "warning": ("assistant", "Warning: never restart db1 by day.", "Warning", "Warning: never restart db1 by day."),
    "warning-zh": ("user", "千万不要删除 prod 目录", "Warning", "千万不要删除 prod 目录"),
    "conversation": (
        "user",
        "Remember that the audit is on Friday.",
        "Conversation",
        "Remember that the audit is on Friday.",
    ),
    "conversation-zh": ("user", "请记住周五有审计", "Conversation", "请记住周五有审计"),
}


@pytest.mark.parametrize(("who", "text", "category", "content"), HEARD.values(), ids=HEARD.keys())
def test_a_cue_is_kept_with_its_sentence(who: str, text: str, category: str, content: str) -> None:
    finder = Finder()
    if who == "user":
        finder.hear_user(7, text)
    else:
        finder.hear_assistant(7, text, asks=False)
    assert [(found.line, found.category, found.content) for found in finder.findings] == [(7, category, content)]


@pytest.mark.parametrize(
    "text", ["ok thanks", "你好", "What time is it?", "The page loads.", "今天天气不错", "Do I prefer tabs?"]
)
def test_small_talk_and_questions_are_not_kept(text: str) -> None:
    finder = Finder()
    finder.hear_user(0, text)
    assert finder.findings == []


@pytest.mark.parametrize(
    ("question", "answer"),
    [("Shall I use plan B?", "yes, do it"), ("要不要用方案B？", "好的，就按这个做")],
    ids=["en", "zh"],
)
def test_consent_is_a_decision_with_the_question_it_answers(question: str, answer: str) -> None:
    finder = Finder()
    finder.hear_assistant(1, f"There are two plans. {question}", asks=True)
    finder.hear_user(2, answer)
    assert finder.findings[0] == SessionFinding(
        2, "Decision", finder.findings[0].title, f"{question} → {answer}", "user", question
    )


@pytest.mark.parametrize(
    ("wish", "work"),
    [
        ("Write a short poem about rain", "Rain falls\non the roof\n" * 5),
        ("写一首关于雨的诗", "雨落在屋檐上，\n声声入梦来。\n" * 6),
    ],
    ids=["en", "zh"],
)
def test_a_work_is_kept_in_full(wish: str, work: str) -> None:
    finder = Finder()
    finder.hear_user(0, wish)
    finder.hear_assistant(1, work, asks=False)
    assert finder.findings == [SessionFinding(1, "Creative", wish, work.strip(), "assistant", wish)]


def test_a_repeated_finding_is_kept_once_the_newest_time() -> None:
    first, again = SessionFinding(1, "Decision", "t", "x", "user"), SessionFinding(9, "Decision", "t", "x", "user")
    other = SessionFinding(5, "Warning", "t", "x", "user")
    assert newest_once([first, other, again]) == (other, again)


def test_words_of_an_envelope_are_not_what_the_person_said() -> None:
    session = Session()
    session.user("<system-reminder>I prefer tabs.</system-reminder>hello there, what is new")
    assert survey(session.lines).findings == ()
