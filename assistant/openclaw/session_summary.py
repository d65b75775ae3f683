"""The one `[SESSION SUMMARY]` of a session: its bullets read, written, merged, and made from findings."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Literal

from assistant.config.words import say
from assistant.openclaw.compression_options import Options
from assistant.openclaw.findings import SessionFinding, newest_once
from assistant.openclaw.line_classes import Classified
from assistant.openclaw.session_entries import SUMMARY_TAG
from assistant.openclaw.survey import Survey
from assistant.openclaw.wording import one_line
from assistant.text.markdown import read_heading, read_list_item

Tag = Literal["State", "Warning", "Decision", "Technical", "Fact"]
# Also the order in which bullets get one of the six places.
TAGS: tuple[Tag, ...] = ("State", "Warning", "Decision", "Technical", "Fact")
MAX_BULLETS = 6
BULLET_CHARS = 160  # two lines of a terminal

_BULLET = re.compile(r"^\s*[•*\-]\s*\[(State|Warning|Decision|Technical|Fact)\]\s*(.+)$", re.IGNORECASE)
_REFERENCE = re.compile(r"\s*→\s*(\S*\.md(?:##.*)?)\s*$")
_OVERFLOW = re.compile(r"^\(\+(\d+) earlier → ")
_CHECKBOX = re.compile(r"^\[[ xX]\]\s+")
_HEADING_TAGS: tuple[tuple[re.Pattern[str], Tag], ...] = (
    (re.compile(r"block|warning|constraint|警告|阻塞|约束|限制", re.IGNORECASE), "Warning"),
    (re.compile(r"decision|决定|决策", re.IGNORECASE), "Decision"),
    (
        re.compile(r"in progress|current|next|pending|goal|state|进行|当前|下一步|目标|状态|待办", re.IGNORECASE),
        "State",
    ),
    (re.compile(r"technical|code|files?|problem|error|done|技术|代码|文件|问题|完成", re.IGNORECASE), "Technical"),
)
_RESOLVED = re.compile(
    r"\b(?:fixed|resolved|solved|no longer|done|works now|cleared|lifted|safe (?:now|again))\b"
    r"|已?(?:解决|修复|解除|搞定|处理完|恢复)|不再|不用再",
    re.IGNORECASE,
)
_TERM = re.compile(r"[A-Za-z_][\w./-]{3,}|[\u4e00-\u9fff]{2}")
_COMMON_TERMS = frozenset(
    re.findall(
        r"\w+",
        "that this with from have will must never dont should when what your ever delete remove been after before"
        " fixed resolved solved longer done does warning careful there their they into because about"
        " 不要 千万 已经 解决 修复 注意 警告",
    )
)
_SHARED_TERMS = 2

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
class Bullet:
    """One line of the summary. `reference` is where in the diary the whole of it is, or empty."""

    tag: Tag
    text: str
    reference: str = ""


@dataclass(frozen=True, slots=True)
class SummaryBullets:
    """Bullets in the order they are written, and how many more are in the diary at `overflow_reference`."""

    bullets: tuple[Bullet, ...] = ()
    overflow_count: int = 0
    overflow_reference: str = ""


@dataclass(frozen=True, slots=True)
class MergedSummary:
    """A summary brought up to date. `overflow` has lost its place, `solved` its reason, `replaced` its truth."""

    summary: SummaryBullets
    overflow: tuple[Bullet, ...] = ()
    solved: tuple[Bullet, ...] = ()
    replaced: tuple[Bullet, ...] = ()


def read_summary(text: str) -> SummaryBullets:
    """The bullets of a summary, newest first; one that another program wrote is read by its headings."""
    if SUMMARY_TAG not in text:
        return SummaryBullets(_bullets_by_heading(text))
    bullets: list[Bullet] = []
    overflow = 0
    reference = ""
    for line in text.splitlines():
        if found := _BULLET.match(line):
            bullets.append(_bullet(_tag(found.group(1)), found.group(2)))
        elif found := _OVERFLOW.match(line):
            overflow += int(found.group(1))
            reference = line.split("→", 1)[1].strip(" )")
        elif bullets and line.strip() and not line.startswith(SUMMARY_TAG):
            last = bullets.pop()
            bullets.append(_bullet(last.tag, f"{last.text} {line.strip()}"))
    return SummaryBullets(tuple(bullets), overflow, reference)


def write_summary(summary: SummaryBullets) -> str:
    """The text of a summary, its tag on the first line."""
    lines = [SUMMARY_TAG]
    for bullet in summary.bullets:
        reference = f" → {bullet.reference}" if bullet.reference else ""
        lines.append(f"• [{bullet.tag}] {one_line(bullet.text, BULLET_CHARS - len(reference))}{reference}")
    if summary.overflow_count:
        lines.append(f"(+{summary.overflow_count} earlier → {summary.overflow_reference})")
    return "\n".join(lines)


def merge_summaries(
    earlier: SummaryBullets, new: Sequence[Bullet], evidence: Sequence[str], diary: str
) -> MergedSummary:
    """The earlier summary and `new` bullets (newest first) as one.

    A new State takes the place of the old; a Warning goes when a text of `evidence` says in so many words that its
    matter is settled; of several bullets of the other kinds all stay, the newest in the six places. `diary` names
    the file the rest is found in.
    """
    has_state = any(bullet.tag == "State" for bullet in new)
    solved = tuple(b for b in earlier.bullets if b.tag == "Warning" and _is_settled(b, evidence))
    replaced = tuple(b for b in earlier.bullets if b.tag == "State" and has_state)
    standing = [b for b in earlier.bullets if b not in solved and b not in replaced]
    unique = _without_repetitions([*new, *standing])
    ordered = sorted(unique, key=lambda bullet: TAGS.index(bullet.tag))
    states = [b for b in ordered if b.tag == "State"]
    ordered = [*states[:1], *(b for b in ordered if b.tag != "State")]
    kept, overflow = tuple(ordered[:MAX_BULLETS]), (*states[1:], *ordered[MAX_BULLETS:])
    count = earlier.overflow_count + len(overflow)
    return MergedSummary(
        SummaryBullets(kept, count, (diary if overflow else earlier.overflow_reference) if count else ""),
        tuple(overflow),
        solved,
        replaced,
    )


def notes_for_diary(
    survey: Survey, classified: Classified, options: Options, findings: Sequence[SessionFinding]
) -> tuple[SessionFinding, ...]:
    """What the middle of the session holds that must be written down before any of it goes, oldest first."""
    middle = [finding for finding in findings if finding.line < classified.tail_start]
    summaries = [at for at in survey.walk.path if survey.lines[at].kind in ("summary", "spoken_summary")]
    foreign = [
        SessionFinding(at, "Conversation", "Earlier summary", survey.lines[at].summary, "summary")
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
        foreign.append(
            SessionFinding(
                classified.tail_start, "Conversation", say("openclaw_report", "explained"), text, "assistant"
            )
        )
    return newest_once(sorted([*middle, *foreign], key=lambda finding: finding.line))


def diary_name(now: datetime) -> str:
    """Path of the day's diary in the workspace."""
    return f"memory/{now.date().isoformat()}.md"


