"""What summary and diary say of one session: its notes as bullets, its state, what an earlier summary leaves."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import datetime

from assistant.openclaw.classify import Classified
from assistant.openclaw.entries import SUMMARY_TAG
from assistant.openclaw.findings import Finding, newest_once
from assistant.openclaw.options import Options
from assistant.openclaw.summary import Bullet, Merged, Summary, Tag, merge_summaries, read_summary
from assistant.openclaw.survey import Survey

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


def diary_name(now: datetime) -> str:
    """Where the diary of the day stands in the workspace."""
    return f"memory/{now.date().isoformat()}.md"


def bullets_from_notes(survey: Survey, notes: Sequence[Finding], now: datetime, mask: Callable[[str], str]) -> Summary:
    """The bullets code would write by itself, the state first, then the newest of what was found."""
    name = diary_name(now)
    return Summary((_state(survey, mask), *(_bullet_of(finding, name) for finding in reversed(notes))))


def merge_into_summary(
    survey: Survey,
    notes: Sequence[Finding],
    now: datetime,
    mask: Callable[[str], str],
    advised: tuple[Bullet, ...] | None,
) -> Merged:
    """The session's one summary: the earlier one brought up to date, with a model's bullets where it gave any."""
    new = bullets_from_notes(survey, notes, now, mask).bullets if advised is None else advised
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


def retired_bullets(merged: Merged) -> tuple[Finding, ...]:
    """Bullets that left the summary and stand nowhere else yet."""
    left = [bullet for bullet in (*merged.overflow, *merged.solved, *merged.replaced) if not bullet.reference]
    if not left:
        return ()
    text = " / ".join(f"[{bullet.tag}] {bullet.text}" for bullet in left)
    return (Finding(0, "Conversation", "Earlier points of the summary", text, "summary"),)
