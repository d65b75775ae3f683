"""The context worked out from journal rows: folded, dropped and cleared blocks are out, everything else is in."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from assistant.messages.blocks import (
    AssistantMsg,
    BlockKey,
    Msg,
    TextBlock,
    ToolCallBlock,
    ToolResultBlock,
    UserMsg,
    block_keys,
)
from assistant.storage.journal.rebuild import NEWEST, RebuiltContext, complete_messages, rebuild_messages
from assistant.storage.journal.rows import BlockRow, DroppedRow, Row, UndoneRow
from tests.fakes.records import folding

AT = "2026-05-02T12:00:00.000+08:00"
CREATED = "2026-05-02T12:00:00"


def question(number: int) -> Msg:
    block = TextBlock(id=f"q{number}", text=f"question {number}", created_at=CREATED)
    return UserMsg("user", [block], id=f"user-{number}", created_at=CREATED)


def answer(number: int) -> Msg:
    call = ToolCallBlock(id="call", name="Bash", input="{}", created_at=CREATED)
    result = ToolResultBlock(id="call", name="Bash", output="out", created_at=CREATED)
    text = TextBlock(id=f"a{number}", text=f"answer {number}", created_at=CREATED)
    return AssistantMsg("palimpsest", [call, result, text], id=f"reply-{number}", created_at=CREATED)


def turns(*numbers: int) -> list[Msg]:
    return [message for number in numbers for message in (question(number), answer(number))]


def rows_of(messages: list[Msg]) -> list[Row]:
    return [
        BlockRow("s", "u", message.id, message.role, message.name, block, AT, message.created_at)
        for message in messages
        for block in message.content
    ]


def test_without_a_record_everything_is_in_context() -> None:
    assert rebuild_messages(rows_of(turns(1, 2))) == RebuiltContext(turns(1, 2), "", None)


def test_what_the_chain_of_the_newest_record_folded_is_out() -> None:
    rows = [
        *rows_of(turns(1, 2)),
        folding("c1", None, turns(1), AT),
        *rows_of(turns(3)),
        folding("c2", "c1", turns(2), AT),
        *rows_of(turns(4)),
    ]
    assert rebuild_messages(rows) == RebuiltContext(turns(3, 4), "summary c2", "c2")


def test_a_record_folds_single_steps_of_a_message() -> None:
    step = answer(1).model_copy(update={"content": answer(1).content[:2]})
    rest = answer(1).model_copy(update={"content": answer(1).content[2:]})
    rows = [*rows_of(turns(1)), folding("c1", None, [step], AT)]
    assert rebuild_messages(rows).messages == [question(1), rest]


def test_a_record_taken_back_gives_its_messages_and_the_summary_before_it_back() -> None:
    rows = [
        *rows_of(turns(1, 2, 3)),
        folding("c1", None, turns(1), AT),
        folding("c2", "c1", turns(2), AT),
        UndoneRow("s", "c2", AT),
        *rows_of(turns(4)),
    ]
    assert rebuild_messages(rows) == RebuiltContext(turns(2, 3, 4), "summary c1", "c1")
    rows.append(UndoneRow("s", "c1", AT))
    assert rebuild_messages(rows) == RebuiltContext(turns(1, 2, 3, 4), "", None)


def test_a_record_that_the_newest_does_not_reach_never_happened() -> None:
    rows = [
        *rows_of(turns(1, 2, 3)),
        folding("killed", None, turns(1, 2), AT),
        folding("c1", None, turns(1), AT),
    ]
    assert rebuild_messages(rows) == RebuiltContext(turns(2, 3), "summary c1", "c1")
    assert rebuild_messages(rows, None) == RebuiltContext(turns(1, 2, 3), "", None)
    assert rebuild_messages(rows, "killed") == RebuiltContext(turns(3), "summary killed", "killed")


def test_records_that_name_each_other_as_parents_end() -> None:
    rows = [*rows_of(turns(1, 2)), folding("a", "b", turns(1), AT), folding("b", "a", turns(2), AT)]
    assert rebuild_messages(rows) == RebuiltContext([], "summary b", "b")


def test_dropped_blocks_are_out() -> None:
    rows = [*rows_of(turns(1, 2)), DroppedRow("s", tuple(block_keys(turns(2))), "edit", AT), *rows_of(turns(3))]
    assert rebuild_messages(rows).messages == turns(1, 3)


def test_nothing_from_before_a_clear_is_in_context_nor_its_summary() -> None:
    rows = [
        *rows_of(turns(1, 2)),
        folding("c1", None, turns(1), AT),
        DroppedRow("s", tuple(block_keys(turns(2))), "clear", AT),
        *rows_of(turns(3)),
    ]
    assert rebuild_messages(rows) == RebuiltContext(turns(3), "", None)
    assert rebuild_messages(rows, "c1") == RebuiltContext(turns(3), "", None)
    assert complete_messages(turns(2), rows, "c1") == turns(3)


def test_messages_older_than_the_journal_are_completed_behind() -> None:
    assert complete_messages(turns(1), rows_of(turns(1, 2)), None) == turns(1, 2)


def test_a_message_that_was_half_there_gets_its_later_blocks() -> None:
    half = answer(1).model_copy(update={"content": answer(1).content[:1]})
    assert complete_messages([question(1), half], rows_of(turns(1)), None) == turns(1)


def test_messages_that_an_undo_gives_back_stand_before_what_came_later() -> None:
    rows = [*rows_of(turns(1, 2, 3)), folding("c1", None, turns(1, 2), AT)]
    assert complete_messages(turns(3), rows, None) == turns(1, 2, 3)


def test_a_block_that_was_shortened_in_context_stays_as_it_is_there() -> None:
    short = answer(1).model_copy(
        update={"content": [answer(1).content[0], ToolResultBlock(id="call", name="Bash", output="cut")]}
    )
    completed = complete_messages([question(1), short], rows_of(turns(1)), None)
    assert completed[1].content == [*short.content, answer(1).content[2]]


def test_what_the_journal_lost_is_kept_at_its_place() -> None:
    assert complete_messages(turns(1, 2, 3), rows_of(turns(1, 3)), None) == turns(1, 2, 3)
    assert complete_messages(turns(1, 2), [], None) == turns(1, 2)


def test_blocks_that_are_folded_or_dropped_do_not_stay_in_the_messages() -> None:
    rows = [*rows_of(turns(1, 2, 3)), folding("c1", None, turns(1), AT)]
    rows.append(DroppedRow("s", tuple(block_keys(turns(2))), "retry", AT))
    assert complete_messages(turns(1, 2, 3), rows, "c1") == turns(3)


@given(st.integers(0, 5), st.lists(st.sampled_from(["turn", "fold", "undo"]), max_size=12), st.data())
def test_nothing_is_lost_and_a_second_completion_changes_nothing(
    stored_turns: int, history: list[str], data: st.DataObject
) -> None:
    rows: list[Row] = []
    folded: list[tuple[str, list[BlockKey]]] = []
    number = 0
    for action in history:
        context = rebuild_messages(rows, folded[-1][0] if folded else None)
        if action == "turn":
            number += 1
            rows += rows_of(turns(number))
        elif action == "fold" and context.messages:
            older = context.messages[: data.draw(st.integers(1, len(context.messages)))]
            record = folding(f"c{len(rows)}", context.compaction_id, older, AT)
            rows.append(record)
            folded.append((record.compaction_id, block_keys(older)))
        elif action == "undo" and folded:
            rows.append(UndoneRow("s", folded.pop()[0], AT))
    head = folded[-1][0] if folded else None
    context = rebuild_messages(rows)
    assert context == rebuild_messages(rows, head)
    assert context.compaction_id == head
    out = [key for _, keys in folded for key in keys]
    everything = block_keys(turns(*range(1, number + 1)))
    assert sorted([*out, *block_keys(context.messages)], key=str) == sorted(everything, key=str)

    completed = complete_messages(context.messages[:stored_turns], rows, head)
    assert completed == context.messages
    assert complete_messages(completed, rows, head) == completed
    assert NEWEST not in {name for name, _ in folded}
