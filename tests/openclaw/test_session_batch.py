"""Which files are sessions, and whose diary is theirs."""

from __future__ import annotations

from pathlib import Path

import pytest

from assistant.openclaw.backups import COPIES_FOLDER
from assistant.openclaw.session_batch import find_sessions, find_workspace, is_session_file, read_header_cwd
from tests.openclaw.sessions import Session

SESSION = Session().turns(1)


def test_the_known_state_folders_are_looked_through(tmp_path: Path) -> None:
    for state in (".openclaw", ".moltbot"):
        SESSION.write(tmp_path / state / "agents" / "main" / "sessions" / "a.jsonl")
    SESSION.write(tmp_path / ".other" / "agents" / "main" / "sessions" / "a.jsonl")
    (tmp_path / ".clawdbot").mkdir()
    found = find_sessions(tmp_path, None)
    assert [folder.name for folder in found.folders] == [".openclaw", ".clawdbot", ".moltbot"]
    assert [path.relative_to(tmp_path).parts[0] for path in found.sessions] == [".moltbot", ".openclaw"]


NO_SESSIONS = (
    *("s.jsonl.bak", "s.jsonl.lock", "s.checkpoint.1234.jsonl", "s.jsonl.deleted.2026", "s.jsonl.reset.2026"),
    *("sessions.json", "s.deleted.1.jsonl", ".s.jsonl.new.tmp", ".hidden.jsonl", f"{COPIES_FOLDER}/s.jsonl"),
)


def test_archives_locks_and_copies_are_no_sessions(tmp_path: Path) -> None:
    for name in NO_SESSIONS:
        SESSION.write(tmp_path / name)
    Session(header=False).add({"role": "user", "content": "x"}).write(tmp_path / "plain.jsonl")
    (tmp_path / "empty.jsonl").write_bytes(b"")
    topic = SESSION.write(tmp_path / "deep" / "s-topic-7.jsonl")
    assert find_sessions(tmp_path, tmp_path).sessions == (topic,)


def test_a_session_behind_lines_that_do_not_parse_is_one(tmp_path: Path) -> None:
    session = Session(header=False).raw(b"\xef\xbb\xbf{torn\n")
    session.lines.extend(SESSION.lines)
    assert is_session_file(session.write(tmp_path / "a.jsonl"))
    assert read_header_cwd(tmp_path / "a.jsonl") == "/w"


@pytest.mark.parametrize(
    ("folders", "expected"),
    [
        (["s/workspace-main", "s/workspace"], "s/workspace-main"),
        (["s/workspace"], "s/workspace"),
        (["s", "ran/memory"], "ran"),
        (["s", "ran"], "s/agents/main/sessions"),
    ],
    ids=["of-the-agent", "of-the-state", "where-it-ran", "of-the-file"],
)
def test_the_workspace_is_looked_for_from_near_to_far(tmp_path: Path, folders: list[str], expected: str) -> None:
    path = SESSION.write(tmp_path / "s" / "agents" / "main" / "sessions" / "a.jsonl")
    for folder in folders:
        (tmp_path / folder).mkdir(parents=True, exist_ok=True)
    assert find_workspace(path, str(tmp_path / "ran")) == (tmp_path / expected).resolve()
