"""SOUL.md: a bullet is added, updated or left, and nothing else of the file changes."""

from __future__ import annotations

from datetime import date

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assistant.openclaw.soul import add_event, add_preferences

DAY = date(2026, 4, 21)
SOUL = "# SOUL\n\nI am kind.\n\n## Preferences\n\n- I prefer tabs\n- My name is Ann\n\n## Boundaries\n\n- Ask first\n"


def test_a_new_preference_joins_its_section() -> None:
    found = add_preferences(SOUL, ["Answer in French."], DAY)
    assert found.text == SOUL.replace("- My name is Ann\n", "- My name is Ann\n- Answer in French. (2026-04-21)\n")
    assert (found.written, found.updated) == (("Answer in French.",), ())


@pytest.mark.parametrize("again", ["I prefer tabs", "I  prefer tabs"])
def test_what_stands_there_is_left(again: str) -> None:
    assert add_preferences(SOUL, [again], DAY).text == SOUL


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("My name is Ann", "My name is Bea"),
        ("My name is Ann", "Call me Bea"),
        ("我叫小安", "我的名字是小贝"),
        ("我的邮箱是a", "我的邮箱是b"),
    ],
)
def test_a_later_word_on_the_same_matter_takes_the_place_of_the_earlier(old: str, new: str) -> None:
    found = add_preferences(f"# SOUL\n\n## 偏好\n\n- {old} (2026-01-01)\n- other\n", [new], DAY)
    assert found.text == f"# SOUL\n\n## 偏好\n\n- {new} (2026-04-21)\n- other\n"
    assert found.updated == ((old, new),)


@pytest.mark.parametrize(("sentence", "heading"), [("我喜欢茶", "偏好"), ("I like tea", "Preferences")])
def test_a_missing_section_is_made_in_the_language_of_the_file(sentence: str, heading: str) -> None:
    assert add_preferences("", [sentence], DAY).text == f"# SOUL\n\n## {heading}\n\n- {sentence} (2026-04-21)\n"


def test_a_topic_is_indexed_once() -> None:
    once = add_event(SOUL, "Build the page", DAY)
    assert once == SOUL + "\n## Event index\n\n- 2026-04-21: Build the page → memory/2026-04-21.md\n"
    assert add_event(once, "Build the page", date(2026, 5, 1)) == once


def test_windows_line_ends_stay() -> None:
    text = add_preferences(SOUL.replace("\n", "\r\n"), ["Answer in French."], DAY).text
    assert text.count("\r\n") == text.count("\n")


@given(st.lists(st.text("abI like我喜欢. ", min_size=1, max_size=20).filter(str.strip), max_size=8))
def test_no_line_of_the_file_is_lost_and_a_second_time_changes_nothing(sentences: list[str]) -> None:
    found = add_preferences(SOUL, sentences, DAY)
    lines = found.text.splitlines()
    assert all(line in lines for line in SOUL.splitlines() if line not in {f"- {old}" for old, _ in found.updated})
    assert add_preferences(found.text, sentences, DAY).text == found.text
