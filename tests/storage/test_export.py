"""A conversation leaves a home whole but for its secrets, and comes into another as it was."""

from __future__ import annotations

import json
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path

import pytest

from assistant.errors import SessionError, WorkspaceError
from assistant.messages.blocks import AssistantMsg, BlockKey, Msg, TextBlock, ToolCallBlock, ToolResultBlock, UserMsg
from assistant.storage.artifacts import ARTIFACT_ID_KEY, Artifacts
from assistant.storage.export import ExportedSession, Imported, export_lines, import_sessions, read_export
from assistant.storage.journal.journal import Journal
from assistant.storage.journal.rows import BlockRow, DroppedRow
from assistant.storage.sessions.session_file import Session
from assistant.storage.sessions.sessions import Sessions
from assistant.storage.workspace import Workspace
from assistant.text.encoding import encode

NOW = datetime(2026, 11, 30, 14, 5, tzinfo=UTC)
ARTIFACT = "0b6f3f6e-7a1f-4a52-9c0b-0d8a5d1f0a11"
KEY = "ghp_" + "a1B2" * 9
HEADER = '{"kind":"palimpsest","version":1}'


class Home:
    """The conversations of a home."""

    def __init__(self, folder: Path) -> None:
        workspace = Workspace(folder)
        workspace.create()
        self.journal = Journal(workspace, lambda: NOW)
        self.sessions = Sessions(workspace, self.journal, lambda: NOW)
        self.artifacts = Artifacts(workspace)

    def talk(self, session_id: str, messages: list[Msg]) -> Session:
        session = self.sessions.create(f"Talk {session_id}")
        session.session_id, session.messages, session.summary = session_id, messages, "## Goal\n- tea"
        session.agent_state = {"permission_context": {"allow": "everything"}}
        session.pins = (BlockKey(messages[0].id, "text", messages[0].content[0].id),)
        self.journal.commit(session_id, "owner", messages, [DroppedRow(session_id, (), "retry", NOW.isoformat())])
        self.sessions.save(session)
        return session

    def export(self, *session_ids: str) -> list[bytes]:
        return [encode(line) for line in export_lines(self.sessions, self.journal, self.artifacts, session_ids, NOW)]

    def take(self, lines: Sequence[bytes]) -> Imported:
        return import_sessions(read_export(lines), self.sessions, self.journal, self.artifacts)


def messages(secret: str = "") -> list[Msg]:
    result = ToolResultBlock(id="c", name="Read", output=f"cut {secret}", metadata={ARTIFACT_ID_KEY: ARTIFACT})
    call = ToolCallBlock(id="c", name="Read", input=json.dumps({"file_path": "a.txt", "token": secret}))
    return [UserMsg("user", f"你好 {secret}"), AssistantMsg("palimpsest", [call, result, TextBlock(text="Done.")])]


@pytest.fixture
def source(tmp_path: Path) -> Home:
    return Home(tmp_path / "source")


@pytest.fixture
def target(tmp_path: Path) -> Home:
    return Home(tmp_path / "target")


def test_a_conversation_comes_into_another_home_as_it_was(source: Home, target: Home) -> None:
    source.talk("one", messages())
    before = source.sessions.load("one")
    source.artifacts.store_as(ARTIFACT, "the full text")
    lines = source.export("one")
    assert target.take(lines) == Imported(("one",), ())
    after = target.sessions.load("one")
    assert (after.title, after.summary, after.pins, after.messages) == (
        before.title,
        before.summary,
        before.pins,
        before.messages,
    )
    assert target.journal.rows("one", include_dropped=True) == source.journal.rows("one", include_dropped=True)
    assert target.artifacts.read(ARTIFACT) == "the full text"
    assert target.export("one") == lines


def test_no_secret_leaves_and_no_permission_comes(source: Home, target: Home) -> None:
    source.talk("one", messages(KEY))
    source.artifacts.store_as(ARTIFACT, f"full {KEY}")
    lines = source.export("one")
    assert not any(KEY.encode() in line for line in lines)
    target.take([line.replace(b'"agent_state":{}', b'"agent_state":{"permission_context":{}}') for line in lines])
    assert target.sessions.load("one").agent_state == {}
    first = target.journal.rows("one")[0]
    assert isinstance(first, BlockRow)
    assert isinstance(first.block, TextBlock)
    assert first.block.text == "你好 ⟦masked: GitHub token⟧"


def test_what_is_here_already_stays_as_it_is(source: Home, target: Home) -> None:
    for name in ("one", "two", "three"):
        source.talk(name, messages())
    target.talk("one", [UserMsg("user", "mine")])
    target.talk("two", [UserMsg("user", "mine")])
    target.sessions.trash("two")
    lines = source.export("one", "two", "three")
    assert target.take(lines) == Imported(("three",), ("one", "two"))
    assert target.take(lines) == Imported((), ("one", "two", "three"))
    assert target.sessions.load("one").messages[0].get_text_content() == "mine"
    assert {session.session_id for session in target.sessions.list()} == {"one", "three"}


def test_a_full_text_whose_days_are_over_is_left_out(source: Home, target: Home) -> None:
    source.talk("one", messages())
    target.take(source.export("one"))
    with pytest.raises(WorkspaceError):
        target.artifacts.read(ARTIFACT)


@pytest.mark.parametrize(
    ("lines", "problem"),
    [
        ([], "Line 1 .* empty"),
        (["garbage"], "Line 1 .* no line"),
        ([HEADER, HEADER], "Line 2 .* one header"),
        (['{"kind":"row","row":{}}'], "Line 1 .* one header"),
        ([HEADER.replace("1}", "2}")], "version 2"),
        ([HEADER, '{"kind":"row","row":{}}'], "Line 2 .* belongs to no"),
        ([HEADER, '{"kind":"session","session":{"version":1}}'], "Line 2 .* damaged"),
        (
            [
                HEADER,
                '{"kind":"session","session":{"version":1,"user_id":"u","session_id":"s","content":[]}}',
                '{"kind":"row","row":{"session_id":"other","kind":"undone","compaction_id":"c","at":""}}',
            ],
            "Line 3 .* cannot be read",
        ),
    ],
    ids=["empty", "garbage", "two headers", "no header", "newer", "no session", "damaged session", "foreign row"],
)
def test_a_file_that_cannot_be_used_changes_nothing(lines: list[str], problem: str) -> None:
    with pytest.raises(SessionError, match=problem):
        read_export([line.encode() for line in lines])


def test_a_full_text_cannot_leave_its_folder(target: Home) -> None:
    exported = ExportedSession(Session("owner", "one"), artifacts={"../../x": "evil"})
    with pytest.raises(WorkspaceError):
        import_sessions([exported], target.sessions, target.journal, target.artifacts)
    assert target.sessions.list() == []
