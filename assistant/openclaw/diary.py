"""The diary of another agent's workspace: `memory/<date>.md`, SOUL.md and MEMORY.md, written and checked."""

from __future__ import annotations

import hashlib
import re
import tempfile
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import date, datetime
from pathlib import Path
from typing import Literal

from assistant.config.plain_reasons import plain_reason
from assistant.config.prompts import language_of
from assistant.config.words import say, sentence
from assistant.errors import DiaryError, PalimpsestError
from assistant.openclaw.compression_options import Mask
from assistant.openclaw.findings import SessionFinding, newest_once
from assistant.openclaw.session_summary import section_title
from assistant.openclaw.wording import one_line
from assistant.storage.atomic_io import hold_lock, replace_file
from assistant.text.line_ends import usual_line_end
from assistant.text.markdown import Heading, read_heading, read_list_item

EXTRACT_HEADING = "压缩提取"
LOG_HEADING = "压缩执行"
# One session never fills a day's page: what is older stays in the copy of the session.
MAX_ENTRIES = 200
_COMPARED_DIARIES = 60
_REASON_CHARS = 300

_DATED = re.compile(r"\s*\(\d{4}-\d\d-\d\d\)$")
_PREFERENCES = re.compile(r"preferences?\b|偏好|喜好", re.IGNORECASE)
_EVENTS = re.compile(r"event index|events?\b|事件索引|事件", re.IGNORECASE)
# Two sentences with one of these in common speak of one thing, and the later one holds.
_SUBJECTS = re.compile(
    r"\b(my (?:name|birthday|e-?mail|phone|address|time ?zone|job|boss|company|editor|wife|husband|partner"
    r"|favou?rite [\w ]+?))(?= (?:is|are)\b)|\b(call me)\b"
    r"|(我的(?:名字|生日|邮箱|电话|地址|时区|工作|职业|老板|公司|妻子|丈夫))(?=是|叫)|(我叫|叫我)",
    re.IGNORECASE,
)
_ALIASES = {"call me": "name", "my name": "name", "我叫": "name", "叫我": "name", "我的名字": "name"}

MAX_EXTRACTIONS = 3
_EXTRACT_TITLES = (EXTRACT_HEADING, "compression extract")


@dataclass(frozen=True, slots=True)
class Extracted:
    """What an extraction wrote: diary entries and lines of SOUL.md; both empty when nothing was worth it."""

    diary_path: Path
    entries: tuple[str, ...]
    preferences: tuple[str, ...]
    events: tuple[str, ...]

    @property
    def is_empty(self) -> bool:
        """True when nothing was written."""
        return not (self.entries or self.preferences or self.events)


@dataclass(frozen=True, slots=True)
class CompressionLog:
    """One run, as the diary records it."""

    mode: str
    before_tokens: int
    after_tokens: int
    removed_lines: int
    was_forced: bool = False
    was_partial: bool = False


def mask_findings(findings: Sequence[SessionFinding], mask: Mask) -> tuple[SessionFinding, ...]:
    """The findings with every secret in them masked."""
    return tuple(
        replace(found, title=mask(found.title), content=mask(found.content), context=mask(found.context))
        for found in findings
    )


def extract(
    findings: Sequence[SessionFinding], workspace: Path, now: datetime, session_id: str, topic: str, mask: Mask
) -> Extracted:
    """Write what was found into the day's diary and SOUL.md: append only, each file whole or as it was.

    What is in a diary already is not written again. Raises `DiaryError` when a file cannot be written; then
    no session may be touched.
    """
    path = diary_path(workspace, now)
    masked = newest_once(mask_findings(findings, mask))
    preferences = [found for found in masked if found.category == "Preference"]
    try:
        learned = _write_preferences(workspace, preferences, now)
        changed = [_changed_preference(old, new) for old, new in learned.updated]
        noted = [found for found in masked if found.category != "Preference"]
        fresh = _not_yet_written([*noted, *changed], workspace)[-MAX_ENTRIES:]
        if fresh:
            _append(path, now, render_extract(fresh, now, mask(session_id)))
        events = _write_event(workspace, mask(topic), now) if fresh else ()
    except (OSError, PalimpsestError) as error:
        raise DiaryError(say("openclaw_errors", "diary_not_written", reason=plain_reason(error))) from error
    return Extracted(path, tuple(map(section_title, fresh)), learned.written, events)