def bullets_from_notes(
    survey: Survey, notes: Sequence[SessionFinding], now: datetime, mask: Callable[[str], str]
) -> SummaryBullets:
    """The bullets code would write by itself, the state first, then the newest of what was found."""
    name = diary_name(now)
    return SummaryBullets((_state(survey, mask), *(_bullet_of(finding, name) for finding in reversed(notes))))


def merge_into_summary(
    survey: Survey,
    notes: Sequence[SessionFinding],
    now: datetime,
    mask: Callable[[str], str],
    advised: tuple[Bullet, ...] | None,
) -> MergedSummary:
    """The session's one summary: the earlier one brought up to date, with a model's bullets where it gave any."""
    new = bullets_from_notes(survey, notes, now, mask).bullets if advised is None else advised
    evidence = [line.opening for line in survey.lines if line.kind in ("user", "assistant") and line.opening]
    earlier = SummaryBullets()
    for at in survey.walk.path:
        line = survey.lines[at]
        if line.kind in ("summary", "spoken_summary"):
            # The newest of several was written from the ones before it.
            earlier = read_summary(line.summary)
    return merge_summaries(earlier, new, evidence, diary_name(now))


def section_title(finding: SessionFinding) -> str:
    """The heading a finding gets in the diary; a warning is among the technical notes."""
    category = "Technical" if finding.category == "Warning" else finding.category
    return f"{category}: {finding.title}"


