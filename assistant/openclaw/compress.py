"""A session and how to shrink it → the new lines, verified, with what went and why; no file is touched."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Literal

from assistant.errors import TranscriptError
from assistant.openclaw.classify import CLASSES, Classified, LineClass
from assistant.openclaw.draft import Draft
from assistant.openclaw.entries import SUMMARY_TAG, read_content, read_line
from assistant.openclaw.estimate import Weigh
from assistant.openclaw.findings import Finding, newest_once
from assistant.openclaw.layout import Layout, find_place, lay_out, summary_entry
from assistant.openclaw.marker import Marker, marker_fields
from assistant.openclaw.options import Options
from assistant.openclaw.plan import plan
from assistant.openclaw.rewriting import write_json
from assistant.openclaw.summary import (
    Bullet,
    Merged,
    Summary,
    Tag,
    merge_summaries,
    read_summary,
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
_FINDING_TAGS: dict[str, Tag] = {
    "Preference": "Fact",
    "Decision": "Decision",
    "Creative": "Fact",
    "Conversation": "Fact",
    "Technical": "Technical",
    "Warning": "Warning",
}
# What explanations said that aggressive mode deletes: so many of the newest go into the diary.
_GISTS = 20


@dataclass(frozen=True, slots=True)
class Size:
    """How large a session is: the raw file, and what of it a model gets to see."""

    chars: int
    tokens: int
    context_chars: int
    context_tokens: int


@dataclass(frozen=True, slots=True)
class ClassCount:
    """What there was of one class, and what became of it."""

    name: LineClass
    lines: int
    chars: int
    tokens: int
    removed: int
    shortened: int


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


def measure_session(survey: Survey) -> Size:
    """The size of a session by both counts."""
    context = [survey.lines[at] for at in survey.walk.context]
    return Size(
        chars=survey.chars,
        tokens=int(sum(line.tokens for line in survey.lines)),
        context_chars=sum(line.content_chars for line in context),
        context_tokens=int(sum(line.content_tokens for line in context)),
    )


def notes_for_diary(
    survey: Survey, classified: Classified, options: Options, findings: Sequence[Finding]
) -> tuple[Finding, ...]:
    """What the middle of the session holds that must be written down before any of it goes, oldest first."""
    middle = [finding for finding in findings if finding.line < classified.tail_start]
    summaries = [at for at in survey.walk.path if survey.lines[at].kind in ("summary", "spoken_summary")]
    foreign = [
        Finding(at, "Conversation", "Earlier summary", survey.lines[at].summary, "summary")
        for at in summaries
        if survey.lines[at].summary.strip() and SUMMARY_TAG not in survey.lines[at].summary
    ]
    gists = [
        line.opening
        for at, line in enumerate(survey.lines)
        if classified.classes[at] == "P4" and line.kind == "assistant" and line.opening and not line.calls
    ]
    if options.mode == "aggressive" and gists:
        text = " / ".join(gists[-_GISTS:])
        foreign.append(Finding(classified.tail_start, "Conversation", "What was explained", text, "assistant"))
    return newest_once(sorted([*middle, *foreign], key=lambda finding: finding.line))


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
    merged = _merge(survey, notes, now, mask, advice)
    place = find_place(survey, now)
    draft = Draft(survey, weigh, options.measure_by, options.max_iterations)
    tokens_before = draft.total_tokens
    _set_aside(survey, draft, options, place.marker_at)
    text = write_summary(merged.summary)
    marker = Marker(now, int(tokens_before), 0, options.mode, options.target_tokens)
    draft.add(_frame_tokens(survey, draft, marker, text, options, weigh))
    cut_in_tail = plan(survey, classified, options, draft, advice.gists)
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
        classes=_count_classes(survey, classified, draft),
        removed_lines=draft.iterations,
        tail_lines_cut=len(cut_in_tail),
        hit_limit=draft.hit_limit,
        summary=merged.summary,
        solved_warnings=tuple(bullet.text for bullet in merged.solved),
        misses=misses,
        diary=(*notes, *_retired(merged)),
    )


def diary_name(now: datetime) -> str:
    """Where the diary of the day stands in the workspace."""
    return f"memory/{now.date().isoformat()}.md"


def bullets_from_notes(survey: Survey, notes: Sequence[Finding], now: datetime, mask: Callable[[str], str]) -> Summary:
    """The bullets code would write by itself, the state first, then the newest of what was found."""
    name = diary_name(now)
    return Summary((_state(survey, mask), *(_bullet_of(finding, name) for finding in reversed(notes))))


def _merge(
    survey: Survey, notes: Sequence[Finding], now: datetime, mask: Callable[[str], str], advice: Advice
) -> Merged:
    new = bullets_from_notes(survey, notes, now, mask).bullets if advice.bullets is None else advice.bullets
    evidence = [line.opening for line in survey.lines if line.kind in ("user", "assistant") and line.opening]
    earlier = Summary()
    for at in survey.walk.path:
        line = survey.lines[at]
        if line.kind in ("summary", "spoken_summary"):
            # The newest of several was written from the ones before it.
            earlier = read_summary(line.summary)
    return merge_summaries(earlier, new, evidence, diary_name(now))


def _bullet_of(finding: Finding, name: str) -> Bullet:
    tag = _FINDING_TAGS[finding.category]
    if finding.category == "Preference":
        return Bullet(tag, finding.content, "SOUL.md")
    return Bullet(tag, finding.content, f"{name}##{section_title(finding)}")


def section_title(finding: Finding) -> str:
    """The heading a finding gets in the diary; a warning stands among the technical notes."""
    category = "Technical" if finding.category == "Warning" else finding.category
    return f"{category}: {finding.title}"


def _state(survey: Survey, mask: Callable[[str], str]) -> Bullet:
    path = survey.walk.path
    asked = next((survey.lines[at].opening for at in reversed(path) if _is_request(survey, at)), "")
    said = next(
        (
            survey.lines[at].opening
            for at in reversed(path)
            if survey.lines[at].kind == "assistant" and survey.lines[at].opening
        ),
        "",
    )
    # Masked before it is cut: half a secret would no longer be known for one.
    text = " — ".join(mask(part)[:90] for part in (asked, said) if part)
    return Bullet("State", text) if text else Bullet("State", f"{len(path)} entries were reduced to what follows")


def _is_request(survey: Survey, at: int) -> bool:
    line = survey.lines[at]
    return line.kind == "user" and bool(line.opening) and not line.is_pleasantry


def _set_aside(survey: Survey, draft: Draft, options: Options, marker_at: int | None) -> None:
    """Take out what is written anew: old summaries of the path, old markers; dead branches when asked to."""
    on_path = frozenset(survey.walk.path)
    for at, line in enumerate(survey.lines):
        is_old_summary = line.kind in ("summary", "spoken_summary") and at in on_path
        is_old_marker = line.kind == "marker" and at != marker_at
        is_dead = options.drop_branches and survey.form == "tree" and line.id is not None and at not in on_path
        if is_old_summary or is_old_marker or (is_dead and at != survey.header):
            draft.drop(at)


def _frame_tokens(survey: Survey, draft: Draft, marker: Marker, text: str, options: Options, weigh: Weigh) -> float:
    """What summary and marker will weigh, less the marker that is replaced."""
    if options.measure_by == "content":
        return weigh(text)
    replaced = sum(draft.size(at) for at, line in enumerate(survey.lines) if line.kind == "marker")
    entry = write_json({"summary": text, **marker_fields(marker, options.marker_form)})
    # What else stands in the two lines: type, first entry kept, tokens before; id, parent and time in both.
    return weigh(entry.decode("utf-8", "replace")) + weigh(" " * (80 + 2 * 90)) - replaced


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


def _count_classes(survey: Survey, classified: Classified, draft: Draft) -> tuple[ClassCount, ...]:
    counts: list[ClassCount] = []
    for name in CLASSES:
        members = [at for at, found in enumerate(classified.classes) if found == name]
        counts.append(
            ClassCount(
                name=name,
                lines=len(members),
                chars=sum(survey.lines[at].chars for at in members),
                tokens=int(sum(survey.lines[at].tokens for at in members)),
                removed=sum(at in draft.removed for at in members),
                shortened=sum(at in draft.rewritten and at not in draft.removed for at in members),
            )
        )
    return tuple(counts)


def _retired(merged: Merged) -> tuple[Finding, ...]:
    """Bullets that left the summary and stand nowhere else yet."""
    left = [bullet for bullet in (*merged.overflow, *merged.solved, *merged.replaced) if not bullet.reference]
    if not left:
        return ()
    text = " / ".join(f"[{bullet.tag}] {bullet.text}" for bullet in left)
    return (Finding(0, "Conversation", "Earlier points of the summary", text, "summary"),)
