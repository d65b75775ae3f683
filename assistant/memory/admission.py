"""What a model may write to memory: what the person said is written, the rest waits for the person or is noted."""

from __future__ import annotations

import uuid
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Literal

from assistant.errors import ConflictError
from assistant.memory.line_edits import new_lines_of
from assistant.memory.log import MemoryChange, Origin
from assistant.memory.notes import OUTSIDE_WRITER, OWNER_WRITER, Notes
from assistant.memory.provenance import FIRST_COPY_WRITER, origin_of_line
from assistant.memory.spoken import SpokenWords, reads_as_instruction
from assistant.memory.standing import StandingLines
from assistant.memory.waiting import WaitingLine, WaitingLines
from assistant.messages.blocks import ToolCallBlock, ToolResultBlock, block_text, call_arguments, is_said
from assistant.storage.journal.journal import Journal
from assistant.storage.journal.rows import BlockRow, RecalledRow
from assistant.storage.workspace import FILE_MAX_CHARS, MEMORY_FILES, day_note
from assistant.text.labels import CALLED_LABELS, NAME_LABELS, list_labels, replaced_label

OWN_MEMORY_TOOLS = frozenset({"memory_search", "memory_get", "memory_save"})
"""What they return is memory already and is no material for more."""
_PERSON_FILES = ("SOUL.md", "USER.md")
_FACTS_FILE = "MEMORY.md"
_PERSON_WRITERS = (OWNER_WRITER, OUTSIDE_WRITER, FIRST_COPY_WRITER)
_RESULT_CHARS = 20_000
_RESULTS = 20
"""The newest results that a line is looked for in."""
_SOURCE_CHARS = 80

_Verdict = Literal["write", "note", "wait", "known"]


@dataclass(frozen=True, slots=True)
class Admitted:
    """What came of lines for memory: the change that was written, and the lines that wait for the person."""

    change: MemoryChange | None
    waiting: tuple[WaitingLine, ...] = ()
    is_moved: bool = False
    """True where the file that was named is full, so that the lines went to the note of the day."""

    def outcome(self, name: str) -> Literal["added", "moved", "noted", "waiting", "known"]:
        """What the model reads of it, when it asked for the file `name`; a file by day begins with its folder."""
        if self.waiting:
            return "waiting"
        if self.change is None:
            return "known"
        if self.is_moved:
            return "moved"
        return "added" if self.change.path.startswith(name) else "noted"


@dataclass(frozen=True, slots=True)
class _Judged:
    verdict: _Verdict
    source: str = ""


@dataclass(frozen=True, slots=True)
class _Result:
    """What a tool returned, and the call as a source is named."""

    words: SpokenWords
    source: str


@dataclass(frozen=True, slots=True)
class _Material:
    """What a conversation holds: the person's words, what tools returned, newest first, and what was memory already."""

    person: SpokenWords
    results: Sequence[_Result]
    memory: SpokenWords

    def source_of(self, line: str) -> str:
        """The call whose result carries the line; empty where none does."""
        return next((result.source for result in self.results if result.words.carry(line)), "")


