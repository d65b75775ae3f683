"""Every line of a memory file can say who wrote it, and what it replaced."""

from __future__ import annotations

import datetime as dt
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assistant.memory.log import MemoryLog, Origin
from assistant.memory.notes import Notes
from assistant.memory.provenance import LineOrigin, origin_of_line
from assistant.storage.workspace import Workspace
from assistant.text.redaction import MaskedText

NOW = dt.datetime(2026, 11, 30, 9, 0, tzinfo=dt.UTC)


@pytest.fixture
def notes(home: Path) -> Notes:
    """A new home."""
    workspace = Workspace(home)
    workspace.create()
    return Notes(workspace, MemoryLog(workspace.memory_log_path), lambda: NOW)


@pytest.fixture
def log(notes: Notes, home: Path) -> MemoryLog:
    """Its log."""
    return MemoryLog(home / "memory_log.jsonl")


def told(origin: LineOrigin | None) -> tuple[str, tuple[str, ...]]:
    """Who wrote it and what it replaced."""
    assert origin is not None
    return origin.writer, origin.replaced


def line_of(notes: Notes, name: str, text: str) -> int:
    """The number of a line."""
    return notes.read(name).text.split("\n").index(text) + 1


def test_a_line_knows_its_writer_conversation_and_what_stood_there(notes: Notes, log: MemoryLog) -> None:
    notes.add_lines("MEMORY.md", "Health", ["Dentist on Thursday"], Origin("assistant", "s1", "t1"))
    flush = Origin("flush", "s1", compaction_id="c1")
    notes.add_lines("MEMORY.md", "Health", ["Dentist on Friday"], flush, replaces="- Dentist on Thursday")
    notes.add_lines("MEMORY.md", "Travel", ["Lisbon"], "owner")
    origin = origin_of_line(log, "MEMORY.md", line_of(notes, "MEMORY.md", "- Dentist on Friday"))
    assert told(origin) == ("flush", ("- Dentist on Thursday",))
    assert origin is not None
    assert (origin.change.session_id, origin.change.compaction_id) == ("s1", "c1")
    assert told(origin_of_line(log, "MEMORY.md", line_of(notes, "MEMORY.md", "- Lisbon"))) == ("owner", ())


def test_the_lines_of_a_new_home_are_the_templates(notes: Notes, log: MemoryLog) -> None:
    notes.add_lines("MEMORY.md", "Health", ["Dentist"], "owner")
    assert told(origin_of_line(log, "MEMORY.md", 1)) == ("template", ())


def test_a_file_that_was_brought_along_is_a_first_copy(notes: Notes, log: MemoryLog, home: Path) -> None:
    (home / "memory" / "2026-11-30.md").write_text("# From elsewhere\n", "utf-8")
    notes.add_lines("memory/2026-11-30.md", "", ["Walked"], "owner")
    assert told(origin_of_line(log, "memory/2026-11-30.md", 1)) == ("first copy", ())


def test_a_line_that_was_taken_back_and_restored_tells_who_wrote_it_first(notes: Notes, log: MemoryLog) -> None:
    added = notes.add_lines("MEMORY.md", "Health", ["Dentist"], Origin("assistant", "s1", "t1"))
    assert added is not None
    undone = notes.undo(added.change_id, "owner")
    assert undone is not None
    notes.undo(undone.change_id, "owner")
    origin = origin_of_line(log, "MEMORY.md", line_of(notes, "MEMORY.md", "- Dentist"))
    assert origin is not None
    assert (origin.writer, origin.first) == ("owner", log.change(added.change_id))


@pytest.mark.parametrize("number", [-1, 0, 999])
def test_a_line_that_is_not_there_has_no_origin(notes: Notes, log: MemoryLog, number: int) -> None:
    assert origin_of_line(log, "MEMORY.md", number) is None
    notes.add_lines("MEMORY.md", "Health", ["Dentist"], "owner")
    assert origin_of_line(log, "MEMORY.md", number) is None


texts = st.lists(st.sampled_from(["a", "b", "c", "d", ""]), max_size=6)


@given(st.lists(texts, min_size=1, max_size=8))
def test_whatever_was_saved_each_line_names_a_change_that_brought_it(
    tmp_path_factory: pytest.TempPathFactory, versions: list[list[str]]
) -> None:
    log = MemoryLog(tmp_path_factory.mktemp("log") / "memory_log.jsonl")
    for number, version in enumerate(versions):
        text = "".join(f"{line}\n" for line in version)
        masked, writer = MaskedText(text, ()), Origin(f"writer {number}")
        log.record("MEMORY.md", masked, str(number), writer, f"change {number}", NOW.isoformat())
    for number, line in enumerate(versions[-1], 1):
        origin = origin_of_line(log, "MEMORY.md", number)
        assert origin is not None
        written = [text.rstrip("\n") for edit in origin.change.edits for text in edit.lines]
        assert line in written
