"""Who comes late is told the past: what waits as a card, and nothing that the running turn tells itself."""

from __future__ import annotations

from collections.abc import Sequence

from assistant.conversation.past import RunningTurn, past_before, past_of
from assistant.messages.blocks import Block, TextBlock, ToolCallBlock, ToolResultBlock
from assistant.messages.events import (
    ApprovalRequested,
    Event,
    MemoryChanged,
    TextDelta,
    ToolFinished,
    ToolStarted,
    TurnFinished,
    TurnStarted,
)
from assistant.storage.journal.past_events import DatedChange
from assistant.storage.journal.rows import BlockRow, Row, TurnEndRow

AT = "2026-11-30T09:00:00+00:00"
CARD = ApprovalRequested("call_1", "Bash", "{}", "touch it", "It runs a command on this machine.")


def row(message_id: str, role: str, block: Block) -> Row:
    assert role in ("user", "assistant")
    return BlockRow("s", "owner", message_id, "user" if role == "user" else "assistant", "x", block, AT, AT)


def asked(message_id: str, words: str) -> Row:
    return row(message_id, "user", TextBlock(id=f"{message_id}-text", text=words))


PARKED: Sequence[Row] = (
    asked("q1", "Touch it"),
    row("a1", "assistant", ToolCallBlock(id="call_1", name="Bash", input="{}")),
    TurnEndRow("s", "q1", "awaiting_approval", "", AT),
)
TOLD_PARKED: list[Event] = [TurnStarted("q1", "q1", "Touch it", AT), ToolStarted("call_1", "Bash", "{}")]


def test_a_call_that_waits_is_a_card() -> None:
    assert past_of(PARKED, None, [CARD]) == [*TOLD_PARKED, CARD, TurnFinished("q1", "awaiting_approval")]


def test_a_turn_that_began_with_its_question_tells_it_itself() -> None:
    rows = [
        asked("q1", "Hello"),
        row("a1", "assistant", TextBlock(id="t", text="Hi.")),
        TurnEndRow("s", "q1", "completed", "", AT),
        asked("q2", "And now?"),
        row("a2", "assistant", TextBlock(id="u", text="So far")),
    ]
    assert past_before(rows, None, RunningTurn("q2", 7), []) == [
        TurnStarted("q1", "q1", "Hello", AT),
        TextDelta("t", "Hi."),
        TurnFinished("q1", "completed", at=AT),
    ]


def test_a_turn_that_goes_on_leaves_the_end_of_its_call_to_the_live_events() -> None:
    rows = [*PARKED, row("a1", "assistant", ToolResultBlock(id="call_1", name="Bash", output="done", state="success"))]
    turn = RunningTurn("q1", 9, past_rows=len(PARKED), parked_ids=frozenset({"call_1"}))

    assert past_before(rows, None, turn, []) == [*TOLD_PARKED, TurnFinished("q1", "awaiting_approval")]


def test_a_card_that_still_waits_while_another_call_runs_is_shown() -> None:
    turn = RunningTurn("q1", 9, past_rows=len(PARKED), parked_ids=frozenset({"call_1", "call_0"}))

    assert past_before(PARKED, None, turn, [CARD]) == [*TOLD_PARKED, CARD, TurnFinished("q1", "awaiting_approval")]


def test_an_interrupted_turn_that_goes_on_keeps_the_ends_of_its_calls() -> None:
    rows = [*PARKED[:2], row("a1", "assistant", ToolResultBlock(id="call_1", name="Bash", output="x", state="error"))]
    told = past_before(rows, None, RunningTurn("q1", 9, past_rows=3), [])

    assert told == [
        *TOLD_PARKED,
        ToolFinished("call_1", "Bash", "error", "x"),
        TurnFinished("q1", "interrupted", at=AT),
    ]


def test_what_was_written_before_a_card_stays_before_it() -> None:
    written = MemoryChanged("USER.md", "assistant", "", "c1")
    told = past_of(PARKED, None, [CARD], [DatedChange("2999-01-01T00:00:00.000+00:00", written)])
    assert told == [*TOLD_PARKED, written, CARD, TurnFinished("q1", "awaiting_approval")]
