"""Memory files have one writer: nothing is overwritten unseen, doubled, turned to mojibake or left out of the log."""

from __future__ import annotations

import os
import resource
from datetime import datetime, timedelta, timezone
from pathlib import Path

import pytest

from assistant.errors import ConflictError, WorkspaceError
from assistant.memory.log import MemoryChange, MemoryLog, Origin, digest_of
from assistant.memory.notes import Note, Notes
from assistant.storage.workspace import Workspace
from tests.fakes.children import started

NOON = datetime(2026, 5, 2, 12, 0, tzinfo=timezone(timedelta(hours=8)))
DAY = "memory/2026-05-02.md"
KEY = "ghp_" + "a1B2" * 9


class Home:
    """A workspace with its notes and their log, and what was told of them."""

    def __init__(self, folder: Path) -> None:
        self.workspace = Workspace(folder)
        self.log = MemoryLog(self.workspace.memory_log_path)
        self.notes = Notes(self.workspace, self.log, lambda: NOON)
        self.told: list[MemoryChange] = []
        self.notes.on_change.append(self.told.append)

    def path(self, name: str = "USER.md") -> Path:
        return self.workspace.memory_path(name)

    def write(self, content: bytes, name: str = "USER.md") -> None:
        self.path(name).parent.mkdir(parents=True, exist_ok=True)
        self.path(name).write_bytes(content)

    def content(self, name: str = "USER.md") -> bytes:
        return self.path(name).read_bytes()


@pytest.fixture
def memory(tmp_path: Path) -> Home:
    return Home(tmp_path / "home")


def test_a_missing_file_is_empty_and_is_made_by_the_first_line(memory: Home) -> None:
    assert memory.notes.read(DAY) == Note(DAY, "", "")
    change = memory.notes.add_lines(DAY, "Tea", ["likes green tea"], Origin("flush", "s", "t", "c"))
    assert memory.content(DAY) == b"## Tea\n\n- likes green tea\n"
    assert memory.told == [change] == memory.log.history(DAY)
    assert change is not None
    assert (change.writer, change.session_id, change.turn_id, change.compaction_id) == ("flush", "s", "t", "c")
    assert (change.path, change.at, change.masked) == (DAY, "2026-05-02T12:00:00.000+08:00", ())
    assert change.digest == digest_of(memory.content(DAY)) == memory.notes.read(DAY).digest


def test_the_same_fact_twice_leaves_one_entry(memory: Home) -> None:
    memory.notes.add_lines("USER.md", "Tea", ["likes green tea"], "flush")
    assert memory.notes.add_lines("USER.md", "Drinks", ["  - likes green tea "], "assistant") is None
    assert memory.content().count(b"green tea") == 1
    assert len(memory.told) == 1


def test_only_the_new_ones_of_several_lines_are_added(memory: Home) -> None:
    memory.notes.add_lines("USER.md", "Tea", ["green"], "flush")
    memory.notes.add_lines("USER.md", "Tea", ["green", "black", "black"], "flush")
    assert memory.notes.read("USER.md").text == "## Tea\n\n- green\n- black\n"


def test_a_correction_takes_the_place_of_the_old_line_which_stays_in_the_log(memory: Home) -> None:
    memory.write(b"# Me\n- lives in Rome\n- likes tea\n")
    change = memory.notes.add_lines("USER.md", "", ["lives in Oslo"], "flush", replaces="- lives in Rome ")
    assert memory.content() == b"# Me\n- lives in Oslo\n- likes tea\n"
    assert change is not None
    assert memory.log.text_before(change) == "# Me\n- lives in Rome\n- likes tea\n"


@pytest.mark.parametrize(
    ("line", "after"),
    [("likes tea", b"# Me\n- likes tea\n"), ("lives in Rome", b"# Me\n- lives in Rome\n- likes tea\n")],
    ids=["stands elsewhere", "is the same"],
)
def test_a_correction_that_stands_there_already_leaves_one_line(memory: Home, line: str, after: bytes) -> None:
    memory.write(b"# Me\n- lives in Rome\n- likes tea\n")
    memory.notes.add_lines("USER.md", "", [line], "flush", replaces="- lives in Rome")
    assert memory.content() == after


