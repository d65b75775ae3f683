"""Every line has one class, and the tail never parts a call from its result."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from assistant.openclaw.compression_options import Options
from assistant.openclaw.line_classes import CLASSES, classify
from assistant.openclaw.session_sizes import choose_weigh
from assistant.openclaw.survey import survey_session
from tests.openclaw.sessions import Session, classes, survey, work_session


def test_each_class_has_its_lines() -> None:
    session = Session()
    session.entry({"type": "model_change", "modelId": "m"})
    session.entry({"type": "compaction", "summary": "[SESSION SUMMARY]", "firstKeptEntryId": "x"})
    session.raw(b'{"torn\n')
    session.user("Build it.")
    session.tool("1", "cat big", "x" * 2_001)
    session.tool("2", "ls", "a")
    session.tool("3", "make", "built")
    session.says("It was built. " * 40)
    session.user("谢谢")
    session.tool("4", "make test", "failed", is_error=True)
    session.says("last")
    assert classes(session).classes == (
        *("P10", "P8", "P9", "P0", "P6"),
        *("P3", "P1", "P2", "P2", "P3", "P3"),
        *("P4", "P5", "P4", "P4", "P7"),
    )


def test_the_order_of_precedence_is_header_summary_tail_system() -> None:
    session = Session()
    session.entry({"type": "model_change", "modelId": "m"})
    session.entry({"type": "compaction", "summary": "[SESSION SUMMARY]", "firstKeptEntryId": "x"})
    session.user("hello there, please help")
    assert classes(session, Options(keep_tail=60)).classes == ("P10", "P7", "P9", "P7")


@pytest.mark.parametrize(
    ("words", "name"),
    [
        ("<system-reminder>Be kind.</system-reminder>", "P8"),
        ("<system-reminder>Be kind.</system-reminder>好的", "P5"),
        ("<file name='a'>x</file>Fix this file.", "P6"),
        ("[Telegram Ann 12:00] thanks!", "P5"),
    ],
    ids=["only-envelope", "pleasantry-in-envelope", "intent-in-envelope", "channel"],
)
def test_envelopes_are_stripped_before_a_message_is_classed(words: str, name: str) -> None:
    session = Session()
    session.user(words)
    session.user("Something else.")
    session.says("last")
    assert classes(session).classes[1] == name


@pytest.mark.parametrize("answer", ["好的", "yes", "ok"])
def test_a_short_answer_to_a_question_is_consent_not_a_pleasantry(answer: str) -> None:
    session = Session()
    session.says("I would delete the old table. Shall I go on?")
    session.user(answer)
    session.says("Deleted.")
    session.user(answer)
    session.user("Now the next table.")
    session.says("last")
    assert classes(session).classes[1:5] == ("P4", "P6", "P4", "P5")


@pytest.mark.parametrize(
    ("command", "output", "name"),
    [
        ("grep -r x .", "", "P2"),
        ("grep -r x .", "(Command exited with code 1)", "P2"),
        ("grep -r x .", "没有匹配的结果", "P2"),
        ("grep -r x .", "a.py: x", "P3"),
        ("pwd", "/w", "P2"),
        ("make", "ok", "P3"),
        ("make", "(Command exited with code 2)", "P4"),
    ],
)
def test_a_call_and_its_result_share_a_class(command: str, output: str, name: str) -> None:
    session = Session()
    session.tool("1", command, output)
    session.says("last")
    assert classes(session).classes[1:3] == (name, name)


def test_parallel_calls_are_a_look_round_only_together() -> None:
    session = Session()
    session.calls(("1", "exec", {"command": "ls"}), ("2", "exec", {"command": "make"}))
    session.result("1", "a")
    session.result("2", "ok")
    session.says("last")
    assert classes(session).classes[1:4] == ("P3", "P3", "P3")


def test_large_arguments_and_large_thinking_count_as_large_outputs() -> None:
    session = Session()
    session.calls(("1", "write", {"path": "a", "content": "c" * 2_001}))
    session.result("1", "written")
    session.says("short", thinking="t" * 2_001)
    session.says("last")
    assert classes(session).classes[1:4] == ("P1", "P3", "P1")


def test_a_call_that_is_explained_at_length_is_an_explanation() -> None:
    session = Session()
    session.calls(("1", "exec", {"command": "make"}), text="I do this because of that. " * 20)
    session.result("1", "ok")
    session.says("last")
    assert classes(session).classes[1:3] == ("P4", "P3")


def test_the_tail_counts_physical_lines_and_goes_back_to_the_start_of_the_turn() -> None:
    session = Session()
    session.turns(10)
    session.raw(b"\n")
    assert classes(session, Options(keep_tail=4)).tail_start == 17
    assert classes(session, Options(keep_tail=3)).tail_start == 19
    assert session.lines[19].count(b'"role":"user"') == 1


def test_the_tail_does_not_count_what_a_run_writes() -> None:
    session = Session()
    session.turns(10)
    session.entry({"type": "compaction", "summary": "s", "firstKeptEntryId": session.leaf, "tokensBefore": 1})
    session.entry({"type": "system", "lastCompressed": "2026-01-01T00:00:00Z", "compressedTokens": 1})
    session.turns(1)
    assert classes(session, Options(keep_tail=6)).tail_start == 17


def test_a_turn_that_would_more_than_double_the_tail_is_entered_at_a_step() -> None:
    session = Session()
    session.user("Do it all.")
    for number in range(20):
        session.tool(str(number), "make", "ok")
    found = classes(session, Options(keep_tail=6))
    assert found.tail_start == len(session.lines) - 6
    found = classes(session, Options(keep_tail=5))
    assert found.tail_start == len(session.lines) - 6


def test_the_automatic_tail_is_the_last_complete_turn() -> None:
    session = Session()
    session.turns(5)
    session.user("And now?")
    assert classes(session, Options(keep_tail="auto")).tail_start == 9


def test_the_automatic_tail_of_one_long_turn_is_as_many_steps_as_fit() -> None:
    session = Session()
    session.user("Do it all.")
    for number in range(40):
        session.tool(str(number), "make", "ok " * 200)
    found = survey(session.lines)
    start = classify(found, Options(keep_tail="auto", mode="aggressive")).tail_start
    assert 0 < sum(line.tokens for line in found.lines[start:]) <= 1_250
    assert found.lines[start].kind == "assistant"


@settings(max_examples=60, deadline=None)
@given(
    st.lists(st.sampled_from(["user", "says", "tool", "parallel", "open", "state"]), min_size=1, max_size=25),
    st.integers(1, 12),
)
def test_every_line_gets_one_class_and_no_unit_lies_on_both_sides_of_the_tail(kinds: list[str], keep: int) -> None:
    session = Session()
    for at, kind in enumerate(kinds):
        match kind:
            case "user":
                session.user(f"Do step {at}.")
            case "says":
                session.says("Done.")
            case "tool":
                session.tool(str(at), "make", "ok")
            case "parallel":
                session.calls((f"{at}a", "exec", {"command": "ls"}), (f"{at}b", "exec", {"command": "make"}))
                session.result(f"{at}b", "ok")
                session.result(f"{at}a", "ok")
            case "open":
                session.calls((f"{at}", "exec", {}))
            case _:
                session.entry({"type": "label", "targetId": "none"})
    found = survey(session.lines)
    classified = classify(found, Options(keep_tail=keep))
    assert len(classified.classes) == len(found.lines)
    assert set(classified.classes) <= set(CLASSES)
    assert len(found.lines) - classified.tail_start >= min(keep, len(found.lines))
    for unit in found.units:
        assert not unit.lines[0] < classified.tail_start <= unit.lines[-1]


def test_each_line_is_read_once_for_its_class() -> None:
    reads: list[int] = []

    def counted() -> Iterator[bytes]:
        for at, line in enumerate(work_session().lines):
            reads.append(at)
            yield line

    found = survey_session(counted(), choose_weigh("mixed"))
    classify(found, Options())
    assert reads == list(range(len(found.lines)))
