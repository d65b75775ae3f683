"""What holds for every session, however odd: it loads, it is whole, no request is lost, and a second run is quiet."""

from __future__ import annotations

from collections import Counter
from datetime import timedelta

from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from assistant.errors import TranscriptError
from assistant.openclaw.compression import find_faults
from assistant.openclaw.compression_options import MODES, Options
from assistant.openclaw.survey import Survey
from tests.openclaw.sessions import NOW, Session, load_like_openclaw, parsed, shrink, survey

STEPS = st.lists(
    st.tuples(
        st.sampled_from(
            ["ask", "thanks", "answer", "think", "look", "big", "run", "fail", "write", "parallel", "open", "orphan"]
            + [
                "torn",
                "blank",
                "state",
                "unknown",
                "branch",
                "compaction",
                "summary",
                "marker",
                "bare",
                "reset",
                "label",
                "wordy",
                "error",
            ]
        ),
        st.integers(0, 4),
    ),
    min_size=15,
    max_size=45,
)
OPTIONS = st.builds(
    Options,
    mode=st.sampled_from(MODES),
    keep_tail=st.one_of(st.integers(1, 12), st.just("auto")),
    max_iterations=st.sampled_from([3, 5_000]),
    measure_by=st.sampled_from(["raw", "content"]),
    drop_branches=st.booleans(),
    marker_form=st.sampled_from(["system", "custom"]),
    truncate_threshold_chars=st.sampled_from([300, 2_000]),
)
many = settings(
    max_examples=40, deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large]
)


def build(steps: list[tuple[str, int]], version: int | None = 3) -> Session:
    session = Session(version=version)
    session.user("Start with this please.")
    session.says("I start.")
    ids: list[str] = []
    for at, (kind, size) in enumerate(steps):
        text = f"{at} " + "some words here. " * (size * 120)
        if session.leaf is not None:
            ids.append(session.leaf)
        _step(session, kind, at, text, ids[at * 7 % len(ids)] if ids else None)
    session.user("And the end of it?")
    session.says("That is the end.")
    return session


def _step(session: Session, kind: str, at: int, text: str, other: str | None) -> None:
    match kind:
        case "ask":
            session.user(f"Please do {text}")
        case "thanks":
            session.user("谢谢")
        case "answer":
            session.says(text)
        case "think":
            session.says("short", thinking=text)
        case "look":
            session.tool(f"t{at}", "ls", text)
        case "big":
            session.tool(f"t{at % 5}", "cat x", text * 2)
        case "run" | "fail":
            session.tool(f"t{at}", "make", text, is_error=kind == "fail")
        case "write":
            session.calls((f"t{at}", "write", {"path": "a", "content": text * 2}), thinking="hm")
            session.result(f"t{at}", "ok", "write")
        case _:
            _odd_call(session, kind, at, text, other)


def _odd_call(session: Session, kind: str, at: int, text: str, other: str | None) -> None:
    match kind:
        case "parallel":
            session.calls((f"t{at}a", "exec", {"command": "ls"}), (f"t{at}b", "read", {"path": "x"}), text="Both.")
            session.result(f"t{at}b", text * 2, "read")
            session.result(f"t{at}a", "a")
        case "open":
            session.calls((f"t{at}", "exec", {"command": "make"}), stop="aborted")
        case "orphan":
            session.result(f"none{at}", text)
        case "wordy":
            session.calls((f"t{at}", "exec", {"command": "make"}), text=text)
            session.result(f"t{at}", "ok")
        case "error":
            session.tool(f"t{at}", "make", f"Error: {text}")
        case "torn":
            session.raw(b'{"type":"mess\xff' + str(at).encode() + b"\n")
        case "blank":
            session.raw(b"\n")
        case _:
            _odd_step(session, kind, at, text, other)


def _odd_step(session: Session, kind: str, at: int, text: str, other: str | None) -> None:
    match kind:
        case "state":
            session.entry({"type": "model_change", "modelId": "m"})
        case "unknown":
            session.entry({"type": "future", "z": [1.5, None], "a": text})
        case "label":
            session.entry({"type": "label", "targetId": other, "label": "x"})
        case "branch" if session.version is not None and other is not None:
            session.leaf = other
        case "compaction" | "summary":
            kept = {"firstKeptEntryIndex": 1} if session.version is None else {"firstKeptEntryId": other}
            summary = "## Goal\n- go on" if kind == "compaction" else "[SESSION SUMMARY]\n• [Warning] mind the gap"
            session.entry({"type": "compaction", "summary": summary, **kept, "tokensBefore": 1})
        case "marker":
            session.entry({"type": "system", "lastCompressed": "2026-01-01T00:00:00Z", "compressedTokens": at})
        case "bare":
            session.add({"type": "system", "lastCompressed": "2026-01-01T00:00:00Z", "compressedTokens": at})
        case "reset" if session.version is not None:
            session.entry({"type": "reset"})
        case _:
            pass


def dangling(found: Survey) -> Counter[str]:
    calls = Counter(call.id or "" for line in found.lines for call in line.calls)
    results = Counter(result.call_id or "" for line in found.lines for result in line.results)
    return (calls - results) + (results - calls)


def requests(lines: list[bytes]) -> Counter[str]:
    return Counter(
        str(entry["message"])
        for entry in parsed(lines)
        if entry["type"] == "message" and "'user'" in str(entry["message"]) and "谢谢" not in str(entry["message"])
    )