def test_a_line_to_replace_that_does_not_stand_there_is_refused(memory: Home) -> None:
    memory.write(b"- a\n")
    with pytest.raises(WorkspaceError, match="USER.md has no line '- b'"):
        memory.notes.add_lines("USER.md", "", ["c"], "flush", replaces="- b")
    assert memory.content() == b"- a\n"


@pytest.mark.parametrize("name", ["../x.md", "/etc/passwd", "AGENTS.md", "memory/../USER.md", "memory/x.md", "user.md"])
def test_no_other_file_can_be_named(memory: Home, name: str) -> None:
    for act in (
        lambda: memory.notes.read(name),
        lambda: memory.notes.save(name, "x", "", "owner"),
        lambda: memory.notes.add_lines(name, "", ["x"], "flush"),
        lambda: memory.notes.note_outside_change(name),
    ):
        with pytest.raises(WorkspaceError, match="is not a memory file"):
            act()


def test_a_link_is_not_followed(memory: Home, tmp_path: Path) -> None:
    memory.workspace.root.mkdir()
    (tmp_path / "outside.md").write_text("outside")
    (memory.workspace.root / "USER.md").symlink_to(tmp_path / "outside.md")
    with pytest.raises(WorkspaceError, match="is a link"):
        memory.notes.add_lines("USER.md", "", ["x"], "flush")
    assert (tmp_path / "outside.md").read_text() == "outside"


def test_a_folder_where_the_file_should_be_is_told(memory: Home) -> None:
    memory.path().mkdir(parents=True)
    with pytest.raises(WorkspaceError, match="USER.md cannot be read"):
        memory.notes.read("USER.md")


def test_a_save_over_a_file_that_changed_is_a_conflict_and_writes_nothing(memory: Home) -> None:
    memory.write(b"one\n")
    note = memory.notes.read("USER.md")
    memory.write(b"two\n")
    with pytest.raises(ConflictError):
        memory.notes.save("USER.md", "mine\n", note.digest, "owner")
    assert memory.content() == b"two\n"
    assert memory.told == []

    change = memory.notes.save("USER.md", "mine\n", memory.notes.read("USER.md").digest, "owner")
    assert memory.content() == b"mine\n"
    assert change is not None
    assert change.writer == "owner"


def test_a_save_that_changes_nothing_is_no_change(memory: Home) -> None:
    memory.write(b"one\n")
    assert memory.notes.save("USER.md", "one\n", memory.notes.read("USER.md").digest, "owner") is None
    assert memory.log.history("USER.md") == []


@pytest.mark.parametrize("encoding", ["gbk", "utf-16", "utf-8-sig"])
def test_a_file_of_another_encoding_is_never_turned_to_mojibake(memory: Home, encoding: str) -> None:
    text = "# 我\n- 喜欢龙井茶，每天三点开会\n"
    memory.write(text.encode(encoding))
    note = memory.notes.read("USER.md")
    assert note.text == text
    assert (note.notice is None) == (encoding == "utf-8-sig")
    memory.notes.add_lines("USER.md", "我", ["住在杭州"], "flush")
    assert memory.content().decode() == text + "- 住在杭州\n"
    first = memory.log.history("USER.md")[0]
    assert (first.writer, first.original is None) == ("outside", encoding == "utf-8-sig")


def test_windows_line_ends_stay(memory: Home) -> None:
    memory.write(b"# A\r\n- one\r\n")
    assert memory.notes.read("USER.md").text == "# A\n- one\n"
    memory.notes.add_lines("USER.md", "A", ["two"], "flush")
    assert memory.content() == b"# A\r\n- one\r\n- two\r\n"


def test_secrets_reach_neither_file_nor_log_and_the_person_is_told(memory: Home) -> None:
    added = memory.notes.add_lines("USER.md", "Keys", [f"the token is {KEY}"], "flush")
    saved = memory.notes.save(DAY, f"password: hunter22\n{KEY}\n", "", "owner")
    assert memory.content() == "## Keys\n\n- the token is ⟦masked: GitHub token⟧\n".encode()
    assert added is not None
    assert saved is not None
    assert (added.masked, saved.masked) == (("GitHub token",), ("secret", "GitHub token"))
    for path in memory.workspace.root.rglob("*"):
        assert not path.is_file() or not any(word in path.read_bytes() for word in (KEY.encode(), b"hunter22"))


