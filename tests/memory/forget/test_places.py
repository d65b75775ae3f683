"""A fact leaves every place it stands in, in both languages, and all else stays; a kill changes only when."""

from __future__ import annotations

import json
import os
import signal
from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime, timedelta, timezone
from pathlib import Path

import pytest

from assistant.compaction.record import CompactionRecord
from assistant.errors import PalimpsestError
from assistant.memory.forget.forgetter import ForgetFiles, ForgetItem, find_passages
from assistant.memory.forget.places import ForgetPlace, Gone, Places
from assistant.memory.forgotten import ForgottenLines
from assistant.memory.log import MemoryLog, Origin
from assistant.memory.notes import Notes
from assistant.messages.attached import AttachedFile
from assistant.messages.attached_blocks import attached_text
from assistant.messages.blocks import (
    AssistantMsg,
    Msg,
    TextBlock,
    ThinkingBlock,
    ToolCallBlock,
    ToolResultBlock,
    UserMsg,
)
from assistant.messages.events import RecalledLine
from assistant.storage.artifacts import Artifacts
from assistant.storage.atomic_io import replace_text
from assistant.storage.journal.journal import Journal
from assistant.storage.journal.rows import BlockRow, RecalledRow
from assistant.storage.sessions.sessions import Sessions
from assistant.storage.workspace import Workspace
from tests.fakes.children import started
from tests.fakes.records import folding

NOW = datetime(2026, 11, 30, 14, 5, tzinfo=timezone(timedelta(hours=8)))
AT = NOW.isoformat(timespec="milliseconds")
EN = "My phone number is 555-0142."
ZH = "我的手机号是 138-0013-8000。"
SECRETS = ("555-0142", "138-0013-8000")
ARTIFACT = "0b6f3f6e-7a1f-4a52-9c0b-0d8a5d1f0a11"


class Home:
    """A home where the two facts stand everywhere."""

    def __init__(self, folder: Path) -> None:
        self.now = NOW
        self.workspace = Workspace(folder)
        self.workspace.create()
        self.journal = Journal(self.workspace, lambda: self.now)
        self.sessions = Sessions(self.workspace, self.journal, lambda: self.now)
        self.log = MemoryLog(self.workspace.memory_log_path)
        self.forgotten = ForgottenLines(self.workspace.forgotten_path, self.journal.said_since)
        self.notes = Notes(self.workspace, self.log, lambda: self.now, self.forgotten)
        self.places = Places(self.workspace, self.journal, self.sessions, self.log, self.notes)
        self.files = ForgetFiles(self.workspace, self.places, self.forgotten, lambda: self.now)

    def fill(self) -> None:
        self.notes.add_lines("USER.md", "About", [EN, "I like tea.", f"{ZH}我喜欢茶。"], "owner")
        self.notes.add_lines("memory/2026-11-30.md", "Calls", [f"The person said so. {EN} At noon."], Origin("flush"))
        (self.workspace.root / "memory.md").write_text(f"# Own notes\n\n* {EN}\n", encoding="utf-8")
        odd = self.workspace.memory_folder / "projects" / "old.md"
        odd.parent.mkdir()
        odd.write_bytes(f"- {ZH}\r\n- 茶很好喝\r\n".encode("gb18030"))
        messages = conversation()
        session = self.sessions.create()
        session.messages, session.summary = messages[2:], summary()
        session.session_id, session.compaction_id = "talk", "c1"
        session.agent_state = {"tool_context": {"note": EN}, "reply_id": "r"}
        row = folded_talk(messages[:2])
        recalled = RecalledRow("talk", (RecalledLine("USER.md", 3, f"- {EN[:-6]}…", 0.9),), AT)
        self.journal.commit("talk", "owner", messages, [row, recalled])
        self.sessions.save(session)
        gone = self.sessions.create(title=f"{EN} What now")
        gone.messages = [UserMsg("user", EN)]
        self.journal.append_missing(gone.session_id, "owner", gone.messages)
        self.sessions.save(gone)
        self.sessions.trash(gone.session_id)
        Artifacts(self.workspace).store_as(ARTIFACT, f"first line\nuser: {EN}\n{ZH}\nlast line")
        failure = {"at": AT, "prompt": {"history": f"user: {EN}\nuser: {ZH}"}, "raw": "x"}
        replace_text(self.workspace.compaction_failures_folder / "c0.json", json.dumps(failure))
        (self.workspace.files_folder / "message-2026-11-30-140500.txt").write_text(f"{EN} Also more.", encoding="utf-8")
        (self.workspace.files_folder / "own.txt").write_text(EN, encoding="utf-8")
        damaged = f'{{"session_id":"talk","block":{{"text":"{EN}'
        with (self.workspace.dialog_folder / "2026-11-30.jsonl").open("ab") as file:
            file.write(damaged.encode() + b"\n")
        (self.workspace.trash_folder / "x.json.1a2b3c4d.damaged").write_bytes(b"\xff" + EN.encode() + b' "tail')
        leftover = self.workspace.sessions_folder / ".owner_talk.json.0123456789ab.tmp"
        leftover.write_text(EN, encoding="utf-8")
        os.utime(leftover, (0, 0))

    def items(self, wanted: str) -> tuple[ForgetItem, ...]:
        return find_passages(self.places, wanted).items

    def forget(self, *wanted: str) -> list[Gone]:
        self.files.begin([item.key for text in wanted for item in self.items(text)])
        gone = self.files.carry_out()
        self.files.end()
        return gone

    def holders(self) -> list[str]:
        """The files in which one of the facts still stands, however it is written."""
        needles = [form for secret in SECRETS for form in (secret.encode(), secret.encode("gb18030"))]
        return sorted(
            path.relative_to(self.workspace.root).as_posix()
            for path in self.workspace.root.rglob("*")
            if path.is_file() and any(needle in path.read_bytes() for needle in needles)
        )