@many
@given(STEPS, OPTIONS, st.sampled_from([None, 2, 3]))
def test_the_new_file_is_a_whole_session(steps: list[tuple[str, int]], options: Options, version: int | None) -> None:
    session = build(steps, version)
    outcome = shrink(session.lines, options)
    before, after = survey(session.lines), survey(outcome.lines)
    # It loads, from the leaf to the root, and nothing in between is missing.
    loaded = load_like_openclaw(outcome.lines)
    assert loaded
    assert len(loaded) == len([at for at in after.walk.context if after.lines[at].kind != "system"])
    assert not dangling(after) - dangling(before)
    broken = [line for line in session.lines if line.startswith(b'{"type":"mess\xff')]
    assert [line for line in outcome.lines if line.startswith(b'{"type":"mess\xff')] == broken
    if options.drop_branches:
        assert requests(list(outcome.lines)) <= requests(session.lines)
    else:
        assert requests(list(outcome.lines)) == requests(session.lines)
    if outcome.status != "nothing":
        on_path = [after.lines[at].kind for at in after.walk.path]
        assert on_path.count("summary") == 1
        assert sum(line.kind == "marker" for line in after.lines) == 1
        assert after.marker is not None and after.marker.tokens == outcome.tokens_after
        assert outcome.tokens_after < outcome.tokens_before * 0.9


# A label on an output before the tail, which begins earlier once the branch is gone.
LABELLED_BEFORE_A_BRANCH = (
    [("ask", 0)] * 6
    + [("look", 1), ("ask", 0), ("ask", 0), ("ask", 3), ("thanks", 0), ("thanks", 0), ("look", 0), ("label", 0)]
    + [("ask", 0)] * 9
    + [("branch", 0)]
)
# A reset in the tail: summary and marker are put behind it.
RESET_IN_THE_TAIL = (
    [("ask", 0)] * 35
    + [("answer", 1), ("ask", 0), ("thanks", 0), ("thanks", 0), ("answer", 2), ("fail", 0), ("reset", 0)]
    + [("ask", 0), ("ask", 0), ("look", 0)]
)

# A summary before the tail, and a turn that begins just as far before that as the tail may still grow.
SUMMARY_BEFORE_THE_TAIL = (
    [("thanks", 0), ("thanks", 0), ("look", 0), ("look", 0), ("parallel", 0), ("compaction", 0), ("thanks", 0)]
    + [("ask", 0)] * 4
    + [("ask", 2), ("look", 0), ("look", 1), ("bare", 0)]
)

# What the first run leaves lies so little below the target that a frame weighed at its longest goes over it.
JUST_BELOW_THE_TARGET = [("look", 0)] * 7 + [
    ("open", 0),
    ("torn", 0),
    ("torn", 0),
    ("unknown", 0),
    ("label", 0),
    ("label", 0),
    ("wordy", 4),
    ("error", 0),
]


@many
@example(JUST_BELOW_THE_TARGET, Options(keep_tail="auto", marker_form="custom", truncate_threshold_chars=300))
@example(LABELLED_BEFORE_A_BRANCH, Options(keep_tail=10, drop_branches=True, truncate_threshold_chars=300))
@example(RESET_IN_THE_TAIL, Options(keep_tail=7, truncate_threshold_chars=300))
@example(SUMMARY_BEFORE_THE_TAIL, Options(mode="aggressive", keep_tail=12))
@given(STEPS, OPTIONS)
def test_a_second_run_changes_nothing(steps: list[tuple[str, int]], options: Options) -> None:
    if options.max_iterations < 5_000:
        options = Options(mode=options.mode, keep_tail=options.keep_tail)
    first = shrink(build(steps).lines, options)
    second = shrink(first.lines, options, NOW + timedelta(days=1))
    assert second.status == "nothing"
    assert second.lines == first.lines


@many
@given(STEPS, OPTIONS)
def test_what_reaches_the_model_keeps_its_order(steps: list[tuple[str, int]], options: Options) -> None:
    session = build(steps)
    outcome = shrink(session.lines, options)
    order = [entry.get("id") for entry in parsed(session.lines)]
    walked = [survey(outcome.lines).lines[at].id for at in survey(outcome.lines).walk.context]
    places = [order.index(entry_id) for entry_id in walked if entry_id in order]
    summaries = {line.id for line in survey(session.lines).lines if line.kind == "summary"}
    assert places[1:] == sorted(places[1:]) if walked and walked[0] in summaries else places == sorted(places)


@given(st.binary(max_size=300))
def test_no_bytes_bring_the_reader_down(junk: bytes) -> None:
    try:
        found = survey(junk.splitlines(keepends=True))
    except TranscriptError:
        return
    assert b"".join(line.raw for line in found.lines) == junk


def test_a_fault_in_the_new_file_is_found_before_it_is_written() -> None:
    # The maker and the checker are two pieces of code: a file with a lost result does not pass.
    session = build([("run", 1), ("ask", 1)])
    whole = survey(session.lines)
    broken = survey([line for line in session.lines if b'"toolCallId":"t0"' not in line])
    assert any("has lost its result" in fault for fault in find_faults(whole, broken, frozenset(), frozenset()))
