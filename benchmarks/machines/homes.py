"""Machines whose home is strange: links, copies of a sync program, dates, disks, locks."""

from __future__ import annotations

import os
import re
import shutil
from pathlib import Path

from benchmarks.machines.machine import ALL, TALKING, Machine, can_mount, in_namespace

_NAME = "my  home \u5bb6 \U0001f642 'quoted' \"twice\" %41 #x"
_WITHOUT_LOCKS = (("a disk without locks", "no_locks"), ("a disk whose locks fail", "failing_locks"))
"""Put in at the outer edge: Python runs the folder's `sitecustomize.py` at its start."""


def home_machines() -> list[Machine]:
    """Those that can be had here."""
    here = Path(__file__).parent
    return [
        Machine("a home with a strange name", home_name=_NAME, commands=ALL),
        Machine("a home that is a link", prepare=_link_home, commands=ALL),
        Machine("links in the home", prepare=_link_inside, commands=ALL),
        Machine("copies of a sync program", prepare=_double),
        Machine("a clock that jumped back a year", prepare=lambda home: _move_dates(home, 1)),
        Machine("a clock that jumped forward a year", prepare=lambda home: _move_dates(home, -1)),
        Machine("a settings file of Windows", prepare=_write_windows_settings, commands=TALKING),
        Machine("a settings file that is no text", prepare=_write_broken_settings, told=r"\.env", commands=ALL),
        Machine("a home that is a file", prepare=_put_file_in_place, told="home|folder", commands=ALL),
        *(_disks() if can_mount() else ()),
        *(
            Machine(name, {"PYTHONPATH": str(here / folder)}, told="cannot lock files", commands=ALL)
            for name, folder in _WITHOUT_LOCKS
        ),
    ]


def _disks() -> list[Machine]:
    def disk(size: str, *more: str) -> str:
        return in_namespace(
            'mkdir -p "$SCRATCH/disk"',
            f'mount -t tmpfs -o size={size} none "$SCRATCH/disk"',
            'cp -a "$HOME_FOLDER/." "$SCRATCH/disk"',
            'export PALIMPSEST_HOME="$SCRATCH/disk"',
            *more,
        )

    fill = '{ cat /dev/zero > "$SCRATCH/disk/filler" 2> /dev/null || true; }'
    read_only = 'mount -o remount,ro "$SCRATCH/disk"'
    return [
        Machine("a full disk", shell=disk("4m", fill), told="full|space|written", commands=ALL),
        Machine("a disk that is read only", shell=disk("9m", read_only), told="read|written|home", commands=ALL),
    ]


def _link_home(home: Path) -> None:
    elsewhere = home.with_name("elsewhere")
    home.rename(elsewhere)
    home.symlink_to(elsewhere)


def _link_inside(home: Path) -> None:
    """Memory files, the journal and its files linked to a folder that a sync program keeps."""
    elsewhere = home.with_name("synced")
    elsewhere.mkdir()
    for name in ("USER.md", "dialog", "sessions"):
        (home / name).rename(elsewhere / name)
        (home / name).symlink_to(elsewhere / name)


def _double(home: Path) -> None:
    for path in (home / "dialog").glob("*.jsonl"):
        for ending in (" 2", " (conflicted copy)", ".sync-conflict-20261130-101010-ABCDEFG", " (1)", "~"):
            shutil.copy(path, path.with_name(f"{path.stem}{ending}.jsonl"))
    for path in (home / "sessions").glob("*.json"):
        shutil.copy(path, path.with_name(f"{path.stem} 2.json"))
    for name in ("USER.md", "SOUL.md"):
        shutil.copy(home / name, home / name.replace(".md", " (conflicted copy).md"))


def _move_dates(home: Path, years: int) -> None:
    """All that was written, as if it had been written by a clock that many years ahead."""

    def moved(text: str) -> str:
        return re.sub(r"\b(20\d\d)(?=-\d\d-\d\d)", lambda year: str(int(year[1]) + years), text)

    for path in [path for path in home.rglob("*") if path.is_file() and path.suffix in (".jsonl", ".json", ".md")]:
        path.write_text(moved(path.read_text(encoding="utf-8")), encoding="utf-8")
        seconds = path.stat().st_mtime + years * 365 * 86_400
        os.utime(path, (seconds, seconds))
        path.rename(path.with_name(moved(path.name)))


def _write_windows_settings(home: Path) -> None:
    (home / ".env").write_bytes("\ufeffPALIMPSEST_MAX_STEPS=50\r\nPALIMPSEST_TOOLS=memory\r\n".encode())


def _write_broken_settings(home: Path) -> None:
    (home / ".env").write_bytes(b"PALIMPSEST_TOOLS=\xff\xfe\x00\n")


def _put_file_in_place(home: Path) -> None:
    shutil.rmtree(home)
    home.write_text("not a folder", encoding="utf-8")
