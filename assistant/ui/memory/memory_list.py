"""The list of memory files: tokens, how full, what changed unseen; daily notes by date, older ones by month."""

from __future__ import annotations

import calendar
import datetime as dt
import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from assistant.config.words import say
from assistant.storage.workspace import MEMORY_FILES, day_note
from assistant.ui.cards import card
from assistant.ui.server.loading import Loaded
from assistant.ui.times import month_text

FULL_PERCENT = 80
_RECENT_NOTES = 10
_ROLES = {"SOUL.md": "role_soul", "USER.md": "role_user", "MEMORY.md": "role_memory"}


@dataclass(frozen=True, slots=True)
class SeenFile:
    """A file and the time of its newest change that one tab has shown, in nanoseconds."""

    name: str
    changed_ns: int


@dataclass(frozen=True, slots=True)
class ListView:
    """How one tab looks at the list: the file and the month that are open, and what it has shown already.

    `waiting_lines` are those that the person has not decided about.
    """

    selected: str
    month: str
    since_ns: int
    seen: tuple[SeenFile, ...]
    is_guest: bool
    waiting_lines: int


@dataclass(frozen=True, slots=True)
class KnownFile:
    """A memory file as its folder lists it."""

    name: str
    path: Path
    changed_ns: int
    size_bytes: int


@dataclass(frozen=True, slots=True)
class _ListedFile:
    name: str
    label: str
    role: str
    tokens: int
    percent: int
    is_selected: bool
    is_changed: bool

    @property
    def is_full(self) -> bool:
        """True when the file is worth tidying."""
        return self.percent > FULL_PERCENT


@dataclass(frozen=True, slots=True)
class _Month:
    value: str
    label: str
    count: int
    is_open: bool
    is_changed: bool
    files: list[_ListedFile]


@dataclass(frozen=True, slots=True)
class _Date:
    name: str
    number: int
    """0 for a day of another month."""
    has_note: bool
    is_selected: bool


@dataclass(frozen=True, slots=True)
class _Calendar:
    """One month, its weeks from Monday on, and the nearest months with notes on either side; empty for none."""

    label: str
    before: str
    after: str
    days: list[_Date]


@dataclass(frozen=True, slots=True)
class _Measure:
    tokens: int
    chars: int


class FileList:
    """Draws the list; a file is counted again only when it changed."""

    def __init__(self) -> None:
        self._measures: dict[str, tuple[KnownFile, _Measure]] = {}

    def html(self, loaded: Loaded, files: Sequence[KnownFile], view: ListView) -> str:
        """The list as a card. Notes of months that are not open are neither read nor drawn."""
        fixed = [self._listed(loaded, file, view) for file in files if file.name in MEMORY_FILES]
        notes = [file for file in files if file.name not in MEMORY_FILES]
        recent = [self._listed(loaded, file, view) for file in notes[:_RECENT_NOTES]]
        months = self._months(loaded, notes[_RECENT_NOTES:], view)
        return str(
            card(
                "memory_list",
                files=[*fixed, *recent],
                months=months,
                first_day=_day(notes[-1].name) if months else "",
                last_day=_day(notes[0].name) if months else "",
                full=[file for file in fixed if file.is_full],
                is_guest=view.is_guest,
                waiting=view.waiting_lines,
                calendar=_calendar([_day(note.name) for note in notes], view),
            )
        )

    def _months(self, loaded: Loaded, notes: Sequence[KnownFile], view: ListView) -> list[_Month]:
        by_month: dict[str, list[KnownFile]] = {}
        for note in notes:
            by_month.setdefault(_day(note.name)[:7], []).append(note)
        return [
            _Month(
                value=month,
                label=_month_label(month),
                count=len(found),
                is_open=month == view.month,
                is_changed=any(_is_changed(note, view) for note in found),
                files=[self._listed(loaded, note, view) for note in found] if month == view.month else [],
            )
            for month, found in by_month.items()
        ]

    def _listed(self, loaded: Loaded, file: KnownFile, view: ListView) -> _ListedFile:
        measure = self._measure(loaded, file)
        cap = loaded.assistant.file_cap_chars if file.name in MEMORY_FILES else 0
        return _ListedFile(
            name=file.name,
            label=file.path.name,
            role=say("page", _ROLES.get(file.name, "role_note")),
            tokens=measure.tokens,
            percent=round(100 * measure.chars / cap) if cap else 0,
            is_selected=file.name == view.selected,
            is_changed=_is_changed(file, view),
        )

    def _measure(self, loaded: Loaded, file: KnownFile) -> _Measure:
        known, measure = self._measures.get(str(file.path), (None, _Measure(0, 0)))
        if known == file:
            return measure
        try:
            text = file.path.read_text("utf-8", "replace")
        except OSError:
            return measure
        measure = _Measure(loaded.count_tokens(text), len(text))
        self._measures[str(file.path)] = (file, measure)
        return measure


def known_files(loaded: Loaded) -> list[KnownFile]:
    """SOUL.md, USER.md, MEMORY.md, then the notes, newest first."""
    return [_known(path) for path in loaded.assistant.workspace.memory_files()]


def list_mark(files: Sequence[KnownFile], view: ListView) -> str:
    """The same for two lists that look alike."""
    shown = [(file.name, file.changed_ns, file.size_bytes, _is_changed(file, view)) for file in files]
    looks = (view.selected, view.month, view.is_guest, view.waiting_lines, shown)
    return hashlib.sha256(repr(looks).encode()).hexdigest()


def with_seen(seen: Sequence[SeenFile], file: KnownFile) -> tuple[SeenFile, ...]:
    """The same, and that the file was shown as it is now."""
    now = SeenFile(file.name, file.changed_ns)
    return tuple(seen) if now in seen else (*(known for known in seen if known.name != file.name), now)


def _known(path: Path) -> KnownFile:
    name = path.name if path.name in MEMORY_FILES else f"memory/{path.name}"
    try:
        status = path.stat()
    except OSError:
        return KnownFile(name, path, 0, 0)
    return KnownFile(name, path, status.st_mtime_ns, status.st_size)


def _is_changed(file: KnownFile, view: ListView) -> bool:
    if file.name == view.selected:
        return False
    shown_ns = next((known.changed_ns for known in view.seen if known.name == file.name), view.since_ns)
    return file.changed_ns > max(shown_ns, view.since_ns)


def _calendar(days: Sequence[str], view: ListView) -> _Calendar | None:
    """The month that is open, or that of the newest of these days; None where there are none."""
    months = sorted({day[:7] for day in days})
    if not months:
        return None
    month = view.month if view.month in months else months[-1]
    try:
        weeks = calendar.Calendar().monthdatescalendar(int(month[:4]), int(month[5:]))
    except ValueError:
        # A file may be named after a day that no calendar has.
        return None
    place = months.index(month)
    dates = [
        _Date(
            date.isoformat(),
            date.day if f"{date:%Y-%m}" == month else 0,
            date.isoformat() in days and f"{date:%Y-%m}" == month,
            view.selected == day_note(date),
        )
        for week in weeks
        for date in week
    ]
    before = months[place - 1] if place else ""
    after = months[place + 1] if place + 1 < len(months) else ""
    return _Calendar(_month_label(month), before, after, dates)


def _day(name: str) -> str:
    return name.removeprefix("memory/").removesuffix(".md")


def _month_label(month: str) -> str:
    try:
        return month_text(dt.date.fromisoformat(f"{month}-01"))
    except ValueError:
        return month
