"""Days a question speaks of: yesterday, last week, 3 days ago, 上周三, 2026-11-28, 11月28日 (pure)."""

from __future__ import annotations

import calendar
import datetime as dt
import re
from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class DateRange:
    """Days from `first` to `last`, both included."""

    first: dt.date
    last: dt.date


@dataclass(frozen=True, slots=True)
class DatedQuestion:
    """A question, the days it speaks of, and its words without those that only name the days."""

    text: str
    ranges: tuple[DateRange, ...]


def read_dates(question: str, today: dt.date) -> DatedQuestion:
    """Find the days in `question` as a person means them on `today`. Impossible dates are left as words."""
    ranges: list[DateRange] = []
    text = question
    for pattern, resolve in _RULES:
        rest: list[str] = []
        position = 0
        for found in pattern.finditer(text):
            if (days := resolve(found, today)) is None:
                continue
            ranges.append(days)
            rest.append(text[position : found.start()])
            position = found.end()
        text = " ".join([*rest, text[position:]])
    return DatedQuestion(text, tuple(dict.fromkeys(ranges)))


_Resolve = Callable[[re.Match[str], dt.date], DateRange | None]

_ENGLISH_DAYS = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
_ENGLISH_MONTHS = tuple(name.lower() for name in calendar.month_name[1:])
_CHINESE_DAYS = {"一": 0, "二": 1, "三": 2, "四": 3, "五": 4, "六": 5, "日": 6, "天": 6}
_CHINESE_DIGITS = {"一": 1, "两": 2, "二": 2, "三": 3, "四": 4, "五": 5, "六": 6, "七": 7, "八": 8, "九": 9, "十": 10}
_ENGLISH_NUMBERS = {"a": 1, "an": 1, "one": 1, "two": 2, "three": 3, "four": 4, "five": 5, "six": 6, "seven": 7}
_NUMBER = r"(\d{1,3}|an?|one|two|three|four|five|six|seven)"
_CHINESE_NUMBER = r"(\d{1,3}|[一两二三四五六七八九十])"


def _iso(found: re.Match[str], today: dt.date) -> DateRange | None:
    return _one_day(int(found.group(1)), int(found.group(2)), int(found.group(3)))


def _chinese_date(found: re.Match[str], today: dt.date) -> DateRange | None:
    month, day = int(found.group(2)), int(found.group(3))
    return _one_day(int(found.group(1)), month, day) if found.group(1) else _latest(today, month, day)


def _english_date(found: re.Match[str], today: dt.date) -> DateRange | None:
    month = _ENGLISH_MONTHS.index(found.group("month").lower()) + 1
    day = int(found.group("before") or found.group("after"))
    return _one_day(int(found.group("year")), month, day) if found.group("year") else _latest(today, month, day)


def _month_of_year(found: re.Match[str], today: dt.date) -> DateRange | None:
    return _month(int(found.group(2)), _ENGLISH_MONTHS.index(found.group(1).lower()) + 1)


def _chinese_month(found: re.Match[str], today: dt.date) -> DateRange | None:
    return _month(int(found.group(1)), int(found.group(2)))


def _days_back(days: int) -> _Resolve:
    return lambda found, today: _one(today - dt.timedelta(days=days))


def _ago(found: re.Match[str], today: dt.date) -> DateRange | None:
    count = _count(found.group(1))
    match found.group(2).lower():
        case "day" | "天":
            return _one(today - dt.timedelta(days=count))
        case "week" | "周" | "星期" | "礼拜":
            return _week(today, count)
        case _:
            return _months_back(today, count)


def _past(found: re.Match[str], today: dt.date) -> DateRange | None:
    count = _count(found.group(1))
    days = count * (7 if found.group(2).lower() in ("week", "周", "星期", "礼拜") else 1)
    return DateRange(today - dt.timedelta(days=days), today)


def _whole_week(weeks_back: int) -> _Resolve:
    return lambda found, today: _week(today, weeks_back)


def _whole_month(months_back: int) -> _Resolve:
    return lambda found, today: _months_back(today, months_back)


def _chinese_weekday(found: re.Match[str], today: dt.date) -> DateRange | None:
    weeks_back = {"上上": 2, "上": 1}.get(found.group(1) or "", 0)
    return _one(_monday(today, weeks_back) + dt.timedelta(days=_CHINESE_DAYS[found.group(2)]))


