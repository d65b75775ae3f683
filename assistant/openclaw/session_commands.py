"""The four commands of the command line: `compress`, `compress-all`, `restore` and `diary`."""

from __future__ import annotations

import argparse
import io
import json
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Protocol

from assistant.config.words import say
from assistant.errors import PalimpsestError
from assistant.openclaw.backups import DEFAULT_KEEP_COPIES, copies_of, restore
from assistant.openclaw.compression_options import (
    ESTIMATORS,
    MODES,
    SCRIPT_MAX_ITERATIONS,
    AskModel,
    CompressionMode,
    KeepTail,
    Mask,
    Options,
)
from assistant.openclaw.diary import CompressionLog, log_compression, update_index, validate
from assistant.openclaw.file_compression import CompressionJob, compress_file, extract_from_file
from assistant.openclaw.session_batch import STATE_FOLDERS, compress_all, find_workspace, read_header_cwd
from assistant.openclaw.session_guard import claim_session
from assistant.openclaw.session_report import render_report, report_json

COMMANDS = ("compress", "compress-all", "restore", "diary")
DONE, FAILED, WRONG_USE = 0, 1, 2
_DRY_WORDS = ("dry-run", "dryrun", "dry", "true", "yes", "1")
_WET_WORDS = ("false", "no", "0", "")


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
        raise ValueError(say("openclaw_commands", "tail_too_short"))
    return lines


def add_compress(commands: Subparsers, parents: Sequence[argparse.ArgumentParser]) -> None:
    """Add `compress FILE [mode] [keep-tail] [dry-run]`."""
    parser = commands.add_parser(
        "compress",
        parents=parents,
        help=say("openclaw_commands", "help_compress"),
        description=say("openclaw_commands", "help_compress_long", soul=say("openclaw_commands", "help_soul")),
    )
    parser.add_argument("file", nargs="?", type=Path, help=say("openclaw_commands", "help_file"))
    parser.add_argument(
        "words", nargs="*", metavar="mode|keep-tail|dry-run", help=say("openclaw_commands", "help_words")
    )
    parser.add_argument("--session-file", type=Path, metavar="FILE", help=say("openclaw_commands", "help_session_file"))
    parser.add_argument("--quiet", action="store_true", help=say("openclaw_commands", "help_quiet"))
    _add_options(parser)


def add_compress_all(commands: Subparsers, parents: Sequence[argparse.ArgumentParser]) -> None:
    """Add `compress-all [DIR]`."""
    parser = commands.add_parser(
        "compress-all",
        parents=parents,
        help=say("openclaw_commands", "help_compress_all"),
        description=say(
            "openclaw_commands",
            "help_compress_all_long",
            folders=", ".join(STATE_FOLDERS),
            soul=say("openclaw_commands", "help_soul"),
        ),
    )
    parser.add_argument("folder", nargs="?", type=Path, metavar="DIR")
    parser.add_argument("--verbose", action="store_true", help=say("openclaw_commands", "help_verbose"))
    _add_options(parser)


def add_restore(commands: Subparsers, parents: Sequence[argparse.ArgumentParser]) -> None:
    """Add `restore FILE`."""
    parser = commands.add_parser(
        "restore",
        parents=parents,
        help=say("openclaw_commands", "help_restore"),
        description=say("openclaw_commands", "help_restore_long"),
    )
    parser.add_argument("file", type=Path, help=say("openclaw_commands", "help_file"))
    parser.add_argument("--copy", metavar="NAME", help=say("openclaw_commands", "help_copy"))
    parser.add_argument("--list", action="store_true", help=say("openclaw_commands", "help_list"))
    parser.add_argument("--keep-copies", type=int, default=DEFAULT_KEEP_COPIES, metavar="N")
    parser.add_argument("--json", action="store_true")


