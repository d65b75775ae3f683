"""Moments as people read them."""

from __future__ import annotations

import datetime as dt


def short_time(at: str) -> str:
    """`14:05` from an ISO time; empty when there is none."""
    moment = parse_time(at)
    return moment.strftime("%H:%M") if moment else ""


def full_time(at: str) -> str:
    """`30 Nov 2026, 14:05` from an ISO time; empty when there is none."""
    moment = parse_time(at)
    return f"{moment.day} {moment:%b %Y, %H:%M}" if moment else ""


def day_label(at: str, now: dt.datetime) -> str:
    """Today, Yesterday, Last seven days, or the month, by the calendar of the time itself."""
    moment = parse_time(at)
    if moment is None:
        return "Earlier"
    days = (now.astimezone(moment.tzinfo).date() - moment.date()).days
    if days <= 0:
        return "Today"
    if days == 1:
        return "Yesterday"
    if days < 7:
        return "Last seven days"
    return moment.strftime("%B %Y")


def list_time(at: str, now: dt.datetime) -> str:
    """The hour for today, else the day."""
    moment = parse_time(at)
    if moment is None:
        return ""
    if day_label(at, now) == "Today":
        return moment.strftime("%H:%M")
    return f"{moment.day} {moment.strftime('%b')}"


def moment_label(at: str, now: dt.datetime) -> str:
    """Day and hour; the hour alone for today, the year too for another one."""
    moment = parse_time(at)
    if moment is None:
        return ""
    day = f"{moment.day} {moment.strftime('%b')}"
    match day_label(at, now), moment.year == now.astimezone(moment.tzinfo).year:
        case "Today", _:
            return moment.strftime("%H:%M")
        case _, True:
            return f"{day}, {moment.strftime('%H:%M')}"
        case _:
            return f"{day} {moment.year}, {moment.strftime('%H:%M')}"


def parse_time(at: str) -> dt.datetime | None:
    """The moment, or None for an empty or broken text."""
    try:
        return dt.datetime.fromisoformat(at)
    except ValueError:
        return None
