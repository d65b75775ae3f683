"""Where a fact can stand in a home: each place read, and rewritten without it."""

from __future__ import annotations

import base64
import binascii
import json
import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from pathlib import Path
from typing import Literal

from assistant.errors import ConflictError, WorkspaceError
from assistant.memory.log import MemoryLog
from assistant.memory.notes import FORGET_WRITER, Notes
from assistant.messages.attached import file_of
from assistant.storage.atomic_io import hold_lock, left_over_files, replace_file
from assistant.storage.journal.files import files_with_rows, read_lines
from assistant.storage.journal.journal import Journal, rewrite_lines
from assistant.storage.sessions.sessions import Sessions, session_paths
from assistant.storage.text_files import read_any_text
from assistant.storage.workspace import Workspace
from assistant.text.encoding import decode_text, encode
from assistant.text.file_kinds import FileKind, kind_of_file
from assistant.text.json_parsing import parse_json
from assistant.text.json_texts import map_texts, texts_of
from assistant.text.json_values import is_object
from assistant.text.passages import PassageSet, passages_of

PlaceKind = Literal[
    "memory",
    "memory log",
    "journal",
    "summary",
    "context",
    "title",
    "tool result",
    "failed summary",
    "saved message",
    "attached document",
    "program log",
]

_SESSION_KINDS: dict[str, PlaceKind] = {"title": "title", "_compressed_summary": "summary"}
# What another process is writing right now must not be taken from under it.
_TEMPORARY_SECONDS = 60.0


@dataclass(frozen=True, slots=True)
class ForgetPlace:
    """A file of the home, from it and with slashes; `line` is counted from 1, 0 where lines mean nothing."""

    kind: PlaceKind
    name: str
    line: int = 0


@dataclass(frozen=True, slots=True)
class PlacedText:
    """A text and where it is."""

    place: ForgetPlace
    text: str


@dataclass(frozen=True, slots=True)
class Gone:
    """How many passages went from a place."""

    kind: PlaceKind
    name: str
    count: int


