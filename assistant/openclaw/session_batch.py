"""Every session that is due: where session files are, and one compressed after the other."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from assistant.errors import PalimpsestError, SessionBusyError
from assistant.openclaw.backups import COPIES_FOLDER
from assistant.openclaw.compression_options import Options
from assistant.openclaw.file_compression import CompressionJob, CompressionReport, compress_file
from assistant.openclaw.session_entries import Entry, read_line, text_or_none
from assistant.openclaw.session_report import BatchRow, render_table, report_json, report_text, state_of

STATE_FOLDERS = (".openclaw", ".openclaw-autoclaw", ".clawdbot", ".moltbot")
# Archives and snapshots that carry the same ending.
_ARCHIVE_MARKS = (".checkpoint.", ".deleted.", ".reset.", ".bak.")
_HEAD_BYTES = 65_536
_HEAD_LINES = 20


@dataclass(frozen=True, slots=True)
class SessionSearch:
    """What was looked through: the folders that exist, and the session files in them, in order of their paths."""

    folders: tuple[Path, ...]
    sessions: tuple[Path, ...]


def find_sessions(home: Path, folder: Path | None) -> SessionSearch:
    """The session files below `folder`; without one, those of every known state folder in `home`."""
    if folder is not None:
        return SessionSearch((folder,) if folder.is_dir() else (), tuple(_sessions_in([folder])))
    states = [home / name for name in STATE_FOLDERS if (home / name).is_dir()]
    found = [sessions for state in states for sessions in sorted(state.glob("agents/*/sessions"))]
    return SessionSearch(tuple(states), tuple(_sessions_in(found)))


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


@dataclass(frozen=True, slots=True)
class BatchItem:
    """One session of a batch: its report, or why there is none."""

    path: Path
    report: CompressionReport | None = None
    failure: str = ""
    is_busy: bool = False


@dataclass(frozen=True, slots=True)
class Batch:
    """What was looked through and what became of each session."""

    search: SessionSearch
    items: tuple[BatchItem, ...]

    @property
    def has_failed(self) -> bool:
        """True when a session failed or was stopped by a guard that asks for attention."""
        return any(
            (item.failure and not item.is_busy) or (item.report is not None and item.report.verdict.is_error)
            for item in self.items
        )

    @property
    def has_news(self) -> bool:
        """True when there is anything a scheduler's owner should read."""
        return any(item.failure or item.report is None or _is_news(item.report) for item in self.items)

    def render(self) -> str:
        """Which folders were found, and the table."""
        found = ", ".join(str(folder) for folder in self.search.folders)
        lines = [report_text("sessions_found", folders=found, count=len(self.items))]
        notices = [
            f"{item.path.name}: {notice}" for item in self.items if item.report for notice in item.report.notices
        ]
        return "\n".join(
            [*lines, *notices, *([render_table([_row(item) for item in self.items])] if self.items else [])]
        )

    def json_lines(self, options: Options) -> Iterator[str]:
        """One line of JSON a session."""
        for item in self.items:
            if item.report is not None:
                yield report_json(item.report, options)
            else:
                state = "busy" if item.is_busy else "failed"
                yield json.dumps({"path": str(item.path), "state": state, "message": item.failure}, ensure_ascii=False)


def compress_all(home: Path, folder: Path | None, make_job: Callable[[Path], CompressionJob]) -> Batch:
    """Compress the sessions below `folder`, or those of every known state folder in `home`."""
    search = find_sessions(home, folder)
    return Batch(search, tuple(_compress_one(path, make_job) for path in search.sessions))


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


def _compress_one(path: Path, make_job: Callable[[Path], CompressionJob]) -> BatchItem:
    try:
        return BatchItem(path, compress_file(make_job(path)))
    except SessionBusyError as error:
        return BatchItem(path, failure=str(error), is_busy=True)
    except (PalimpsestError, OSError) as error:
        return BatchItem(path, failure=str(error))


def _is_news(report: CompressionReport) -> bool:
    has_done = report.outcome is not None and report.outcome.status != "nothing"
    return has_done or report.verdict.is_error or bool(report.notices)


def _row(item: BatchItem) -> BatchRow:
    if item.report is None:
        return BatchRow(item.path, "busy" if item.is_busy else "failed", detail=item.failure)
    report = item.report
    outcome = report.outcome
    if outcome is None:
        return BatchRow(item.path, state_of(report), report.tokens, detail=report.verdict.text)
    detail = (
        report_text("lines_removed", lines=outcome.removed_lines)
        if outcome.status != "nothing"
        else report_text("mostly_important")
    )
    if report.is_dry_run:
        detail = report_text("lines_would_go", lines=outcome.removed_lines)
    return BatchRow(item.path, state_of(report), outcome.tokens_before, outcome.tokens_after, detail)
