"""From lines to lines: modes, ladder, order, limits, and every form of file."""

from __future__ import annotations

import json
from datetime import timedelta

import pytest

from assistant.errors import TranscriptError
from assistant.openclaw.compression_options import CompressionMode, Options
from assistant.openclaw.line_classes import classify
from assistant.openclaw.session_entries import Fields
from assistant.openclaw.session_sizes import choose_weigh, measure_session
from tests.openclaw.sessions import NOW, Session, load_like_openclaw, parsed, shrink, survey, work_session


def kinds(lines: tuple[bytes, ...]) -> list[object]:
    return [entry.get("type") for entry in parsed(lines)]


def texts(lines: tuple[bytes, ...]) -> str:
    return b"".join(lines).decode()


def gone(session: Session, options: Options) -> dict[str, tuple[int, int]]:
    """Lines and removed lines of each class."""
    outcome = shrink(session.lines, options)
    return {found.name: (found.lines, found.removed) for found in outcome.classes if found.lines}


def test_the_file_is_header_summary_marker_then_what_stays_in_order() -> None:
    session = work_session()
    outcome = shrink(session.lines, Options(mode="aggressive", keep_tail=2))
    assert kinds(outcome.lines)[:4] == ["session", "compaction", "system", "model_change"]
    assert outcome.lines[-2:] == tuple(session.lines[-2:])
    assert outcome.status == "done"
    order = [entry["id"] for entry in parsed(session.lines)]
    stays = [order.index(entry["id"]) for entry in parsed(outcome.lines)[3:]]
    assert stays == sorted(stays)


def test_light_deletes_looks_round_only_and_cuts_outputs() -> None:
    found = gone(work_session(outputs=40, chars=2_500), Options(mode="light", keep_tail=2))
    assert found == {
        "P1": (40, 40),
        "P2": (80, 80),
        "P3": (120, 40),  # the calls whose large results went
        "P4": (3, 0),
        "P5": (2, 0),
        "P6": (3, 0),
        "P7": (2, 0),
        "P8": (1, 0),
        "P10": (1, 0),
    }


def test_standard_deletes_routine_calls_condenses_explanations_and_counts_pleasantries() -> None:
    session = Session()
    for number in range(60):
        session.user(f"Please do step {number} of the long plan, with all its parts. " * 3)
        session.says(f"Step {number} is done. " + "It was done with care and in order. " * 12)
        session.user("谢谢")
        session.says("不客气")
    session.turns(1)
    outcome = shrink(session.lines, Options(keep_tail=2))
    by_name = {found.name: found for found in outcome.classes}
    assert by_name["P4"].removed == 0 and by_name["P4"].shortened == 60
    assert by_name["P5"].removed == by_name["P5"].lines == 120
    assert "Step 0 is done....[condensed, 433 chars omitted]" in texts(outcome.lines)


def test_aggressive_deletes_explanations_and_puts_their_gist_into_summary_and_diary() -> None:
    session = Session()
    for number in range(30):
        session.user(f"Do step {number}.")
        session.says(f"Step {number} is done. " + "It was done with care. " * 30)
    outcome = shrink(session.lines, Options(mode="aggressive", keep_tail=2))
    by_name = {found.name: found for found in outcome.classes}
    assert by_name["P4"].removed > 20 and by_name["P6"].removed == 0
    assert "Step 28 is done." in outcome.diary[-1].content
    assert any("Step 9 is done." in bullet.text for bullet in outcome.summary.bullets)


def large(count: int, chars: int = 4_000) -> Session:
    session = Session()
    session.user("Read the logs.")
    for number in range(count):
        session.tool(f"c{number}", f"cat {number}.log", f"{number}-" + "x" * chars)
    session.says("last")
    return session


@pytest.mark.parametrize(
    ("count", "shortest", "removed"),
    [(10, "x" * 498 + "...[truncated", 0), (15, "x" * 198 + "...[truncated", 0), (60, "x" * 197 + "...[truncated", 90)],
    ids=["first-rung-is-enough", "second-rung-is-enough", "the-oldest-go"],
)
def test_the_ladder_stops_at_the_first_rung_that_meets_the_target(count: int, shortest: str, removed: int) -> None:
    outcome = shrink(large(count).lines, Options(mode="standard", keep_tail=1))
    assert outcome.status == "done"
    assert shortest in texts(outcome.lines)
    assert outcome.removed_lines == removed
    if count == 10:
        assert "x" * 499 not in texts(outcome.lines)


