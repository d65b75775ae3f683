"""What servers refused is kept a while, per model and address, and a broken file holds nothing."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from assistant.storage.refused_parts import RefusedParts

NOW = datetime(2026, 11, 30, 12, tzinfo=UTC)
MODEL, OTHER = "a-7b at http://127.0.0.1:1/v1", "a-7b at http://127.0.0.1:2/v1"


def at(home: Path, now: datetime) -> RefusedParts:
    """The refusals of a home, read at that time by another start of the program."""
    return RefusedParts(home / "refused_parts.json", lambda: now)


def test_a_refusal_is_kept_for_its_model_and_address(home: Path) -> None:
    at(home, NOW).add(MODEL, "tools")
    at(home, NOW).add(MODEL, "stream_options")
    kept = at(home, NOW)
    assert (kept.of(MODEL), kept.of(OTHER)) == (("tools", "stream_options"), ())


@pytest.mark.parametrize(("days", "kept"), [(0, True), (29, True), (30, False), (-29, True), (-366, False)])
def test_a_refusal_holds_for_thirty_days_by_a_clock_that_may_jump(home: Path, days: int, kept: bool) -> None:
    at(home, NOW).add(MODEL, "tools")
    assert at(home, NOW + timedelta(days=days)).of(MODEL) == (("tools",) if kept else ())


def test_a_refusal_is_forgotten_for_one_model(home: Path) -> None:
    kept = at(home, NOW)
    kept.add(MODEL, "tools")
    kept.add(OTHER, "pictures")
    kept.forget(MODEL)
    kept.forget("nobody")
    assert (kept.of(MODEL), kept.of(OTHER)) == ((), ("pictures",))


@pytest.mark.parametrize("content", ["", "{", "[]", '{"version": 2, "refused": {}}', '{"refused": {"a": ["tools"]}}'])
def test_a_file_that_cannot_be_read_holds_nothing_and_is_written_anew(home: Path, content: str) -> None:
    home.mkdir()
    (home / "refused_parts.json").write_text(content, encoding="utf-8")
    kept = at(home, NOW)
    before = kept.of(MODEL)
    kept.add(MODEL, "tools")
    assert (before, kept.of(MODEL)) == ((), ("tools",))


def test_a_home_that_cannot_be_written_keeps_nothing_and_stops_nobody(home: Path) -> None:
    home.write_text("no folder", encoding="utf-8")
    kept = at(home, NOW)
    kept.add(MODEL, "tools")
    assert kept.of(MODEL) == ()
