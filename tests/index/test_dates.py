"""Days a question speaks of."""

from __future__ import annotations

import datetime as dt

import pytest

from assistant.index.dates import DateRange, read_dates

MONDAY = dt.date(2026, 11, 30)


@pytest.mark.parametrize(
    ("question", "first", "last"),
    [
        ("what did I do yesterday?", "2026-11-29", "2026-11-29"),
        ("昨天的会议", "2026-11-29", "2026-11-29"),
        ("前天说了什么", "2026-11-28", "2026-11-28"),
        ("the day before yesterday", "2026-11-28", "2026-11-28"),
        ("What happened last week?", "2026-11-23", "2026-11-29"),
        ("上周的计划", "2026-11-23", "2026-11-29"),
        ("上周三我决定了什么", "2026-11-25", "2026-11-25"),
        ("上上周五", "2026-11-20", "2026-11-20"),
        ("星期三 is not asked, 这周一 is", "2026-11-30", "2026-11-30"),
        ("last Wednesday", "2026-11-25", "2026-11-25"),
        ("notes of 2026-11-28", "2026-11-28", "2026-11-28"),
        ("2026年11月28日的记录", "2026-11-28", "2026-11-28"),
        ("11月28日", "2026-11-28", "2026-11-28"),
        ("12月1号", "2025-12-01", "2025-12-01"),
        ("on 28 November", "2026-11-28", "2026-11-28"),
        ("November 28th, 2025", "2025-11-28", "2025-11-28"),
        ("in May 2023", "2023-05-01", "2023-05-31"),
        ("2023年5月", "2023-05-01", "2023-05-31"),
        ("3 days ago", "2026-11-27", "2026-11-27"),
        ("三天前", "2026-11-27", "2026-11-27"),
        ("two weeks ago", "2026-11-16", "2026-11-22"),
        ("the last 7 days", "2026-11-23", "2026-11-30"),
        ("最近三天", "2026-11-27", "2026-11-30"),
        ("last month", "2026-10-01", "2026-10-31"),
        ("上个月", "2026-10-01", "2026-10-31"),
        ("today", "2026-11-30", "2026-11-30"),
    ],
)
def test_days_are_read_as_a_person_means_them(question: str, first: str, last: str) -> None:
    expected = DateRange(dt.date.fromisoformat(first), dt.date.fromisoformat(last))
    assert read_dates(question, MONDAY).ranges == (expected,)


@pytest.mark.parametrize(
    "question", ["May I ask?", "2026-13-45", "9999999999 days ago", "version 1.2.3", "", "30月30日"]
)
def test_what_is_no_day_stays_as_it_is(question: str) -> None:
    found = read_dates(question, MONDAY)
    assert (found.ranges, found.text) == ((), question)


def test_the_words_that_name_a_day_are_no_longer_asked_for() -> None:
    assert read_dates("what about Python yesterday", MONDAY).text.split() == ["what", "about", "Python"]


def test_two_days_in_one_question_are_both_found() -> None:
    days = read_dates("compare 2026-11-01 and yesterday", MONDAY).ranges
    assert days == (
        DateRange(dt.date(2026, 11, 1), dt.date(2026, 11, 1)),
        DateRange(dt.date(2026, 11, 29), dt.date(2026, 11, 29)),
    )
