"""Is the diary of a workspace in order? Nine checks, and the index line in MEMORY.md."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date, datetime
from pathlib import Path
from typing import Literal

from assistant.errors import DiaryError, PalimpsestError
from assistant.openclaw.diary import EXTRACT_HEADING, Mask, diary_path, locked_rewrite

MAX_EXTRACTIONS = 3
_HEADING = re.compile(r"^(#{1,6})\s+(.*\S)\s*$")
_EXTRACT = re.compile(rf"^##\s+(?:{EXTRACT_HEADING}|Compression extract)", re.IGNORECASE | re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Check:
    """One check of nine: `ok`, `warn` (worth a look) or `fail`, and what was found."""

    number: int
    name: str
    level: Literal["ok", "warn", "fail"]
    detail: str = ""


def validate(workspace: Path, now: datetime) -> tuple[Check, ...]:
    """The nine checks of a workspace's diary for the day."""
    path = diary_path(workspace, now)
    text = _read(path)
    lines = text.splitlines()
    title = f"# {now.date().isoformat()}"
    leftovers = [file.name for file in _leftover_backups(workspace)]
    pages = list((workspace / "memory").glob("*")) if (workspace / "memory").is_dir() else []
    empty = _empty_sections(lines)
    extractions = len(_EXTRACT.findall(text))
    in_index = _index_heading(_read(workspace / "MEMORY.md").splitlines(), now.date()) is not None
    return (
        _check(1, "today's diary exists", path.is_file(), str(path)),
        _check(2, "its title is the date", bool(lines) and lines[0].strip() == title, title),
        _check(3, "it has sections", any(line.startswith("## ") for line in lines), "no `## ` heading"),
        _check(4, "MEMORY.md has an entry for today", in_index, f"no `### {now.date()}` heading"),
        _check(5, "SOUL.md exists", (workspace / "SOUL.md").is_file(), str(workspace / "SOUL.md")),
        _check(6, "memory/ holds files", bool(pages), str(workspace / "memory")),
        _check(7, "no .bak was left behind", not leftovers, ", ".join(leftovers)),
        _check(8, "no section is empty", not empty, ", ".join(empty), "warn"),
        _check(
            9,
            f"no more than {MAX_EXTRACTIONS} extractions today",
            extractions <= MAX_EXTRACTIONS,
            f"{extractions} extractions",
            "warn",
        ),
    )


def update_index(workspace: Path, now: datetime, note: str, mask: Mask) -> bool:
    """Put the day into MEMORY.md, with a note where one is given; False when it stood there already.

    A heading that only begins with the date counts as the day's heading. Raises `DiaryError` when it fails.
    """
    day = now.date()
    bullet = f"- {' '.join(mask(note).split())}" if note.strip() else f"- memory/{day.isoformat()}.md"
    try:
        return locked_rewrite(workspace / "MEMORY.md", lambda text: add_index_line(text, day, bullet))
    except (OSError, PalimpsestError) as error:
        raise DiaryError(f"MEMORY.md could not be written ({error}).") from error


def add_index_line(text: str, day: date, bullet: str) -> str:
    """MEMORY.md with a bullet under the day's heading, once."""
    newline = "\r\n" if "\r\n" in text else "\n"
    lines = text.splitlines() or ["# MEMORY"]
    at = _index_heading(lines, day)
    if at is None:
        lines.extend([*([""] if lines[-1].strip() else []), f"### {day.isoformat()}", bullet])
        return newline.join(lines) + newline
    end = next((to for to in range(at + 1, len(lines)) if _HEADING.match(lines[to])), len(lines))
    if bullet in lines[at:end]:
        return text
    last = next((to for to in range(end - 1, at - 1, -1) if lines[to].strip()), at)
    lines.insert(last + 1, bullet)
    return newline.join(lines) + newline


def _check(number: int, name: str, is_ok: bool, detail: str, otherwise: Literal["warn", "fail"] = "fail") -> Check:
    return Check(number, name, "ok") if is_ok else Check(number, name, otherwise, detail)


def _read(path: Path) -> str:
    return path.read_bytes().decode("utf-8-sig", "replace") if path.is_file() else ""


def _index_heading(lines: list[str], day: date) -> int | None:
    wanted = day.isoformat()
    for at, line in enumerate(lines):
        heading = _HEADING.match(line)
        if heading and heading.group(2).startswith(wanted) and not heading.group(2)[len(wanted) :][:1].isdigit():
            return at
    return None


def _leftover_backups(workspace: Path) -> Iterator[Path]:
    folders = [workspace, workspace / "memory", workspace / "sessions"]
    folders.extend(sorted(workspace.resolve().parent.glob("agents/*/sessions")))
    for folder in folders:
        if folder.is_dir():
            yield from sorted(folder.glob("*.bak"))


def _empty_sections(lines: list[str]) -> list[str]:
    """Headings with nothing under them: neither text nor a deeper heading."""
    empty: list[str] = []
    open_title, open_level = "", 0
    for line in [*lines, "# "]:
        heading = _HEADING.match(line) if line != "# " else None
        is_end = line == "# "
        if heading or is_end:
            level = len(heading.group(1)) if heading else 0
            if open_title and open_level > 1 and level <= open_level:
                empty.append(open_title)
            open_title, open_level = (heading.group(2), level) if heading else ("", 0)
        elif line.strip() and line.strip() != "---":
            open_title = ""
    return empty