def conversation() -> list[Msg]:
    """Four messages; each fact is said, thought, written by a tool and read back."""
    call = ToolCallBlock(id="call-1", name="memory_save", input=json.dumps({"content": f"{EN} {ZH}", "n": 1}))
    result = ToolResultBlock(
        id="call-1",
        name="memory_save",
        output=[TextBlock(text=f"USER.md:\n- {EN}\n- {ZH}")],
        metadata={"diff": f"+- {EN}"},
    )
    blocks = [ThinkingBlock(thinking=f"So. {EN}"), call, result, TextBlock(text=f"Noted. {EN} {ZH}好的。")]
    return [
        UserMsg("user", f"Hello! {EN} Please keep it."),
        AssistantMsg("palimpsest", blocks),
        UserMsg("user", f"还有一件事。{ZH}请记住。"),
        AssistantMsg("palimpsest", [TextBlock(text="好的。 “" + ZH + "” 记住了。")]),
    ]


def summary() -> str:
    return f"## Goal\n- keep facts\n\n## Key context\n- {EN}\n- {ZH}"


def folded_talk(messages: Sequence[Msg]) -> CompactionRecord:
    return folding("c1", None, messages, AT, session_id="talk", summary=summary(), carried_over=(EN,))


@pytest.fixture
def full(tmp_path: Path) -> Home:
    filled = Home(tmp_path / "home")
    filled.fill()
    return filled


def test_every_place_is_found_once_a_sentence(full: Home) -> None:
    items = full.items("555-0142")
    assert {item.text for item in items} == {EN, damaged_text(items)}
    places = {(place.kind, place.name) for item in items for place in item.places}
    session, trashed = "sessions/owner_talk.json", next(full.workspace.trash_folder.glob("*.json"))
    assert places == {
        ("memory", "USER.md"),
        ("memory", "memory.md"),
        ("memory", "memory/2026-11-30.md"),
        ("memory log", "memory_log.jsonl"),
        ("journal", "dialog/2026-11-30.jsonl"),
        ("summary", "dialog/2026-11-30.jsonl"),
        ("summary", session),
        ("context", session),
        ("context", f"trash/{trashed.name}"),
        ("title", f"trash/{trashed.name}"),
        ("tool result", f"tool_result/{ARTIFACT}.txt"),
        ("failed summary", "compaction_failures/c0.json"),
        ("saved message", "files/message-2026-11-30-140500.txt"),
    }
    user = next(place for place in items[0].places if place.name == "USER.md")
    assert (full.workspace.root / "USER.md").read_text(encoding="utf-8").splitlines()[user.line - 1] == f"- {EN}"


def damaged_text(items: Sequence[ForgetItem]) -> str:
    """The line of the journal that no reader can use is shown as it stands."""
    return next(item.text for item in items if item.text.startswith('{"session_id"'))


def test_the_facts_leave_every_place_but_the_owners_own_files(full: Home) -> None:
    gone = full.forget("555-0142", "138-0013-8000")
    assert full.holders() == ["files/own.txt"]
    assert {place.kind for place in gone} == {
        "memory",
        "memory log",
        "journal",
        "context",
        "tool result",
        "failed summary",
        "saved message",
    }
    assert full.items("555-0142") == ()
    assert not full.workspace.forget_path.exists()
    assert full.forget("555-0142") == []


