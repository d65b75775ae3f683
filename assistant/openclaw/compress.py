"""A session and how to shrink it → the new lines, verified, with what went and why; no file is touched."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Literal

from assistant.errors import TranscriptError
from assistant.openclaw.bullets import merge_into_summary, retired_bullets
from assistant.openclaw.classify import Classified
from assistant.openclaw.contents import read_content
from assistant.openclaw.draft import Draft
from assistant.openclaw.entries import read_line
from assistant.openclaw.estimate import Weigh
from assistant.openclaw.findings import Finding
from assistant.openclaw.layout import Layout, find_place, lay_out, render_frame, summary_entry
from assistant.openclaw.marker import Marker
from assistant.openclaw.options import Options
from assistant.openclaw.plan import plan
from assistant.openclaw.sizes import ClassCount, Size, count_classes, measure_session
from assistant.openclaw.summary import (
    Bullet,
    Summary,
    write_summary,
)
from assistant.openclaw.survey import Survey, describe_line, survey_session
from assistant.openclaw.verify import find_faults, lacks_voice

Status = Literal[
    "done",  # the target is met
    "partial",  # a tenth or more was saved, the target was not met
    "nothing",  # less than a tenth could be saved: the file stays as it was
]
WORTHWHILE_SHARE = 0.9


@dataclass(frozen=True, slots=True)
class Advice:
    """What a model contributed: short forms of explanations by line index, and bullets for the summary."""

    gists: Mapping[int, str] = field(default_factory=dict[int, str])
    bullets: tuple[Bullet, ...] | None = None


@dataclass(frozen=True, slots=True)
class Outcome:
    """The result. `lines` is the whole new file, the old one when `status` is `nothing`.

    `diary` is what has to be written down before the file may be replaced; `tokens_reachable` what would have been
    left, also where the file stays as it was.
    """

    status: Status
    lines: tuple[bytes, ...]
    before: Size
    after: Size
    tokens_before: int
    tokens_after: int
    tokens_reachable: int
    classes: tuple[ClassCount, ...]
    removed_lines: int
    tail_lines_cut: int
    hit_limit: bool
    summary: Summary
    solved_warnings: tuple[str, ...]
    misses: int
    diary: tuple[Finding, ...]


def compress(
    survey: Survey,
    classified: Classified,
    notes: Sequence[Finding],
    options: Options,
    weigh: Weigh,
    now: datetime,
    mask: Callable[[str], str],
    advice: Advice | None = None,
) -> Outcome:
    """Shrink a session. `notes` is what `notes_for_diary` found, secrets masked; `mask` does so for the summary.

    Raises `TranscriptError` when the session has no user or no assistant, or the new file would not be whole.
    """
    voice = lacks_voice(survey)
    if voice is not None:
        raise TranscriptError(f"The session has no {voice} message with anything in it; it is left as it is.")
    advice = advice or Advice()
    before = measure_session(survey)
    merged = merge_into_summary(survey, notes, now, mask, advice.bullets)
    place = find_place(survey, now)
    draft = Draft(survey, weigh, options.measure_by, options.max_iterations)
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
    return Outcome(
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


def _set_aside(survey: Survey, draft: Draft, options: Options, marker_at: int | None) -> None:
    """Take out what is written anew: old summaries of the path, old markers; dead branches when asked to."""
    on_path = frozenset(survey.walk.path)
    for at, line in enumerate(survey.lines):
        is_old_summary = line.kind in ("summary", "spoken_summary") and at in on_path
        is_old_marker = line.kind == "marker" and at != marker_at
        is_dead = options.drop_branches and survey.form == "tree" and line.id is not None and at not in on_path
        if is_old_summary or is_old_marker or (is_dead and at != survey.header):
            draft.drop(at)


def _marker_tokens(survey: Survey, draft: Draft) -> float:
    """What the marker that is replaced weighs."""
    return sum(draft.size(at) for at, line in enumerate(survey.lines) if line.kind == "marker")


def _settle(
    survey: Survey, layout: Layout, marker: Marker, options: Options, weigh: Weigh, tokens_before: float, misses: int
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


def _with_line(survey: Survey, layout: Layout, weigh: Weigh) -> Survey:
    """The survey with the marker read again, as it stands now."""
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


def _check(survey: Survey, after: Survey, classified: Classified, draft: Draft) -> None:
    must_stay = frozenset(
        at
        for at, line in enumerate(survey.lines)
        if at not in draft.removed and line.kind in ("user", "system", "injected")
    )
    faults = find_faults(survey, after, frozenset(draft.removed), must_stay)
    if faults:
        raise TranscriptError(f"The new file would not be whole ({'; '.join(faults)}); the session is left as it is.")