def log_compression(workspace: Path, log: CompressionLog, now: datetime) -> Path:
    """Append a block that says what a compression did, and return the diary's path."""
    path = diary_path(workspace, now)
    try:
        _append(path, now, render_log(log, now))
    except (OSError, PalimpsestError) as error:
        raise DiaryError(say("openclaw_errors", "log_not_written", reason=plain_reason(error))) from error
    return path


def diary_path(workspace: Path, now: datetime) -> Path:
    """The diary of the day."""
    return workspace / "memory" / f"{now.date().isoformat()}.md"


def render_extract(findings: Sequence[SessionFinding], now: datetime, session_id: str) -> str:
    """The block an extraction appends, from its rule line on."""
    parts = [f"---\n\n## {EXTRACT_HEADING} {now:%H:%M}\n"]
    for found in findings:
        why = found.context or sentence("openclaw_diary", language_of(found.content), found.category)
        reference = f"{session_id or 'session'} line {found.line + 1}"
        parts.append(
            f"### {section_title(found)}\n"
            f"- **Context**: {one_line(why, _REASON_CHARS)}\n"
            f"- **Content**: {_indented(found.content)}\n"
            f"- **Session ref**: {reference}\n"
            f"- **Source**: {found.source}\n"
        )
    return "\n".join(parts)


def render_log(log: CompressionLog, now: datetime) -> str:
    """The block a compression appends, the one-line form inside it."""
    saved = 100 * (1 - log.after_tokens / log.before_tokens) if log.before_tokens else 0.0
    lines = [
        f"---\n\n## {LOG_HEADING} {now:%H:%M}\n",
        f"### Compression: {log.mode} mode",
        f"- **Before**: {log.before_tokens:,} tokens",
        f"- **After**: {log.after_tokens:,} tokens",
        f"- **Saved**: {saved:.1f}%",
        f"- **Removed lines**: {log.removed_lines}",
        f"- **Timestamp**: {_stamp(now)}",
        f"- **Note**: Compressed {log.before_tokens:,}→{log.after_tokens:,} tokens ({log.mode})",
    ]
    if log.was_partial:
        lines.append("- **Target**: not met")
    if log.was_forced:
        lines.append("- **Forced**: yes")
    return "\n".join(lines) + "\n"


def append_block(text: str, block: str, title: str) -> str:
    """A Markdown file with a block added at its end, a title before it where the file is new."""
    head = text if text.strip() else f"{title}\n"
    gap = "\n" if head.endswith("\n") else "\n\n"
    return head + (gap + block).replace("\n", usual_line_end(text))


def locked_rewrite(path: Path, change: Callable[[str], str]) -> bool:
    """Replace a text file by what `change` makes of it, one writer at a time; False when that is what it was.

    The lock is in the folder for temporary files: no file of ours is left in another agent's workspace.
    """
    name = hashlib.sha256(str(path.resolve()).encode("utf-8", "surrogateescape")).hexdigest()[:24]
    with hold_lock(Path(tempfile.gettempdir()) / f"palimpsest-{name}"):
        before = path.read_bytes().decode("utf-8", "surrogateescape") if path.exists() else ""
        after = change(before)
        if after == before:
            return False
        replace_file(path, _encoded(after))
    return True


@dataclass(frozen=True, slots=True)
class Preferences:
    """SOUL.md with preferences added: the new `text`, the bullets written, and pairs of old and new wording."""

    text: str
    written: tuple[str, ...]
    updated: tuple[tuple[str, str], ...]


def add_preferences(text: str, sentences: Sequence[str], today: date) -> Preferences:
    """The file with each sentence as a bullet of its preference section.

    A sentence on the same matter as an older bullet takes its place; one that is there already is not written again.
    """
    lines = text.splitlines()
    written: list[str] = []
    updated: list[tuple[str, str]] = []
    for preference in sentences:
        line = " ".join(preference.split())
        start, end = _section(
            lines, _PREFERENCES, sentence("openclaw_diary", language_of(text + line), "preferences_title")
        )
        bullets = {
            at: _DATED.sub("", item.text.strip()) for at in range(start, end) if (item := read_list_item(lines[at]))
        }
        if line in bullets.values():
            continue
        subject = _subject(line)
        old = next((at for at in bullets if subject is not None and _subject(bullets[at]) == subject), None)
        fresh = f"- {line} ({today.isoformat()})"
        if old is not None:
            updated.append((bullets[old], line))
            lines[old] = fresh
        else:
            lines.insert(_after_last_text(lines, start, end), fresh)
        written.append(line)
    return Preferences(_joined(text, lines) if written else text, tuple(written), tuple(updated))