@pytest.mark.parametrize("is_in_message", [True, False], ids=["in the message", "beside the document"])
def test_what_was_attached_lets_go_of_it(full: Home, is_in_message: bool) -> None:
    folder = full.workspace.files_folder / "attached"
    folder.mkdir()
    (folder / "calls.csv").write_text(f"name,number\n{EN}\nend", "utf-8")
    (folder / "calls.pdf").write_bytes(b"%PDF-1.7 packed")
    (folder / "other.pdf").write_bytes(b"%PDF-1.7 packed")
    file = AttachedFile("calls.pdf", "files/attached/calls.pdf", 15, 1, "whole")
    block = attached_text(file, f"# Page 1\n{EN}\nMore." if is_in_message else "# Page 1")
    full.journal.append_missing("talk", "owner", [UserMsg("user", [block])])
    if not is_in_message:
        (folder / "calls.pdf.txt").write_text(f"# Page 1\n{EN}\nMore.", "utf-8")
    assert ForgetPlace("attached document", "files/attached/calls.pdf") in full.items("555-0142")[0].places

    gone = full.forget("555-0142", "138-0013-8000")

    assert Gone("attached document", "files/attached/calls.pdf", 1) in gone
    assert full.holders() == ["files/own.txt"]
    left = ["calls.csv", "other.pdf"] if is_in_message else ["calls.csv", "calls.pdf.txt", "other.pdf"]
    assert sorted(path.name for path in folder.glob("[!.]*")) == left
    assert (folder / "calls.csv").read_text("utf-8") == "name,number\n⟦forgotten⟧\nend"


def test_only_the_sentence_goes_and_the_message_stays_readable(full: Home) -> None:
    before = {row.key: row for row in full.journal.rows("talk") if isinstance(row, BlockRow)}
    full.forget("555-0142", "138-0013-8000")
    rows = full.journal.rows("talk")
    after = [row for row in rows if isinstance(row, BlockRow)]
    assert [row.key for row in after] == list(before)
    assert [replace(row, block=before[row.key].block) for row in after] == list(before.values())
    first, thinking, call, result, answer, second, last = (row.block for row in after)
    assert isinstance(first, TextBlock) and first.text == "Hello! ⟦forgotten⟧ Please keep it."
    assert isinstance(thinking, ThinkingBlock) and thinking.thinking == "So. ⟦forgotten⟧"
    assert isinstance(call, ToolCallBlock) and json.loads(call.input) == {"content": "⟦forgotten⟧ ⟦forgotten⟧", "n": 1}
    assert isinstance(result, ToolResultBlock) and isinstance(result.output, list)
    assert [part.text for part in result.output if isinstance(part, TextBlock)] == [
        "USER.md:\n- ⟦forgotten⟧\n- ⟦forgotten⟧"
    ]
    assert result.metadata == {"diff": "+- ⟦forgotten⟧"}
    assert isinstance(answer, TextBlock) and answer.text == "Noted. ⟦forgotten⟧ ⟦forgotten⟧好的。"
    assert isinstance(second, TextBlock) and second.text == "还有一件事。⟦forgotten⟧请记住。"
    assert isinstance(last, TextBlock) and last.text == "好的。 ⟦forgotten⟧ 记住了。"
    session = full.sessions.load("talk")
    assert session.summary == "## Goal\n- keep facts\n\n## Key context\n- ⟦forgotten⟧\n- ⟦forgotten⟧"
    assert session.title == "还有一件事。⟦forgotten⟧请记住。"
    assert session.agent_state == {"tool_context": {"note": "⟦forgotten⟧"}, "reply_id": "r"}


def test_memory_files_keep_their_other_lines_encoding_and_line_ends(full: Home) -> None:
    template = (full.workspace.root / "USER.md").read_text(encoding="utf-8").partition("## About")[0]
    full.forget("555-0142", "138-0013-8000")
    assert (full.workspace.root / "USER.md").read_text(encoding="utf-8") == (
        f"{template}## About\n\n- I like tea.\n- 我喜欢茶。\n"
    )
    note = (full.workspace.memory_folder / "2026-11-30.md").read_text(encoding="utf-8")
    assert note == "## Calls\n\n- The person said so. At noon.\n"
    assert (full.workspace.memory_folder / "projects" / "old.md").read_bytes() == "- 茶很好喝\r\n".encode()
    changes = full.log.history("USER.md")
    assert [change.writer for change in changes] == ["outside", "owner", "forget"]
    assert full.log.text_after(changes[-1]) == (full.workspace.root / "USER.md").read_text(encoding="utf-8")
    assert "- ⟦forgotten⟧" in full.log.text_before(changes[-1])


def test_what_is_not_ticked_stays(full: Home) -> None:
    full.files.begin([item.key for item in full.items("555-0142")])
    full.files.carry_out()
    assert full.items("138-0013-8000") != ()
    assert f"- {ZH}我喜欢茶。" in full.notes.read("USER.md").text


def test_a_tool_result_stays_as_long_as_it_would_have(full: Home) -> None:
    path = full.workspace.tool_result_folder / f"{ARTIFACT}.txt"
    os.utime(path, (1_000_000, 1_000_000))
    full.forget("555-0142")
    assert path.stat().st_mtime == 1_000_000
    assert path.read_text(encoding="utf-8").splitlines()[:2] == ["first line", "user: ⟦forgotten⟧"]