def test_a_cut_output_keeps_the_name_of_its_tool_and_its_calls_arguments() -> None:
    outcome = shrink(large(10).lines, Options(keep_tail=1))
    entries = parsed(outcome.lines)
    call, result = (entry["message"] for entry in entries[4:6])
    assert isinstance(call, dict) and isinstance(result, dict)
    assert call["content"][0]["arguments"] == {"command": "cat 0.log"}
    assert result["toolName"] == "exec" and result["toolCallId"] == "c0"


def test_deletion_goes_from_low_class_to_high_the_oldest_first_and_stops_at_the_target() -> None:
    session = Session()
    session.user("Work.")
    for number in range(40):
        session.tool(f"a{number}", "ls", "x" * 100)
        session.tool(f"b{number}", "make", "x" * 100)
    session.says("last")
    outcome = shrink(session.lines, Options(keep_tail=1))
    by_name = {found.name: found for found in outcome.classes}
    assert by_name["P2"].removed == 80
    assert 0 < by_name["P3"].removed < 80
    left = [entry["message"] for entry in parsed(outcome.lines) if entry["type"] == "message"]
    assert '"b39"' in json.dumps(left) and '"b0"' not in json.dumps(left)
    assert outcome.tokens_after <= 4_000 < outcome.tokens_after + 250


def test_each_deleted_line_counts_and_the_limit_ends_the_run_with_what_there_is() -> None:
    outcome = shrink(large(60).lines, Options(keep_tail=1, max_iterations=11))
    assert outcome.removed_lines == 10
    assert outcome.hit_limit
    assert outcome.status == "partial"
    assert (
        texts(outcome.lines).count("...[truncated, 3802 chars")
        + texts(outcome.lines).count("...[truncated, 3803 chars")
        == 55
    )


def test_the_tail_is_never_deleted_but_its_large_outputs_may_be_cut_last() -> None:
    outcome = shrink(large(20).lines, Options(keep_tail=60))
    assert outcome.removed_lines == 0
    assert outcome.tail_lines_cut == 20
    assert len(outcome.lines) == len(large(20).lines) + 2


def test_the_newest_step_is_not_cut_even_then() -> None:
    session = large(20)
    session.lines.pop()
    outcome = shrink(session.lines, Options(keep_tail=60))
    assert outcome.lines[-1] == session.lines[-1]


def test_the_target_that_was_not_met_is_partial_and_counted() -> None:
    session = Session()
    for number in range(40):
        session.user(f"Please keep requirement {number}: " + "it matters to us a lot. " * 20)
        session.says("Noted. " + "I have written it down for later. " * 20)
    outcome = shrink(session.lines, Options(keep_tail=2))
    assert (outcome.status, outcome.misses) == ("partial", 1)
    again = Session(header=False)
    again.lines = list(outcome.lines)
    again.leaf = "e0000080"
    again._count = 80  # pyright: ignore[reportPrivateUsage]
    again.turns(40, 800)
    second = shrink(again.lines, Options(keep_tail=2), NOW + timedelta(days=2))
    assert (second.status, second.misses) == ("partial", 2)


def test_less_than_a_tenth_leaves_the_file_as_it_was() -> None:
    session = Session()
    for number in range(60):
        session.user(f"Please keep requirement {number}: " + "it matters to us a lot. " * 20)
        session.says("Noted.")
    outcome = shrink(session.lines, Options(keep_tail=2))
    assert outcome.status == "nothing"
    assert list(outcome.lines) == session.lines
    assert outcome.tokens_after == outcome.tokens_before


def test_a_second_run_on_what_is_left_changes_nothing() -> None:
    outcome = shrink(work_session().lines, Options(keep_tail=2))
    assert shrink(outcome.lines, Options(keep_tail=2), NOW + timedelta(days=1)).status == "nothing"


