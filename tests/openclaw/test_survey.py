"""The walk from the last entry to the root, against an independent reading of the same files."""

from __future__ import annotations

import pytest

from assistant.errors import TranscriptError
from tests.openclaw.sessions import Session, survey


def test_the_path_is_root_to_leaf_without_abandoned_branches() -> None:
    session = Session()
    first = session.user("one")
    session.says("dead end")
    session.user("two", parent=first)
    assert survey(session.lines).walk.path == (1, 3)


def test_the_context_is_the_newest_summary_then_what_it_keeps_then_the_rest() -> None:
    session = Session()
    session.user("old")
    kept = session.user("kept")
    session.entry({"type": "compaction", "summary": "S", "firstKeptEntryId": kept, "tokensBefore": 1})
    session.user("new")
    assert survey(session.lines).walk.context == (3, 2, 4)


def test_a_reset_starts_a_fresh_window() -> None:
    session = Session()
    session.user("old")
    session.entry({"type": "reset"})
    session.user("new")
    assert survey(session.lines).walk.context == (3,)


def test_a_version_1_file_is_walked_in_file_order_and_its_summary_counts_lines() -> None:
    session = Session(version=None)
    for text in ("old", "kept"):
        session.user(text)
    session.entry({"type": "compaction", "summary": "S", "firstKeptEntryIndex": 2, "tokensBefore": 1})
    session.user("new")
    assert survey(session.lines).walk.context == (3, 2, 4)


def test_what_a_bare_marker_cut_off_is_joined_again() -> None:
    session = Session()
    session.user("before")
    session.add({"type": "system", "lastCompressed": "2026-04-01T00:00:00Z", "compressedTokens": 9})
    session.add({"type": "message", "id": "x", "message": {"role": "user", "content": "after"}})
    assert survey(session.lines).walk.path == (1, 3)


def test_of_two_entries_with_one_id_the_later_counts() -> None:
    session = Session()
    session.add({"type": "message", "id": "a", "parentId": None, "message": {"role": "user", "content": "one"}})
    session.add({"type": "message", "id": "a", "parentId": None, "message": {"role": "user", "content": "two"}})
    assert survey(session.lines).walk.path == (2,)


def test_parents_that_go_round_in_a_circle_are_refused() -> None:
    session = Session()
    session.add({"type": "message", "id": "a", "parentId": "b", "message": {"role": "user", "content": "x"}})
    session.add({"type": "message", "id": "b", "parentId": "a", "message": {"role": "user", "content": "y"}})
    with pytest.raises(TranscriptError, match="each other's parents"):
        survey(session.lines)


REFUSED = {
    "header-not-first": (
        Session(header=False).add({"role": "user", "content": "x"}).add({"type": "session", "id": "s"}),
        "not the first",
    ),
    "header-without-id": (Session(header=False).add({"type": "session", "version": 3}), "no id"),
    "newer-version": (Session(version=4), "version 4"),
    "claude-code": (Session(header=False).add({"type": "user", "parentUuid": None}), "Claude Code"),
    "no-session": (Session(header=False).add({"a": 1}), "No line"),
}


@pytest.mark.parametrize(("session", "reason"), REFUSED.values(), ids=REFUSED.keys())
def test_a_file_that_is_no_session_is_refused_with_the_reason(session: Session, reason: str) -> None:
    with pytest.raises(TranscriptError, match=reason):
        survey(session.lines)


def test_a_result_belongs_to_the_newest_open_call_of_its_id() -> None:
    session = Session()
    session.tool("1", "ls", "a").tool("1", "pwd", "b")
    assert [unit.lines for unit in survey(session.lines).units] == [(1, 2), (3, 4)]


def test_parallel_calls_and_their_results_are_one_unit() -> None:
    session = Session()
    session.calls(("1", "exec", {}), ("2", "exec", {}))
    session.result("2", "b")
    session.result("1", "a")
    (unit,) = survey(session.lines).units
    assert (unit.lines, unit.open_calls) == ((1, 2, 3), 0)


def test_a_call_without_a_result_is_known_to_be_open() -> None:
    session = Session()
    session.calls(("1", "exec", {}), stop="aborted")
    (unit,) = survey(session.lines).units
    assert (unit.lines, unit.open_calls) == ((1,), 1)


def test_a_line_that_answers_two_calls_makes_them_one_unit() -> None:
    session = Session(header=False)
    session.add({"role": "assistant", "content": [{"type": "tool_use", "id": "1", "name": "a", "input": {}}]})
    session.add({"role": "assistant", "content": [{"type": "tool_use", "id": "2", "name": "b", "input": {}}]})
    results = [{"type": "tool_result", "tool_use_id": call, "content": "x"} for call in ("1", "2")]
    session.add({"role": "user", "content": results})
    assert [unit.lines for unit in survey(session.lines).units] == [(0, 1, 2)]
