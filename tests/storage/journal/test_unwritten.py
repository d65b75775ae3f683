"""What of a conversation a flush has still to write, by its rows."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path

import pytest

from assistant.compaction.record import CompactionRecord
from assistant.messages.blocks import BlockKey, Msg, UserMsg, block_keys
from assistant.storage.journal.journal import Journal
from assistant.storage.journal.rows import (
    BlockRow,
    DeletedRow,
    DroppedRow,
    FlushRow,
    FlushStartRow,
    LeftRow,
    Row,
    ShownRow,
    UndoneRow,
    UnwrittenRow,
)
from assistant.storage.journal.unwritten import Unwritten, folded_stretch, left_stretch, pending_stretches
from assistant.storage.workspace import Workspace
from tests.fakes.records import folding

AT = "2026-11-30T10:00:00+00:00"
ONE, TWO, THREE = (UserMsg("user", words) for words in ("My cat is Mimi.", "My dog is Rolf.", "I live in Oslo."))
DUE = UnwrittenRow("s", "f1", AT)
DUE_AGAIN = UnwrittenRow("s", "f2", AT)


def rows_of(*messages: Msg) -> list[Row]:
    """The rows of these messages."""
    return [
        BlockRow("s", "owner", message.id, message.role, message.name, block, AT, message.created_at)
        for message in messages
        for block in message.content
    ]


def keys_of(*messages: Msg) -> tuple[BlockKey, ...]:
    """The keys of their blocks."""
    return tuple(block_keys(messages))


def left(flush_id: str, *messages: Msg) -> LeftRow:
    """The conversation was left after these messages."""
    return LeftRow("s", flush_id, keys_of(*messages), AT)


def record_of(*messages: Msg) -> CompactionRecord:
    """A compaction that folded these messages."""
    return folding("c1", None, list(messages), AT)


ENDED = FlushRow("s", "f1", "done", AT)


@pytest.mark.parametrize(
    ("rows", "compaction_id", "said"),
    [
        pytest.param(rows_of(ONE, TWO), None, None, id="before it was counted"),
        pytest.param([DUE, *rows_of(ONE)], None, None, id="one short message"),
        pytest.param([DUE, *rows_of(ONE, TWO)], None, ("f1", ONE, TWO), id="two messages"),
        pytest.param([*rows_of(ONE), DUE, *rows_of(TWO, THREE)], None, ("f1", TWO, THREE), id="what came after"),
        pytest.param([DUE, *rows_of(ONE, TWO), left("f1", ONE, TWO)], None, None, id="left already"),
        pytest.param(
            [
                *[DUE, *rows_of(TWO, THREE), DroppedRow("s", keys_of(TWO, THREE), "edit", AT), *rows_of(ONE)],
                *[left("f1", ONE), ENDED, DUE_AGAIN, ShownRow("s", keys_of(TWO, THREE), keys_of(ONE), AT)],
            ],
            None,
            ("f2", TWO, THREE),
            id="another version that stands again",
        ),
        pytest.param([DUE, *rows_of(ONE, TWO), left("f1", ONE, TWO), ENDED], None, None, id="written already"),
        pytest.param(
            [DUE, *rows_of(ONE, TWO), left("f1", ONE, TWO), DUE_AGAIN, *rows_of(THREE)], None, None, id="little since"
        ),
        pytest.param(
            [DUE, *rows_of(ONE), left("f1", ONE), DUE_AGAIN, *rows_of(TWO, THREE)],
            None,
            ("f2", TWO, THREE),
            id="enough since",
        ),
        pytest.param([DUE, *rows_of(ONE, TWO, THREE), record_of(ONE, TWO)], "c1", None, id="the rest is little"),
        pytest.param([DUE, *rows_of(ONE, TWO, THREE), record_of(ONE)], "c1", ("f1", TWO, THREE), id="the rest"),
        pytest.param(
            [DUE, *rows_of(ONE, TWO), record_of(ONE), UndoneRow("s", "c1", AT)],
            None,
            ("f1", ONE, TWO),
            id="taken back before it was flushed",
        ),
        pytest.param(
            [DUE, *rows_of(ONE, TWO, THREE), record_of(ONE), FlushRow("s", "c1", "done", AT), UndoneRow("s", "c1", AT)],
            None,
            ("f1", TWO, THREE),
            id="taken back after it was flushed",
        ),
        pytest.param(
            [DUE, *rows_of(ONE, TWO, THREE), DroppedRow("s", keys_of(TWO), "edit", AT)],
            None,
            ("f1", ONE, THREE),
            id="edited",
        ),
        pytest.param(
            [DUE, *rows_of(ONE, TWO), DroppedRow("s", keys_of(ONE, TWO), "clear", AT)],
            None,
            ("f1", ONE, TWO),
            id="cleared away",
        ),
    ],
)
def test_what_was_said_since_the_last_flush_is_written_once_the_conversation_is_left(
    rows: Sequence[Row], compaction_id: str | None, said: tuple[str, *tuple[Msg, ...]] | None
) -> None:
    wanted = None if said is None else Unwritten("s", said[0], keys_of(*said[1:]))
    assert left_stretch(rows, compaction_id) == wanted


def test_a_long_message_alone_is_worth_a_flush() -> None:
    long = UserMsg("user", "The cellar key hangs behind the door. " * 6)
    assert left_stretch([DUE, *rows_of(long)], None) == Unwritten("s", "f1", keys_of(long))


def test_a_flush_that_was_cut_off_is_pending_with_how_often_until_it_ended() -> None:
    rows = [DUE, *rows_of(ONE, TWO), left("f1", ONE, TWO), FlushStartRow("s", "f1", AT), FlushStartRow("s", "f1", AT)]
    assert pending_stretches(rows, None) == [Unwritten("s", "f1", keys_of(ONE, TWO), cut_starts=2)]
    assert pending_stretches([*rows, ENDED], None) == []


def test_a_compaction_writes_nothing_that_was_written_when_the_conversation_was_left() -> None:
    record = record_of(ONE, TWO)
    rows = [DUE, *rows_of(ONE), left("f1", ONE), ENDED, *rows_of(TWO), record]
    folded = Unwritten("s", "c1", keys_of(TWO), record.summary, record.previous_summary)
    assert folded_stretch(record, rows) == folded
    assert pending_stretches(rows, "c1") == [folded]


def test_what_was_flushed_before_its_compaction_was_taken_back_is_not_flushed_again() -> None:
    first, second = record_of(ONE), folding("c2", None, [ONE, TWO], AT)
    rows = [*rows_of(ONE, TWO), first, FlushRow("s", "c1", "done", AT), UndoneRow("s", "c1", AT), second]
    assert folded_stretch(second, rows).keys == keys_of(TWO)


@pytest.mark.parametrize(
    ("rows", "is_due"),
    [
        ([], False),
        (rows_of(ONE), False),
        (rows_of(ONE, TWO), True),
        ([*rows_of(ONE), left("f1", ONE)], True),
        ([*rows_of(ONE, TWO), left("f1", ONE, TWO), ENDED], False),
        ([*rows_of(ONE, TWO), left("f1", ONE, TWO), ENDED, DUE_AGAIN, *rows_of(THREE)], False),
        ([*rows_of(ONE, TWO), DeletedRow("s", AT)], False),
        ([*rows_of(ONE, TWO), DeletedRow("s", AT), DeletedRow("s", AT, is_restored=True)], True),
    ],
    ids=["nothing", "one", "two", "begun", "ended", "ended, and one since", "in the trash", "out of it"],
)
def test_the_journal_lists_the_conversations_of_which_something_is_due(
    tmp_path: Path, rows: Sequence[Row], is_due: bool
) -> None:
    def now() -> datetime:
        return datetime.fromisoformat(AT).astimezone(UTC)

    workspace = Workspace(tmp_path)
    workspace.create()
    journal = Journal(workspace, now)
    seen = Journal(workspace, now)
    journal.append([DUE])
    for row in rows:
        # One that reads as it goes finds the same as one that reads all at once.
        seen.unwritten_sessions()
        journal.append([row])
    expected = ["s"] if is_due else []
    assert [session.session_id for session in seen.unwritten_sessions()] == expected
    assert [session.session_id for session in Journal(workspace, now).unwritten_sessions()] == expected