@pytest.mark.parametrize("kind", ["explained", "error", "exit note"])
def test_a_shortened_line_is_of_the_class_it_was_and_does_not_go_the_next_time(kind: str) -> None:
    session = Session()
    session.user("Start.")
    for number in range(60):
        words = f"I explain step {number} now. " + "It is so because of that. " * 20 if kind == "explained" else ""
        output = {"explained": "ok", "error": "Error: it broke\n" + "x " * 1_500}.get(
            kind, "x " * 1_500 + "\nexit code 2"
        )
        session.calls((f"{number}", "exec", {"command": "make"}), text=words)
        session.result(f"{number}", output)
    session.says("last")
    first = shrink(session.lines, Options(keep_tail=1))
    assert first.status == "partial"
    before, after = survey(session.lines), survey(first.lines)
    kept = classify(after, Options(keep_tail=1)).classes
    assert [line.kind for line in after.lines].count("assistant") == [line.kind for line in before.lines].count(
        "assistant"
    )
    assert kept.count("P4") >= 60
    second = shrink(first.lines, Options(keep_tail=1), NOW + timedelta(days=1))
    assert (second.status, second.lines) == ("nothing", first.lines)


def test_a_labelled_entry_is_not_cut_in_the_tail_either() -> None:
    session = large(20)
    marked = parsed(session.lines)[-2]
    session.entry({"type": "label", "targetId": marked["id"], "label": "here"})
    outcome = shrink(session.lines, Options(keep_tail=60))
    assert json.dumps(marked["message"]) in [json.dumps(entry.get("message")) for entry in parsed(outcome.lines)]
    assert outcome.tail_lines_cut == 19


def test_the_marker_holds_the_literal_keys_and_a_place_in_the_tree() -> None:
    outcome = shrink(work_session().lines, Options(keep_tail=2))
    summary, marker = parsed(outcome.lines)[1:3]
    assert marker == {
        "type": "system",
        "lastCompressed": "2026-04-21T12:00:00+08:00",
        "compressedTokens": outcome.tokens_after,
        "misses": 0,
        "mode": "standard",
        "target": 4_000,
        "id": marker["id"],
        "parentId": summary["id"],
        "timestamp": "2026-04-21T04:00:00.000Z",
    }
    assert outcome.tokens_after == measure_session(survey(outcome.lines)).tokens


def test_a_strict_loader_gets_the_marker_as_a_custom_entry() -> None:
    outcome = shrink(work_session().lines, Options(keep_tail=2, marker_form="custom"))
    marker = parsed(outcome.lines)[2]
    assert (marker["type"], marker["customType"]) == ("custom", "context-compressor")
    found = survey(outcome.lines).marker
    assert found is not None and found.tokens == outcome.tokens_after


def test_there_is_one_marker_however_often_a_session_is_compressed() -> None:
    session = Session()
    session.user("Start.")
    session.add({"type": "system", "lastCompressed": "2026-04-01T00:00:00Z", "compressedTokens": 9})
    session.lines.extend(Session(header=False).lines)
    for number in range(40):
        session.tool(str(number), "make", "x" * 600)
    session.says("last")
    first = shrink(session.lines, Options(keep_tail=1))
    assert kinds(first.lines).count("system") == 1
    again = Session(header=False)
    again.lines = [*first.lines]
    again.leaf, again._count = session.leaf, 500  # pyright: ignore[reportPrivateUsage]
    for number in range(40):
        again.tool(f"n{number}", "make", "y" * 600)
    second = shrink(again.lines, Options(keep_tail=1))
    assert kinds(second.lines).count("system") == kinds(second.lines).count("compaction") == 1


def test_an_entry_that_hung_on_nothing_after_a_bare_marker_is_in_the_walk_again() -> None:
    session = work_session()
    last = json.loads(session.lines[-1])
    session.lines.insert(-1, b'{"type":"system","lastCompressed":"2026-04-01T00:00:00Z","compressedTokens":9}\n')
    del last["parentId"]
    session.lines[-1] = json.dumps(last).encode() + b"\n"
    assert len(load_like_openclaw(session.lines)) == 1
    outcome = shrink(session.lines, Options(keep_tail=4))
    assert len(load_like_openclaw(outcome.lines)) == len(
        [e for e in parsed(outcome.lines) if e["type"] in ("message", "compaction")]
    )


def test_deleted_lines_leave_no_gap_in_the_walk() -> None:
    session = work_session()
    outcome = shrink(session.lines, Options(mode="aggressive", keep_tail=2))
    loaded = load_like_openclaw(outcome.lines)
    in_file = [e for e in parsed(outcome.lines) if e["type"] in ("message", "compaction")]
    assert len(loaded) == len(in_file)
    assert loaded[0].startswith("summary: [SESSION SUMMARY]")
    assert loaded[-2:] == load_like_openclaw(session.lines)[-2:]


