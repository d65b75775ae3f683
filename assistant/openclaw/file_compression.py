"""One session file, compressed: the only place where a session file is replaced."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Literal

from assistant.config.plain_reasons import plain_reason
from assistant.config.words import say
from assistant.errors import DiaryError, SessionBusyError, TranscriptError
from assistant.openclaw.backups import (
    DEFAULT_KEEP_COPIES,
    FileStamp,
    backup_path,
    is_same,
    put_away,
    rescue_leftover,
    stamp_of,
    write_backup,
    write_synced,
)
from assistant.openclaw.compression import CompressionOutcome, compress
from assistant.openclaw.compression_options import AskModel, Mask, Options
from assistant.openclaw.diary import CompressionLog, Extracted, extract, log_compression, mask_findings
from assistant.openclaw.findings import SessionFinding
from assistant.openclaw.line_classes import classify
from assistant.openclaw.model_advice import ask_for_advice
from assistant.openclaw.session_guard import GuardVerdict, claim_session, find_busy_reason, judge
from assistant.openclaw.session_sizes import choose_weigh, measure_session
from assistant.openclaw.session_summary import notes_for_diary
from assistant.openclaw.survey import Survey, survey_session
from assistant.storage.atomic_io import sync_folder
from assistant.storage.garbage import without_collection

CompressionStep = Literal[
    "read", "planned", "noted", "backed_up", "written", "checked", "replaced", "logged", "put_away"
]


@dataclass(frozen=True, slots=True)
class CompressionJob:
    """What to compress and with whose help. A `workspace` of None means that no diary is kept, as was asked for.

    `at_step` is called after each step; a test stops the run there.
    """

    path: Path
    options: Options
    now: datetime
    workspace: Path | None
    mask: Mask
    ask: AskModel | None = None
    count_tokens: Callable[[str], int] | None = None
    is_dry_run: bool = False
    keep_copies: int = DEFAULT_KEEP_COPIES
    at_step: Callable[[CompressionStep], None] = field(default=lambda step: None)


@dataclass(frozen=True, slots=True)
class CompressionReport:
    """What became of a session. `outcome` is None when a guard said no; `copy` is the file as it was."""

    path: Path
    verdict: GuardVerdict
    chars: int
    tokens: int
    context_chars: int
    context_tokens: int
    outcome: CompressionOutcome | None = None
    extracted: Extracted | None = None
    copy: Path | None = None
    is_dry_run: bool = False
    notices: tuple[str, ...] = ()

    @property
    def has_changed(self) -> bool:
        """True when the file was replaced."""
        return self.outcome is not None and self.outcome.status != "nothing" and not self.is_dry_run


def compress_file(job: CompressionJob) -> CompressionReport:
    """Compress a session file, or say why not.

    Raises `TranscriptError` when it cannot be read, is in use, or the result would not be whole, and `DiaryError`
    when the diary could not be written first; then the file is as it was.
    """
    if not job.path.is_file():
        raise TranscriptError(say("openclaw_errors", "no_session_file", path=str(job.path)))
    with nullcontext() if job.is_dry_run else claim_session(job.path, job.now), without_collection():
        return _compress_claimed(job)


def read_session(path: Path, options: Options, count_tokens: Callable[[str], int] | None = None) -> Survey:
    """The session in a file. Raises `TranscriptError` when it cannot be read."""
    try:
        with path.open("rb") as file:
            return survey_session(file, choose_weigh(options.estimator, count_tokens))
    except OSError as error:
        raise TranscriptError(
            say("openclaw_errors", "not_readable", name=path.name, reason=plain_reason(error))
        ) from error


def extract_from_file(path: Path, workspace: Path, options: Options, now: datetime, mask: Mask) -> Extracted:
    """Phase one alone: what the middle of a session holds goes into the diary; the session is only read."""
    survey = read_session(path, options)
    classified = classify(survey, options)
    notes = notes_for_diary(survey, classified, options, survey.findings)
    return extract(notes, workspace, now, survey.session_id or path.stem, topic_of(survey), mask)


def topic_of(survey: Survey) -> str:
    """What the session is about: its first request, in a few words."""
    first = (line.opening for line in survey.lines if line.kind == "user" and line.opening and not line.is_pleasantry)
    return next(first, "")[:80]


def _compress_claimed(job: CompressionJob) -> CompressionReport:
    notices: list[str] = []
    if not job.is_dry_run:
        leftover = rescue_leftover(job.path, job.now, job.keep_copies)
        notices.extend([leftover] if leftover else [])
    stamp = stamp_of(job.path)
    survey = read_session(job.path, job.options, job.count_tokens)
    job.at_step("read")
    size = measure_session(survey)
    is_raw = job.options.measure_by == "raw"
    tokens, chars = (size.tokens, size.chars) if is_raw else (size.context_tokens, size.context_chars)
    verdict = judge(tokens, chars, survey.marker, job.options, job.now)

    def report(
        outcome: CompressionOutcome | None = None, extracted: Extracted | None = None, copy: Path | None = None
    ) -> CompressionReport:
        return CompressionReport(
            path=job.path,
            verdict=verdict,
            chars=size.chars,
            tokens=size.tokens,
            context_chars=size.context_chars,
            context_tokens=size.context_tokens,
            outcome=outcome,
            extracted=extracted,
            copy=copy,
            is_dry_run=job.is_dry_run,
            notices=tuple(notices),
        )

    if not verdict.may_run:
        return report()
    busy = find_busy_reason(survey, stamp.modified_at, job.now)
    if busy is not None and not job.options.force:
        raise TranscriptError(say("openclaw_errors", "left_alone", name=job.path.name, busy=busy))
    outcome = _plan(job, survey, notices)
    job.at_step("planned")
    if outcome.status == "nothing" or job.is_dry_run:
        return report(outcome)
    extracted = _write_diary(job, survey, outcome.diary)
    job.at_step("noted")
    copy = _replace(job, survey, outcome, stamp)
    if job.workspace is not None:
        notices.extend(_log(job, job.workspace, outcome, verdict))
    job.at_step("logged")
    return report(outcome, extracted, copy)


def _plan(job: CompressionJob, survey: Survey, notices: list[str]) -> CompressionOutcome:
    classified = classify(survey, job.options)
    notes = mask_findings(notes_for_diary(survey, classified, job.options, survey.findings), job.mask)
    weigh = choose_weigh(job.options.estimator, job.count_tokens)
    advice = None
    if job.ask is not None:
        advice, refused = ask_for_advice(survey, classified, notes, job.options, job.now, job.mask, job.ask)
        notices.extend(refused)
    return compress(survey, classified, notes, job.options, weigh, job.now, job.mask, advice)


def _write_diary(job: CompressionJob, survey: Survey, diary: Sequence[SessionFinding]) -> Extracted | None:
    if job.workspace is None:
        return None
    session = survey.session_id or job.path.stem
    return extract(diary, job.workspace, job.now, session, topic_of(survey), job.mask)


def _replace(job: CompressionJob, survey: Survey, outcome: CompressionOutcome, stamp: FileStamp) -> Path | None:
    """Copy, write beside, check, rename: at any moment the file is the old one or the new one."""
    path = job.path
    old = [line.raw for line in survey.lines]
    backup = write_backup(path, old) if job.options.auto_backup else None
    fresh = path.with_name(f".{path.name}.new.tmp")
    is_replaced = False
    try:
        job.at_step("backed_up")
        write_synced(fresh, outcome.lines, path.stat().st_mode & 0o777)
        job.at_step("written")
        if not is_same(fresh, outcome.lines):
            raise TranscriptError(say("openclaw_errors", "reads_back_otherwise", name=fresh.name))
        if stamp_of(path) != stamp:
            raise SessionBusyError(path.name, None)
        job.at_step("checked")
        fresh.replace(path)
        is_replaced = True
    except OSError as error:
        raise TranscriptError(
            say("openclaw_errors", "not_replaced", name=path.name, reason=plain_reason(error))
        ) from error
    finally:
        if not is_replaced:
            fresh.unlink(missing_ok=True)
            backup_path(path).unlink(missing_ok=True)
    sync_folder(path.parent)
    job.at_step("replaced")
    copy = put_away(path, backup, job.now, job.keep_copies) if backup is not None else None
    job.at_step("put_away")
    return copy


def _log(job: CompressionJob, workspace: Path, outcome: CompressionOutcome, verdict: GuardVerdict) -> list[str]:
    log = CompressionLog(
        mode=job.options.mode,
        before_tokens=outcome.tokens_before,
        after_tokens=outcome.tokens_after,
        removed_lines=outcome.removed_lines,
        was_forced=verdict.reason == "forced",
        was_partial=outcome.status == "partial",
    )
    try:
        log_compression(workspace, log, job.now)
    except DiaryError as error:
        return [say("openclaw_errors", "still_compressed", error=error)]
    return []
