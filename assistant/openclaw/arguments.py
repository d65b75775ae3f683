"""The commands' words and flags: `compress`, `compress-all`, `restore` and `diary`."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path
from typing import Protocol

from assistant.openclaw.backups import DEFAULT_KEEP_COPIES
from assistant.openclaw.discover import STATE_FOLDERS
from assistant.openclaw.options import ESTIMATORS, MODES, SCRIPT_MAX_ITERATIONS, KeepTail, Options

_SOUL_NOTE = (
    "Preferences are written to SOUL.md, as the skill these sessions come from has it;"
    " Palimpsest's own memory keeps them in USER.md."
)


class Subparsers(Protocol):
    """What `ArgumentParser.add_subparsers` returns, as far as it is used here."""

    def add_parser(
        self, name: str, *, parents: Sequence[argparse.ArgumentParser], help: str, description: str
    ) -> argparse.ArgumentParser:
        """Add one command and return its parser."""
        ...


def read_keep_tail(text: str) -> KeepTail:
    """A number of lines of at least 1, or `auto`."""
    if text == "auto":
        return "auto"
    lines = int(text)
    if lines < 1:
        raise ValueError("the tail has at least one line")
    return lines


def add_compress(commands: Subparsers, parents: Sequence[argparse.ArgumentParser]) -> None:
    """Add `compress FILE [mode] [keep-tail] [dry-run]`."""
    parser = commands.add_parser(
        "compress",
        parents=parents,
        help="shrink a session file of OpenClaw or alike",
        description=f"Put what matters of a session into the diary, then shrink the file. {_SOUL_NOTE}",
    )
    parser.add_argument("file", nargs="?", type=Path, help="the session's .jsonl file")
    parser.add_argument("words", nargs="*", metavar="mode|keep-tail|dry-run", help="in this order; flags win")
    parser.add_argument("--session-file", type=Path, metavar="FILE", help="the same as FILE")
    parser.add_argument("--quiet", action="store_true", help="say nothing when nothing is due")
    _add_options(parser)


def add_compress_all(commands: Subparsers, parents: Sequence[argparse.ArgumentParser]) -> None:
    """Add `compress-all [DIR]`."""
    parser = commands.add_parser(
        "compress-all",
        parents=parents,
        help="shrink every session that is due",
        description=f"Look through {', '.join(STATE_FOLDERS)} in the home folder, or through DIR, and shrink every"
        f" session file that is due. Prints nothing when none is; exit code 1 when one failed. {_SOUL_NOTE}",
    )
    parser.add_argument("folder", nargs="?", type=Path, metavar="DIR")
    parser.add_argument("--verbose", action="store_true", help="also tell of sessions that are not due")
    _add_options(parser)


def add_restore(commands: Subparsers, parents: Sequence[argparse.ArgumentParser]) -> None:
    """Add `restore FILE`."""
    parser = commands.add_parser(
        "restore",
        parents=parents,
        help="put a session file back as it was before a compression",
        description="Put the newest copy of a session, or the named one, back in place. What stands there is kept.",
    )
    parser.add_argument("file", type=Path, help="the session's .jsonl file")
    parser.add_argument("--copy", metavar="NAME", help="which copy; --list shows them")
    parser.add_argument("--list", action="store_true", help="list the copies, newest first")
    parser.add_argument("--keep-copies", type=int, default=DEFAULT_KEEP_COPIES, metavar="N")
    parser.add_argument("--json", action="store_true")


def add_diary(commands: Subparsers, parents: Sequence[argparse.ArgumentParser]) -> None:
    """Add `diary extract|log-compression|validate|update-index`."""
    parser = commands.add_parser(
        "diary",
        parents=parents,
        help="keep the diary of another agent's workspace",
        description=f"memory/<date>.md, MEMORY.md and SOUL.md of a workspace. {_SOUL_NOTE}",
    )
    actions = parser.add_subparsers(dest="diary_command", required=True)
    extract = actions.add_parser("extract", help="write down what matters of a session", description=_SOUL_NOTE)
    extract.add_argument("session", type=Path)
    extract.add_argument("workspace", type=Path)
    extract.add_argument("--keep-tail", type=read_keep_tail, default=60, help="lines that stay and are not scanned")
    log = actions.add_parser("log-compression", help="record that a session was compressed")
    log.add_argument("workspace", type=Path)
    log.add_argument("--mode", default="standard", choices=MODES)
    for name in ("before", "after", "removed"):
        log.add_argument(f"--{name}", type=int, required=True)
    check = actions.add_parser("validate", help="nine checks of the diary; exit code 1 when one fails")
    check.add_argument("workspace", type=Path)
    index = actions.add_parser("update-index", help="put the day into MEMORY.md")
    index.add_argument("workspace", type=Path)
    index.add_argument("--note", default="")
    for action in (extract, log, check, index):
        action.add_argument("--json", action="store_true")


def _add_options(parser: argparse.ArgumentParser) -> None:
    """The skill's nine parameters under its own names and in the usual spelling, and what this tool adds."""
    default = Options()
    add = parser.add_argument
    add("--mode", choices=MODES, help="light 6,000, standard 4,000, aggressive 2,500 tokens (default standard)")
    add("--keep-tail", "--keepTail", type=read_keep_tail, metavar="N|auto", help="newest lines that stay (default 60)")
    add("--max-iter", "--maxIter", type=int, default=SCRIPT_MAX_ITERATIONS, metavar="N", help="lines to remove at most")
    add("--dry-run", action="store_true", help="change nothing, show what would go, per class")
    add("--json", action="store_true", help="one line of JSON a session")
    add("--force", action="store_true", help="now, whatever size, cooldown and growth say; the diary records it")
    add("--workspace", type=Path, metavar="DIR", help="whose diary is kept (default: found beside the session)")
    add("--skip-extract", action="store_true", help="keep no diary: what is removed is then only in the copy")
    add("--auto-backup", "--autoBackup", action=argparse.BooleanOptionalAction, default=True, help="keep a copy")
    add("--keep-copies", type=int, default=DEFAULT_KEEP_COPIES, metavar="N", help="older copies of a session")
    add("--token-threshold", "--tokenThreshold", type=int, default=default.token_threshold, metavar="N")
    add("--char-threshold", "--charThreshold", type=int, default=default.char_threshold, metavar="N")
    add("--truncate-threshold", "--truncateThreshold", type=int, default=default.truncate_threshold_chars, metavar="N")
    add("--truncate-size", "--truncateSize", type=int, default=default.truncate_size_chars, metavar="N")
    add("--cooldown-minutes", "--cooldownMinutes", type=float, default=default.cooldown_minutes, metavar="N")
    add("--recent-days", type=int, default=default.recent_days, metavar="N", help="how long twice the threshold holds")
    add("--measure", choices=("raw", "content"), default="raw", help="count the file, or what of it reaches a model")
    add("--estimator", choices=ESTIMATORS, default="mixed", help="characters a token: mixed 3, chinese 1.5, english 4")
    add("--marker", choices=("system", "custom"), default="system", help="custom: an entry type every loader knows")
    add("--drop-branches", action="store_true", help="also drop abandoned branches, which no model sees")