def add_event(text: str, topic: str, today: date) -> str:
    """The file with a topic in its event index, once."""
    lines = text.splitlines()
    title = " ".join(topic.split())
    start, end = _section(lines, _EVENTS, sentence("openclaw_diary", language_of(text + title), "events_title"))
    if any(title in line for line in lines[start:end]):
        return text
    bullet = f"- {today.isoformat()}: {title} → memory/{today.isoformat()}.md"
    lines.insert(_after_last_text(lines, start, end), bullet)
    return _joined(text, lines)


@dataclass(frozen=True, slots=True)
class DiaryCheck:
    """One check of nine: `ok`, `warn` (worth a look) or `fail`, and what was found."""

    number: int
    name: str
    level: Literal["ok", "warn", "fail"]
    detail: str = ""


def validate(workspace: Path, now: datetime) -> tuple[DiaryCheck, ...]:
    """The nine checks of a workspace's diary for the day."""
    path = diary_path(workspace, now)
    text = _read(path)
    lines = text.splitlines()
    day_title = f"# {now.date().isoformat()}"
    leftovers = [file.name for file in _leftover_backups(workspace)]
    pages = list((workspace / "memory").glob("*")) if (workspace / "memory").is_dir() else []
    empty = _empty_sections(lines)
    headings = [heading for line in lines if (heading := _section_heading(line))]
    titles = [heading.title.lower() for heading in headings if heading.level == 2]
    extractions = sum(title.startswith(_EXTRACT_TITLES) for title in titles)
    in_index = _index_heading(_read(workspace / "MEMORY.md").splitlines(), now.date()) is not None
    return (
        _check(1, say("openclaw_errors", "check_diary"), path.is_file(), str(path)),
        _check(2, say("openclaw_errors", "check_title"), bool(lines) and lines[0].strip() == day_title, day_title),
        _check(3, say("openclaw_errors", "check_sections"), bool(titles), say("openclaw_errors", "no_section_heading")),
        _check(
            4, say("openclaw_errors", "check_index"), in_index, say("openclaw_errors", "no_day_heading", day=now.date())
        ),
        _check(5, say("openclaw_errors", "check_soul"), (workspace / "SOUL.md").is_file(), str(workspace / "SOUL.md")),
        _check(6, say("openclaw_errors", "check_memory"), bool(pages), str(workspace / "memory")),
        _check(7, say("openclaw_errors", "check_copies"), not leftovers, ", ".join(leftovers)),
        _check(8, say("openclaw_errors", "check_empty"), not empty, ", ".join(empty), "warn"),
        _check(
            9,
            say("openclaw_errors", "check_extractions", limit=MAX_EXTRACTIONS),
            extractions <= MAX_EXTRACTIONS,
            say("openclaw_errors", "extractions", count=extractions),
            "warn",
        ),
    )


def update_index(workspace: Path, now: datetime, note: str, mask: Mask) -> bool:
    """Put the day into MEMORY.md, with a note where one is given; False when it was there already.

    A heading that only begins with the date counts as the day's heading. Raises `DiaryError` when it fails.
    """
    day = now.date()
    bullet = f"- {' '.join(mask(note).split())}" if note.strip() else f"- memory/{day.isoformat()}.md"
    try:
        return locked_rewrite(workspace / "MEMORY.md", lambda text: add_index_line(text, day, bullet))
    except (OSError, PalimpsestError) as error:
        raise DiaryError(say("openclaw_errors", "index_not_written", reason=plain_reason(error))) from error


def add_index_line(text: str, day: date, bullet: str) -> str:
    """MEMORY.md with a bullet under the day's heading, once."""
    lines = text.splitlines() or ["# MEMORY"]
    at = _index_heading(lines, day)
    if at is None:
        lines.extend([*([""] if lines[-1].strip() else []), f"### {day.isoformat()}", bullet])
        return _joined(text, lines)
    end = _section_end(lines, at)
    if bullet in lines[at:end]:
        return text
    last = next((to for to in range(end - 1, at - 1, -1) if lines[to].strip()), at)
    lines.insert(last + 1, bullet)
    return _joined(text, lines)


def _append(path: Path, now: datetime, block: str) -> None:
    locked_rewrite(path, lambda text: append_block(text, block, f"# {now.date().isoformat()}"))


def _write_preferences(workspace: Path, findings: Sequence[SessionFinding], now: datetime) -> Preferences:
    learned = Preferences("", (), ())
    if not findings:
        return learned

    def change(text: str) -> str:
        nonlocal learned
        learned = add_preferences(text, [found.content for found in findings], now.date())
        return learned.text

    locked_rewrite(workspace / "SOUL.md", change)
    return learned