def test_bytes_of_an_older_encoding_leave_the_log_too(full: Home) -> None:
    (full.workspace.root / "SOUL.md").write_bytes(f"- {ZH}\n".encode("gb18030"))
    full.notes.note_outside_change("SOUL.md")
    full.notes.add_lines("SOUL.md", "", ["茶"], "owner")
    assert any(change.original for change in full.log.history("SOUL.md"))
    full.forget("138-0013-8000")
    assert [change.original for change in full.log.history("SOUL.md")] == [None] * 3


def test_the_next_flush_cannot_write_it_again(full: Home) -> None:
    full.forget("555-0142")
    with pytest.raises(PalimpsestError, match="forgotten"):
        full.notes.add_lines("USER.md", "About", [EN], Origin("flush"))
    full.now = NOW + timedelta(days=1)
    full.journal.append_missing("talk", "owner", [UserMsg("user", f"Keep this after all: {EN}")])
    change = full.notes.add_lines("USER.md", "About", [EN], Origin("flush"))
    assert change is not None
    assert change.added_lines == [f"- {EN}"]


def test_nothing_to_look_for_is_refused(full: Home) -> None:
    with pytest.raises(PalimpsestError, match="words"):
        full.items("  \n")


@pytest.mark.parametrize("dies_after", [0, 2, 5, 6, 9, 10, 12])
def test_a_kill_in_the_middle_is_finished_at_the_next_start(tmp_path: Path, dies_after: int) -> None:
    home = Home(tmp_path / "home")
    home.fill()
    keys = [item.key for text in ("555-0142", "138-0013-8000") for item in home.items(text)]
    child = started(_forget_and_die, home.workspace.root, keys, dies_after)
    child.join()
    assert child.exitcode == -signal.SIGKILL
    assert home.workspace.forget_path.exists()
    again = Home(home.workspace.root)
    again.files.carry_out()
    again.files.end()
    assert again.holders() == ["files/own.txt"]
    assert again.sessions.load("talk").title == "还有一件事。⟦forgotten⟧请记住。"
    assert [change.writer for change in again.log.history("USER.md")] == ["outside", "owner", "forget"]


def _forget_and_die(root: Path, keys: list[str], dies_after: int) -> None:
    """Forget, and be killed before the rename of file number `dies_after`."""
    home = Home(root)
    home.files.begin(keys)
    renames = 0
    real = Path.replace

    def rename(path: Path, target: Path) -> Path:
        nonlocal renames
        if renames == dies_after:
            os.kill(os.getpid(), signal.SIGKILL)
        renames += 1
        return real(path, target)

    Path.replace = rename  # type: ignore[method-assign, assignment]
    home.files.carry_out()


@pytest.mark.parametrize(
    ("original", "copy"),
    [
        ("dialog/2026-11-30.jsonl", "dialog/2026-11-30 2.jsonl"),
        ("dialog/2026-11-30.jsonl", "dialog/2026-11-30 (1).jsonl"),
        ("dialog/2026-11-30.jsonl", "dialog/2026-11-30.sync-conflict-20261130-101010-ABC.jsonl"),
        ("dialog/2026-11-30.jsonl", "dialog/2026-11-30 (Ada's conflicted copy 2026-11-30).jsonl"),
        ("dialog/2026-11-30.jsonl", "dialog/2026-11-30-LAPTOP.jsonl"),
        ("dialog/2026-11-30.jsonl", "dialog/Copy of 2026-11-30.jsonl"),
        ("dialog/2026-11-30.jsonl", "dialog/2026-11-30.jsonl~"),
        ("dialog/2026-11-30.jsonl", "dialog/2026-11-30.jsonl.bak"),
        ("memory_log.jsonl", "memory_log 2.jsonl"),
        ("memory_log.jsonl", "memory_log.sync-conflict-20261130-101010-ABC.jsonl"),
        ("USER.md", "USER 2.md"),
        ("memory/2026-11-30.md", "memory/2026-11-30 (1).md"),
        ("sessions/owner_talk.json", "sessions/owner_talk 2.json"),
        ("sessions/owner_talk.json", "sessions/owner_talk.sync-conflict-20261130-101010-ABC.json"),
        ("tool_result/" + ARTIFACT + ".txt", "tool_result/" + ARTIFACT + " 2.txt"),
    ],
)
def test_a_fact_leaves_the_copies_that_a_sync_program_made(tmp_path: Path, original: str, copy: str) -> None:
    home = Home(tmp_path)
    home.fill()
    (tmp_path / copy).write_bytes((tmp_path / original).read_bytes())
    home.forget("555-0142", "138-0013-8000")
    assert copy not in home.holders()
