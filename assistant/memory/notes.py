"""The one writer of memory files: read, add lines under a heading, save with a digest check, undo."""

from __future__ import annotations

import uuid
from collections.abc import Callable, Generator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import datetime
from itertools import zip_longest
from pathlib import Path

from assistant.config.plain_reasons import plain_reason
from assistant.config.words import say
from assistant.errors import ConflictError, ForgottenError, WorkspaceError
from assistant.memory.forgotten import ForgottenLines
from assistant.memory.line_edits import new_lines_of, with_line_replaced, with_lines_under
from assistant.memory.log import MemoryChange, MemoryLog, Origin, digest_of
from assistant.memory.merge import merge
from assistant.storage.atomic_io import hold_lock, read_plain_file, replace_file
from assistant.storage.workspace import Workspace
from assistant.text.encoding import decode_text, encode, storable
from assistant.text.known_secrets import NO_KNOWN_SECRETS, KnownSecrets
from assistant.text.labels import with_labels_filled
from assistant.text.redaction import MaskedText

OUTSIDE_WRITER = "outside"
"""`writer` of a change that was made in an editor or by another program."""
OWNER_WRITER = "owner"
"""`writer` of what the person wrote through this program."""
FORGET_WRITER = "forget"
_PERSON = (OWNER_WRITER, OUTSIDE_WRITER, FORGET_WRITER)


@dataclass(frozen=True, slots=True)
class Note:
    """A memory file as it is on disk: lines end with `\\n`; text and digest of a missing file are empty.

    `notice` says in plain words what was odd about the file, such as an encoding other than UTF-8.
    """

    name: str
    text: str
    digest: str
    notice: str | None = None


