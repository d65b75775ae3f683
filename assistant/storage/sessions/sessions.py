"""The conversations of a workspace: save, load and heal, list, rename, trash.

Files are the truth: ids are read from inside; what is kept of them from one start to the next is a cache. A session
file older than the journal is completed from it, a damaged or missing one rebuilt.
"""

from __future__ import annotations

import os
import threading
import uuid
from collections.abc import Callable, Collection, Generator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path

from filelock import FileLock, Timeout

from assistant.config.words import say
from assistant.errors import SessionError, SessionInUseError, SessionNotFoundError, SessionVersionError
from assistant.messages.hints import without_recalled
from assistant.storage.atomic_io import replace_file, sync_folder
from assistant.storage.garbage import without_collection
from assistant.storage.journal.day_parts import JournalSession
from assistant.storage.journal.journal import Journal
from assistant.storage.journal.rows import BlockRow, DeletedRow
from assistant.storage.message_healing import heal
from assistant.storage.sessions.from_journal import branched_rows, completed, profile_in, rebuilt
from assistant.storage.sessions.heads import SessionHeads
from assistant.storage.sessions.pinned import pinned_artifacts
from assistant.storage.sessions.session_file import (
    Session,
    file_names,
    lock_name,
    read_session,
    session_bytes,
    title_from,
    title_of_messages,
    with_head,
)
from assistant.storage.sessions.session_head import SESSION_VERSION, SessionHead, SessionSummary, newest_first
from assistant.storage.sessions.stream_draft import StreamDraft
from assistant.storage.workspace import Workspace
from assistant.text.instant import instant
from assistant.text.known_secrets import NO_KNOWN_SECRETS, KnownSecrets


@dataclass(frozen=True, slots=True)
class _Lists:
    """The lists of conversations as they were with this much read."""

    versions: tuple[int, int, int]
    listed: list[SessionSummary]
    trashed: list[SessionSummary]


