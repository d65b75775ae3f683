"""The bar, the lists and the model card."""

from __future__ import annotations

import datetime as dt
from dataclasses import replace
from pathlib import Path

import pytest

from assistant.agent.window import ContextItem
from assistant.config.settings import Settings
from assistant.models.chat_model import connect_offline
from assistant.models.connection_report import ConnectionReport
from assistant.models.scripted import ScriptedModel
from assistant.storage.sessions.session_head import SessionSummary
from assistant.text.diff import unified_diff
from assistant.ui.cards import action
from assistant.ui.chat.context_panel import context_html
from assistant.ui.chat.meter import meter_html, meter_parts
from assistant.ui.chat.model_panel import model_html, setup_html
from assistant.ui.chat.sessions_panel import ListedSessions
from assistant.ui.diff_card import DiffLine, added_and_removed, diff_lines
from assistant.ui.times import day_label, list_time, moment_label, short_time
from tests.fakes.home import chat_model
from tests.ui.sample_events import measured

NOW = dt.datetime(2026, 11, 30, 14, 5, tzinfo=dt.UTC)


def test_the_bar_is_made_of_its_parts_and_marks_the_threshold() -> None:
    parts = meter_parts(measured(64_000))
    assert sum(part.tokens for part in parts) == 64_000
    assert round(sum(part.width for part in parts)) == 50
    html = meter_html(measured(64_000))
    for words in ("64k", "128k", "50 &#37;", "left:70.0&#37;", "compresses at 89.6k"):
        assert words.replace("&#37;", "%") in html.replace("&#37;", "%")


def test_the_bar_says_when_the_next_step_compresses() -> None:
    assert "compresses at the next step" in meter_html(measured(90_000))
    assert "3 tool results shortened" in meter_html(replace(measured(9_000), shortened_results=3))
    assert "not measured yet" in meter_html(None)


def test_sessions_stand_under_their_days() -> None:
    sessions = [
        SessionSummary("a", "owner", "Now", "2026-11-30T13:00:00+00:00", has_file=True),
        SessionSummary("b", "owner", "", "2026-11-29T13:00:00+00:00", has_file=True),
        SessionSummary("c", "owner", "Old", "2026-05-02T13:00:00+00:00", has_file=True),
    ]
    html = str(ListedSessions(sessions, "b", NOW))
    assert [html.index(label) for label in ("Today", "Yesterday", "May 2026")] == sorted(
        html.index(label) for label in ("Today", "Yesterday", "May 2026")
    )
    assert "New conversation" in html
    assert f"p-selected {action('open-session', 'b')}" in html
    assert "once you have asked" in str(ListedSessions([], "", NOW))


@pytest.mark.parametrize(
    ("at", "label", "time"),
    [
        ("2026-11-30T01:00:00+01:00", "Today", "01:00"),
        ("2026-11-29T23:30:00+00:00", "Yesterday", "29 Nov"),
        ("2026-11-25T23:30:00+00:00", "Last seven days", "25 Nov"),
        ("2026-01-05T23:30:00+00:00", "January 2026", "5 Jan"),
        ("broken", "Earlier", ""),
    ],
)
def test_days_are_those_of_the_calendar(at: str, label: str, time: str) -> None:
    assert (day_label(at, NOW), list_time(at, NOW)) == (label, time)


@pytest.mark.parametrize(
    ("at", "label"),
    [
        ("2026-11-30T01:00:00+00:00", "01:00"),
        ("2026-11-29T23:30:00+00:00", "29 Nov, 23:30"),
        ("2025-12-31T23:30:00+00:00", "31 Dec 2025, 23:30"),
        ("broken", ""),
    ],
)
def test_a_moment_has_its_day_unless_it_is_today(at: str, label: str) -> None:
    assert moment_label(at, NOW) == label


def test_a_moment_is_its_hour() -> None:
    assert (short_time("2026-11-30T14:05:09+01:00"), short_time("")) == ("14:05", "")


def test_the_context_lists_every_piece_and_leaves_out_the_middle_of_very_many() -> None:
    items = [ContextItem("messages", f"piece {number}", "x" * 2_000, 5) for number in range(200)]
    html = context_html(measured(20_000), items)
    assert "50 more pieces" in html
    assert "piece 0<" in html
    assert "piece 199<" in html
    assert "piece 60<" not in html
    assert "500 more characters" in html


def test_without_a_language_model_the_card_says_what_to_do(home: Path) -> None:
    offline = connect_offline(Settings(home=home), "No key is set. Nothing answered on loopback port 11434.")
    html = model_html(offline, ConnectionReport(False, "nothing answered"))
    for words in ("Not a language model", "11434", "DASHSCOPE&#95;API&#95;KEY", "nothing answered"):
        assert words.replace("&#95;", "_") in html.replace("&#95;", "_")
    model = chat_model(ScriptedModel([]), 128_000)
    assert setup_html(model) == ""
    assert "128,000 tokens" in model_html(model, None)


def test_a_diff_shows_its_lines_without_the_file_header() -> None:
    diff = "--- a\n+++ b\n@@ -1 +1 @@\n-- old item\n+- new item\n same"
    assert diff_lines(diff) == [
        DiffLine("hunk", "", "@@ -1 +1 @@"),
        DiffLine("minus", "−", "- old item"),
        DiffLine("plus", "+", "- new item"),
        DiffLine("same", "", "same"),
    ]
    assert added_and_removed(diff) == (1, 1)
    assert added_and_removed("+a\n" * 500 + "-b\n" * 400) == (500, 400)
    assert diff_lines(unified_diff("a\nb", "a\nc", "USER.md"))[-1] == DiffLine("plus", "+", "c")


def test_a_line_of_megabytes_is_shown_by_its_beginning_and_says_so() -> None:
    assert diff_lines(f"+{'a' * 5_000_000}") == [DiffLine("plus", "+", f"{'a' * 1_999} … 4,998,001 more characters")]


def test_a_line_of_a_diff_cannot_pose_as_two() -> None:
    assert diff_lines("+good\u2028-old\x0b-older\r-oldest") == [
        DiffLine("plus", "+", "good⟨U+2028⟩-old⟨U+000B⟩-older⟨U+000D⟩-oldest")
    ]