class Admission:
    """Stands before the notes of one home for everything that a model writes there."""

    def __init__(self, notes: Notes, waiting: WaitingLines, journal: Journal, now: Callable[[], datetime]) -> None:
        """The words of a conversation are read from the journal; `now` is zone-aware."""
        self.notes = notes
        self.waiting = waiting
        self._journal = journal
        self._now = now
        self.on_wait: list[Callable[[WaitingLine], None]] = []
        """Called for each line that begins to wait, in the thread that wrote."""

    def add_lines(
        self, name: str, heading: str, lines: Sequence[str], origin: Origin, replaces: str | None = None
    ) -> Admitted:
        """Write what may be written, let the rest wait; facts that a tool brought go to the note of the day.

        So do lines for which the file has no room, and a line that stands in memory already is written no second time.
        Raises as `Notes.add_lines` does.
        """
        text = self.notes.read(name).text
        if replaces is None:
            lines = self.without_known(name, lines, origin)
        material = self._material(origin.session_id)
        judged = [(line, self._judge(name, line, material)) for line in lines if line.strip()]
        written = [line for line, verdict in judged if verdict.verdict == "write"]
        noted = [_with_source(line, verdict.source) for line, verdict in judged if verdict.verdict == "note"]
        change: MemoryChange | None = None
        is_moved = bool(written) and replaces is None and not _has_room(name, text, written)
        if is_moved:
            change = self._note(heading, new_lines_of(text, written), origin)
        elif written:
            change = self.notes.add_lines(name, heading, written, origin, replaces=replaces)
        if noted:
            change = self._note(heading, noted, origin) or change
        waiting = [
            self._wait(name, heading, line, verdict.source, origin, replaces)
            for line, verdict in judged
            if verdict.verdict == "wait"
        ]
        return Admitted(change, tuple(waiting), is_moved)

    def without_known(self, name: str, lines: Sequence[str], origin: Origin) -> list[str]:
        """The lines that are new to memory: no other file that is in every prompt has them.

        From a flush also nothing that was written down while it was said, perhaps in other words.
        """
        texts = [self.notes.read(other).text for other in MEMORY_FILES if other != name]
        filed = self.filed_in(origin.session_id) if origin.compaction_id else []
        return StandingLines([*(line for text in texts for line in text.split("\n")), *filed]).without_kept(lines)

    def filed_in(self, session_id: str) -> list[str]:
        """The lines that were written in a conversation, by whomever, and stand in memory still."""
        changes = self.notes.log.changes_in(session_id)
        standing = {path: set(self.notes.read(path).text.split("\n")) for path in {change.path for change in changes}}
        return [line for change in changes for line in change.added_lines if line in standing[change.path]]

    def drop(self, line_id: str) -> bool:
        """Let a waiting line go, and never propose it again; False where it waits no longer."""
        line = self.waiting.take(line_id)
        if line is not None:
            self.waiting.review.decline(line.path, line.text)
        return line is not None

    def keep(self, line_id: str, text: str = "") -> MemoryChange | None:
        """Write a waiting line as the person's own, or `text` in its place; None where it is gone or there already.

        Raises `ConflictError` where the line to replace is gone.
        """
        line = self.waiting.take(line_id)
        if line is None:
            return None
        standing = self.notes.read(line.path).text.split("\n")
        if line.replaces is not None and line.replaces.strip() not in map(str.strip, standing):
            raise ConflictError(line.path)
        return self.notes.add_lines(
            line.path, line.heading, [text or line.text], Origin(OWNER_WRITER, line.session_id), replaces=line.replaces
        )

    def _note(self, heading: str, lines: Sequence[str], origin: Origin) -> MemoryChange | None:
        """Write into the note of the day."""
        return self.notes.add_lines(day_note(self._now().date()), heading, [*lines], origin) if lines else None

    def _wait(
        self, name: str, heading: str, line: str, source: str, origin: Origin, replaces: str | None
    ) -> WaitingLine:
        waiting = WaitingLine(
            line_id=uuid.uuid4().hex[:8],
            path=name,
            heading=heading,
            text=line.strip(),
            source=source,
            writer=origin.writer,
            session_id=origin.session_id,
            at=self._now().isoformat(timespec="seconds"),
            replaces=replaces or replaced_label(self.notes.read(name).text, line),
        )
        if self.waiting.add(waiting):
            for notify in self.on_wait:
                notify(waiting)
        return waiting

    def _judge(self, name: str, line: str, material: _Material) -> _Judged:
        if not material.person.carry(line) and material.memory.carry(line):
            # A find that is written once more would be a second memory of the same.
            return _Judged("known")
        if name not in (*_PERSON_FILES, _FACTS_FILE):
            return _Judged("write")
        if self._would_replace_the_persons_own(name, line):
            return _Judged("wait", material.source_of(line))
        if material.person.carry(line):
            return _Judged("write")
        source = material.source_of(line)
        if name in _PERSON_FILES or reads_as_instruction(line):
            return _Judged("wait", source)
        return _Judged("note" if source else "write", source)

    def _would_replace_the_persons_own(self, name: str, line: str) -> bool:
        """True where a label that the person filled would get another value."""
        text = self.notes.read(name).text
        replaced = replaced_label(text, line)
        if replaced is None:
            return False
        number = text.split("\n").index(replaced) + 1
        origin = origin_of_line(self.notes.log, name, number)
        return origin is None or origin.writer in _PERSON_WRITERS

    def _material(self, session_id: str) -> _Material:
        rows = [row for row in self._journal.rows(session_id, include_dropped=True) if isinstance(row, BlockRow)]
        said = [row.block.text for row in rows if row.role == "user" and is_said(row.block)]
        calls = {row.block.id: row.block for row in rows if isinstance(row.block, ToolCallBlock)}
        blocks = [row.block for row in reversed(rows) if isinstance(row.block, ToolResultBlock)]
        foreign = [block for block in blocks if block.name not in OWN_MEMORY_TOOLS][:_RESULTS]
        found = [block_text(block)[:_RESULT_CHARS] for block in blocks if block.name in OWN_MEMORY_TOOLS][:_RESULTS]
        found += [line.text for row in self._recalled(session_id) for line in row.lines]
        results = [_result(block, calls.get(block.id)) for block in foreign]
        return _Material(SpokenWords(said, self._names()), results, SpokenWords(found))

    def _recalled(self, session_id: str) -> list[RecalledRow]:
        rows = self._journal.rows(session_id, include_dropped=True)
        return [row for row in rows if isinstance(row, RecalledRow)][-_RESULTS:]

    def _names(self) -> list[str]:
        """What the two who speak are called, as far as it is in their files."""
        labels = [label for name in _PERSON_FILES for label in list_labels(self.notes.read(name).text)]
        return [label.value for label in labels if label.label.casefold() in NAME_LABELS | CALLED_LABELS]


def _has_room(name: str, text: str, lines: Sequence[str]) -> bool:
    """False where a file that is in every prompt would outgrow its cap; a label that gets another value takes none."""
    if name not in MEMORY_FILES:
        return True
    new = [line for line in new_lines_of(text, lines) if replaced_label(text, line) is None]
    return len(text) + sum(len(line) + len("\n") for line in new) <= FILE_MAX_CHARS


def _result(block: ToolResultBlock, call: ToolCallBlock | None) -> _Result:
    return _Result(SpokenWords([block_text(block)[:_RESULT_CHARS]]), _named(block.name, call))


def _named(name: str, call: ToolCallBlock | None) -> str:
    """A call as people name it: the tool and the first of its arguments."""
    argument = next(iter(call_arguments(call).values()), "") if call else ""
    shown = " ".join(f"{name} {argument}".split())
    return shown if len(shown) <= _SOURCE_CHARS else f"{shown[:_SOURCE_CHARS]}…"


def _with_source(line: str, source: str) -> str:
    return f"{line.strip()} ({source})"
