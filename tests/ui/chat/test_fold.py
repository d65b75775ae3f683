"""Events become entries: one told twice stands once, and nothing spins after the end."""

from __future__ import annotations

from dataclasses import replace

import pytest

from assistant.messages.events import (
    AllowanceScope,
    AllowedBy,
    ApprovalRequested,
    CompactionUndone,
    Event,
    FlushFinished,
    MemoryChanged,
    Notice,
    Spent,
    TextDelta,
    TextRetracted,
    ThinkingDelta,
    ToolFinished,
    ToolOutput,
    ToolStarted,
    TurnFailed,
    TurnFinished,
    TurnStarted,
)
from assistant.ui.chat.entries import (
    ApprovalEntry,
    CompactionEntry,
    Edited,
    EndEntry,
    MemoryEntry,
    NoticeEntry,
    TextEntry,
    ThinkingRow,
    ToolRow,
    Transcript,
    UserEntry,
    WorkEntry,
)
from assistant.ui.chat.fold import Answered, Retried, close_cut_turn, fold, fold_all
from tests.ui.sample_events import compaction

AT = "2026-11-30T14:05:00+01:00"
QUESTION = TurnStarted("t1", "m1", "Hello", AT)
ASK = ApprovalRequested("c1", "Bash", "{}", "rm -rf build", "It deletes files.")


def told(*events: Event) -> Transcript:
    """The transcript after these events."""
    return fold_all(Transcript(), events)


def test_a_turn_is_a_question_an_answer_and_an_end() -> None:
    transcript = told(
        QUESTION,
        TextDelta("b1", "Good "),
        TextDelta("b1", "day"),
        TurnFinished("t1", "completed", 9, 2, AT, Spent(9, 0, 2)),
    )
    assert transcript == Transcript(
        entries=(
            UserEntry("Hello", "m1", AT),
            TextEntry("b1", "Good day"),
            EndEntry("t1", "completed", output_tokens=2, at=AT, spent=Spent(9, 0, 2)),
        )
    )


def test_thinking_and_calls_that_follow_each_other_are_one_entry() -> None:
    transcript = told(
        QUESTION,
        ThinkingDelta("b1", "I "),
        ThinkingDelta("b1", "look"),
        ToolStarted("c1", "Bash", '{"command": "ls"}'),
        ToolOutput("c1", "a\n"),
        ToolFinished("c1", "Bash", "success", "a\nb"),
        TextDelta("b2", "Two files."),
    )
    assert transcript.entries[1:] == (
        WorkEntry((ThinkingRow("b1", "I look"), ToolRow("c1", "Bash", '{"command": "ls"}', "success", "a\nb"))),
        TextEntry("b2", "Two files."),
    )


def test_text_that_was_thinking_becomes_a_fold_before_the_rest_of_it() -> None:
    transcript = told(QUESTION, TextDelta("b1", "Hm.\n\nYes."), ToolStarted("c1", "Bash", "{}"), TextRetracted("b1", 3))
    assert transcript.entries[1:] == (
        WorkEntry((ThinkingRow("b1-thought", "Hm."),)),
        TextEntry("b1", "Yes."),
        WorkEntry((ToolRow("c1", "Bash", "{}", "running"),)),
    )


def test_many_calls_do_not_grow_one_entry_for_ever() -> None:
    calls = [ToolStarted(f"c{number}", "Read", "{}") for number in range(20)]
    sizes = [len(entry.rows) for entry in told(QUESTION, *calls).entries if isinstance(entry, WorkEntry)]
    assert sizes == [8, 8, 4]


def test_a_call_that_is_told_twice_stands_once() -> None:
    call = ToolStarted("c1", "Read", "{}")
    assert told(QUESTION, call, call) == told(QUESTION, call)


def test_a_compaction_and_a_memory_change_that_are_told_twice_stand_once() -> None:
    event, change = compaction("k1"), MemoryChanged("USER.md", "owner", "+a", "h1")
    assert told(event, change, event, change).entries == (CompactionEntry(event), MemoryEntry((change,)))


def test_a_parked_call_is_pending_until_it_is_answered() -> None:
    parked = told(QUESTION, ToolStarted("c1", "Bash", "{}"), ASK, TurnFinished("t1", "awaiting_approval"))
    assert parked.pending_calls == ("c1",)
    assert parked.last_end is None
    answered = fold(parked, Answered("c1", True))
    assert answered.pending_calls == ()
    assert answered.entries[1:] == (WorkEntry((ToolRow("c1", "Bash", "{}", "running"),)), ApprovalEntry(ASK, "allowed"))


@pytest.mark.parametrize(
    ("state", "settled"), [("success", "allowed"), ("error", "allowed"), ("denied", "denied"), ("interrupted", "ended")]
)
def test_the_result_of_a_call_settles_its_approval(state: str, settled: str) -> None:
    done = ToolFinished("c1", "Bash", state, "out")  # type: ignore[arg-type]
    assert told(QUESTION, ASK, done).entries[-1] == ApprovalEntry(ASK, settled)  # type: ignore[arg-type]


def test_a_turn_that_goes_on_drops_the_card_that_offered_to_continue() -> None:
    stopped = told(QUESTION, TextDelta("b1", "Half"), TurnFinished("t1", "max_steps", at=AT))
    assert stopped.last_end == EndEntry("t1", "max_steps", at=AT)
    going_on = fold(stopped, TurnStarted("t1", "m1", "", AT))
    assert going_on.entries == (UserEntry("Hello", "m1", AT), TextEntry("b1", "Half"))
    assert going_on.last_end is None


