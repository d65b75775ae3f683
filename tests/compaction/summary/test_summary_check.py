"""Which answers are summaries, and what is stripped from an answer first."""

from __future__ import annotations

import pytest

from assistant.compaction.summary.sections import sections_for
from assistant.compaction.summary.summary_check import clean_answer, reject_summary
from assistant.config.words import Language
from assistant.messages.tokens import TokenCounter
from tests.compaction.conversations import CHINESE, summary_text

ZH_TITLES = ("目标", "约束和偏好", "进展", "关键决策", "下一步", "关键上下文")
LONG = 5_000


def rejection(text: str, language: Language = "en", source_tokens: int = LONG) -> str | None:
    """Why an answer is no summary of the default preset with a cap of 1,000 tokens."""
    other: Language = "en" if language == "zh" else "zh"
    asked, others = sections_for("copaw", language), sections_for("copaw", other)
    return reject_summary(text, asked, others, language, source_tokens, 1_000, TokenCounter())


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param(summary_text(), None, id="a summary"),
        pytest.param("## Goal\n" + "x" * 200, None, id="one section is enough"),
        pytest.param("ok", "no_headings", id="ok"),
        pytest.param("", "no_headings", id="nothing"),
        pytest.param("# Report\n" + "x " * 400, "no_headings", id="headings nobody asked for"),
        pytest.param("## Goal\nship", "too_short", id="too short"),
        pytest.param("## Goal\n" + "word " * 1_000, "too_long", id="over the cap"),
        pytest.param(summary_text(CHINESE * 3), "wrong_language", id="Chinese for an English conversation"),
    ],
)
def test_an_answer_is_rejected_with_its_reason(text: str, expected: str | None) -> None:
    assert rejection(text) == expected


def test_a_short_conversation_may_have_a_short_summary() -> None:
    assert rejection("## Goal\nship", source_tokens=2_000) is None


def test_an_english_summary_of_a_chinese_conversation_is_rejected() -> None:
    assert rejection(summary_text("word " * 20), "zh") == "wrong_language"
    assert rejection(summary_text(CHINESE * 2, ZH_TITLES), "zh") is None


def test_a_chinese_summary_full_of_code_is_accepted() -> None:
    body = "用户要求部署服务。" + "`docker compose up --build --detach` in /srv/app/docker-compose.yml " * 3
    assert rejection(summary_text(body, ZH_TITLES), "zh") is None


@pytest.mark.parametrize(
    ("answer", "cleaned"),
    [
        pytest.param("<think>hm\n## Goal</think>\n## Goal\nx", "## Goal\nx", id="thoughts"),
        pytest.param("<think>never ends", "", id="a thought that never ends"),
        pytest.param("```markdown\n## Goal\nx\n```", "## Goal\nx", id="a code fence"),
        pytest.param("<summary>\n## Goal\nx\n</summary>", "## Goal\nx", id="summary tags"),
        pytest.param("## Goal\nx\n<read-files>\n/stale\n</read-files>", "## Goal\nx", id="a copied file list"),
        pytest.param("  ## Goal\nx  ", "## Goal\nx", id="blank space"),
    ],
)
def test_an_answer_is_cleaned_before_it_is_judged(answer: str, cleaned: str) -> None:
    assert clean_answer(answer) == cleaned


@pytest.mark.parametrize("unit", ["<read-files>\n", "<think>", "```\n", "## \n", "## # ", "**", "<summary>\n"])
def test_no_answer_makes_the_check_slow(unit: str) -> None:
    assert rejection(clean_answer(unit * 50_000)) is not None
