"""Every session that is due, one after the other: a failure is a row of the table, never the end."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from assistant.errors import PalimpsestError, SessionBusyError
from assistant.openclaw.discover import Search, find_sessions
from assistant.openclaw.options import Options
from assistant.openclaw.report import Row, render_table, report_json, state_of
from assistant.openclaw.session_file import Job, Report, compress_file


@dataclass(frozen=True, slots=True)
class Item:
    """One session of a batch: its report, or why there is none."""

    path: Path
    report: Report | None = None
    failure: str = ""
    is_busy: bool = False


@dataclass(frozen=True, slots=True)
class Batch:
    """What was looked through and what became of each session."""

    search: Search
    items: tuple[Item, ...]

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
        lines = [f"Found {found}: {len(self.items)} sessions."]
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


def compress_all(home: Path, folder: Path | None, make_job: Callable[[Path], Job]) -> Batch:
    """Compress the sessions below `folder`, or those of every known state folder in `home`."""
    search = find_sessions(home, folder)
    return Batch(search, tuple(_compress_one(path, make_job) for path in search.sessions))


def _compress_one(path: Path, make_job: Callable[[Path], Job]) -> Item:
    try:
        return Item(path, compress_file(make_job(path)))
    except SessionBusyError as error:
        return Item(path, failure=str(error), is_busy=True)
    except (PalimpsestError, OSError) as error:
        return Item(path, failure=str(error))


def _is_news(report: Report) -> bool:
    has_done = report.outcome is not None and report.outcome.status != "nothing"
    return has_done or report.verdict.is_error or bool(report.notices)


def _row(item: Item) -> Row:
    if item.report is None:
        return Row(item.path, "busy" if item.is_busy else "failed", detail=item.failure)
    report = item.report
    outcome = report.outcome
    if outcome is None:
        return Row(item.path, state_of(report), report.tokens, detail=report.verdict.text)
    detail = f"{outcome.removed_lines} lines removed" if outcome.status != "nothing" else "mostly high-priority content"
    if report.is_dry_run:
        detail = f"dry run: {outcome.removed_lines} lines would go"
    return Row(item.path, state_of(report), outcome.tokens_before, outcome.tokens_after, detail)
