"""The full texts of shortened tool results, one file each, and how long they stay."""

from __future__ import annotations

import re
import uuid
from collections.abc import Callable
from datetime import datetime, timedelta
from pathlib import Path

from assistant.config.words import say
from assistant.errors import WorkspaceError
from assistant.storage.atomic_io import read_plain_file, replace_text
from assistant.storage.workspace import Workspace
from assistant.text.known_secrets import NO_KNOWN_SECRETS, KnownSecrets

ARTIFACT_ID_KEY = "artifact_id"
"""Where a tool result's `metadata` names its full text."""

_ARTIFACT_ID = re.compile(r"[0-9a-f]{8}-?(?:[0-9a-f]{4}-?){3}[0-9a-f]{12}")


class Artifacts:
    """`tool_result/<uuid>.txt` of one workspace."""

    def __init__(self, workspace: Workspace, known: KnownSecrets = NO_KNOWN_SECRETS) -> None:
        """The values of `known` never come into a file."""
        self._known = known
        self._folder = workspace.tool_result_folder

    def store(self, text: str) -> str:
        """Keep `text` and return the id it is read by."""
        artifact_id = str(uuid.uuid4())
        self.store_as(artifact_id, text)
        return artifact_id

    def store_as(self, artifact_id: str, text: str) -> None:
        """Keep `text` under an id that the caller made."""
        replace_text(self.path(artifact_id), self._known.mask(text))

    def read(self, artifact_id: str) -> str:
        """The full text. Raises `WorkspaceError` when it is not there any more."""
        try:
            return read_plain_file(self.path(artifact_id)).decode("utf-8", "replace")
        except OSError:
            raise WorkspaceError(say("storage", "artifact_gone", artifact_id=artifact_id)) from None

    def id_in(self, path: str) -> str | None:
        """The id in a path as notices give it, from the home or whole; None for any other path."""
        folder, _, name = path.replace("\\", "/").rpartition("/")
        artifact_id = name.removesuffix(".txt")
        is_one = folder.rpartition("/")[2] == self._folder.name and name.endswith(".txt")
        return artifact_id if is_one and _ARTIFACT_ID.fullmatch(artifact_id) else None

    def path(self, artifact_id: str) -> Path:
        """The file of an id. Raises `WorkspaceError` for anything that is not a UUID: no path leaves the folder."""
        if not _ARTIFACT_ID.fullmatch(artifact_id):
            raise WorkspaceError(say("storage", "no_artifact_id", artifact_id=artifact_id))
        return self._folder / f"{artifact_id}.txt"

    def remove(self, artifact_id: str) -> None:
        """Delete the full text, if it is there."""
        self.path(artifact_id).unlink(missing_ok=True)

    def remove_expired(self, days: int, pinned: Callable[[], set[str]], now: datetime) -> int:
        """Delete what was last written more than `days` ago and is not `pinned`; returns how many. 0 days: none.

        `pinned` may read every conversation, so it is asked only where something is that old.
        """
        if days <= 0:
            return 0
        oldest = (now - timedelta(days=days)).timestamp()
        old = [
            path
            for path in self._folder.glob("*.txt")
            if _ARTIFACT_ID.fullmatch(path.stem) and path.stat().st_mtime < oldest
        ]
        kept = pinned() if old else set[str]()
        expired = [path for path in old if path.stem not in kept]
        for path in expired:
            path.unlink(missing_ok=True)
        return len(expired)
