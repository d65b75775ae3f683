"""The page in Chinese: every card, the scripts, the buttons and the sign-in speak the language that is set."""

from __future__ import annotations

import re
from datetime import UTC, datetime

import pytest

from assistant.config.words import speak
from assistant.ui.cards import asset, card, words
from assistant.ui.chat.page_updates import suggestions
from assistant.ui.components import PageComponents
from assistant.ui.times import day_label, full_time, month_text

_CHINESE = re.compile("[\u4e00-\u9fff]")
NOW = datetime(2026, 11, 30, 14, 5, tzinfo=UTC)


@pytest.fixture(autouse=True)
def chinese() -> None:
    """The program speaks Chinese; `english` of conftest takes it back."""
    speak("zh")


def test_a_card_speaks_the_language_that_is_set_and_escapes_what_is_put_in() -> None:
    html = str(card("will_merge", name="<b>.md"))
    assert ("保存会都保留。" in html, "<b>.md" in html, "&lt;b&gt;.md" in html) == (True, False, True)


def test_words_with_marks_of_html_keep_them() -> None:
    assert words("used_of", used="12k", limit="32k") == "<b>12k</b> / 32k 个 token"


@pytest.mark.parametrize("name", ["page.js", "panels.js", "transcript.js"])
def test_the_scripts_speak_the_language_that_is_set(name: str) -> None:
    script = asset(name)
    assert ("隐藏对话" in script, "__WORDS__" in script) == (True, False)


def test_the_buttons_and_suggestions_speak_the_language_that_is_set() -> None:
    page = PageComponents()
    spoken = [page.save.value, page.compact.value, page.new_chat.value, page.composer.placeholder, *suggestions()]
    assert [text for text in spoken if not _CHINESE.search(str(text))] == []


def test_days_are_written_as_in_the_language_that_is_set() -> None:
    at = "2026-11-28T09:30:00+00:00"
    assert (full_time(at), day_label(at, NOW), month_text(NOW.date())) == (
        "2026 年 11 月 28 日 09:30",
        "最近七天",
        "2026 年 11 月",
    )