def retired_bullets(merged: MergedSummary) -> tuple[SessionFinding, ...]:
    """Bullets that left the summary and are written nowhere else yet."""
    left = [bullet for bullet in (*merged.overflow, *merged.solved, *merged.replaced) if not bullet.reference]
    if not left:
        return ()
    text = " / ".join(f"[{bullet.tag}] {bullet.text}" for bullet in left)
    return (SessionFinding(0, "Conversation", say("openclaw_report", "earlier_points"), text, "summary"),)


def _bullets_by_heading(text: str) -> tuple[Bullet, ...]:
    bullets: list[Bullet] = []
    tag: Tag = "Fact"
    for line in text.splitlines():
        if heading := read_heading(line):
            tag = _tag_of_heading(heading.title)
        elif (item := read_list_item(line)) and item.text:
            bullets.append(_bullet(tag, _CHECKBOX.sub("", item.text)))
    if not bullets and text.strip():
        bullets.append(_bullet("Fact", " ".join(text.split())))
    return tuple(bullets)


def _tag_of_heading(heading: str) -> Tag:
    for pattern, tag in _HEADING_TAGS:
        if pattern.search(heading):
            return tag
    return "Fact"


def _bullet(tag: Tag, text: str) -> Bullet:
    found = _REFERENCE.search(text)
    if found is None:
        return Bullet(tag, text.strip())
    return Bullet(tag, text[: found.start()].strip(), found.group(1))


def _tag(word: str) -> Tag:
    return next(tag for tag in TAGS if tag.lower() == word.lower())


def _is_settled(warning: Bullet, evidence: Sequence[str]) -> bool:
    terms = _terms(warning.text)
    needed = min(_SHARED_TERMS, len(terms))
    return needed > 0 and any(
        _RESOLVED.search(text) is not None and len(terms & _terms(text)) >= needed for text in evidence
    )


def _terms(text: str) -> frozenset[str]:
    found = {term.lower().strip("./-") for term in _TERM.findall(text)}
    # Chinese has no spaces: every pair of neighbours counts as a term.
    for run in re.findall(r"[\u4e00-\u9fff]+", text):
        found.update(run[at : at + 2] for at in range(len(run) - 1))
    return frozenset(found - _COMMON_TERMS)


def _without_repetitions(bullets: Sequence[Bullet]) -> tuple[Bullet, ...]:
    seen: dict[tuple[Tag, str], Bullet] = {}
    for bullet in bullets:
        seen.setdefault((bullet.tag, " ".join(bullet.text.split()).rstrip("….。")[:100].lower()), bullet)
    return tuple(seen.values())


def _bullet_of(finding: SessionFinding, name: str) -> Bullet:
    tag = _FINDING_TAGS[finding.category]
    if finding.category == "Preference":
        return Bullet(tag, finding.content, "SOUL.md")
    return Bullet(tag, finding.content, f"{name}##{section_title(finding)}")


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
    return Bullet("State", text) if text else Bullet("State", say("openclaw_report", "reduced", count=len(path)))


def _is_request(survey: Survey, at: int) -> bool:
    line = survey.lines[at]
    return line.kind == "user" and bool(line.opening) and not line.is_pleasantry