def test_a_second_try_takes_the_place_of_the_answer_so_far() -> None:
    failed = told(QUESTION, TextDelta("b1", "Half"), TurnFailed("t1", "gone", AT))
    again = fold(fold(failed, Retried()), TurnStarted("t1", "m1", "", AT))
    assert again.entries == (UserEntry("Hello", "m1", AT),)


def test_nothing_runs_any_more_when_the_turn_has_ended() -> None:
    transcript = told(QUESTION, ToolStarted("c1", "Bash", "{}"), ASK, TurnFinished("t1", "interrupted"))
    assert transcript.entries[1:3] == (
        WorkEntry((ToolRow("c1", "Bash", "{}", "interrupted"),)),
        ApprovalEntry(ASK, "ended"),
    )


def test_a_past_turn_without_an_end_counts_as_interrupted() -> None:
    cut = close_cut_turn(told(QUESTION, TextDelta("b1", "Half")))
    assert cut.last_end == EndEntry("t1", "interrupted")
    assert close_cut_turn(cut) == cut


def test_only_the_newest_standing_compaction_can_be_undone() -> None:
    both = told(compaction("k1"), compaction("k2"))
    assert both.undoable == "k2"
    undone = fold(both, CompactionUndone("k2", 46))
    assert undone.undoable == "k1"
    assert undone.compactions == (compaction("k1"), replace(compaction("k2"), is_undone=True))


def test_the_flush_settles_on_the_card_of_its_compaction() -> None:
    pending = replace(compaction("k1"), flush="pending")
    assert told(pending, FlushFinished("k1", "failed")).compactions == (replace(pending, flush="failed"),)


def test_an_event_of_something_unknown_changes_nothing() -> None:
    nothing = told(ToolOutput("c9", "x"), CompactionUndone("k9", 1), FlushFinished("k9", "done"))
    assert nothing == Transcript()


def test_a_notice_stands_where_it_was_told() -> None:
    assert told(Notice("Careful")).entries == (NoticeEntry("Careful", "warning"),)


def test_an_edited_message_stands_in_place_of_the_old_one_and_all_behind_it() -> None:
    transcript = told(
        TurnStarted("t0", "m0", "Before", AT),
        TurnFinished("t0", "completed", at=AT),
        QUESTION,
        TextDelta("b1", "Good day"),
        compaction("k1"),
        TurnFinished("t1", "completed", at=AT),
        TurnStarted("t2", "m2", "More", AT),
        TurnFinished("t2", "completed", at=AT),
    )
    transcript = fold(transcript, Edited("m1", "Hello again"))
    transcript = fold(transcript, Notice("The flush is done.", "info"))
    transcript = fold(transcript, TurnStarted("t3", "m3", "Hello again", AT))
    assert [type(entry) for entry in transcript.entries] == [UserEntry, EndEntry, CompactionEntry, UserEntry]
    assert transcript.entries[-1] == UserEntry("Hello again", "m3", AT)
    assert transcript.question("m1") is None


def test_an_edit_that_was_refused_drops_nothing_later() -> None:
    transcript = fold(told(QUESTION, TextDelta("b1", "Good day")), Edited("m1", "Hello again"))
    transcript = fold(transcript, Notice("This message was folded."))
    transcript = fold(transcript, TurnStarted("t2", "m2", "Something else", AT))
    assert [entry.message_id for entry in transcript.entries if isinstance(entry, UserEntry)] == ["m1", "m2"]
    assert transcript.edited is None


def test_what_is_told_twice_stands_once_however_long_the_conversation_is() -> None:
    events: list[Event] = []
    for number in range(1_000):
        events += [
            TurnStarted(f"t{number}", f"m{number}", "Hello", AT),
            ToolStarted(f"c{number}", "Read", "{}"),
            ToolFinished(f"c{number}", "Read", "success", "text"),
            TurnFinished(f"t{number}", "completed", 1, 1, AT),
        ]
    transcript = told(*events)
    again = fold_all(transcript, events[-4:-2])
    assert (len(transcript.entries), len(again.entries)) == (3_000, 2_999)


@pytest.mark.parametrize("scope", [None, "conversation", "always"])
def test_an_answered_approval_stays_one_object_that_says_for_how_long(scope: AllowanceScope | None) -> None:
    asked = told(QUESTION, ToolStarted("c1", "Bash", "{}"), ASK)
    answered = fold(asked, Answered("c1", True, scope))
    finished = fold(answered, ToolFinished("c1", "Bash", "success", "done"))
    assert asked.pending("c1") == ASK and answered.pending("c1") is None
    assert [entry for entry in finished.entries if isinstance(entry, ApprovalEntry)] == [
        ApprovalEntry(ASK, "allowed", scope)
    ]


def test_a_call_that_was_allowed_before_says_by_what() -> None:
    allowed = AllowedBy("always", AT)
    transcript = told(QUESTION, ToolFinished("c1", "Bash", "success", "done", allowed=allowed))
    assert transcript.entries[1:] == (WorkEntry((ToolRow("c1", "Bash", "", "success", "done", allowed=allowed),)),)
