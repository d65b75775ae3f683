"""SIGKILL at random moments: the next process goes on, and every block is accounted for once."""

from __future__ import annotations

import os
from datetime import UTC, datetime
from pathlib import Path

import pytest

from assistant.messages.blocks import UserMsg
from assistant.storage.journal.journal import Journal
from assistant.storage.sessions.session_file import Session
from assistant.storage.workspace import Workspace
from benchmarks.replaying.account import account_of
from benchmarks.replaying.command_kills import kill_commands
from benchmarks.replaying.dialogue import text_dialogue
from benchmarks.replaying.kills import kill_again_and_again
from benchmarks.replaying.moment_kills import kill_at_moments

EVERYDAY = Path(__file__).parent / "data" / "everyday.txt"


@pytest.mark.skipif(not hasattr(os, "fork"), reason="children are forked once everything is imported")
def test_nothing_is_lost_or_told_twice_by_ten_kills(tmp_path: Path) -> None:
    killing = kill_again_and_again(tmp_path, text_dialogue(EVERYDAY), 10, compact_threshold=7_000, most_events=60)

    assert killing.faults == ()
    assert (killing.kills, killing.malformed) == (10, 0)
    assert killing.compactions >= 1


def test_a_command_that_is_killed_leaves_nothing_half_done(tmp_path: Path) -> None:
    assert kill_commands(tmp_path, 1).faults == ()


def test_a_kill_in_an_answer_and_in_an_idle_flush_loses_and_doubles_nothing(tmp_path: Path) -> None:
    assert kill_at_moments(tmp_path, 1).faults == ()


def test_the_account_finds_what_is_lost_doubled_or_out_of_place(tmp_path: Path) -> None:
    workspace = Workspace(tmp_path)
    workspace.create()
    journal = Journal(workspace, lambda: datetime(2026, 11, 30, tzinfo=UTC))
    kept, lost = UserMsg("user", "kept"), UserMsg("user", "lost")
    journal.append_missing("s", "owner", [kept, lost])
    (path,) = workspace.dialog_folder.glob("*.jsonl")
    path.write_bytes(path.read_bytes() + path.read_bytes().splitlines(keepends=True)[0])
    session = Session("owner", "s", messages=[kept, UserMsg("user", "never journalled")])

    faults = account_of(
        workspace.dialog_folder, journal, session, ["kept", "lost", "never sent"], ["kept", "lost"]
    ).faults

    assert [fault.partition("BlockKey(")[2].partition("=")[0] or fault for fault in faults] == [
        f"{('s', kept.id, 'text', kept.content[0].id)} stands in 2 rows",
        "message_id",
        "message_id",
        "a question stands 0 times in the journal: 'never sent'",
    ]
    assert [fault for fault in faults if "neither in the context nor folded: 'lost'" in fault] != []
    assert [fault for fault in faults if fault.endswith("is not in the journal")] != []