class Notes:
    """Reads and writes the memory files of one workspace; each write is masked of secrets, logged and told."""

    def __init__(
        self,
        workspace: Workspace,
        log: MemoryLog,
        now: Callable[[], datetime],
        forgotten: ForgottenLines | None = None,
        known: KnownSecrets = NO_KNOWN_SECRETS,
    ) -> None:
        """`now` is zone-aware. Names are those of `Workspace.memory_path`, which refuses all others.

        The values of `known` are masked like anything that has the shape of a secret.

        A forgotten line is written, and no longer forgotten, when the person writes it; any other writer is refused.
        """
        self._workspace = workspace
        self._forgotten = forgotten
        self._known = known
        self.log = log
        """Every change of every file."""
        self._now = now
        self.on_change: list[Callable[[MemoryChange], None]] = []
        """Called after each change, in the thread that wrote."""

    def read(self, name: str) -> Note:
        """The file as text whatever its encoding; a missing one is empty."""
        content = _content(name, self._workspace.memory_path(name))
        decoded = decode_text(content)
        return Note(name, decoded.text, digest_of(content), decoded.notice(name) or None)

    def save(self, name: str, text: str, base_digest: str, writer: str | Origin) -> MemoryChange | None:
        """Put `text` in place of the file that had `base_digest`; None when that changes nothing.

        Raises `ConflictError`, with nothing written, when the file is not what it was, and `ForgottenError` when a
        new line is one that was forgotten.
        """
        path = self._workspace.memory_path(name)
        with _writing(path):
            content = _content(name, path)
            if digest_of(content) != base_digest:
                raise ConflictError(name)
            standing = set(decode_text(content).text.split("\n"))
            new = [line for line in text.split("\n") if line not in standing]
            if (refused := self._first_forgotten(new, writer)) is not None:
                raise ForgottenError(refused)
            changes = self._replace(name, path, content, text, _origin(writer))
        return self._tell(changes)

    def add_lines(
        self, name: str, heading: str, lines: list[str], writer: str | Origin, replaces: str | None = None
    ) -> MemoryChange | None:
        """Add list items under a heading, which is made when missing, or put them in place of one old line.

        A line such as `Name: Ada` fills the line of that label, wherever it is. Lines that stand in the file
        already are left out; None when nothing is left to write. Raises `WorkspaceError` when the line to replace does
        not stand there, `ForgottenError` when all the lines are forgotten ones.
        """
        path = self._workspace.memory_path(name)
        if lines and not (lines := self._unforgotten(given := lines, writer)):
            raise ForgottenError(given[0])
        masked = self._known.mask_all(_writable("\n".join(lines)))
        with _writing(path):
            content = _content(name, path)
            text = decode_text(content).text
            if replaces is None:
                filled = with_labels_filled(text, masked.text.split("\n"))
                new = new_lines_of(filled.text, filled.rest)
                after = with_lines_under(filled.text, heading, new) if new else filled.text
            else:
                after = _replaced(name, text, masked.text, replaces)
            changes = self._replace(name, path, content, after, _origin(writer), masked.kinds)
        return self._tell(changes)

    def undo(self, change_id: str, writer: str | Origin) -> MemoryChange | None:
        """Take one change back and keep what was written since; None when nothing of it is left.

        Raises `ConflictError` when its lines were changed again since, `WorkspaceError` when there is no such change.
        """
        change = self.log.change(change_id)
        if change is None:
            raise WorkspaceError(say("memory", "no_change", change_id=change_id))
        path = self._workspace.memory_path(change.path)
        with _writing(path):
            content = _content(change.path, path)
            merged = merge(self.log.text_after(change), self.log.text_before(change), decode_text(content).text)
            if merged.conflicts:
                raise ConflictError(change.path)
            changes = self._replace(change.path, path, content, merged.text, _origin(writer))
        return self._tell(changes)

    def note_outside_change(self, name: str) -> MemoryChange | None:
        """Log what an editor or another program made of the file.

        None when the log knows it so, or sees the file for the first time.
        """
        path = self._workspace.memory_path(name)
        with _writing(path):
            change = self._record_outside(name, _content(name, path))
        return self._tell([change])

    def is_changed_by_person(self, name: str, digest: str) -> bool:
        """True where anything but the assistant's own lines came into the file since it had `digest`.

        That is what the person, an editor or another program wrote, and what nobody knows of.
        """
        path = self._workspace.memory_path(name)
        with _writing(path):
            now = digest_of(_content(name, path))
            known = self.log.history(name)
            places = [place for place, change in enumerate(known, 1) if change.digest == digest]
            is_known = bool(places) or not digest
            if now == digest or not is_known or now != self.log.latest_digest(name):
                return now != digest
            return any(change.writer in _PERSON for change in known[max(places, default=0) :])

    def _first_forgotten(self, lines: list[str], writer: str | Origin) -> str | None:
        """The first line that this writer may not write."""
        allowed = self._unforgotten(lines, writer)
        return next((line for line, other in zip_longest(lines, allowed) if line != other), None)

    def _unforgotten(self, lines: list[str], writer: str | Origin) -> list[str]:
        """The lines that this writer may write, in order."""
        if self._forgotten is None or _origin(writer).writer in _PERSON:
            return lines
        return self._forgotten.without_forgotten(lines)

    def _replace(
        self, name: str, path: Path, content: bytes, text: str, origin: Origin, kinds: tuple[str, ...] | None = None
    ) -> list[MemoryChange | None]:
        """Write and log; what happened outside since the newest logged change is logged before it.

        `kinds` is given where the new part of the text is masked already.
        """
        decoded = decode_text(content)
        text = _writable(text)
        masked = self._known.mask_all(text)
        if kinds is None:
            text, kinds = masked.text, masked.kinds
        if text == decoded.text:
            return []
        outside = self._record_outside(name, content)
        new_content = encode(text.replace("\n", decoded.newline))
        replace_file(path, new_content)
        try:
            change = self._record(name, MaskedText(masked.text, kinds), new_content, origin)
        except OSError:
            # A change that cannot be logged is none.
            with suppress(OSError):
                replace_file(path, content)
            raise
        return [outside, change]

    def _record_outside(self, name: str, content: bytes) -> MemoryChange | None:
        """The logged change, None where there was none or the file was never seen before: that is no change."""
        digest = self.log.latest_digest(name)
        if digest_of(content) == digest:
            return None
        decoded = decode_text(content)
        original = None if decoded.is_utf8 else content
        # What somebody else wrote into the file stays there; the log alone is masked.
        masked = MaskedText(self._known.mask_all(decoded.text).text, ())
        change = self._record(name, masked, content, Origin(OUTSIDE_WRITER), original)
        return change if digest else None

    def _record(
        self,
        name: str,
        masked: MaskedText,
        content: bytes,
        origin: Origin,
        original: bytes | None = None,
    ) -> MemoryChange | None:
        return self.log.record(
            name,
            masked,
            digest_of(content),
            origin,
            change_id=uuid.uuid4().hex,
            at=self._now().isoformat(timespec="milliseconds"),
            original=original,
        )

    def _tell(self, changes: list[MemoryChange | None]) -> MemoryChange | None:
        """Tell every change, once no lock is held, and return the newest."""
        told = [change for change in changes if change]
        for change in told:
            if self._forgotten is not None and change.writer in (OWNER_WRITER, OUTSIDE_WRITER):
                self._forgotten.lift("\n".join(change.added_lines))
            for tell in self.on_change:
                tell(change)
        return told[-1] if told else None


def _writable(text: str) -> str:
    """The text as a file can hold it: before it is masked, for a NUL may stand in the middle of a key."""
    return storable(text.replace("\0", ""))


@contextmanager
def _writing(path: Path) -> Generator[None]:
    """Hold the file's lock; a disk that refuses is told in plain words."""
    try:
        with hold_lock(path):
            yield
    except OSError as error:
        raise WorkspaceError(say("memory", "not_writable", name=path.name, reason=plain_reason(error))) from None


def _content(name: str, path: Path) -> bytes:
    try:
        return read_plain_file(path)
    except FileNotFoundError:
        return b""
    except OSError as error:
        raise WorkspaceError(say("memory", "not_readable", name=name, reason=plain_reason(error))) from None


def _replaced(name: str, text: str, lines: str, replaces: str) -> str:
    without = with_line_replaced(text, replaces, [])
    if without is None:
        raise WorkspaceError(say("memory", "no_line", name=name, replaces=replaces))
    return with_line_replaced(text, replaces, new_lines_of(without, [lines])) or ""


def _origin(writer: str | Origin) -> Origin:
    return Origin(writer) if isinstance(writer, str) else writer