class Places:
    """All places of one home."""

    def __init__(
        self, workspace: Workspace, journal: Journal, sessions: Sessions, memory_log: MemoryLog, notes: Notes
    ) -> None:
        self._workspace = workspace
        self._journal = journal
        self._sessions = sessions
        self._memory_log = memory_log
        self._notes = notes

    def texts(self, touches: Callable[[str], bool]) -> Iterator[PlacedText]:
        """Every text that `touches` says yes to, memory files first; none has a passage over two of them.

        What was read out of an attached document comes a second time, for the document that is no text itself.
        """
        documents = self._documents()
        for placed in self._texts(touches):
            yield placed
            if (name := _document_name(placed)) in documents:
                yield PlacedText(ForgetPlace("attached document", name), placed.text)

    def _texts(self, touches: Callable[[str], bool]) -> Iterator[PlacedText]:
        for path in self._memory_files():
            yield from self._lines("memory", path, touches)
        yield from self._json_lines(self._workspace.memory_log_path, lambda value: "memory log", touches)
        for path in self._log_copies():
            yield from self._json_lines(path, lambda value: "memory log", touches)
        for path in files_with_rows(self._workspace.dialog_folder):
            yield from self._json_lines(path, _journal_kind, touches)
        for path in session_paths(self._workspace.sessions_folder, self._workspace.trash_folder):
            yield from self._session(path, touches)
        for path in self._tool_results():
            yield from self._lines("tool result", path, touches)
        for path in self._failed_summaries():
            yield from _json_texts(self._place("failed summary", path), read_any_text(path), touches)
        for path in [*self._saved_messages(), *self._program_logs()]:
            is_log = path.parent == self._workspace.root
            yield from self._lines("program log" if is_log else "saved message", path, touches)
        for path in self._kept_files():
            yield from _json_texts(self._place("memory", path), read_any_text(path), touches)
        for path in self._drafts():
            yield from _json_texts(self._place("context", path), read_any_text(path), touches)

    def forget(self, passages: PassageSet) -> list[Gone]:
        """Take the passages out of every place; what went where. Killed in the middle, it can be done again.

        Documents come before the texts that were read out of them, memory files before their log, which takes the
        change up, and all that is read from the journal before it.
        """
        gone = self._forget_documents(passages) if self._documents() else []
        gone += [self._forget_in_memory(path, passages) for path in self._memory_files()]
        gone.append(self._rewritten("memory log", "memory_log.jsonl", passages, self._memory_log.rewrite_lines))
        for path in self._log_copies():
            gone.append(self._rewritten("memory log", path.name, passages, partial(rewrite_lines, path)))
        gone += [self._forget_in_text("tool result", path, passages) for path in self._tool_results()]
        gone += [self._forget_in_text("saved message", path, passages) for path in self._saved_messages()]
        gone += [self._forget_in_json("failed summary", path, passages) for path in self._failed_summaries()]
        gone += [self._forget_in_json("memory", path, passages) for path in self._kept_files()]
        gone += [self._forget_in_json("context", path, passages) for path in self._drafts()]
        gone += [self._forget_in_text("program log", path, passages) for path in self._program_logs()]
        gone.append(self._rewritten("context", "sessions", passages, self._sessions.rewrite_files))
        gone.append(self._rewritten("journal", "dialog", passages, self._journal.rewrite_lines))
        return [place for place in gone if place.count]

    def remove_temporary_files(self, now: datetime) -> None:
        """Delete what a kill in the middle of a write left behind: it may hold a whole old file."""
        for folder in (self._workspace.root, *(path for path in self._workspace.root.iterdir() if path.is_dir())):
            if folder in (self._workspace.files_folder, self._workspace.skills_folder) or folder.is_symlink():
                continue
            for path in left_over_files(folder, now.timestamp() - _TEMPORARY_SECONDS):
                path.unlink(missing_ok=True)

    def _memory_files(self) -> list[Path]:
        """The Markdown files of the home and all below memory/, as the index and the prompt read them."""
        found = [*sorted(self._workspace.root.glob("*.md")), *sorted(self._workspace.memory_folder.rglob("*.md"))]
        return [path for path in found if path.is_file() and not path.is_symlink()]

    def _log_copies(self) -> list[Path]:
        """What a sync program or an editor made of the memory log."""
        log = self._workspace.memory_log_path
        copies = (path for path in log.parent.glob(f"{log.stem}*{log.suffix}*") if path != log)
        return sorted(path for path in copies if path.is_file() and not path.is_symlink())

    def _program_logs(self) -> list[Path]:
        log = self._workspace.log_path
        return [path for path in (log, log.with_name(f"{log.name}.1")) if path.is_file() and not path.is_symlink()]

    def _tool_results(self) -> list[Path]:
        return sorted(self._workspace.tool_result_folder.glob("*.txt"))

    def _failed_summaries(self) -> list[Path]:
        return sorted(self._workspace.compaction_failures_folder.glob("*.json"))

    def _saved_messages(self) -> list[Path]:
        """Texts that were attached, pasted or too long for a message; all else in files/ is the owner's."""
        texts = [path for path, kind in self._attached() if kind == "text"]
        return sorted([*self._workspace.files_folder.glob("message-*.txt"), *texts])

    def _documents(self) -> set[str]:
        """The attached files that are no text."""
        return {self._place("attached document", path).name for path, kind in self._attached() if kind != "text"}

    def _attached(self) -> list[tuple[Path, FileKind]]:
        folder = self._workspace.attached_folder
        if folder.is_symlink():
            return []
        paths = (path for path in folder.glob("[!.]*") if path.is_file() and not path.is_symlink())
        return [(path, kind_of_file(path)) for path in paths]

    def _kept_files(self) -> list[Path]:
        """Lines for memory that wait for the person, and calls that the person allowed for longer."""
        allowed = self._workspace.allowed_calls_path
        kept = [self._workspace.waiting_path, allowed, allowed.with_name(f"{allowed.name}.damaged")]
        return [path for path in kept if path.exists()]

    def _drafts(self) -> list[Path]:
        """What was streamed when the program was killed."""
        return sorted(self._workspace.sessions_folder.glob("*.draft"))

    def _place(self, kind: PlaceKind, path: Path, line: int = 0) -> ForgetPlace:
        return ForgetPlace(kind, path.relative_to(self._workspace.root).as_posix(), line)

    def _lines(self, kind: PlaceKind, path: Path, touches: Callable[[str], bool]) -> Iterator[PlacedText]:
        for number, line in enumerate(read_any_text(path).split("\n"), 1):
            if touches(line):
                yield PlacedText(self._place(kind, path, number), line)

    def _json_lines(
        self, path: Path, kind_of: Callable[[object], PlaceKind], touches: Callable[[str], bool]
    ) -> Iterator[PlacedText]:
        for number, line in enumerate(read_lines(path) if path.exists() else (), 1):
            text = line.content.decode("utf-8", "replace")
            if touches(text):
                kind = kind_of(_json(text))
                yield from _json_texts(self._place(kind, path, number), text, touches)

    def _session(self, path: Path, touches: Callable[[str], bool]) -> Iterator[PlacedText]:
        text = read_any_text(path)
        value = _json(text) if touches(text) else None
        for name, part in value.items() if is_object(value) else ():
            place = self._place(_SESSION_KINDS.get(name, "context"), path)
            # Of the head only the title is prose.
            if not isinstance(part, str) or name in _SESSION_KINDS:
                yield from (PlacedText(place, inner) for inner in texts_of(part) if touches(inner))

    def _forget_documents(self, passages: PassageSet) -> list[Gone]:
        """A document cannot be rewritten, so it goes as a whole; what was read out of it stays, with the marks."""
        texts = (placed for placed in self.texts(passages.touches) if placed.place.kind == "attached document")
        names = {placed.place.name for placed in texts if any(map(passages.holds, passages_of(placed.text)))}
        for name in names:
            (self._workspace.root / name).unlink(missing_ok=True)
        return [Gone("attached document", name, 1) for name in sorted(names)]

    def _forget_in_memory(self, path: Path, passages: PassageSet) -> Gone:
        name = self._place("memory", path).name
        try:
            self._workspace.memory_path(name)
        except WorkspaceError:
            return self._forget_in_text("memory", path, passages, removes=True)
        while True:
            note = self._notes.read(name)
            removed = passages.remove(note.text)
            if removed.count:
                try:
                    self._notes.save(name, removed.text, note.digest, FORGET_WRITER)
                except ConflictError:
                    # Somebody wrote to it since it was read.
                    continue
            return Gone("memory", name, removed.count)

    def _forget_in_text(self, kind: PlaceKind, path: Path, passages: PassageSet, removes: bool = False) -> Gone:
        with hold_lock(path):
            decoded = decode_text(path.read_bytes())
            changed = passages.remove(decoded.text) if removes else passages.mark(decoded.text)
            if changed.count:
                status = path.stat()
                replace_file(path, encode(changed.text.replace("\n", decoded.newline)))
                # How long a tool result stays is counted from when it was written.
                os.utime(path, ns=(status.st_atime_ns, status.st_mtime_ns))
        return Gone(kind, self._place(kind, path).name, changed.count)

    def _forget_in_json(self, kind: PlaceKind, path: Path, passages: PassageSet) -> Gone:
        eraser = _Eraser(passages)
        content = path.read_bytes()
        if (changed := eraser.change(content)) != content:
            replace_file(path, changed)
        return Gone(kind, self._place(kind, path).name, eraser.count)

    def _rewritten(
        self, kind: PlaceKind, name: str, passages: PassageSet, rewrite: Callable[[Callable[[bytes], bytes]], None]
    ) -> Gone:
        eraser = _Eraser(passages)
        rewrite(eraser.change)
        return Gone(kind, name, eraser.count)


