"""A session and how to shrink it → the new lines, verified, with what went and why; no file is touched."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Literal

from assistant.config.words import say
from assistant.errors import TranscriptError
from assistant.openclaw.compression_options import Options, Weigh
from assistant.openclaw.compression_plan import CompressionDraft, plan
from assistant.openclaw.entry_contents import read_content
from assistant.openclaw.findings import SessionFinding
from assistant.openclaw.line_classes import Classified
from assistant.openclaw.model_advice import Advice
from assistant.openclaw.session_entries import Marker, read_line
from assistant.openclaw.session_layout import SessionLayout, find_place, lay_out, render_frame, summary_entry
from assistant.openclaw.session_sizes import ClassCount, SessionSize, count_classes, measure_session
from assistant.openclaw.session_summary import (
    SummaryBullets,
    merge_into_summary,
    retired_bullets,
    write_summary,
)
from assistant.openclaw.survey import SessionLine, Survey, describe_line, survey_session

Status = Literal[
    "done",  # the target is met
    "partial",  # a tenth or more was saved, the target was not met
    "nothing",  # less than a tenth could be saved: the file stays as it was
]
WORTHWHILE_SHARE = 0.9


@dataclass(frozen=True, slots=True)
class CompressionOutcome:
    """The result. `lines` is the whole new file, the old one when `status` is `nothing`.

    `diary` is what has to be written down before the file may be replaced; `tokens_reachable` what would have been
    left, also where the file stays as it was.
    """

    status: Status
    lines: tuple[bytes, ...]
    before: SessionSize
    after: SessionSize
    tokens_before: int
    tokens_after: int
    tokens_reachable: int
    classes: tuple[ClassCount, ...]
    removed_lines: int
    tail_lines_cut: int
    hit_limit: bool
    summary: SummaryBullets
    solved_warnings: tuple[str, ...]
    misses: int
    diary: tuple[SessionFinding, ...]


def compress(
    survey: Survey,
    classified: Classified,
    notes: Sequence[SessionFinding],
    options: Options,
    weigh: Weigh,
    now: datetime,
    mask: Callable[[str], str],
    advice: Advice | None = None,
) -> CompressionOutcome:
    """Shrink a session. `notes` is what `notes_for_diary` found, secrets masked; `mask` does so for the summary.

    Raises `TranscriptError` when the session has no user or no assistant, or the new file would not be whole.
    """
    voice = lacks_voice(survey)
    if voice is not None:
        raise TranscriptError(say("openclaw_errors", "lacks_voice", voice=voice))
    advice = advice or Advice()
    before = measure_session(survey)
    merged = merge_into_summary(survey, notes, now, mask, advice.bullets)
    place = find_place(survey, now)
    draft = CompressionDraft(survey, weigh, options.measure_by, options.max_iterations)
    tokens_before = draft.total_tokens
    _set_aside(survey, draft, options, place.marker_at)
    text = write_summary(merged.summary)
    marker = Marker(now, int(tokens_before), 0, options.mode, options.target_tokens)
    entry = summary_entry(survey, draft, place, text, before.context_tokens, classified.tail_start)
    frame = render_frame(survey, place, entry, marker, options.marker_form)
    draft.add(weigh(text) if options.measure_by == "content" else weigh(frame) - _marker_tokens(survey, draft))
    # The frame is weighed at its longest: a file that an earlier run brought just below the target is left in peace.
    fits = tokens_before <= options.target_tokens
    cut_in_tail = frozenset[int]() if fits else plan(survey, classified, options, draft, advice.gists)
    entry = summary_entry(survey, draft, place, text, before.context_tokens, classified.tail_start)
    layout = lay_out(survey, draft, place, entry, marker, options.marker_form, now)
    misses = survey.marker.misses if survey.marker is not None else 0
    after, tokens_after, status, misses = _settle(survey, layout, marker, options, weigh, tokens_before, misses)
    if status != "nothing":
        _check(survey, after, classified, draft)
    return CompressionOutcome(
        status=status,
        lines=tuple(layout.lines) if status != "nothing" else tuple(line.raw for line in survey.lines),
        before=before,
        after=measure_session(after) if status != "nothing" else before,
        tokens_before=int(tokens_before),
        tokens_after=tokens_after if status != "nothing" else int(tokens_before),
        tokens_reachable=tokens_after,
        classes=count_classes(survey, classified, draft),
        removed_lines=draft.iterations,
        tail_lines_cut=len(cut_in_tail),
        hit_limit=draft.hit_limit,
        summary=merged.summary,
        solved_warnings=tuple(bullet.text for bullet in merged.solved),
        misses=misses,
        diary=(*notes, *retired_bullets(merged)),
    )


def find_faults(before: Survey, after: Survey, removed: frozenset[int], kept: frozenset[int]) -> tuple[str, ...]:
    """Every way in which `after` is not a whole session; empty when it may be written.

    `removed` are the lines of `before` that went on purpose, `kept` those that had to stay word for word.
    """
    return (
        *_unparsable(before, after),
        *_voices(after),
        *_walk(before, after, removed),
        *_pairs(before, after),
        *_single_lines(after),
        *_kept(before, after, kept),
    )


def lacks_voice(survey: Survey) -> str | None:
    """Which of the two voices a session has nothing of; an answer needs a text or a tool call."""
    has_user = any(line.kind == "user" and (line.has_own_words or line.text_chars) for line in survey.lines)
    has_assistant = any(line.kind == "assistant" and (line.text_chars or line.calls) for line in survey.lines)
    if has_user and has_assistant:
        return None
    return "assistant" if has_user else "user"


def _set_aside(survey: Survey, draft: CompressionDraft, options: Options, marker_at: int | None) -> None:
    """Take out what is written again: old summaries of the path, old markers; dead branches when asked to."""
    on_path = frozenset(survey.walk.path)
    for at, line in enumerate(survey.lines):
        is_old_summary = line.kind in ("summary", "spoken_summary") and at in on_path
        is_old_marker = line.kind == "marker" and at != marker_at
        is_dead = options.drop_branches and survey.form == "tree" and line.id is not None and at not in on_path
        if is_old_summary or is_old_marker or (is_dead and at != survey.header):
            draft.drop(at)


def _marker_tokens(survey: Survey, draft: CompressionDraft) -> float:
    """What the marker that is replaced weighs."""
    return sum(draft.size(at) for at, line in enumerate(survey.lines) if line.kind == "marker")


def _settle(
    survey: Survey,
    layout: SessionLayout,
    marker: Marker,
    options: Options,
    weigh: Weigh,
    tokens_before: float,
    misses: int,
) -> tuple[Survey, int, Status, int]:
    """Read the new file whole, and write into the marker what really is left."""
    after = survey_session(layout.lines, weigh, with_findings=False, known=survey)
    total = _tokens(after, options)
    rest = total - _tokens_of(after, layout.marker_at, options)
    tokens = int(total)
    status: Status = "done"
    for _ in range(4):
        status = _status(total, tokens_before, options)
        missed = misses + 1 if status == "partial" else 0
        raw = layout.set_marker(Marker(marker.at, tokens, missed, options.mode, options.target_tokens))
        weight = weigh(raw.decode("utf-8")) if options.measure_by == "raw" else 0.0
        total = rest + weight
        if int(total) == tokens:
            break
        tokens = int(total)
    return _with_line(after, layout, weigh), tokens, status, misses + 1 if status == "partial" else 0


def _with_line(survey: Survey, layout: SessionLayout, weigh: Weigh) -> Survey:
    """The survey with the marker line read again."""
    at = layout.marker_at
    raw = layout.lines[at]
    entry = read_line(raw, is_first=at == 0)
    line = describe_line(raw, entry, read_content(entry), weigh)
    return replace(survey, lines=(*survey.lines[:at], line, *survey.lines[at + 1 :]))


def _status(total: float, tokens_before: float, options: Options) -> Status:
    if total >= tokens_before * WORTHWHILE_SHARE:
        return "nothing"
    return "done" if total <= options.target_tokens else "partial"


def _tokens(survey: Survey, options: Options) -> float:
    if options.measure_by == "raw":
        return sum(line.tokens for line in survey.lines)
    return sum(survey.lines[at].content_tokens for at in survey.walk.context)


def _tokens_of(survey: Survey, at: int, options: Options) -> float:
    return survey.lines[at].tokens if options.measure_by == "raw" else 0.0


def _check(survey: Survey, after: Survey, classified: Classified, draft: CompressionDraft) -> None:
    must_stay = frozenset(
        at
        for at, line in enumerate(survey.lines)
        if at not in draft.removed and line.kind in ("user", "system", "injected")
    )
    faults = find_faults(survey, after, frozenset(draft.removed), must_stay)
    if faults:
        raise TranscriptError(say("openclaw_errors", "not_whole", faults="; ".join(faults)))


def _unparsable(before: Survey, after: Survey) -> Iterator[str]:
    new = Counter(_broken(after)) - Counter(_broken(before))
    if new:
        yield say("openclaw_errors", "fault_json", count=new.total())
    if Counter(_broken(before)) - Counter(_broken(after)):
        yield say("openclaw_errors", "fault_unparsed")


def _broken(survey: Survey) -> list[bytes]:
    return [line.raw.rstrip(b"\r\n") for line in survey.lines if line.kind == "unparsable"]


def _voices(after: Survey) -> Iterator[str]:
    voice = lacks_voice(after)
    if voice is not None:
        yield say("openclaw_errors", "fault_voice", voice=voice)


def _walk(before: Survey, after: Survey, removed: frozenset[int]) -> Iterator[str]:
    if before.header is not None and (after.header != 0 and before.header == 0):
        yield say("openclaw_errors", "fault_header")
    if before.form != "tree":
        return
    wanted = [
        before.lines[at].id
        for at in before.walk.path
        if at not in removed and before.lines[at].kind not in ("marker", "summary")
    ]
    walked = [after.lines[at].id for at in after.walk.path if after.lines[at].kind not in ("marker", "summary")]
    if walked != wanted:
        yield say("openclaw_errors", "fault_walk", met=len(walked), wanted=len(wanted))
    seen_before = [before.lines[at].id for at in before.walk.context if at not in removed]
    seen_after = [after.lines[at].id for at in after.walk.context if after.lines[at].kind != "summary"]
    missing = set(_without_summaries(before, seen_before)) - set(seen_after)
    if missing:
        yield say("openclaw_errors", "fault_context", count=len(missing))


def _without_summaries(survey: Survey, ids: list[str | None]) -> list[str | None]:
    summaries = {line.id for line in survey.lines if line.kind == "summary"}
    return [entry_id for entry_id in ids if entry_id not in summaries]


def _pairs(before: Survey, after: Survey) -> Iterator[str]:
    # Those that hung before, an aborted call for one, may hang on.
    if _open_calls(after) - _open_calls(before):
        yield say("openclaw_errors", "fault_result")
    if _orphans(after) - _orphans(before):
        yield say("openclaw_errors", "fault_call")


def _open_calls(survey: Survey) -> Counter[str]:
    return Counter(_call_key(survey.lines[unit.lines[0]]) for unit in survey.units if unit.open_calls)


def _orphans(survey: Survey) -> Counter[str]:
    return Counter(
        ",".join(str(result.call_id) for at in unit.lines for result in survey.lines[at].results)
        for unit in survey.units
        if not any(survey.lines[at].calls for at in unit.lines)
        and any(result.call_id is not None for at in unit.lines for result in survey.lines[at].results)
    )


def _call_key(line: SessionLine) -> str:
    return ",".join(f"{call.id}:{call.name}" for call in line.calls)


def _single_lines(after: Survey) -> Iterator[str]:
    on_path = [after.lines[at].kind for at in after.walk.path]
    summaries = on_path.count("summary") + on_path.count("spoken_summary")
    if summaries != 1:
        yield say("openclaw_errors", "fault_summaries", count=summaries)
    markers = sum(line.kind == "marker" for line in after.lines)
    if markers != 1:
        yield say("openclaw_errors", "fault_markers", count=markers)


def _kept(before: Survey, after: Survey, kept: frozenset[int]) -> Iterator[str]:
    missing = Counter(_words(before.lines[at]) for at in kept) - Counter(map(_words, after.lines))
    if missing:
        yield say("openclaw_errors", "fault_kept", count=missing.total())


def _words(line: SessionLine) -> tuple[str, int]:
    return (line.kind, line.fingerprint)
