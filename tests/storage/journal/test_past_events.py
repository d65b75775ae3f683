"""A past conversation is told by the events that a running one emits."""

from __future__ import annotations

from typing import Literal

from assistant.compaction.record import CompactionRecord
from assistant.messages.blocks import (
    Base64Source,
    Block,
    DataBlock,
    HintBlock,
    TextBlock,
    ThinkingBlock,
    ToolCallBlock,
    ToolCallState,
    ToolResultBlock,
    ToolResultState,
)
from assistant.messages.events import (
    ContextCompressed,
    Event,
    MemoryChanged,
    Recalled,
    RecalledLine,
    RecallRefused,
    TextDelta,
    ThinkingDelta,
    ToolFinished,
    ToolStarted,
    TurnFinished,
    TurnStarted,
)
from assistant.storage.journal.past_events import DatedChange, events_of_rows
from assistant.storage.journal.rows import BlockRow, DroppedRow, FlushRow, RecalledRow, RecallRefusedRow, Row, UndoneRow

ASKED = "2026-05-02T12:00:00.000+08:00"
ANSWERED = "2026-05-02T12:00:09.000+08:00"


def user(number: int, *blocks: Block) -> list[Row]:
    blocks = blocks or (TextBlock(id=f"q{number}", text=f"question {number}"),)
    return [BlockRow("s", "u", f"user-{number}", "user", "user", block, ASKED, "") for block in blocks]


def assistant(number: int, *blocks: Block) -> list[Row]:
    blocks = blocks or (TextBlock(id=f"a{number}", text=f"answer {number}"),)
    return [BlockRow("s", "u", f"reply-{number}", "assistant", "p", block, ANSWERED, "") for block in blocks]


def record(compaction_id: str, parent_id: str | None = None) -> CompactionRecord:
    return CompactionRecord(
        "s", compaction_id, parent_id, ASKED, (), "", "sum", "manual", 9, 3, 10, 7, 2, 1, 1, False, ("Goal",)
    )  # fmt: skip


def card(compaction_id: str, *, is_undone: bool = False, flush: str = "pending") -> ContextCompressed:
    assert flush in ("pending", "done")
    return ContextCompressed(
        compaction_id, "manual", 9, 3, 10, 7, 2, 1, "sum", 1, False,
        "done" if flush == "done" else "pending", ("Goal",), ASKED, is_undone,
    )  # fmt: skip


def turn(number: int) -> list[Event]:
    return [
        TurnStarted(f"user-{number}", f"user-{number}", f"question {number}", ASKED),
        TextDelta(f"a{number}", f"answer {number}"),
        TurnFinished(f"user-{number}", "completed", at=ANSWERED),
    ]


def test_a_turn_with_a_tool_is_told_from_its_question_to_its_end() -> None:
    recalled = (RecalledLine("MEMORY.md", 3, "likes tea", 0.8),)
    rows = [
        *user(1, TextBlock(text="look"), DataBlock(source=Base64Source(data="AA", media_type="image/png"))),
        RecalledRow("s", recalled, ASKED, 40),
        RecallRefusedRow("s", recalled[0].mark, ("a mark",), ASKED),
        *assistant(
            1,
            HintBlock(hint="not for the page"),
            ThinkingBlock(id="t", thinking="hm"),
            ToolCallBlock(id="c", name="Edit", input="{}"),
            ToolResultBlock(
                id="c",
                name="Edit",
                output="ok",
                state=ToolResultState.SUCCESS,
                metadata={"diff": "+a", "artifact_id": "full"},
            ),
            TextBlock(id="a", text="done"),
        ),
    ]
    assert events_of_rows(rows) == [
        TurnStarted("user-1", "user-1", "look\n[image/png]", ASKED),
        Recalled(recalled, 40),
        RecallRefused(recalled[0].mark),
        ThinkingDelta("t", "hm"),
        ToolStarted("c", "Edit", "{}"),
        ToolFinished("c", "Edit", "success", "ok", diff="+a", artifact_id="full"),
        TextDelta("a", "done"),
        TurnFinished("user-1", "completed", at=ANSWERED),
    ]


def test_a_compaction_stands_where_it_happened_with_how_its_flush_ended() -> None:
    call = ToolCallBlock(id="c", name="Bash", input="{}")
    result = ToolResultBlock(id="c", name="Bash", output="out", state=ToolResultState.ERROR)
    rows = [
        *user(1),
        *assistant(1, call, result),
        record("c1"),
        *assistant(1),
        record("c2", "c1"),
        FlushRow("s", "c1", "done", ASKED),
        *user(2),
        *assistant(2),
    ]
    assert events_of_rows(rows) == [
        TurnStarted("user-1", "user-1", "question 1", ASKED),
        ToolStarted("c", "Bash", "{}"),
        ToolFinished("c", "Bash", "error", "out"),
        card("c1", flush="done"),
        TextDelta("a1", "answer 1"),
        TurnFinished("user-1", "completed", at=ANSWERED),
        card("c2"),
        *turn(2),
    ]