class _Eraser:
    """Takes passages out of JSON, and counts them."""

    def __init__(self, passages: PassageSet) -> None:
        self._passages = passages
        self.count = 0

    def change(self, content: bytes) -> bytes:
        """The line or file with the marks; as it was where it held none of the passages."""
        text = content.decode("utf-8", "surrogateescape")
        if not self._passages.touches(text) and '"original":"' not in text:
            return content
        value = _json(text)
        if value is None:
            marked = self._passages.mark_raw(text)
            self.count += marked.count
            return marked.text.encode("utf-8", "surrogateescape")
        before = self.count
        changed = map_texts(self._without_original(value), self._mark)
        if self.count == before:
            return content
        return encode(json.dumps(changed, ensure_ascii=False, separators=(",", ":")))

    def _mark(self, text: str) -> str:
        marked = self._passages.mark(text)
        self.count += marked.count
        return marked.text

    def _without_original(self, value: object) -> object:
        """A line of the memory log without the bytes before, where these hold a passage in an encoding of their own."""
        if not is_object(value) or not isinstance(original := value.get("original"), str):
            return value
        try:
            text = decode_text(base64.b64decode(original, validate=True)).text
        except binascii.Error:
            return value
        held = sum(self._passages.holds(passage) for passage in passages_of(text))
        self.count += held
        return {**value, "original": None} if held else value


def _document_name(placed: PlacedText) -> str:
    """The attached file that a text may have been read out of, as a path from the home."""
    file = file_of(placed.text)
    return file.kept if file else placed.place.name.removesuffix(".txt")


def _journal_kind(row: object) -> PlaceKind:
    return "summary" if is_object(row) and row.get("kind") == "compaction" else "journal"


def _json_texts(place: ForgetPlace, text: str, touches: Callable[[str], bool]) -> Iterator[PlacedText]:
    value = _json(text)
    for inner in [text] if value is None else texts_of(value):
        if touches(inner):
            yield PlacedText(place, inner)


def _json(text: str) -> object | None:
    try:
        return parse_json(text)
    except ValueError:
        return None
