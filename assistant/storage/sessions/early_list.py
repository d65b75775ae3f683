"""The list of conversations as their files alone tell it, for a page whose assistant is not there yet."""

from __future__ import annotations

from pathlib import Path

from assistant.storage.sessions.heads import SessionHeads
from assistant.storage.sessions.session_head import SessionSummary, newest_first
from assistant.storage.workspace import Workspace


def listed_by_files(home: Path) -> list[SessionSummary]:
    """The conversations that have a file, newest first; the journal, which has the last word, is not read."""
    workspace = Workspace(home)
    try:
        heads = SessionHeads(workspace.sessions_folder, workspace.heads_path).all().values()
    except OSError:
        # Whoever opens the home says why.
        return []
    return list(newest_first(heads).values())
