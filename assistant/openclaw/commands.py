"""The commands carried out: arguments in, one run, words or JSON out, and an exit code."""

from __future__ import annotations

import argparse
import io
import json
import sys
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from pathlib import Path

from assistant.errors import PalimpsestError
from assistant.openclaw.advice import Ask
from assistant.openclaw.arguments import (
    Subparsers,
    add_compress,
    add_compress_all,
    add_diary,
    add_restore,
    read_keep_tail,
)
from assistant.openclaw.backups import copies_of, restore
from assistant.openclaw.batch import compress_all
from assistant.openclaw.diary import CompressionLog, Mask, log_compression
from assistant.openclaw.diary_checks import update_index, validate
from assistant.openclaw.discover import STATE_FOLDERS, find_workspace, read_header_cwd
from assistant.openclaw.options import MODES, KeepTail, Mode, Options
from assistant.openclaw.report import render_report, report_json
from assistant.openclaw.session_file import Job, compress_file, extract_from_file
from assistant.openclaw.session_lock import claim_session

COMMANDS = ("compress", "compress-all", "restore", "diary")
DONE, FAILED, WRONG_USE = 0, 1, 2
_DRY_WORDS = ("dry-run", "dryrun", "dry", "true", "yes", "1")
_WET_WORDS = ("false", "no", "0", "")


def add_parsers(commands: Subparsers, parents: Sequence[argparse.ArgumentParser] = ()) -> None:
    """Add the four commands to a command line; `run` carries them out."""
    for add in (add_compress, add_compress_all, add_restore, add_diary):
        add(commands, parents)


def run(
    arguments: argparse.Namespace,
    mask: Mask,
    ask: Ask | None = None,
    count_tokens: Callable[[str], int] | None = None,
) -> int:
    """Carry out one of `COMMANDS` and return the exit code: 0 done or nothing due, 1 failed, 2 wrong use.

    `mask` hides secrets before anything is written to a diary; `ask` is a model, where one is set.
    """
    _survive_any_console()
    now = datetime.now(UTC).astimezone()
    try:
        match arguments.command:
            case "compress":
                return _compress(arguments, mask, ask, count_tokens, now)
            case "compress-all":
                return _compress_all(arguments, mask, ask, count_tokens, now)
            case "restore":
                return _restore(arguments, now)
            case _:
                return _diary(arguments, mask, now)
    except (PalimpsestError, OSError) as error:
        if arguments.json:
            print(json.dumps({"state": "failed", "message": str(error)}, ensure_ascii=False))
        print(f"palimpsest: {error}", file=sys.stderr)
        return FAILED


def _compress(
    arguments: argparse.Namespace,
    mask: Mask,
    ask: Ask | None,
    count_tokens: Callable[[str], int] | None,
    now: datetime,
) -> int:
    path: Path | None = arguments.session_file or arguments.file
    if path is None:
        print("palimpsest: which session? Name its .jsonl file.", file=sys.stderr)
        return WRONG_USE
    try:
        options, is_dry_run = _read_words(arguments)
    except ValueError as error:
        print(f"palimpsest: {error}", file=sys.stderr)
        return WRONG_USE
    job = Job(
        path=path,
        options=options,
        now=now,
        workspace=_workspace(arguments, path),
        mask=mask,
        ask=ask,
        count_tokens=count_tokens,
        is_dry_run=is_dry_run,
        keep_copies=arguments.keep_copies,
    )
    report = compress_file(job)
    if arguments.json:
        print(report_json(report, options))
    elif not (arguments.quiet and report.outcome is None and not report.verdict.is_error):
        print(render_report(report, options))
    return FAILED if report.verdict.is_error else DONE


def _compress_all(
    arguments: argparse.Namespace,
    mask: Mask,
    ask: Ask | None,
    count_tokens: Callable[[str], int] | None,
    now: datetime,
) -> int:
    options = _options(arguments, arguments.mode or "standard", arguments.keep_tail or 60)

    def make_job(path: Path) -> Job:
        return Job(
            path=path,
            options=options,
            now=now,
            workspace=_workspace(arguments, path),
            mask=mask,
            ask=ask,
            count_tokens=count_tokens,
            is_dry_run=arguments.dry_run,
            keep_copies=arguments.keep_copies,
        )

    folder: Path | None = arguments.folder
    batch = compress_all(Path.home(), folder, make_job)
    if not batch.search.folders:
        where = str(folder) if folder is not None else f"{', '.join(STATE_FOLDERS)} in {Path.home()}"
        print(f"palimpsest: no such folder: {where}", file=sys.stderr)
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
            print("\n".join(str(copy) for copy in copies) or f"{path.name} has no copies.")
        return DONE
    with claim_session(path, now):
        copy = restore(path, now, arguments.copy, arguments.keep_copies)
    if arguments.json:
        print(json.dumps({"state": "restored", "path": str(path), "copy": copy.name}, ensure_ascii=False))
    else:
        print(f"{path} is again what it was: {copy.name}. What stood there until now is a copy itself.")
    return DONE


def _diary(arguments: argparse.Namespace, mask: Mask, now: datetime) -> int:
    workspace: Path = arguments.workspace
    match arguments.diary_command:
        case "extract":
            return _diary_extract(arguments, workspace, mask, now)
        case "log-compression":
            log = CompressionLog(arguments.mode, arguments.before, arguments.after, arguments.removed)
            path = log_compression(workspace, log, now)
            print(json.dumps({"diary": str(path)}, ensure_ascii=False) if arguments.json else f"Logged in {path}.")
            return DONE
        case "update-index":
            was_new = update_index(workspace, now, arguments.note, mask)
            text = "MEMORY.md has the entry." if was_new else "MEMORY.md had the entry already."
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
        print(f"Nothing important to extract before the tail (--keep-tail {keep_tail}); no entry was made.")
    else:
        print(f"{len(found.entries)} entries in {found.diary_path}, {len(found.preferences)} preferences in SOUL.md.")
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
    mode: Mode = "standard"
    keep: KeepTail = 60
    is_dry_run: bool = arguments.dry_run
    if words and words[0] in MODES:
        mode = MODES[MODES.index(words.pop(0))]
    if words and (words[0].isdigit() or words[0] == "auto"):
        keep = read_keep_tail(words.pop(0))
    if words and words[0].lower().lstrip("-") in (*_DRY_WORDS, *_WET_WORDS):
        is_dry_run = is_dry_run or words.pop(0).lower().lstrip("-") in _DRY_WORDS
    if words:
        raise ValueError(f"{words[0]!r} is neither a mode ({', '.join(MODES)}), nor a number of lines, nor dry-run.")
    return _options(arguments, arguments.mode or mode, arguments.keep_tail or keep), is_dry_run


def _options(arguments: argparse.Namespace, mode: Mode, keep_tail: KeepTail) -> Options:
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


def _survive_any_console() -> None:
    """A console that cannot show a character shows its escape: no run ends because of an arrow."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")
