"""Where a line of a memory file comes from: who wrote it, when, for which conversation, and what it replaced."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from assistant.config.resources import resource_folder
from assistant.memory.log import LineEdit, MemoryChange, MemoryLog, log_lines
from assistant.memory.notes import OUTSIDE_WRITER

TEMPLATE_WRITER = "template"
FIRST_COPY_WRITER = "first copy"


@dataclass(frozen=True, slots=True)
class LineOrigin:
    """The newest change that brought a line, and the lines that stood in its place before.

    `first` is an older change that had brought the very same line; None where this one was the first.
    """

    change: MemoryChange
    writer: str
    replaced: tuple[str, ...]
    first: MemoryChange | None


def origin_of_line(log: MemoryLog, path: str, number: int) -> LineOrigin | None:
    """Where line `number` (from 1) of the newest logged text comes from; None where the log cannot tell."""
    changes = log.history(path)
    if not changes:
        return None
    lines = log_lines(log.text_after(changes[-1]))
    index = number - 1
    if not 0 <= index < len(lines):
        return None
    wanted = lines[index].strip()
    for position in range(len(changes) - 1, -1, -1):
        change = changes[position]
        found = _edit_of(change.edits, index)
        if isinstance(found, int):
            index = found
            continue
        if wanted not in (line.strip() for line in found.edit.lines):
            # A line of the log was damaged, and places before it cannot be told.
            return None
        before = log_lines(log.text_before(change))
        return LineOrigin(
            change,
            writer_of(log, change, is_first=position == 0),
            _replaced(before, found.edit, found.place),
            next((older for older in changes[:position] if wanted and wanted in older.added_lines), None),
        )
    return None


def writer_of(log: MemoryLog, change: MemoryChange, *, is_first: bool) -> str:
    """Who made a change. A file that was there when it was seen first is the template's, or a copy from elsewhere."""
    if not is_first or change.writer != OUTSIDE_WRITER:
        return change.writer
    return TEMPLATE_WRITER if log.text_after(change) in _template_texts(change.path) else FIRST_COPY_WRITER


@dataclass(frozen=True, slots=True)
class _Found:
    """The edit that wrote a line, and the line's place among those it wrote."""

    edit: LineEdit
    place: int


def _edit_of(edits: Sequence[LineEdit], index: int) -> _Found | int:
    """The edit that wrote the line at `index`, or the line's index before the edits."""
    shift = 0
    for edit in edits:
        start = edit.start + shift
        if index < start:
            break
        if index < start + len(edit.lines):
            return _Found(edit, index - start)
        shift += len(edit.lines) - (edit.stop - edit.start)
    return index - shift


def _replaced(before: Sequence[str], edit: LineEdit, place: int) -> tuple[str, ...]:
    """The line opposite where as many came as went, else all that went."""
    gone = [line.rstrip("\n") for line in before[edit.start : edit.stop]]
    if len(gone) == len(edit.lines):
        gone = gone[place : place + 1]
    return tuple(line for line in gone if line.strip())


def _template_texts(name: str) -> set[str]:
    paths = resource_folder("working_dir_template").glob(f"*/{name}")
    return {path.read_text(encoding="utf-8") for path in paths}
