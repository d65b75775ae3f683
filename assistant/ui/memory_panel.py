"""The Memory tab: the memory files, one of them open in an editor that follows the disk and never overwrites it."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, replace
from pathlib import Path

from assistant.errors import ConflictError, PalimpsestError
from assistant.memory.notes import Note
from assistant.ui.cards import card
from assistant.ui.diff import diff_html, unified
from assistant.ui.file_history import history_html
from assistant.ui.loading import Loaded

WRITER = "owner"
FIRST_FILE = "MEMORY.md"
_ROLES = {
    "SOUL.md": "who the assistant is",
    "USER.md": "who you are",
    "MEMORY.md": "what lasts",
}


@dataclass(frozen=True, slots=True)
class OpenFile:
    """The file in the editor: its digest on disk and what the editor was given. An empty name: none yet."""

    name: str = ""
    base_digest: str = ""
    given: str = ""
    conflict: str = ""
    listed: str = ""
    state: str = ""
    has_history: bool = False


@dataclass(frozen=True, slots=True)
class MemoryFace:
    """New values for the tab; None leaves a component as it is."""

    file: OpenFile
    files: str | None = None
    head: str | None = None
    text: str | None = None
    banner: str | None = None
    history: str | None = None
    problem: str | None = None


@dataclass(frozen=True, slots=True)
class _ListedFile:
    name: str
    label: str
    role: str
    tokens: int
    is_selected: bool


class MemoryDesk:
    """What the tab's buttons do. Names are checked by the workspace, digests by the one writer of memory files."""

    def __init__(self) -> None:
        self._token_counts: dict[tuple[str, int, int], int] = {}

    def open(self, loaded: Loaded, name: str, file: OpenFile, editor: str) -> MemoryFace:
        """Put a file into the editor; unsaved words are never dropped for it."""
        if is_edited(file, editor) and name != file.name:
            return MemoryFace(file, problem=f"{file.name} has words that are not saved. Save or reload it first.")
        if name == file.name and is_edited(file, editor):
            return MemoryFace(file)
        return self.reload(loaded, name, file)

    def reload(self, loaded: Loaded, name: str, file: OpenFile) -> MemoryFace:
        """Take what stands on disk, whatever the editor holds."""
        try:
            loaded.assistant.workspace.memory_path(name)
            note = loaded.assistant.notes.read(name)
        except PalimpsestError as error:
            return MemoryFace(file, problem=str(error))
        opened = replace(_opened(name, note), has_history=file.has_history and name == file.name)
        return self._drawn(loaded, opened, note.text)

    def save(self, loaded: Loaded, file: OpenFile, editor: str, overwrite: bool = False) -> MemoryFace:
        """Write the editor's words, unless the file is no longer what it was when it was opened."""
        if not file.name:
            return MemoryFace(file)
        notes = loaded.assistant.notes
        try:
            base = notes.read(file.name).digest if overwrite else file.base_digest
            notes.save(file.name, as_file_text(editor), base, WRITER)
        except ConflictError:
            return self._conflict(loaded, file)
        except PalimpsestError as error:
            return MemoryFace(file, problem=str(error))
        note = notes.read(file.name)
        saved = replace(_opened(file.name, note), given=_mark(editor), has_history=file.has_history)
        return replace(self._drawn(loaded, saved, None), text=None)

    def poll(self, loaded: Loaded, file: OpenFile, editor: str) -> MemoryFace:
        """Follow the disk: an untouched editor takes what changed there, an edited one keeps its words."""
        try:
            note = loaded.assistant.notes.read(file.name or FIRST_FILE)
        except PalimpsestError as error:
            return MemoryFace(file, head=_head(file, str(error)))
        if not file.name:
            return self._drawn(loaded, _opened(FIRST_FILE, note), note.text)
        if note.digest != file.base_digest:
            if not is_edited(file, editor):
                opened = replace(_opened(file.name, note), listed=file.listed, has_history=file.has_history)
                return self._drawn(loaded, opened, note.text)
            if file.conflict != note.digest:
                return self._conflict(loaded, replace(file, conflict=note.digest))
        return self._refreshed(loaded, file, editor)

    def show_diff(self, loaded: Loaded, file: OpenFile, editor: str) -> MemoryFace:
        """What the disk has against what the editor has."""
        if not file.name:
            return MemoryFace(file)
        disk = loaded.assistant.notes.read(file.name).text
        diff = diff_html(unified(disk.strip(), editor.strip()))
        return MemoryFace(file, banner=str(card("conflict", name=file.name, diff=diff)))

    def toggle_history(self, loaded: Loaded, file: OpenFile) -> MemoryFace:
        """Show the changes of the open file, or no longer."""
        file = replace(file, has_history=not file.has_history)
        digest = loaded.assistant.notes.read(file.name).digest
        return MemoryFace(file, head=_head(file, file.state or "saved"), history=_history(loaded, file, digest))

    def restore(self, loaded: Loaded, file: OpenFile, editor: str, change_id: str) -> MemoryFace:
        """Write the version that a change of the open file left; that is a change of its own."""
        log, notes = loaded.assistant.memory_log, loaded.assistant.notes
        change = next((known for known in log.history(file.name) if known.change_id == change_id), None)
        if change is None:
            return MemoryFace(file, problem="That version belongs to another file. Nothing was done.")
        if is_edited(file, editor):
            return MemoryFace(file, problem=f"{file.name} has words that are not saved. Save or reload it first.")
        try:
            notes.save(file.name, log.text_after(change), file.base_digest, WRITER)
        except ConflictError:
            return self._conflict(loaded, file)
        except PalimpsestError as error:
            return MemoryFace(file, problem=str(error))
        return self.reload(loaded, file.name, file)

    def _conflict(self, loaded: Loaded, file: OpenFile) -> MemoryFace:
        return MemoryFace(
            replace(file, conflict=loaded.assistant.notes.read(file.name).digest, state="not saved"),
            head=_head(file, "not saved"),
            banner=str(card("conflict", name=file.name, diff="")),
        )

    def _drawn(self, loaded: Loaded, file: OpenFile, text: str | None) -> MemoryFace:
        files = self._files_html(loaded, file.name)
        return MemoryFace(
            replace(file, listed=_mark(files), state="saved"),
            files=files,
            head=_head(file, "saved"),
            text=text,
            banner="",
            history=_history(loaded, file, file.base_digest),
        )

    def _refreshed(self, loaded: Loaded, file: OpenFile, editor: str) -> MemoryFace:
        state = "not saved" if is_edited(file, editor) else "saved"
        files = self._files_html(loaded, file.name)
        return MemoryFace(
            replace(file, listed=_mark(files), state=state),
            files=files if _mark(files) != file.listed else None,
            head=_head(file, state) if state != file.state else None,
        )

    def _files_html(self, loaded: Loaded, selected: str) -> str:
        workspace = loaded.assistant.workspace
        files = [
            _ListedFile(
                name=(name := workspace.relative_name(path)),
                label=path.name,
                role=_ROLES.get(name, "daily note"),
                tokens=self._tokens(loaded, path),
                is_selected=name == selected,
            )
            for path in workspace.memory_files()
        ]
        return str(card("memory_list", files=files))

    def _tokens(self, loaded: Loaded, path: Path) -> int:
        try:
            status = path.stat()
            key = (str(path), status.st_mtime_ns, status.st_size)
            if key not in self._token_counts:
                self._token_counts[key] = loaded.count_tokens(path.read_text("utf-8", "replace"))
        except OSError:
            return 0
        return self._token_counts[key]


def is_edited(file: OpenFile, editor: str) -> bool:
    """True when the editor holds other words than it was given; it strips both ends of what it is given."""
    return bool(file.name) and _mark(editor) != file.given


def as_file_text(editor: str) -> str:
    """The editor's words as a file: one newline at the end, an empty file stays empty."""
    text = editor.replace("\r\n", "\n").rstrip()
    return f"{text}\n" if text else ""


def _opened(name: str, note: Note) -> OpenFile:
    return OpenFile(name, note.digest, _mark(note.text))


def _mark(text: str) -> str:
    return hashlib.sha256(text.strip().replace("\r\n", "\n").encode("utf-8", "replace")).hexdigest()


def _head(file: OpenFile, state: str) -> str:
    is_edited = state != "saved"
    return str(card("memory_head", name=file.name, state=state, is_edited=is_edited, has_history=file.has_history))


def _history(loaded: Loaded, file: OpenFile, digest: str) -> str:
    if not file.has_history:
        return ""
    return str(history_html(file.name, loaded.assistant.memory_log.history(file.name), digest))
