"""Where session files are: the state folders of OpenClaw and its relatives, and which files in them are sessions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from assistant.openclaw.backups import COPIES_FOLDER
from assistant.openclaw.entries import Entry, read_line, text_or_none

STATE_FOLDERS = (".openclaw", ".openclaw-autoclaw", ".clawdbot", ".moltbot")
# Archives and snapshots that carry the same ending.
_ARCHIVE_MARKS = (".checkpoint.", ".deleted.", ".reset.", ".bak.")
_HEAD_BYTES = 65_536
_HEAD_LINES = 20


@dataclass(frozen=True, slots=True)
class Search:
    """What was looked through: the folders that exist, and the session files in them, in order of their paths."""

    folders: tuple[Path, ...]
    sessions: tuple[Path, ...]


def find_sessions(home: Path, folder: Path | None) -> Search:
    """The session files below `folder`; without one, those of every known state folder in `home`."""
    if folder is not None:
        return Search((folder,) if folder.is_dir() else (), tuple(_sessions_in([folder])))
    states = [home / name for name in STATE_FOLDERS if (home / name).is_dir()]
    found = [sessions for state in states for sessions in sorted(state.glob("agents/*/sessions"))]
    return Search(tuple(states), tuple(_sessions_in(found)))


def is_session_file(path: Path) -> bool:
    """True for a `.jsonl` file that is no archive and whose first entry is a session header."""
    name = path.name
    if not name.endswith(".jsonl") or name.startswith(".") or any(mark in name for mark in _ARCHIVE_MARKS):
        return False
    entry = _first_entry(path)
    return entry is not None and entry.kind == "header" and text_or_none((entry.fields or {}).get("id")) is not None


def read_header_cwd(path: Path) -> str:
    """The folder a session ran in, as its header says; empty when it does not."""
    entry = _first_entry(path)
    is_header = entry is not None and entry.kind == "header"
    return text_or_none((entry.fields or {}).get("cwd")) or "" if entry is not None and is_header else ""


def find_workspace(path: Path, cwd: str) -> Path:
    """The workspace whose diary a session belongs to.

    Beside the state folder's agents: `workspace-<agent>`, then `workspace`. Else the folder the session ran in, where
    that looks like a workspace. Else the folder of the file itself.
    """
    folder = path.resolve().parent
    if folder.name == "sessions" and folder.parent.parent.name == "agents":
        state, agent = folder.parent.parent.parent, folder.parent.name
        for name in (f"workspace-{agent}", "workspace"):
            if (state / name).is_dir():
                return state / name
    ran_in = Path(cwd) if cwd else None
    if ran_in is not None and ran_in.is_absolute() and any((ran_in / name).exists() for name in ("SOUL.md", "memory")):
        return ran_in
    return folder


def _first_entry(path: Path) -> Entry | None:
    """The first line that parses: what a loader takes for the header."""
    with path.open("rb") as file:
        for at in range(_HEAD_LINES):
            raw = file.readline(_HEAD_BYTES)
            entry = read_line(raw, is_first=at == 0) if raw else None
            if entry is None or entry.fields is not None:
                return entry
    return None


def _sessions_in(folders: Sequence[Path]) -> list[Path]:
    found = {path for folder in folders for path in folder.rglob("*.jsonl") if COPIES_FOLDER not in path.parts}
    return [path for path in sorted(found) if path.is_file() and is_session_file(path)]