def test_a_record_taken_back_is_told_as_undone_and_one_that_never_took_effect_is_not_told() -> None:
    rows = [
        *user(1), *assistant(1), record("undone"), UndoneRow("s", "undone", ASKED), record("killed"),
        *user(2), *assistant(2), record("stands"),
    ]  # fmt: skip
    assert events_of_rows(rows) == [*turn(1), card("undone", is_undone=True), *turn(2), card("stands")]
    assert events_of_rows(rows, None) == [*turn(1), card("undone", is_undone=True), *turn(2)]


def test_what_came_before_a_clear_keeps_its_cards() -> None:
    rows = [
        *user(1), *assistant(1), record("c1"), DroppedRow("s", (), "clear", ASKED),
        *user(2), *assistant(2), record("c2"),
    ]  # fmt: skip
    assert events_of_rows(rows) == [*turn(1), card("c1"), *turn(2), card("c2")]


def test_a_call_that_never_got_a_result_ends_as_interrupted() -> None:
    rows = [
        *user(1),
        *assistant(1, ToolCallBlock(id="c", name="Bash", input="{}", state=ToolCallState.ASKING)),
        *user(2),
        *assistant(2, ToolCallBlock(id="c", name="Bash", input="{}", state=ToolCallState.ALLOWED)),
    ]
    for number in (1, 2):
        part = events_of_rows(rows)[(number - 1) * 4 : number * 4]
        assert part == [
            TurnStarted(f"user-{number}", f"user-{number}", f"question {number}", ASKED),
            ToolStarted("c", "Bash", "{}"),
            ToolFinished("c", "Bash", "interrupted", "[interrupted]"),
            TurnFinished(f"user-{number}", "interrupted", at=ANSWERED),
        ]


def test_a_conversation_that_waits_for_an_approval_ends_so() -> None:
    rows = [*user(1), *assistant(1, ToolCallBlock(id="c", name="Bash", input="{}", state=ToolCallState.ASKING))]
    assert events_of_rows(rows) == [
        TurnStarted("user-1", "user-1", "question 1", ASKED),
        ToolStarted("c", "Bash", "{}"),
        TurnFinished("user-1", "awaiting_approval", at=ANSWERED),
    ]


def test_a_question_without_an_answer_was_interrupted() -> None:
    assert events_of_rows([*user(1), *user(2), *assistant(2)]) == [
        TurnStarted("user-1", "user-1", "question 1", ASKED),
        TurnFinished("user-1", "interrupted", at=ASKED),
        *turn(2),
    ]


def test_an_answer_without_a_question_is_a_turn_without_text() -> None:
    assert events_of_rows(assistant(1)) == [
        TurnStarted("reply-1", "reply-1", "", ANSWERED),
        TextDelta("a1", "answer 1"),
        TurnFinished("reply-1", "completed", at=ANSWERED),
    ]


def test_no_rows_tell_nothing() -> None:
    assert events_of_rows([]) == []


def test_what_was_written_to_memory_stands_behind_the_step_that_wrote_it() -> None:
    def change(at: str, name: str) -> DatedChange:
        return DatedChange(f"2026-05-02T12:00:{at}.000+08:00", MemoryChanged("USER.md", "assistant", "", name))

    def block(at: str, message_id: str, role: Literal["user", "assistant"], block: Block) -> Row:
        return BlockRow("s", "u", message_id, role, role, block, f"2026-05-02T12:00:{at}.000+08:00", "")

    call = ToolCallBlock(id="c1", name="memory_save", input="{}")
    result = ToolResultBlock(id="c1", name="memory_save", output="ok", state=ToolResultState.SUCCESS)
    rows = [
        block("00", "q1", "user", TextBlock(id="t1", text="remember")),
        block("05", "r1", "assistant", call),
        block("05", "r1", "assistant", result),
        block("09", "r1", "assistant", TextBlock(id="t2", text="done")),
        block("30", "q2", "user", TextBlock(id="t3", text="more")),
        block("40", "r2", "assistant", TextBlock(id="t4", text="well")),
    ]
    changes = [change("04", "by the tool"), change("20", "by the flush"), change("59", "after all")]
    told = [
        event.change_id if isinstance(event, MemoryChanged) else event.type
        for event in events_of_rows(rows, changes=changes)
    ]
    assert told == [
        "turn_started",
        "tool_started",
        "tool_finished",
        "by the tool",
        "text_delta",
        "turn_finished",
        "by the flush",
        "turn_started",
        "text_delta",
        "turn_finished",
        "after all",
    ]
    before = [event for event in events_of_rows(rows, stop=4, changes=changes) if isinstance(event, MemoryChanged)]
    assert [event.change_id for event in before] == ["by the tool", "by the flush"]