def _write_event(workspace: Path, topic: str, now: datetime) -> tuple[str, ...]:
    if not topic.strip():
        return ()
    was_new = locked_rewrite(workspace / "SOUL.md", lambda text: add_event(text, topic, now.date()))
    return (topic,) if was_new else ()


def _changed_preference(old: str, new: str) -> SessionFinding:
    return SessionFinding(0, "Conversation", "A preference changed", f"{old} → {new}", "user")


def _not_yet_written(findings: Sequence[SessionFinding], workspace: Path) -> list[SessionFinding]:
    pages = sorted((workspace / "memory").glob("????-??-??.md"), reverse=True)[:_COMPARED_DIARIES]
    known = "\n".join(page.read_text("utf-8", "replace") for page in pages)
    return [found for found in findings if f"- **Content**: {_indented(found.content)}\n" not in known]


def _indented(text: str) -> str:
    """Text as the body of a list item: later lines indented, so that none of them is taken for a heading."""
    lines = text.strip().splitlines()
    if len(lines) <= 1:
        return "".join(lines)
    return "\n\n" + "\n".join(f"  {line}".rstrip() for line in lines)


def _stamp(now: datetime) -> str:
    return (now if now.tzinfo else now.astimezone()).isoformat(timespec="seconds")


def _encoded(text: str) -> bytes:
    try:
        return text.encode("utf-8", "surrogateescape")
    except UnicodeEncodeError:
        return re.sub("[\ud800-\udfff]", "\ufffd", text).encode("utf-8")


def _section(lines: list[str], title: re.Pattern[str], new_title: str) -> tuple[int, int]:
    """Where a section's body starts and ends; a missing section is added at the end."""
    for at, line in enumerate(lines):
        heading = _section_heading(line)
        if heading and title.search(heading.title):
            return at + 1, _section_end(lines, at)
    if not lines:
        lines.append("# SOUL")
    lines.extend(["", f"## {new_title}", ""])
    return len(lines), len(lines)


def _after_last_text(lines: Sequence[str], start: int, end: int) -> int:
    return next((at + 1 for at in range(end - 1, start - 1, -1) if lines[at].strip()), end if start == end else start)


def _subject(sentence: str) -> str | None:
    found = _SUBJECTS.search(sentence)
    if found is None:
        return None
    words = next(group for group in found.groups() if group is not None).lower()
    return _ALIASES.get(words, words)


def _joined(original: str, lines: Sequence[str]) -> str:
    newline = usual_line_end(original)
    return newline.join(lines) + newline


def _section_heading(line: str) -> Heading | None:
    """The heading on a line; an indented one belongs to the body of a list item."""
    return None if line[:1].isspace() else read_heading(line)


def _section_end(lines: Sequence[str], at: int) -> int:
    """Where the section ends whose heading is on line `at`."""
    return next((to for to in range(at + 1, len(lines)) if _section_heading(lines[to])), len(lines))


def _check(number: int, name: str, is_ok: bool, detail: str, otherwise: Literal["warn", "fail"] = "fail") -> DiaryCheck:
    return DiaryCheck(number, name, "ok") if is_ok else DiaryCheck(number, name, otherwise, detail)


def _read(path: Path) -> str:
    return path.read_bytes().decode("utf-8-sig", "replace") if path.is_file() else ""


def _index_heading(lines: list[str], day: date) -> int | None:
    wanted = day.isoformat()
    for at, line in enumerate(lines):
        heading = _section_heading(line)
        if heading and heading.title.startswith(wanted) and not heading.title[len(wanted) :][:1].isdigit():
            return at
    return None


def _leftover_backups(workspace: Path) -> Iterator[Path]:
    folders = [workspace, workspace / "memory", workspace / "sessions"]
    folders.extend(sorted(workspace.resolve().parent.glob("agents/*/sessions")))
    for folder in folders:
        if folder.is_dir():
            yield from sorted(folder.glob("*.bak"))


def _empty_sections(lines: list[str]) -> list[str]:
    """Headings with nothing under them: neither text nor a deeper heading."""
    empty: list[str] = []
    open_title, open_level = "", 0
    for line in [*lines, "# "]:
        heading = _section_heading(line)
        if heading:
            if open_title and open_level > 1 and heading.level <= open_level:
                empty.append(open_title)
            open_title, open_level = heading.title, heading.level
        elif line.strip() and line.strip() != "---":
            open_title = ""
    return empty
