"""The heads of the session files in one folder; a file is read again only when it changed, also over a start."""

from __future__ import annotations

import threading
from collections.abc import Mapping
from pathlib import Path

from pydantic import TypeAdapter

from assistant.storage.folder_look import FolderLook
from assistant.storage.head_store import HeadStore, KeptFile
from assistant.storage.sessions.session_head import SessionHead, read_head

_KEPT_BEHIND_FILES = 100
"""So many heads a start may read again, rather than write to the store with each save."""

_KEPT_HEADS: TypeAdapter[list[SessionHead | None]] = TypeAdapter(list[SessionHead | None])


class SessionHeads:
    """Safe to use from several threads."""

    def __init__(self, folder: Path, store_path: Path) -> None:
        self._folder = folder
        self._store = HeadStore(store_path, folder.name, _KEPT_HEADS)
        self._look = FolderLook(folder, lambda name: name.endswith(".json"))
        self._guard = threading.Lock()
        self._known: dict[str, KeptFile[SessionHead | None]] = {}
        self._all: dict[str, SessionHead] = {}
        self.version = 0
        """Grows with each look that found something else."""
        self._is_loaded = False
        self._not_kept: set[str] = set()

    def all(self) -> Mapping[str, SessionHead]:
        """The readable ones by the name of their file, in the order of the names."""
        with self._guard:
            signs = self._look.signs()
            if not self._is_loaded:
                self._is_loaded = True
                self._known = self._store.load()
            gone = self._known.keys() - signs.keys()
            for name in gone:
                del self._known[name]
            changed = [
                name for name, sign in signs.items() if name not in self._known or self._known[name].sign != sign
            ]
            for name in changed:
                self._known[name] = KeptFile(signs[name], read_head(self._folder / name))
            self._not_kept.update(changed, gone)
            # What is gone is not kept any longer than its file.
            if gone or len(self._not_kept) >= _KEPT_BEHIND_FILES:
                self._keep()
            if changed or gone or not self.version:
                self.version += 1
                self._all = {name: head for name in sorted(self._known) if (head := self._known[name].value)}
            return self._all

    def of(self, path: Path) -> SessionHead | None:
        """The head of this file as it is now; None where it cannot be read or is not there."""
        with self._guard:
            # Who asks for one file may be about to write it.
            self._look.expect_change(path.name)
        return read_head(path)

    def keep(self) -> None:
        """Bring the store in step with the files."""
        self.all()
        with self._guard:
            self._keep()

    def _keep(self) -> None:
        kept = {name: self._known[name] for name in self._not_kept if name in self._known}
        self._store.keep(kept, self._not_kept - kept.keys())
        self._not_kept.clear()
