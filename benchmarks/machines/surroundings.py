"""Machines whose surroundings are strange: users, locales, terminals, folders, streams, limits."""

from __future__ import annotations

import os
from pathlib import Path

from benchmarks.machines.machine import (
    ALL,
    AS_NOBODY,
    NOBODY,
    ROOT,
    TALKING,
    Machine,
    can_be_nobody,
    can_mount,
    in_namespace,
)


def surrounding_machines() -> list[Machine]:
    """Those that can be had here."""
    return [*_locales(), *_folders(), *(_users() if can_be_nobody() else ()), *_streams(), *_limits()]


def _locales() -> list[Machine]:
    no_unicode = {"LANG": "C", "LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}
    return [
        Machine("the C locale", no_unicode),
        Machine("the POSIX locale", {"LANG": None, "LC_ALL": "POSIX"}, commands=ALL),
        Machine("a locale that is not there", {"LANG": "xx_YY.UTF-99", "LC_ALL": "xx_YY"}, commands=TALKING),
        Machine("ASCII output", {"PYTHONIOENCODING": "ascii"}),
        Machine("GBK output", {"PYTHONIOENCODING": "gbk"}),
        Machine("UTF-16 output", {"PYTHONIOENCODING": "utf-16"}, commands=("chat",)),
        Machine("a dumb terminal", {"TERM": "dumb", "COLUMNS": "0"}, commands=TALKING),
        Machine("a time zone of nobody", {"TZ": "Mars/Olympus"}),
        Machine("documentation left out", {"PYTHONOPTIMIZE": "2"}, commands=ALL),
        Machine("a variable that is no text", shell='X=$(printf "\\377\\376"); export X; exec "$@"', commands=TALKING),
    ]


def _folders() -> list[Machine]:
    removed = 'mkdir "$SCRATCH/gone" && cd "$SCRATCH/gone" && rmdir "$SCRATCH/gone"'
    return [
        Machine("no HOME", {"HOME": None}, commands=TALKING),
        Machine("a HOME that is not there", {"HOME": "/no/such/home"}, commands=ALL),
        Machine("no folder for temporary files", {"TMPDIR": "/no/such/tmp"}, commands=ALL),
        Machine("a folder that was removed", {"PYTHONPATH": str(ROOT)}, shell=f'{removed} && exec "$@"'),
    ]


def _users() -> list[Machine]:
    as_nobody = f"exec {AS_NOBODY}"
    nameless = {"HOME": None}
    read_only = [f"mount -t tmpfs -o ro none {folder}" for folder in ("/tmp", "/var/tmp", "/dev/shm")]  # noqa: S108
    beside = 'mount --bind "$SCRATCH" /mnt'
    found = [
        Machine("a user without a name", nameless, shell=as_nobody, prepare=give_away, commands=ALL),
        Machine(
            "a user without a name and home",
            {**nameless, "PALIMPSEST_HOME": None},
            shell=as_nobody,
            told="PALIMPSEST_HOME",
        ),
        Machine("a home that may only be read", shell=as_nobody, prepare=_make_readable, told="home", commands=ALL),
        Machine("a home of another user", shell=as_nobody, prepare=_close, told="home"),
    ]
    if can_mount():
        shell = in_namespace(beside, *read_only, "export PALIMPSEST_HOME=/mnt/home", run=AS_NOBODY)
        found.append(Machine("only the home can be written", shell=shell, prepare=give_away, commands=ALL))
    return found


def _streams() -> list[Machine]:
    unread = '{ "$@"; echo $? > "$SCRATCH/code"; } | true; exit $(cat "$SCRATCH/code")'
    return [
        Machine("standard input closed", shell='exec "$@" <&-', commands=TALKING),
        Machine("standard output closed", shell='exec "$@" >&-'),
        Machine("standard error closed", shell='exec "$@" 2>&-'),
        Machine("all streams closed", shell='exec "$@" <&- >&- 2>&-'),
        Machine("nobody reads the output", shell=unread, told="^ *$", is_unread=True),
        Machine("a full device for output", shell='exec "$@" > /dev/full', told="full|space|written"),
    ]


def _limits() -> list[Machine]:
    return [
        Machine("few open files", shell='ulimit -n 64; exec "$@"', commands=ALL),
        Machine("very few open files", shell='ulimit -n 24; exec "$@"'),
        Machine("only small files", shell='ulimit -f 1; exec "$@"', told="full|large|space"),
    ]


def give_away(home: Path) -> None:
    """The home is that of the user without a name."""
    for path in (home.parent, home, *home.rglob("*")):
        os.chown(path, NOBODY, NOBODY)


def _make_readable(home: Path) -> None:
    for path in (home, *home.rglob("*")):
        path.chmod(0o555 if path.is_dir() else 0o444)


def _close(home: Path) -> None:
    home.chmod(0o700)