def test_an_abandoned_branch_stays_and_hangs_on_what_is_left_of_its_parent() -> None:
    session = Session()
    root = session.user("Start.")
    session.tool("1", "make", "x" * 600)
    fork = session.leaf
    dead = session.user("dead end")
    session.leaf = fork
    for number in range(2, 60):
        session.tool(str(number), "make", "x" * 600)
    session.says("last")
    outcome = shrink(session.lines, Options(keep_tail=1))
    entries = {entry.get("id"): entry for entry in parsed(outcome.lines)}
    assert entries[dead]["parentId"] == root
    assert fork not in entries
    dropped = shrink(session.lines, Options(keep_tail=1, drop_branches=True))
    assert dead not in {entry.get("id") for entry in parsed(dropped.lines)}


def test_a_labelled_entry_stays() -> None:
    session = Session()
    session.user("Start.")
    session.calls(("0", "exec", {"command": "make"}))
    marked = session.result("0", "kept")
    session.entry({"type": "label", "targetId": marked, "label": "here"})
    for number in range(1, 60):
        session.tool(str(number), "make", "x" * 600)
    session.says("last")
    outcome = shrink(session.lines, Options(keep_tail=1))
    assert "kept" in texts(outcome.lines) and '"0"' in texts(outcome.lines)


def test_parallel_calls_go_together_or_leave_a_stub() -> None:
    session = Session()
    session.user("Start.")
    for number in range(12):
        session.calls((f"{number}a", "read", {"path": "a"}), (f"{number}b", "exec", {"command": "make"}))
        session.result(f"{number}a", "x" * 4_000, "read")
        session.result(f"{number}b", "built")
    session.says("last")
    light = shrink(session.lines, Options(mode="light", keep_tail=1, truncate_size_chars=2_000))
    assert light.removed_lines == 0
    stub = shrink(session.lines * 1, Options(mode="light", keep_tail=1, measure_by="content", char_threshold=1))
    assert stub.removed_lines == 0
    for outcome in (light, stub):
        found = survey(outcome.lines)
        assert all(unit.open_calls == 0 and len(unit.lines) == 3 for unit in found.units)


def test_a_stub_takes_the_place_of_an_output_whose_call_must_stay() -> None:
    session = Session()
    session.user("Start.")
    for number in range(40):
        session.calls((f"{number}", "read", {"path": "a"}), text=f"I read part {number} because " + "it matters. " * 40)
        session.result(f"{number}", "x" * 4_000, "read")
    session.says("last")
    outcome = shrink(session.lines, Options(mode="light", keep_tail=1))
    assert texts(outcome.lines).count('"text":"...[truncated, 4000 chars omitted]"') > 0
    assert all(unit.open_calls == 0 for unit in survey(outcome.lines).units)


def test_old_thinking_is_dropped_and_the_tails_is_kept() -> None:
    session = Session()
    for number in range(40):
        session.user(f"Question {number}, please look into it.")
        session.says(f"Answer {number}.", thinking="I wonder. " * 60)
    outcome = shrink(session.lines, Options(mode="light", keep_tail=2))
    assert texts(outcome.lines).count('"type":"thinking"') == 1


def test_an_earlier_compaction_keeps_its_place_and_what_it_left_out_stays_out() -> None:
    session = Session()
    session.user("Out of the context long ago.")
    session.says("Yes.")
    kept = session.user("Kept by the compaction.")
    session.entry({"type": "compaction", "summary": "## Goal\n- Build it", "firstKeptEntryId": kept, "tokensBefore": 9})
    for number in range(60):
        session.tool(str(number), "make", "x" * 600)
    session.says("last")
    outcome = shrink(session.lines, Options(keep_tail=1))
    loaded = load_like_openclaw(outcome.lines)
    assert loaded[0].startswith("summary: [SESSION SUMMARY]")
    assert "Kept by the compaction." in loaded[1]
    assert "Out of the context" not in "".join(loaded)
    assert "Out of the context" in texts(outcome.lines)
    assert kinds(outcome.lines).count("compaction") == 1
    assert outcome.diary[0].content == "## Goal\n- Build it"