def test_a_key_with_a_nul_in_it_is_masked_too(memory: Home) -> None:
    parted = f"{KEY[:9]}\0{KEY[9:]}"
    memory.notes.save("USER.md", f"{parted}\n", "", "owner")
    memory.notes.add_lines(DAY, "Keys", [f"it is {parted}"], "flush")
    assert memory.content() == "⟦masked: GitHub token⟧\n".encode()
    assert memory.content(DAY) == "## Keys\n\n- it is ⟦masked: GitHub token⟧\n".encode()


def test_what_the_owner_wrote_elsewhere_in_the_file_is_not_touched_by_a_new_line(memory: Home) -> None:
    memory.write(b"- wifi password: hunter22\n")
    memory.notes.add_lines("USER.md", "", ["likes tea"], "flush")
    assert memory.content() == b"- wifi password: hunter22\n- likes tea\n"
    assert b"hunter22" not in memory.workspace.memory_log_path.read_bytes()


def test_a_lone_surrogate_and_a_zero_byte_do_not_break_a_write(memory: Home) -> None:
    memory.notes.add_lines("USER.md", "", ["caf\ud83d and \0 zero"], "flush")
    assert memory.notes.read("USER.md").text == "- caf\ufffd and  zero\n"
    assert memory.log.history("USER.md")[0].added_lines == ["- caf\ufffd and  zero"]


def test_a_change_from_outside_is_logged_before_the_next_write(memory: Home) -> None:
    memory.notes.add_lines("USER.md", "", ["one"], "flush")
    memory.write(b"- one\n- by hand\n")
    memory.notes.add_lines("USER.md", "", ["two"], "flush")
    assert [(change.writer, change.added_lines) for change in memory.told] == [
        ("flush", ["- one"]),
        ("outside", ["- by hand"]),
        ("flush", ["- two"]),
    ]
    assert memory.log.history("USER.md") == memory.told


def test_a_change_from_outside_is_told_when_the_watcher_sees_it(memory: Home) -> None:
    memory.write(b"- template\n")
    assert memory.notes.note_outside_change("USER.md") is None
    assert memory.notes.note_outside_change("USER.md") is None
    memory.write(b"- template\n- by hand\n")
    change = memory.notes.note_outside_change("USER.md")
    assert change is not None
    assert (change.writer, change.added_lines) == ("outside", ["- by hand"])
    assert memory.told == [change]
    memory.path().unlink()
    gone = memory.notes.note_outside_change("USER.md")
    assert gone is not None
    assert memory.log.text_before(gone) == "- template\n- by hand\n"
    assert memory.notes.note_outside_change("USER.md") is None


def test_an_undo_takes_one_change_back_and_keeps_what_came_later(memory: Home) -> None:
    memory.notes.add_lines("USER.md", "A", ["one"], "owner")
    change = memory.notes.add_lines("USER.md", "A", ["wrong"], "flush")
    memory.notes.add_lines("USER.md", "B", ["later"], "owner")
    assert change is not None
    undone = memory.notes.undo(change.change_id, "owner")
    assert memory.content() == b"## A\n\n- one\n\n## B\n\n- later\n"
    assert undone is not None
    assert memory.notes.undo(change.change_id, "owner") is None
    memory.notes.undo(undone.change_id, "owner")
    assert b"- wrong" in memory.content()


def test_an_undo_of_lines_that_were_changed_again_is_a_conflict(memory: Home) -> None:
    memory.write(b"- lives in Rome\n")
    change = memory.notes.add_lines("USER.md", "", ["lives in Oslo"], "flush", replaces="- lives in Rome")
    memory.notes.add_lines("USER.md", "", ["lives in Bern"], "flush", replaces="- lives in Oslo")
    assert change is not None
    with pytest.raises(ConflictError):
        memory.notes.undo(change.change_id, "owner")
    with pytest.raises(WorkspaceError, match="no change 'nothing'"):
        memory.notes.undo("nothing", "owner")


