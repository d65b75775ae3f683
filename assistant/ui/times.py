"""Moments as people read them."""

from __future__ import annotations

import datetime as dt
from typing import Literal

from assistant.config.words import say


def short_time(at: str) -> str:
    """`14:05` from an ISO time; empty when there is none."""
    moment = parse_time(at)
    return moment.strftime("%H:%M") if moment else ""


def full_time(at: str) -> str:
    """`30 Nov 2026, 14:05` from an ISO time; empty when there is none."""
    moment = parse_time(at)
    return _dated("full_time", moment) if moment else ""


def day_label(at: str, now: dt.datetime) -> str:
    """Today, Yesterday, Last seven days, or the month, by the calendar of the time itself."""
    moment = parse_time(at)
    if moment is None:
        return say("page", "earlier")
    days = _days_ago(moment, now)
    if days <= 0:
        return say("page", "today")
    if days == 1:
        return say("page", "yesterday")
    if days < 7:
        return say("page", "last_seven_days")
    return month_text(moment.date())


def list_time(at: str, now: dt.datetime) -> str:
    """The hour for today, else the day."""
    moment = parse_time(at)
    if moment is None:
        return ""
    return f"{moment:%H:%M}" if _days_ago(moment, now) <= 0 else _dated("day_time", moment)


def moment_label(at: str, now: dt.datetime) -> str:
    """Day and hour; the hour alone for today, the year too for another one."""
    moment = parse_time(at)
    if moment is None:
        return ""
    if _days_ago(moment, now) <= 0:
        return f"{moment:%H:%M}"
    is_this_year = moment.year == now.astimezone(moment.tzinfo).year
    return _dated("day_and_hour" if is_this_year else "full_time", moment)


def day_text(at: str) -> str:
    """`30 Nov` from an ISO time; empty when there is none."""
    moment = parse_time(at)
    return _dated("day_time", moment) if moment else ""


def month_text(day: dt.date) -> str:
    """`November 2026`."""
    return say("page", "month_and_year", month=say("page", f"month_{day.month}"), year=day.year)


def parse_time(at: str) -> dt.datetime | None:
    """The moment, or None for an empty or broken text."""
    try:
        return dt.datetime.fromisoformat(at)
    except ValueError:
        return None


def _days_ago(moment: dt.datetime, now: dt.datetime) -> int:
    return (now.astimezone(moment.tzinfo).date() - moment.date()).days


def _dated(key: Literal["full_time", "day_time", "day_and_hour"], moment: dt.datetime) -> str:
    month = say("page", f"short_month_{moment.month}")
    return say("page", key, day=moment.day, month=month, year=moment.year, hour=f"{moment:%H:%M}")
