"""The moment of a time in text."""

from __future__ import annotations

from datetime import datetime


def instant(at: str) -> float:
    """The moment of an ISO time in seconds, comparable across time zones; before all others when unreadable."""
    try:
        return datetime.fromisoformat(at).timestamp()
    except ValueError:
        return float("-inf")