def test_a_reset_is_not_undone() -> None:
    session = Session()
    session.user("Before the reset.")
    session.entry({"type": "reset"})
    for number in range(60):
        session.tool(str(number), "make", "x" * 600)
    session.user("After it.")
    session.says("last")
    outcome = shrink(session.lines, Options(keep_tail=1))
    assert kinds(outcome.lines)[:5] == ["session", "message", "reset", "compaction", "system"]
    assert "Before the reset." not in "".join(load_like_openclaw(outcome.lines))


def test_a_version_1_file_stays_one_and_its_summary_counts_lines() -> None:
    session = Session(version=None)
    for number in range(60):
        session.tool(str(number), "make", "x" * 600)
    session.user("Last wish.")
    session.says("last")
    outcome = shrink(session.lines, Options(keep_tail=2))
    entries = parsed(outcome.lines)
    assert "version" not in entries[0] and "id" not in entries[1]
    kept = entries[1]["firstKeptEntryIndex"]
    assert isinstance(kept, int) and "Last wish." in json.dumps(entries[kept])
    assert [text[:4] for text in load_like_openclaw(outcome.lines)][0] == "summ"
    assert len(load_like_openclaw(outcome.lines)) == len(entries) - 2


def test_a_plain_file_gets_one_system_message_after_its_own() -> None:
    session = Session(header=False)
    session.add({"role": "system", "content": "You are kind."})
    for number in range(60):
        session.add({"role": "user", "content": f"Do step {number} please."})
        session.add({"role": "assistant", "content": f"Step {number} is done. " + "With care. " * 60})
    outcome = shrink(session.lines, Options(mode="aggressive", keep_tail=2))
    entries = parsed(outcome.lines)
    assert entries[0] == {"role": "system", "content": "You are kind."}
    assert entries[1]["role"] == "system" and str(entries[1]["content"]).startswith("[SESSION SUMMARY]")
    assert set(entries[2]) == {"type", "lastCompressed", "compressedTokens", "misses", "mode", "target"}
    again = shrink([*outcome.lines, *session.lines[1:]], Options(mode="aggressive", keep_tail=2))
    assert sum("[SESSION SUMMARY]" in json.dumps(entry) for entry in parsed(again.lines)) == 1


@pytest.mark.parametrize("dialect", ["anthropic", "openai"])
def test_look_alikes_lose_calls_and_results_together(dialect: str) -> None:
    session = Session(header=False)
    session.add({"role": "user", "content": "Start."})
    for number in range(60):
        call, result = _pair(dialect, str(number))
        session.add(call).add(result)
    session.add({"role": "assistant", "content": "last"})
    outcome = shrink(session.lines, Options(keep_tail=1))
    assert outcome.status == "done"
    assert all(len(unit.lines) == 2 and unit.open_calls == 0 for unit in survey(outcome.lines).units)


def _pair(dialect: str, call_id: str) -> tuple[Fields, Fields]:
    if dialect == "anthropic":
        return (
            {
                "role": "assistant",
                "content": [{"type": "tool_use", "id": call_id, "name": "make", "input": {"x": "y"}}],
            },
            {"role": "user", "content": [{"type": "tool_result", "tool_use_id": call_id, "content": "x" * 600}]},
        )
    function: Fields = {"name": "make", "arguments": "{}"}
    return (
        {
            "role": "assistant",
            "content": None,
            "tool_calls": [{"id": call_id, "type": "function", "function": function}],
        },
        {"role": "tool", "tool_call_id": call_id, "content": "x" * 600},
    )


def test_lines_that_do_not_parse_stay_byte_for_byte() -> None:
    session = work_session()
    session.lines.insert(5, b'{"torn": \xff\xfe\n')
    session.lines.insert(6, b"\n")
    session.lines.append(b'{"type":"message","id":"zz","par')
    outcome = shrink(session.lines, Options(mode="aggressive", keep_tail=3))
    by_name = {found.name: found for found in outcome.classes}
    assert [line for line in outcome.lines if line in (b'{"torn": \xff\xfe\n', b"\n", session.lines[-1])] == [
        b'{"torn": \xff\xfe\n',
        b"\n",
        session.lines[-1],
    ]
    assert (by_name["P0"].lines, by_name["P0"].removed) == (3, 0)


