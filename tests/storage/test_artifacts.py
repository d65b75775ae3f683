"""Full texts of tool results: stored whole, read by id, never outside their folder, removed when their time is over."""

from __future__ import annotations

import os
from datetime import datetime, timedelta, timezone
from pathlib import Path

import pytest

from assistant.errors import WorkspaceError
from assistant.storage.artifacts import Artifacts
from assistant.storage.workspace import Workspace

NOW = datetime(2026, 5, 2, 12, 0, tzinfo=timezone(timedelta(hours=8)))


def test_a_text_is_read_as_it_was_stored(tmp_path: Path) -> None:
    artifacts = Artifacts(Workspace(tmp_path))
    artifact_id = artifacts.store("一\r\n二\n\x1b[0m")
    assert artifacts.read(artifact_id) == "一\r\n二\n\x1b[0m"
    assert artifacts.path(artifact_id) == tmp_path / "tool_result" / f"{artifact_id}.txt"


def test_a_text_stored_under_an_id_of_the_caller_is_replaced_by_the_next(tmp_path: Path) -> None:
    artifacts = Artifacts(Workspace(tmp_path))
    artifact_id = "0123456789abcdef0123456789abcdef"
    artifacts.store_as(artifact_id, "one")
    artifacts.store_as(artifact_id, "two \ud800")
    assert artifacts.read(artifact_id) == "two \ufffd"


@pytest.mark.parametrize("artifact_id", ["", "../SOUL", "a/b", "/etc/passwd", "x" * 36, "0" * 32 + "\n", "0" * 33])
def test_what_is_no_uuid_reaches_no_file(tmp_path: Path, artifact_id: str) -> None:
    with pytest.raises(WorkspaceError, match="is not the id of a tool result"):
        Artifacts(Workspace(tmp_path)).read(artifact_id)


def test_a_text_that_is_gone_is_told_with_its_id(tmp_path: Path) -> None:
    with pytest.raises(WorkspaceError, match=f"'{'0' * 32}' is not on disk any more"):
        Artifacts(Workspace(tmp_path)).read("0" * 32)


def test_only_what_is_over_its_time_and_not_kept_is_removed(tmp_path: Path) -> None:
    artifacts = Artifacts(Workspace(tmp_path))
    old, kept, new = artifacts.store("old"), artifacts.store("kept"), artifacts.store("new")
    for artifact_id, days in ((old, 31), (kept, 31), (new, 29)):
        moment = (NOW - timedelta(days=days)).timestamp()
        os.utime(artifacts.path(artifact_id), (moment, moment))
    foreign = tmp_path / "tool_result" / "notes.txt"
    foreign.write_text("not ours")
    os.utime(foreign, (0, 0))

    assert artifacts.remove_expired(0, set, NOW) == 0
    assert artifacts.remove_expired(30, lambda: {kept}, NOW) == 1
    assert sorted(path.name for path in (tmp_path / "tool_result").iterdir()) == sorted(
        [f"{kept}.txt", f"{new}.txt", "notes.txt"]
    )
    artifacts.remove(new)
    artifacts.remove(new)
    assert not artifacts.path(new).exists()