def _english_weekday(found: re.Match[str], today: dt.date) -> DateRange | None:
    """`last Wednesday` and `on Wednesday`: the newest one before today."""
    back = (today.weekday() - _ENGLISH_DAYS.index(found.group(1).lower()) - 1) % 7 + 1
    return _one(today - dt.timedelta(days=back))


def _rule(pattern: str, resolve: _Resolve) -> tuple[re.Pattern[str], _Resolve]:
    return re.compile(pattern, re.IGNORECASE), resolve


_MONTHS = "|".join(_ENGLISH_MONTHS)
# Longer wordings stand before those they contain.
_RULES: tuple[tuple[re.Pattern[str], _Resolve], ...] = (
    _rule(r"(?<!\d)(\d{4})[-/.](\d{1,2})[-/.](\d{1,2})(?!\d)", _iso),
    _rule(r"(?:(\d{4})年)?(\d{1,2})月(\d{1,2})[日号]", _chinese_date),
    _rule(r"(\d{4})年(\d{1,2})月", _chinese_month),
    _rule(
        rf"\b(?:on )?(?:(?P<before>\d{{1,2}})(?:st|nd|rd|th)?(?: of)? )?(?P<month>{_MONTHS})"
        r"(?(before)| (?P<after>\d{1,2})(?:st|nd|rd|th)?(?!\d))(?:,? (?P<year>\d{4}))?\b",
        _english_date,
    ),
    _rule(rf"\b(?:in )?({_MONTHS})(?: of)?,? (\d{{4}})\b", _month_of_year),
    _rule(r"大前天", _days_back(3)),
    _rule(r"\bthe day before yesterday\b", _days_back(2)),
    _rule(r"前天", _days_back(2)),
    _rule(r"\byesterday\b|昨天|昨日|昨晚", _days_back(1)),
    _rule(r"\b(?:today|tonight|this morning|this afternoon)\b|今天|今日|今早|今晚", _days_back(0)),
    _rule(rf"\b{_NUMBER} (day|week|month)s? ago\b", _ago),
    _rule(rf"{_CHINESE_NUMBER}个?(天|周|星期|礼拜|月)(?:以|之)?前", _ago),
    _rule(rf"\b(?:in |over |during )?the (?:last|past) {_NUMBER} (day|week)s?\b", _past),
    _rule(rf"(?:最近|过去){_CHINESE_NUMBER}个?(天|周|星期|礼拜)", _past),
    _rule(r"(上上|上|这|本)个?(?:周|星期|礼拜)([一二三四五六日天])", _chinese_weekday),
    _rule(rf"\b(?:last|on|this past) ({'|'.join(_ENGLISH_DAYS)})\b", _english_weekday),
    _rule(r"上上个?(?:周|星期|礼拜)|\bthe week before last\b", _whole_week(2)),
    _rule(r"\b(?:the )?last week\b|上个?(?:周|星期|礼拜)", _whole_week(1)),
    _rule(r"\bthis week\b|(?:这|本)个?(?:周|星期|礼拜)", _whole_week(0)),
    _rule(r"\b(?:the )?last month\b|上个?月", _whole_month(1)),
    _rule(r"\bthis month\b|这个?月|本月", _whole_month(0)),
)


def _count(text: str) -> int:
    word = text.lower()
    return _CHINESE_DIGITS.get(word) or _ENGLISH_NUMBERS.get(word) or int(word)


def _one(day: dt.date) -> DateRange:
    return DateRange(day, day)


def _one_day(year: int, month: int, day: int) -> DateRange | None:
    try:
        return _one(dt.date(year, month, day))
    except ValueError:
        return None


def _latest(today: dt.date, month: int, day: int) -> DateRange | None:
    """A day without its year: the newest one that is not in the future."""
    days = _one_day(today.year, month, day)
    return days if days is None or days.first <= today else _one_day(today.year - 1, month, day)


def _month(year: int, month: int) -> DateRange | None:
    if not (1 <= month <= 12 and 1 <= year <= 9999):
        return None
    return DateRange(dt.date(year, month, 1), dt.date(year, month, calendar.monthrange(year, month)[1]))


def _months_back(today: dt.date, months: int) -> DateRange | None:
    index = today.year * 12 + today.month - 1 - months
    return _month(index // 12, index % 12 + 1)


def _monday(today: dt.date, weeks_back: int) -> dt.date:
    return today - dt.timedelta(days=today.weekday() + 7 * weeks_back)


def _week(today: dt.date, weeks_back: int) -> DateRange:
    monday = _monday(today, weeks_back)
    return DateRange(monday, monday + dt.timedelta(days=6))