def test_byte_order_mark_and_windows_line_ends_stay() -> None:
    session = Session(newline="\r\n")
    session.lines[0] = b"\xef\xbb\xbf" + session.lines[0]
    for number in range(60):
        session.user(f"Step {number}, please do it.")
        session.tool(str(number), "make", "x" * 600)
    session.says("last")
    outcome = shrink(session.lines, Options(keep_tail=1))
    assert outcome.lines[0] == session.lines[0]
    assert all(line.endswith(b"\r\n") for line in outcome.lines)


def test_unknown_types_and_fields_stay_as_they_were() -> None:
    session = work_session()
    odd = b'{"type":"future","z":1,"a":{"b":[1.50,"\\u00e9"]},"id":17}\n'
    session.lines.insert(3, odd)
    outcome = shrink(session.lines, Options(mode="aggressive", keep_tail=2))
    assert odd in outcome.lines


@pytest.mark.parametrize("who", ["user", "assistant"])
def test_a_session_without_one_of_the_voices_is_left_alone(who: str) -> None:
    session = Session()
    for _ in range(60):
        if who == "assistant":
            session.user("Where are you? " * 30)
            empty: Fields = {"role": "assistant", "content": [], "stopReason": "error", "errorMessage": "no key"}
            session.message(empty)
        else:
            session.says("Hello? " * 30)
    with pytest.raises(TranscriptError, match=f"no {who} message"):
        shrink(session.lines, Options())


@pytest.mark.parametrize(("mode", "target"), [("light", 6_000), ("standard", 4_000), ("aggressive", 2_500)])
def test_each_mode_has_its_target(mode: CompressionMode, target: int) -> None:
    session = Session()
    session.user("Start.")
    for number in range(200):
        session.tool(str(number), "ls", "x" * 600)
    session.says("last")
    outcome = shrink(session.lines, Options(mode=mode, keep_tail=1))
    assert target - 300 < outcome.tokens_after <= target


def test_raw_and_content_are_both_counted_and_either_may_be_the_measure() -> None:
    session = Session()
    session.user("12345")
    session.says("123")
    size = measure_session(survey(session.lines))
    assert size.chars == len(b"".join(session.lines))
    assert (size.context_chars, size.tokens, size.context_tokens) == (8, size.chars // 3, 2)
    by_content = shrink(work_session().lines, Options(keep_tail=2, measure_by="content", mode="aggressive"))
    assert by_content.tokens_after == by_content.after.context_tokens


def test_a_tokenizer_goes_before_the_divisors() -> None:
    assert choose_weigh("mixed", lambda text: 7)("x" * 300) == 7
    assert [choose_weigh(name)("中文ab") for name in ("mixed", "chinese", "english", "code", "auto")] == [
        pytest.approx(4 / 3),
        pytest.approx(4 / 1.5),
        1.0,
        pytest.approx(4 / 3.5),
        pytest.approx(2 / 1.5 + 2 / 4),
    ]


def test_every_bullet_that_stands_in_the_diary_says_where() -> None:
    session = Session()
    session.user("From now on answer in French. We decided to use plan A.")
    session.says("The root cause was a stale lock.")
    session.user("Go on with it.")
    for number in range(60):
        session.tool(str(number), "make", "x" * 600)
    session.says("last")
    outcome = shrink(session.lines, Options(keep_tail=1))
    assert {bullet.tag: bullet.reference for bullet in outcome.summary.bullets} == {
        "State": "",
        "Decision": "memory/2026-04-21.md##Decision: We decided to use plan A.",
        "Technical": "memory/2026-04-21.md##Technical: The root cause was a stale lock.",
        "Fact": "SOUL.md",
    }


def test_a_settled_warning_leaves_the_summary_and_is_told() -> None:
    session = Session()
    earlier = "[SESSION SUMMARY]\n• [Warning] The staging server is slow"
    session.entry({"type": "compaction", "summary": earlier, "firstKeptEntryId": "x", "tokensBefore": 1})
    session.user("The slow staging server was fixed this morning.")
    for number in range(60):
        session.tool(str(number), "make", "x" * 600)
    session.says("last")
    outcome = shrink(session.lines, Options(keep_tail=1))
    assert outcome.solved_warnings == ("The staging server is slow",)
    assert "[Warning] The staging server is slow" in outcome.diary[-1].content
    assert "[Warning]" not in texts(outcome.lines)
