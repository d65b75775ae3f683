"""When a session may be compressed, in the order the guards are asked."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import pytest

from assistant.openclaw.compression_options import Options
from assistant.openclaw.session_entries import Marker, marker_fields, read_marker
from assistant.openclaw.session_guard import LockNote, find_busy_reason, is_stale, judge
from tests.openclaw.sessions import NOW, Session, survey

OPTIONS = Options()


def marker(minutes_ago: float, tokens: int = 4_000, misses: int = 0) -> Marker:
    return Marker(NOW - timedelta(minutes=minutes_ago), tokens, misses, "standard", 4_000)


DAY = 24 * 60
CASES = {
    "below-both": (8_000, 32_000, None, "below_threshold"),
    "above-tokens": (8_001, 24_003, None, "due"),
    "above-chars-only": (7_000, 32_001, None, "due"),
    "four-minutes-ago": (50_000, 150_000, marker(4), "cooldown"),
    "five-minutes-ago": (50_000, 150_000, marker(5), "due"),
    "same-day-under-twice": (15_999, 48_000, marker(60), "recent"),
    "same-day-at-twice": (16_000, 48_000, marker(60), "due"),
    "yesterday-under-twice": (15_999, 48_000, marker(DAY), "due"),
    "grown-by-20-percent": (12_000, 36_000, marker(DAY, 10_000), "not_grown"),
    "grown-by-more": (12_001, 36_003, marker(DAY, 10_000), "due"),
    "two-misses": (50_000, 150_000, marker(DAY, 4_000, 2), "due"),
    "three-misses": (50_000, 150_000, marker(DAY, 4_000, 3), "misses"),
    "marker-from-the-future": (50_000, 150_000, marker(-DAY), "due"),
}


@pytest.mark.parametrize(("tokens", "chars", "last", "reason"), CASES.values(), ids=CASES.keys())
def test_the_guards_answer_in_their_order(tokens: int, chars: int, last: Marker | None, reason: str) -> None:
    verdict = judge(tokens, chars, last, OPTIONS, NOW)
    assert (verdict.reason, verdict.may_run) == (reason, reason == "due")
    assert verdict.is_error is (reason == "misses")


def test_a_request_inside_the_cooldown_says_how_long_ago_and_offers_force() -> None:
    assert judge(9_000, 27_000, marker(2), OPTIONS, NOW).text == (
        "Compressed 2 min 0 s ago; the next time is in 3 min 0 s. Use --force to do it now."
    )


def test_below_the_threshold_both_numbers_are_shown() -> None:
    text = judge(100, 300, None, OPTIONS, NOW).text
    assert "100 tokens" in text and "300 characters" in text


@pytest.mark.parametrize(
    "case", ["four-minutes-ago", "same-day-under-twice", "grown-by-20-percent", "three-misses", "below-both"]
)
def test_force_overrules_every_guard_and_is_remembered(case: str) -> None:
    tokens, chars, last, reason = CASES[case]
    verdict = judge(tokens, chars, last, replace(OPTIONS, force=True), NOW)
    assert (verdict.may_run, verdict.reason, verdict.overruled) == (True, "forced", reason)


def test_force_where_nothing_forbids_is_no_forced_run() -> None:
    assert judge(9_000, 27_000, None, replace(OPTIONS, force=True), NOW).reason == "due"


def test_a_task_is_running_while_a_fresh_call_has_no_result() -> None:
    session = Session()
    session.user("Build it.")
    session.calls(("1", "exec", {"command": "make"}))
    fresh, old = NOW - timedelta(seconds=30), NOW - timedelta(minutes=2)
    assert find_busy_reason(survey(session.lines), fresh, NOW) is not None
    assert find_busy_reason(survey(session.lines), old, NOW) is None
    session.result("1", "built")
    assert find_busy_reason(survey(session.lines), fresh, NOW) is None


def test_an_aborted_call_is_no_running_task() -> None:
    session = Session()
    session.calls(("1", "exec", {"command": "make"}), stop="aborted")
    assert find_busy_reason(survey(session.lines), NOW, NOW) is None


@pytest.mark.parametrize(
    ("is_running", "minutes", "stale"),
    [(True, 99, False), (False, 0, True), (None, 29, False), (None, 31, True)],
    ids=["owner-runs", "owner-gone", "nameless-young", "nameless-old"],
)
def test_a_lock_is_stale_when_its_owner_is_gone(is_running: bool | None, minutes: float, stale: bool) -> None:
    assert is_stale(LockNote(1, NOW - timedelta(minutes=minutes), is_running), NOW) is stale


@pytest.mark.parametrize("form", ["system", "custom"])
def test_a_marker_is_read_as_it_is_written(form: str) -> None:
    found = Marker(NOW, 1_234, 2, "light", 6_000)
    assert read_marker(marker_fields(found, "custom" if form == "custom" else "system")) == found


@pytest.mark.parametrize(
    "time",
    ["2026-04-21T04:00:00Z", "2026-04-21T12:00:00+08:00", 1776744000000, 1776744000],
    ids=["utc", "zone", "ms", "s"],
)
def test_the_bare_marker_of_the_skill_is_read_too(time: str | int) -> None:
    assert read_marker({"type": "system", "lastCompressed": time, "compressedTokens": 9}) == Marker(NOW, 9)


@pytest.mark.parametrize("time", ["soon", None, True, 1e30], ids=["word", "nothing", "true", "huge"])
def test_a_marker_without_a_time_is_none(time: object) -> None:
    fields = {"type": "system", "lastCompressed": time, "compressedTokens": 9}
    assert read_marker(fields) is None  # type: ignore[arg-type]
