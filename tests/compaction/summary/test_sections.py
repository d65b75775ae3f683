"""Summaries as titled sections: what a model may write and what is read out of it."""

from __future__ import annotations

import pytest

from assistant.compaction.summary.sections import (
    FilledSection,
    merge_repeated,
    read_sections,
    sections_for,
    write_sections,
)

EN = sections_for("copaw", "en")
ZH = sections_for("copaw", "zh")


def test_the_default_list_is_that_of_the_decision_flow() -> None:
    assert [section.title for section in ZH] == ["目标", "约束和偏好", "进展", "关键决策", "下一步", "关键上下文"]
    assert [section.key for section in EN] == ["goal", "constraints", "progress", "decisions", "next_steps", "context"]


def test_skill_compose_has_seven_sections_in_both_languages() -> None:
    keys = [section.key for section in sections_for("skill_compose", "en")]
    assert keys == [section.key for section in sections_for("skill_compose", "zh")]
    assert [s.title for s in sections_for("skill_compose", "en")] == [
        "Primary request and intent",
        "Key technical concepts",
        "Files and code",
        "Problem solving",
        "All user messages",
        "Current state",
        "Pending tasks",
    ]


@pytest.mark.parametrize(
    "heading",
    ["## Goal", "# Goal", "### goal", "## GOAL:", "## 1. Goal", "**Goal**", "**Goal:**", "## Goal ##", "__Goal__"],
)
def test_a_heading_is_known_however_a_model_writes_it(heading: str) -> None:
    assert read_sections(f"{heading}\nShip it.", EN) == [FilledSection("goal", "Goal", "Ship it.")]


@pytest.mark.parametrize("heading", ["## 1、目标", "## 目标：", "**目标**", "## 一、目标"])
def test_a_chinese_heading_is_known_too(heading: str) -> None:
    assert read_sections(f"{heading}\n发布。", ZH) == [FilledSection("goal", "目标", "发布。")]


def test_headings_of_the_other_language_are_known_and_renamed() -> None:
    assert read_sections("## 目标\nShip it.", EN, ZH) == [FilledSection("goal", "Goal", "Ship it.")]


def test_a_heading_in_code_is_text() -> None:
    text = "## Progress\n```\n## Goal\n```\ndone"
    assert read_sections(text, EN) == [FilledSection("progress", "Progress", "```\n## Goal\n```\ndone")]


def test_sub_headings_belong_to_their_section() -> None:
    text = "## Progress\n### Done\n- a\n### Blocked\n- b"
    assert read_sections(text, EN)[0].body == "### Done\n- a\n### Blocked\n- b"


def test_what_nobody_asked_for_joins_the_section_before() -> None:
    found = read_sections("Sure!\n## Goal\na\n## Weather\nsunny\n## Goal\nb", EN)
    assert merge_repeated(found, EN) == {"goal": "a\n### Weather\nsunny\nb"}


def test_a_document_is_read_as_it_was_written() -> None:
    sections = [FilledSection(s.key, s.title, f"body of {s.key}") for s in EN]
    assert read_sections(write_sections(sections), EN) == sections


def test_empty_sections_are_not_written() -> None:
    assert write_sections([FilledSection("goal", "Goal", " "), FilledSection("", "More", "x")]) == "## More\nx"