def add_diary(commands: Subparsers, parents: Sequence[argparse.ArgumentParser]) -> None:
    """Add `diary extract|log-compression|validate|update-index`."""
    parser = commands.add_parser(
        "diary",
        parents=parents,
        help=say("openclaw_commands", "help_diary"),
        description=say("openclaw_commands", "help_diary_long", soul=say("openclaw_commands", "help_soul")),
    )
    actions = parser.add_subparsers(dest="diary_command", required=True)
    extract = actions.add_parser(
        "extract", help=say("openclaw_commands", "help_extract"), description=say("openclaw_commands", "help_soul")
    )
    extract.add_argument("session", type=Path)
    extract.add_argument("workspace", type=Path)
    extract.add_argument(
        "--keep-tail", type=read_keep_tail, default=60, help=say("openclaw_commands", "help_extract_tail")
    )
    log = actions.add_parser("log-compression", help=say("openclaw_commands", "help_log"))
    log.add_argument("workspace", type=Path)
    log.add_argument("--mode", default="standard", choices=MODES)
    for name in ("before", "after", "removed"):
        log.add_argument(f"--{name}", type=int, required=True)
    check = actions.add_parser("validate", help=say("openclaw_commands", "help_validate"))
    check.add_argument("workspace", type=Path)
    index = actions.add_parser("update-index", help=say("openclaw_commands", "help_update_index"))
    index.add_argument("workspace", type=Path)
    index.add_argument("--note", default="")
    for action in (extract, log, check, index):
        action.add_argument("--json", action="store_true")


def add_parsers(commands: Subparsers, parents: Sequence[argparse.ArgumentParser] = ()) -> None:
    """Add the four commands to a command line; `run` carries them out."""
    for add in (add_compress, add_compress_all, add_restore, add_diary):
        add(commands, parents)


def run(
    arguments: argparse.Namespace,
    mask: Mask,
    ask: AskModel | None = None,
    count_tokens: Callable[[str], int] | None = None,
) -> int:
    """Carry out one of `COMMANDS` and return the exit code: 0 done or nothing due, 1 failed, 2 wrong use.

    `mask` hides secrets before anything is written to a diary; `ask` is a model, where one is set.
    """
    _survive_any_console()
    now = datetime.now(UTC).astimezone()
    surroundings = _Surroundings(now, mask, ask, count_tokens)
    try:
        match arguments.command:
            case "compress":
                return _compress(arguments, surroundings)
            case "compress-all":
                return _compress_all(arguments, surroundings)
            case "restore":
                return _restore(arguments, now)
            case _:
                return _diary(arguments, mask, now)
    except (PalimpsestError, OSError) as error:
        if arguments.json:
            print(json.dumps({"state": "failed", "message": str(error)}, ensure_ascii=False))
        print(f"palimpsest: {error}", file=sys.stderr)
        return FAILED


def _add_options(parser: argparse.ArgumentParser) -> None:
    """The skill's nine parameters under its own names and in the usual spelling, and what this tool adds."""
    default = Options()
    add = parser.add_argument
    add("--mode", choices=MODES, help=say("openclaw_commands", "help_mode"))
    add(
        "--keep-tail",
        "--keepTail",
        type=read_keep_tail,
        metavar="N|auto",
        help=say("openclaw_commands", "help_keep_tail"),
    )
    add(
        "--max-iter",
        "--maxIter",
        type=int,
        default=SCRIPT_MAX_ITERATIONS,
        metavar="N",
        help=say("openclaw_commands", "help_max_iter"),
    )
    add("--dry-run", action="store_true", help=say("openclaw_commands", "help_dry_run"))
    add("--json", action="store_true", help=say("openclaw_commands", "help_json"))
    add("--force", action="store_true", help=say("openclaw_commands", "help_force"))
    add("--workspace", type=Path, metavar="DIR", help=say("openclaw_commands", "help_workspace"))
    add("--skip-extract", action="store_true", help=say("openclaw_commands", "help_no_diary"))
    add(
        "--auto-backup",
        "--autoBackup",
        action=argparse.BooleanOptionalAction,
        default=True,
        help=say("openclaw_commands", "help_copies"),
    )
    add(
        "--keep-copies",
        type=int,
        default=DEFAULT_KEEP_COPIES,
        metavar="N",
        help=say("openclaw_commands", "help_keep_copies"),
    )
    add("--token-threshold", "--tokenThreshold", type=int, default=default.token_threshold, metavar="N")
    add("--char-threshold", "--charThreshold", type=int, default=default.char_threshold, metavar="N")
    add("--truncate-threshold", "--truncateThreshold", type=int, default=default.truncate_threshold_chars, metavar="N")
    add("--truncate-size", "--truncateSize", type=int, default=default.truncate_size_chars, metavar="N")
    add("--cooldown-minutes", "--cooldownMinutes", type=float, default=default.cooldown_minutes, metavar="N")
    add(
        "--recent-days",
        type=int,
        default=default.recent_days,
        metavar="N",
        help=say("openclaw_commands", "help_double"),
    )
    add("--measure", choices=("raw", "content"), default="raw", help=say("openclaw_commands", "help_measure"))
    add("--estimator", choices=ESTIMATORS, default="mixed", help=say("openclaw_commands", "help_ratio"))
    add("--marker", choices=("system", "custom"), default="system", help=say("openclaw_commands", "help_marker"))
    add("--drop-branches", action="store_true", help=say("openclaw_commands", "help_branches"))