def test_a_log_that_cannot_be_written_leaves_the_file_as_it_was(memory: Home) -> None:
    memory.write(b"- one\n")
    memory.workspace.memory_log_path.mkdir()
    with pytest.raises(WorkspaceError, match="cannot be written"):
        memory.notes.add_lines("USER.md", "", ["two"], "flush")
    assert memory.content() == b"- one\n"


def _add_range(folder: Path, numbers: range) -> None:
    notes = Home(folder).notes
    for number in numbers:
        notes.add_lines("USER.md", "Facts", [f"fact {number}"], f"writer {numbers.start}")


def _save_over_the_limit(folder: Path, chars: int) -> None:
    resource.setrlimit(resource.RLIMIT_FSIZE, (2000, 2000))
    home = Home(folder)
    try:
        home.notes.save("USER.md", "x" * chars, home.notes.read("USER.md").digest, "owner")
    except WorkspaceError:
        os._exit(0)
    os._exit(4)


def test_two_processes_that_write_at_once_lose_no_line_and_double_none(memory: Home) -> None:
    children = [started(_add_range, memory.workspace.root, range(start, start + 15)) for start in (0, 10)]
    for child in children:
        child.join(60)
    assert [child.exitcode for child in children] == [0, 0]
    lines = memory.notes.read("USER.md").text.splitlines()
    assert sorted(lines[2:]) == sorted(f"- fact {number}" for number in range(25))
    history = memory.log.history("USER.md")
    assert len(history) == 25
    assert memory.log.text_after(history[-1]) == memory.notes.read("USER.md").text


@pytest.mark.parametrize("chars", [5000, 1500], ids=["full for the file", "full for its log"])
def test_a_disk_that_is_full_leaves_the_file_as_it_was(memory: Home, chars: int) -> None:
    memory.write(b"- one\n")
    child = started(_save_over_the_limit, memory.workspace.root, chars)
    child.join(60)
    assert child.exitcode == 0
    assert memory.content() == b"- one\n"
    assert [change.writer for change in memory.log.history("USER.md")] == ["outside"]


def test_a_labelled_line_fills_the_line_of_its_label_and_is_logged(memory: Home) -> None:
    memory.write(b"# Who\r\n\r\n- Name:\r\n\r\n## Habits\r\n")
    change = memory.notes.add_lines("USER.md", "Habits", ["Name: Ada", "walks at noon"], "assistant")
    assert memory.content() == b"# Who\r\n\r\n- Name: Ada\r\n\r\n## Habits\r\n\r\n- walks at noon\r\n"
    assert change is not None
    assert change.added_lines == ["- Name: Ada", "- walks at noon"]
    assert memory.notes.add_lines("USER.md", "Habits", ["Name: Ada"], "assistant") is None
    corrected = memory.notes.add_lines("USER.md", "Habits", ["Name: Grace"], "assistant")
    assert corrected is not None
    assert "-- Name: Ada" in corrected.diff


@pytest.mark.parametrize("start", [b"", b"# USER\n"], ids=["empty", "never seen"])
@pytest.mark.parametrize(
    ("writers", "is_by_person"),
    [
        ([], False),
        (["assistant"], False),
        (["flush", "tidy"], False),
        (["owner"], True),
        (["assistant", "owner", "assistant"], True),
        (["assistant", "an editor"], True),
        (["an editor", "assistant"], True),
    ],
)
def test_it_is_known_whether_the_person_changed_a_file_since(
    memory: Home, start: bytes, writers: list[str], is_by_person: bool
) -> None:
    memory.write(start)
    digest = memory.notes.read("USER.md").digest
    for number, writer in enumerate(writers):
        if writer == "an editor":
            memory.write(memory.content() + f"- line {number}\n".encode())
        else:
            memory.notes.add_lines("USER.md", "Tea", [f"line {number}"], writer)
    assert memory.notes.is_changed_by_person("USER.md", digest) is is_by_person


def test_what_was_taken_back_is_no_change(memory: Home) -> None:
    memory.notes.add_lines("USER.md", "Tea", ["likes green tea"], "assistant")
    digest = memory.notes.read("USER.md").digest
    change = memory.notes.add_lines("USER.md", "Tea", ["likes oolong"], "owner")
    assert change is not None
    memory.notes.undo(change.change_id, "owner")
    assert memory.notes.is_changed_by_person("USER.md", digest) is False
