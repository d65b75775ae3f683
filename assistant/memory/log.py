"""memory_log.jsonl: every change to a memory file, by whom and why, so that any version can be had again."""

from __future__ import annotations

import hashlib
import re
import threading
from base64 import b64encode
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from pydantic import TypeAdapter, ValidationError

from assistant.storage.atomic_io import append_lines, hold_lock, replace_file
from assistant.text.diff import changed_stretches, unified_diff
from assistant.text.redaction import MaskedText

# A change says which lines it put where; the whole text is in every so many, so that a damaged line of the log
# spoils few versions.
_SNAPSHOT_EVERY = 40

_LINE = re.compile(r"[^\n]*\n|[^\n]+")


@dataclass(frozen=True, slots=True)
class Origin:
    """Who wrote, and in which conversation, turn and compaction; empty where none."""

    writer: str
    session_id: str = ""
    turn_id: str = ""
    compaction_id: str = ""


@dataclass(frozen=True, slots=True)
class LineEdit:
    """The lines `[start:stop]` of the text before were replaced by `lines`."""

    start: int
    stop: int
    lines: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class MemoryChange:
    """One change to the memory file `path` (`USER.md`, `memory/2026-11-30.md`), masked of secrets.

    `masked` says which kinds of secrets were kept out of the file; `digest` is that of the file's bytes afterwards.
    """

    change_id: str
    at: str
    path: str
    writer: str
    session_id: str
    turn_id: str
    compaction_id: str
    diff: str
    edits: tuple[LineEdit, ...]
    digest: str
    masked: tuple[str, ...] = ()
    snapshot: str | None = None
    original: str | None = None

    @property
    def added_lines(self) -> list[str]:
        """The lines that the change brought, without blank ones."""
        return [line.strip() for edit in self.edits for line in edit.lines if line.strip()]


_CHANGE: TypeAdapter[MemoryChange] = TypeAdapter(MemoryChange)


@dataclass(slots=True)
class _History:
    """The changes of one file, and its text (masked) and digest after the newest."""

    changes: list[MemoryChange] = field(default_factory=list[MemoryChange])
    text: str = ""
    digest: str = ""


class MemoryLog:
    """The log of one home. Safe to use from several threads and processes."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._guard = threading.RLock()
        self._start_again()

    def record(
        self,
        path: str,
        masked: MaskedText,
        digest: str,
        origin: Origin,
        change_id: str,
        at: str,
        original: bytes | None = None,
    ) -> MemoryChange | None:
        """Log that the file `path` now holds this text; None when the log knows it so. Durable on return.

        `original` are the bytes before, kept where they were no UTF-8. The caller holds the file's lock.
        """
        text = masked.text
        with self._guard, hold_lock(self._path):
            self._read_on()
            history = self._histories.get(path) or _History()
            if history.text == text:
                history.digest = digest
                return None
            change = MemoryChange(
                change_id=change_id,
                at=at,
                path=path,
                writer=origin.writer,
                session_id=origin.session_id,
                turn_id=origin.turn_id,
                compaction_id=origin.compaction_id,
                diff=unified_diff(history.text, text, path),
                edits=_edits(history.text, text),
                digest=digest,
                masked=masked.kinds,
                snapshot=None if len(history.changes) % _SNAPSHOT_EVERY else text,
                original=None if original is None else b64encode(original).decode(),
            )
            append_lines(self._path, [_CHANGE.dump_json(change).decode()])
        return change

    def history(self, path: str) -> list[MemoryChange]:
        """The changes of a file, oldest first."""
        with self._guard:
            self._read_on()
            history = self._histories.get(path)
            return list(history.changes) if history else []

    def change(self, change_id: str) -> MemoryChange | None:
        """The change of this id."""
        with self._guard:
            self._read_on()
            return self._by_id.get(change_id)

    def changes_in(self, session_id: str) -> list[MemoryChange]:
        """What was written on behalf of a conversation, oldest first."""
        with self._guard:
            self._read_on()
            return [change for change in self._by_id.values() if change.session_id == session_id]

    def added_lines(self, compaction_id: str) -> list[str]:
        """What was written on behalf of a compaction so far, oldest first."""
        with self._guard:
            self._read_on()
            changes = [change for change in self._by_id.values() if change.compaction_id == compaction_id]
            return [line for change in changes for line in change.added_lines]

    def text_after(self, change: MemoryChange) -> str:
        """The file's text (masked) as the change left it."""
        return self._text_of(change.path, change.change_id, is_before=False)

    def text_before(self, change: MemoryChange) -> str:
        """The file's text (masked) before the change."""
        return self._text_of(change.path, change.change_id, is_before=True)

    def latest_digest(self, path: str) -> str:
        """The digest of the file's bytes as the newest change left them; empty when there is none."""
        with self._guard:
            self._read_on()
            history = self._histories.get(path)
            return history.digest if history else ""

    def rewrite_lines(self, change: Callable[[bytes], bytes]) -> None:
        """Put `change(line)` in place of each line of the log, damaged ones too.

        What a change wrote may be altered, but no line of it left out: later changes name their places.
        """
        with self._guard, hold_lock(self._path):
            lines = self._path.read_bytes().split(b"\n") if self._path.exists() else []
            contents = [change(line) if line else line for line in lines]
            if contents != lines:
                replace_file(self._path, b"\n".join(contents))

    def _text_of(self, path: str, change_id: str, is_before: bool) -> str:
        text = ""
        for change in self.history(path):
            if is_before and change.change_id == change_id:
                return text
            text = _text_with(text, change)
            if change.change_id == change_id:
                break
        return text

    def _start_again(self) -> None:
        self._histories: dict[str, _History] = {}
        self._by_id: dict[str, MemoryChange] = {}
        self._offset = 0
        self._inode = 0

    def _read_on(self) -> None:
        """Fold what was appended since the last reading; a log that was rewritten is read again."""
        if not self._path.exists():
            self._start_again()
            return
        with self._path.open("rb") as file:
            status = self._path.stat()
            if status.st_ino != self._inode or status.st_size < self._offset:
                self._start_again()
                self._inode = status.st_ino
            file.seek(self._offset)
            for line in file:
                if not line.endswith(b"\n"):
                    break
                self._offset += len(line)
                self._fold(line)

    def _fold(self, line: bytes) -> None:
        change = _read_change(line)
        if change is None:
            return
        history = self._histories.setdefault(change.path, _History())
        history.changes.append(change)
        history.text = _text_with(history.text, change)
        history.digest = change.digest
        self._by_id[change.change_id] = change


def _read_change(line: bytes) -> MemoryChange | None:
    try:
        return _CHANGE.validate_json(line)
    except ValidationError:
        return None


def log_lines(text: str) -> list[str]:
    """The lines that edits count, each with its newline."""
    return _LINE.findall(text)


def digest_of(content: bytes) -> str:
    """The digest by which a file's content is known; empty for an empty or missing file."""
    return hashlib.sha256(content).hexdigest() if content else ""


def _text_with(text: str, change: MemoryChange) -> str:
    if change.snapshot is not None:
        return change.snapshot
    lines = log_lines(text)
    for edit in reversed(change.edits):
        lines[edit.start : edit.stop] = edit.lines
    return "".join(lines)


def _edits(before: str, after: str) -> tuple[LineEdit, ...]:
    old, new = log_lines(before), log_lines(after)
    return tuple(
        LineEdit(stretch.start, stretch.stop, tuple(new[stretch.new_start : stretch.new_stop]))
        for stretch in changed_stretches(old, new)
    )