@dataclass(frozen=True, slots=True)
class _Surroundings:
    """What a compression needs besides the arguments of its command."""

    now: datetime
    mask: Mask
    ask: AskModel | None
    count_tokens: Callable[[str], int] | None

    def make_job(self, arguments: argparse.Namespace, path: Path, options: Options, is_dry_run: bool) -> CompressionJob:
        return CompressionJob(
            path=path,
            options=options,
            now=self.now,
            workspace=_workspace(arguments, path),
            mask=self.mask,
            ask=self.ask,
            count_tokens=self.count_tokens,
            is_dry_run=is_dry_run,
            keep_copies=arguments.keep_copies,
        )


def _compress(arguments: argparse.Namespace, surroundings: _Surroundings) -> int:
    path: Path | None = arguments.session_file or arguments.file
    if path is None:
        print(f"palimpsest: {_text('which_session')}", file=sys.stderr)
        return WRONG_USE
    try:
        options, is_dry_run = _read_words(arguments)
    except ValueError as error:
        print(f"palimpsest: {error}", file=sys.stderr)
        return WRONG_USE
    report = compress_file(surroundings.make_job(arguments, path, options, is_dry_run))
    if arguments.json:
        print(report_json(report, options))
    elif not (arguments.quiet and report.outcome is None and not report.verdict.is_error):
        print(render_report(report, options))
    return FAILED if report.verdict.is_error else DONE


def _compress_all(arguments: argparse.Namespace, surroundings: _Surroundings) -> int:
    options = _options(arguments, arguments.mode or "standard", arguments.keep_tail or 60)

    def make_job(path: Path) -> CompressionJob:
        return surroundings.make_job(arguments, path, options, arguments.dry_run)

    folder: Path | None = arguments.folder
    batch = compress_all(Path.home(), folder, make_job)
    if not batch.search.folders:
        where = str(folder) if folder is not None else f"{', '.join(STATE_FOLDERS)} in {Path.home()}"
        print(f"palimpsest: {_text('no_such_folder', where=where)}", file=sys.stderr)
        return FAILED
    if arguments.json:
        for line in batch.json_lines(options):
            print(line)
    elif batch.has_news or arguments.verbose or sys.stdout.isatty():
        print(batch.render())
    return FAILED if batch.has_failed else DONE


def _restore(arguments: argparse.Namespace, now: datetime) -> int:
    path: Path = arguments.file
    if arguments.list:
        copies = copies_of(path)
        if arguments.json:
            print(json.dumps([str(copy) for copy in copies], ensure_ascii=False))
        else:
            print("\n".join(str(copy) for copy in copies) or _text("no_copies", name=path.name))
        return DONE
    with claim_session(path, now):
        copy = restore(path, now, arguments.copy, arguments.keep_copies)
    if arguments.json:
        print(json.dumps({"state": "restored", "path": str(path), "copy": copy.name}, ensure_ascii=False))
    else:
        print(_text("restored", path=path, copy=copy.name))
    return DONE