class Sessions:
    """The session files of one workspace, healed from its journal."""

    def __init__(
        self,
        workspace: Workspace,
        journal: Journal,
        now: Callable[[], datetime],
        user_id: str = "owner",
        known: KnownSecrets = NO_KNOWN_SECRETS,
    ) -> None:
        """`now` is zone-aware; `user_id` is whose conversations `create` makes.

        The values of `known` are never saved.
        """
        self._known = known
        self._workspace = workspace
        self._folder = workspace.sessions_folder
        self._trash = workspace.trash_folder
        self._journal = journal
        self._now = now
        self._user_id = user_id
        self._guard = threading.RLock()
        self._lists = _Lists((-1, -1, -1), [], [])
        self._heads = SessionHeads(self._folder, workspace.heads_path)
        self._trashed = SessionHeads(self._trash, workspace.heads_path)
        self._renamed: dict[str, str] = {}

    def create(self, title: str = "") -> Session:
        """A new conversation; it is on disk once it is saved."""
        return Session(self._user_id, uuid.uuid4().hex, title_from(title, self._known), updated_at=self._at())

    def branch(self, session_id: str, message_id: str) -> str:
        """The id of a new conversation, on disk, that begins with a copy of another one to the end of a message's turn.

        The other one stays as it is. Raises `SessionNotFoundError` where it has no such message.
        """
        original = self.load(session_id)
        session = self.create(say("storage", "branch_of", title=original.title))
        rows = branched_rows(self._journal.rows(session_id, include_dropped=True), message_id, session.session_id)
        if not rows:
            raise SessionNotFoundError(session_id)
        with self._guard:
            self._journal.append(rows)
            context = rebuilt(session.session_id, rows)
            assert context is not None
            copied = {row.key for row in rows if isinstance(row, BlockRow)}
            pins = tuple(key for key in original.pins if key in copied)
            self.save(replace(context, title=session.title, messages=heal(context.messages), pins=pins))
        return session.session_id

    def draft(self, session_id: str) -> StreamDraft:
        """Where what is streamed in a conversation is kept until it is in the journal."""
        return StreamDraft(self._workspace.draft_path(session_id), self._known)

    def save(self, session: Session) -> None:
        """Put the session on disk as a whole; an error leaves the file as it was.

        Without a title it gets one from what the person said first. Raises `SessionVersionError` rather than replace a
        newer program's file.
        """
        with self._guard:
            path = self._path_for(session)
            title = self._renamed.get(session.session_id, session.title)
            session.title = self._known.mask(title or title_of_messages(session.messages, self._known))
            session.updated_at = self._at()
            replace_file(path, self._known.mask_bytes(session_bytes(session)))

    def load(self, session_id: str) -> Session:
        """The conversation, completed or rebuilt from the journal, with every call paired (but see `heal`).

        Nothing is written. Raises `SessionNotFoundError` (also for a deleted one), `SessionVersionError`, and
        `SessionError` when the file is damaged and the journal has nothing.
        """
        path = self._find(session_id)
        self._refuse_newer(path)
        rows = self._journal.rows(session_id)
        deleted = [row for row in rows if isinstance(row, DeletedRow)]
        if deleted and not deleted[-1].is_restored:
            raise SessionNotFoundError(session_id)
        stored = read_session(path) if path else None
        session = completed(stored, rows) if stored else rebuilt(session_id, rows)
        if session is None:
            if path is None:
                raise SessionNotFoundError(session_id)
            raise SessionError(say("storage", "session_damaged", name=path.name))
        if stored is None:
            session.damaged_path = path or self._unreadable_path(session)
        head = self._heads.of(path) if path else None
        session.title = self._renamed.get(session_id) or (head.title if head else "") or session.title
        session.messages = heal(session.messages)
        return session

    def put_aside(self, path: Path) -> str:
        """Move a damaged file to the trash; what it is called in the home from then on."""
        self._trash.mkdir(parents=True, exist_ok=True)
        target = self._trash / f"{path.name}.{uuid.uuid4().hex[:8]}.damaged"
        path.replace(target)
        return f"{self._trash.name}/{target.name}"

    def profile_of(self, session_id: str) -> str:
        """The profile that was chosen for a conversation; empty for what the settings say."""
        path = self._find(session_id)
        stored = read_session(path) if path else None
        return profile_in(self._journal.rows(session_id), stored.profile if stored else "")

    def read_on(self) -> None:
        """Take in what is new in journal and session files, the first time maybe a lot."""
        self._read_lists()

    def list(self) -> list[SessionSummary]:
        """All conversations that are not deleted, newest first; those without a readable file from the journal."""
        return list(self._read_lists().listed)

    def trashed(self) -> list[SessionSummary]:
        """The deleted conversations, newest first."""
        return list(self._read_lists().trashed)

    def _read_lists(self) -> _Lists:
        """The lists, made again where something changed."""
        with without_collection():
            journal_version = self._journal.read_on()
            present, in_trash = self._heads.all(), self._trashed.all()
            versions = (journal_version, self._heads.version, self._trashed.version)
            if self._lists.versions != versions:
                self._lists = self._make_lists(versions, present.values(), in_trash.values())
        return self._lists

    def _make_lists(
        self, versions: tuple[int, int, int], present: Collection[SessionHead], in_trash: Collection[SessionHead]
    ) -> _Lists:
        deleted = self._journal.deleted_ids()
        heads = [head for head in present if head.session_id not in deleted]
        listed = _summaries(heads, self._journal.sessions(left_out={head.session_id for head in heads}))
        gone = [head for head in [*in_trash, *present] if head.session_id in deleted]
        return _Lists(versions, listed, _summaries(gone, self._journal.deleted_sessions()) if deleted else [])

    def pinned_artifacts(self) -> set[str]:
        """Ids of the full tool results that pinned blocks name, over all conversations."""
        return pinned_artifacts(self._folder, self._journal, self._workspace.heads_path)

    def rename(self, session_id: str, title: str) -> None:
        """Give the conversation another title; a running one keeps it with its next save."""
        title = title_from(title, self._known)
        with self._guard:
            self._change_head(session_id, {"title": title})
            self._renamed[session_id] = title

    def put_on_top(self, session_id: str, is_on_top: bool) -> None:
        """Keep the conversation above the others in the list, or no longer; its time stays as it is."""
        with self._guard:
            self._change_head(session_id, {"is_on_top": is_on_top})

    def trash(self, session_id: str) -> None:
        """Delete the conversation: from the `deleted` row on it is gone, and its file waits in the trash."""
        with self._guard:
            path = self._find(session_id)
            if path is None and (not self._journal.knows(session_id) or session_id in self._journal.deleted_ids()):
                raise SessionNotFoundError(session_id)
            self._journal.append([DeletedRow(session_id, self._at())])
            if path:
                self._move(path, self._trash)

    def restore(self, session_id: str) -> None:
        """Take a deleted conversation back out of the trash."""
        with self._guard:
            if session_id not in self._journal.deleted_ids():
                raise SessionNotFoundError(session_id)
            waiting = [
                self._trash / name for name, head in self._trashed.all().items() if head.session_id == session_id
            ]
            if waiting and self._find(session_id) is None:
                self._move(max(waiting, key=lambda path: path.stat().st_mtime_ns), self._folder)
            self._journal.append([DeletedRow(session_id, self._at(), is_restored=True)])

    def remove_hints(self, session_ids: Collection[str]) -> None:
        """Take what was recalled out of the files of these conversations, but for those of a newer program."""
        with self._guard:
            for name, head in self._heads.all().items():
                if head.session_id not in session_ids or head.is_newer:
                    continue
                path = self._folder / name
                session = read_session(path)
                messages = without_recalled(session.messages) if session else []
                if session and messages != session.messages:
                    _replace_in_time(path, session_bytes(replace(session, messages=messages)))

    def empty_trash(self, remove_rest: Callable[[set[str]], None]) -> set[str]:
        """Remove every deleted conversation for good: its files and its rows. A kill half-way: call it again.

        `remove_rest` gets their ids while their rows can still be read. The index entries are the caller's.
        """
        with self._guard:
            deleted = self._journal.deleted_ids()
            remove_rest(deleted)
            for folder, heads in ((self._folder, self._heads), (self._trash, self._trashed)):
                for name in [name for name, head in heads.all().items() if head.session_id in deleted]:
                    (folder / name).unlink(missing_ok=True)
            for path in self._trash.glob("*.damaged"):
                path.unlink(missing_ok=True)
            self._keep_heads()
            self._journal.remove_sessions(deleted)
            return deleted

    def rewrite_files(self, change: Callable[[bytes], bytes]) -> None:
        """Put `change(content)` in place of every session file, those in the trash and damaged ones too.

        The order of the files in time stays. No conversation may be open.
        """
        with self._guard:
            for path in session_paths(self._folder, self._trash):
                content = path.read_bytes()
                new_content = change(content)
                if new_content != content:
                    _replace_in_time(path, new_content)
            self._renamed.clear()
            self._keep_heads()

    def are_open_elsewhere(self) -> bool:
        """True when a conversation is open, in this process or another."""
        for path in self._folder.glob(".*.lock"):
            lock = FileLock(path, timeout=0, thread_local=False, fallback_to_soft=False)
            try:
                lock.acquire()
            except Timeout:
                return True
            lock.release()
        return False

    @contextmanager
    def open_lock(self, session_id: str) -> Generator[None]:
        """Hold the conversation open. Raises `SessionInUseError` when another process or holder has it open."""
        self._folder.mkdir(parents=True, exist_ok=True)
        lock = FileLock(self._folder / lock_name(session_id), timeout=0, thread_local=False, fallback_to_soft=False)
        try:
            lock.acquire()
        except Timeout:
            raise SessionInUseError(session_id) from None
        try:
            yield
        finally:
            lock.release()

    def _at(self) -> str:
        return self._now().isoformat(timespec="milliseconds")

    def _keep_heads(self) -> None:
        """What was taken out of the files goes out of the store too."""
        self._heads.keep()
        self._trashed.keep()

    def _change_head(self, session_id: str, changed: Mapping[str, object]) -> None:
        path = self._find(session_id)
        self._refuse_newer(path)
        if path is None or read_session(path) is None:
            self.save(replace(self.load(session_id), **changed))
        else:
            replace_file(path, with_head(path.read_bytes(), changed))

    def _find(self, session_id: str) -> Path | None:
        """The file that says inside that it is this session's; the newest when a copy lies beside it."""
        for name in file_names(self._user_id, session_id):
            path = self._folder / name
            if (head := self._heads.of(path)) and head.session_id == session_id:
                return path
        own = [self._folder / name for name, head in self._heads.all().items() if head.session_id == session_id]
        return max(own, key=lambda path: path.stat().st_mtime_ns, default=None)

    def _path_for(self, session: Session) -> Path:
        """Where to save: the session's own file, else a name that is free. A damaged file there goes to the trash."""
        if path := self._find(session.session_id):
            self._refuse_newer(path)
            return path
        paths = [self._folder / name for name in file_names(session.user_id, session.session_id)]
        for path in paths:
            if path.is_file() and self._heads.of(path) is None:
                self.put_aside(path)
            if not path.exists():
                return path
        raise SessionError(say("storage", "name_taken", name=paths[-1].name))

    def _unreadable_path(self, session: Session) -> Path | None:
        """The file that has the session's name, and not even a head that tells whose it is."""
        paths = [self._folder / name for name in file_names(session.user_id, session.session_id)]
        return next((path for path in paths if path.is_file() and self._heads.of(path) is None), None)

    def _refuse_newer(self, path: Path | None) -> None:
        if path and (head := self._heads.of(path)) and head.is_newer:
            raise SessionVersionError(str(path), head.version, SESSION_VERSION)

    def _move(self, path: Path, folder: Path) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        target = folder / path.name
        if target.exists():
            target = folder / f"{path.stem}-{uuid.uuid4().hex[:8]}.json"
        path.replace(target)
        sync_folder(folder)
        sync_folder(path.parent)


def session_paths(*folders: Path) -> list[Path]:
    """The session files of these folders, damaged ones too."""
    paths = [path for folder in folders for kind in ("*.json", "*.damaged") for path in folder.glob(kind)]
    return sorted(path for path in paths if path.is_file())


def _replace_in_time(path: Path, content: bytes) -> None:
    """Replace a file that keeps its place in the order of time."""
    status = path.stat()
    replace_file(path, content)
    os.utime(path, ns=(status.st_atime_ns, status.st_mtime_ns))


def _summaries(heads: list[SessionHead], known: list[JournalSession]) -> list[SessionSummary]:
    """One line a conversation: of several heads the newest, and from the journal what has none; newest first."""
    lines = newest_first(heads)
    others = [
        SessionSummary(session.session_id, session.user_id, title_from(session.first_text), session.last_at, False)
        for session in known
        if session.session_id not in lines
    ]
    if not others:
        return list(lines.values())
    return sorted([*lines.values(), *others], key=lambda line: instant(line.updated_at), reverse=True)
