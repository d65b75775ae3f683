"""Disk against index: what changed is indexed again, what went is taken out; safe to repeat at any time."""

from __future__ import annotations

import hashlib
import os
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from assistant.index.chunker import Chunk, JournalText, chunk_journal, chunk_markdown
from assistant.index.pace import IndexPace
from assistant.index.text.changes import Changes
from assistant.index.text.chunk_rows import Source
from assistant.index.text.full_text import FullText
from assistant.storage.atomic_io import read_plain_file
from assistant.storage.folder_look import SETTLED_NANOSECONDS
from assistant.text.encoding import decode_text

LONG_TERM_FILES = ("MEMORY.md", "memory.md", "USER.md", "SOUL.md")
"""Indexed from the home's top; one file where the disk does not tell their cases apart."""
FOLDERS = ("memory", "dialog")

_FILES_A_TRANSACTION = 100

ReadDialog = Callable[[Path], Sequence[JournalText]]
"""What is to be indexed of one day's conversations."""


@dataclass(frozen=True, slots=True)
class SyncResult:
    """What one look at the disk found."""

    changed: tuple[str, ...]
    removed: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class _File:
    name: str
    path: Path
    stamp: str
    is_settled: bool


class Synchroniser:
    """Brings the full-text index in step with the files of a home. Events are not needed and not trusted."""

    def __init__(
        self, root: Path, full_text: FullText, read_dialog: ReadDialog, mask: Callable[[str], str], pace: IndexPace
    ) -> None:
        self._root = root
        self.pace = pace
        """How fast files are read."""
        self._full_text = full_text
        self._read_dialog = read_dialog
        self._mask = mask

    def sync(self, on_progress: Callable[[int, int], None], should_stop: Callable[[], bool]) -> SyncResult:
        """Look at every file; `on_progress` gets files done and files to do after each transaction.

        Told to stop it keeps what it has read, and the rest is found by the next call.
        """
        known = self._full_text.sources()
        files = {file.name: file for file in find_files(self._root)}
        removed = [name for name in known if name not in files]
        looked_at = [file for file in files.values() if not _is_unchanged(file, known.get(file.name))]
        changed: list[str] = []
        for start in range(0, len(looked_at) or 1, _FILES_A_TRANSACTION):
            if should_stop():
                break
            batch = looked_at[start : start + _FILES_A_TRANSACTION]
            # Reading and chunking stand outside the transaction, which other processes wait for.
            updates = [*self._updates(batch, known, should_stop)]
            gone = removed if start == 0 else []
            if updates or gone:
                with self._full_text.changing() as changes:
                    changed += _apply(changes, updates, gone)
            on_progress(min(start + len(batch), len(looked_at)), len(looked_at))
        return SyncResult(tuple(changed), tuple(removed))

    def _updates(
        self, files: Iterable[_File], known: Mapping[str, Source], should_stop: Callable[[], bool]
    ) -> Iterator[_Update]:
        for file in files:
            if should_stop():
                return
            started = time.monotonic()
            if (update := self._read(file, known.get(file.name))) is not None:
                yield update
            self.pace.rest_after(time.monotonic() - started)

    def _read(self, file: _File, known: Source | None) -> _Update | None:
        try:
            content = read_plain_file(file.path)
        except OSError:
            # Gone or locked since the folder was listed; the next look finds out.
            return None
        digest = hashlib.sha256(content).hexdigest()[:32]
        stamp = file.stamp if file.is_settled else ""
        if known is not None and known.digest == digest:
            return _Update(Source(file.name, digest, stamp, known.notice), None) if stamp else None
        notice, chunks = self._chunks(file, content)
        return _Update(Source(file.name, digest, stamp, notice), chunks)

    def _chunks(self, file: _File, content: bytes) -> tuple[str, list[Chunk]]:
        if file.path.suffix == ".jsonl":
            texts = [_masked(text, self._mask) for text in self._read_dialog(file.path)]
            return "", chunk_journal(file.name, texts)
        decoded = decode_text(content)
        return decoded.notice(file.name), chunk_markdown(file.name, self._mask(decoded.text))


@dataclass(frozen=True, slots=True)
class _Update:
    source: Source
    chunks: list[Chunk] | None
    """None: the same content as before."""


def find_files(root: Path) -> Iterator[_File]:
    """The files to be indexed, newest day first. Links are not followed: they could lead out of the home."""
    seen: set[tuple[int, int]] = set()
    now = time.time_ns()
    for name, path in _candidates(root):
        try:
            status = path.lstat()
        except OSError:
            continue
        identity = (status.st_dev, status.st_ino)
        # MEMORY.md and memory.md are one file on disks that are blind to case.
        if identity in seen and status.st_ino:
            continue
        seen.add(identity)
        stamp = f"{status.st_mtime_ns}.{status.st_ctime_ns}.{status.st_size}.{status.st_ino}"
        newest = max(status.st_mtime_ns, status.st_ctime_ns)
        yield _File(name, path, stamp, is_settled=now - newest > SETTLED_NANOSECONDS)


def is_indexed_name(name: str) -> bool:
    """True for the name, from the home and with slashes, of a file that belongs into the index."""
    if name in LONG_TERM_FILES:
        return True
    folder, _, rest = name.partition("/")
    suffix = {"memory": ".md", "dialog": ".jsonl"}.get(folder, "\0")
    return rest.endswith(suffix) and not any(part.startswith(".") for part in rest.split("/"))


def _candidates(root: Path) -> Iterator[tuple[str, Path]]:
    for name in LONG_TERM_FILES:
        path = root / name
        if path.is_file() and not path.is_symlink():
            yield name, path
    for folder in FOLDERS:
        yield from sorted(_walk(root / folder, folder), reverse=True)


def _walk(folder: Path, name: str) -> Iterator[tuple[str, Path]]:
    if folder.is_symlink():
        return
    try:
        entries = [*os.scandir(folder)]
    except OSError:
        return
    for entry in entries:
        inner = f"{name}/{entry.name}"
        if entry.is_dir(follow_symlinks=False):
            if not entry.name.startswith("."):
                yield from _walk(Path(entry.path), inner)
        elif entry.is_file(follow_symlinks=False) and is_indexed_name(inner):
            yield inner, Path(entry.path)


def _is_unchanged(file: _File, known: Source | None) -> bool:
    return known is not None and bool(known.stamp) and known.stamp == file.stamp


def _apply(changes: Changes, updates: Iterable[_Update], removed: Iterable[str]) -> list[str]:
    changed: list[str] = []
    for name in removed:
        changes.remove(name)
    for update in updates:
        if update.chunks is None:
            changes.touch(update.source)
        else:
            changes.put(update.source, update.chunks)
            changed.append(update.source.name)
    return changed


def _masked(text: JournalText, mask: Callable[[str], str]) -> JournalText:
    masked = mask(text.text)
    if masked == text.text:
        return text
    return JournalText(text.session_id, text.message_id, text.role, text.kind, masked, text.at, text.name, text.line)