def _diary(arguments: argparse.Namespace, mask: Mask, now: datetime) -> int:
    workspace: Path = arguments.workspace
    match arguments.diary_command:
        case "extract":
            return _diary_extract(arguments, workspace, mask, now)
        case "log-compression":
            log = CompressionLog(arguments.mode, arguments.before, arguments.after, arguments.removed)
            path = log_compression(workspace, log, now)
            print(
                json.dumps({"diary": str(path)}, ensure_ascii=False) if arguments.json else _text("logged", path=path)
            )
            return DONE
        case "update-index":
            was_new = update_index(workspace, now, arguments.note, mask)
            text = _text("index_written" if was_new else "index_unchanged")
            print(json.dumps({"changed": was_new}) if arguments.json else text)
            return DONE
        case _:
            return _diary_validate(arguments, workspace, now)


def _diary_extract(arguments: argparse.Namespace, workspace: Path, mask: Mask, now: datetime) -> int:
    keep_tail: KeepTail = arguments.keep_tail
    found = extract_from_file(arguments.session, workspace, Options(keep_tail=keep_tail), now, mask)
    if arguments.json:
        values = {
            "diary": str(found.diary_path),
            "entries": list(found.entries),
            "preferences": list(found.preferences),
            "events": list(found.events),
        }
        print(json.dumps(values, ensure_ascii=False))
    elif found.is_empty:
        print(_text("nothing_to_extract", keep_tail=keep_tail))
    else:
        print(_text("extracted", entries=len(found.entries), path=found.diary_path, preferences=len(found.preferences)))
    return DONE


def _diary_validate(arguments: argparse.Namespace, workspace: Path, now: datetime) -> int:
    checks = validate(workspace, now)
    if arguments.json:
        rows = [{"number": c.number, "name": c.name, "level": c.level, "detail": c.detail} for c in checks]
        print(json.dumps(rows, ensure_ascii=False))
    else:
        for check in checks:
            detail = f": {check.detail}" if check.level != "ok" and check.detail else ""
            print(f"{check.level:<4}  {check.number}. {check.name}{detail}")
    return FAILED if any(check.level == "fail" for check in checks) else DONE


def _read_words(arguments: argparse.Namespace) -> tuple[Options, bool]:
    """The bare words after the file, `[mode] [keep-tail] [dry-run]`, with the flags that say the same above them."""
    words: list[str] = list(arguments.words)
    mode: CompressionMode = "standard"
    keep: KeepTail = 60
    is_dry_run: bool = arguments.dry_run
    if words and words[0] in MODES:
        mode = MODES[MODES.index(words.pop(0))]
    if words and (words[0].isdigit() or words[0] == "auto"):
        keep = read_keep_tail(words.pop(0))
    if words and words[0].lower().lstrip("-") in (*_DRY_WORDS, *_WET_WORDS):
        is_dry_run = is_dry_run or words.pop(0).lower().lstrip("-") in _DRY_WORDS
    if words:
        raise ValueError(_text("unknown_word", word=words[0], modes=", ".join(MODES)))
    return _options(arguments, arguments.mode or mode, arguments.keep_tail or keep), is_dry_run


def _options(arguments: argparse.Namespace, mode: CompressionMode, keep_tail: KeepTail) -> Options:
    return Options(
        mode=mode,
        keep_tail=keep_tail,
        max_iterations=arguments.max_iter,
        token_threshold=arguments.token_threshold,
        char_threshold=arguments.char_threshold,
        truncate_threshold_chars=arguments.truncate_threshold,
        truncate_size_chars=arguments.truncate_size,
        cooldown_minutes=arguments.cooldown_minutes,
        auto_backup=arguments.auto_backup,
        recent_days=arguments.recent_days,
        force=arguments.force,
        measure_by=arguments.measure,
        estimator=arguments.estimator,
        marker_form=arguments.marker,
        drop_branches=arguments.drop_branches,
    )


def _workspace(arguments: argparse.Namespace, path: Path) -> Path | None:
    if arguments.skip_extract:
        return None
    if arguments.workspace is not None:
        return arguments.workspace
    if not path.is_file():
        return path.parent
    return find_workspace(path, read_header_cwd(path))


def _text(key: str, **values: object) -> str:
    return say("openclaw_commands", key, **values)


def _survive_any_console() -> None:
    """A console that cannot show a character shows its escape: no run ends because of an arrow."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")
