"""The diary of another agent's workspace: what was found before a compression, and that there was one."""

from __future__ import annotations

import hashlib
import re
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path

from assistant.config.prompts import Language, language_of
from assistant.errors import DiaryError, PalimpsestError
from assistant.openclaw.bullets import section_title
from assistant.openclaw.findings import Category, Finding, newest_once
from assistant.openclaw.soul import Preferences, add_event, add_preferences
from assistant.storage.atomic_io import hold_lock, replace_file

Mask = Callable[[str], str]

EXTRACT_HEADING = "压缩提取"
LOG_HEADING = "压缩执行"
# One session never fills a day's page: what is older stays in the copy of the session.
MAX_ENTRIES = 200
_COMPARED_DIARIES = 60
_WHY: dict[Language, dict[Category, str]] = {
    "en": {
        "Preference": "what the person wants",
        "Decision": "later work rests on it",
        "Creative": "a finished work, in full",
        "Conversation": "worth remembering",
        "Technical": "the way out, should it happen again",
        "Warning": "must be known before going on",
    },
    "zh": {
        "Preference": "用户的偏好",
        "Decision": "后续工作以此为准",
        "Creative": "完整作品",
        "Conversation": "值得记住",
        "Technical": "再次遇到时的解决办法",
        "Warning": "继续之前必须知道",
    },
}


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


def mask_findings(findings: Sequence[Finding], mask: Mask) -> tuple[Finding, ...]:
    """The findings with every secret in them masked."""
    return tuple(
        replace(found, title=mask(found.title), content=mask(found.content), context=mask(found.context))
        for found in findings
    )


def extract(
    findings: Sequence[Finding], workspace: Path, now: datetime, session_id: str, topic: str, mask: Mask
) -> Extracted:
    """Write what was found into the day's diary and SOUL.md: append only, each file whole or as it was.

    What stands in a diary already is not written again. Raises `DiaryError` when a file cannot be written; then
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
        raise DiaryError(f"The diary could not be written ({error}); the session was not touched.") from error
    return Extracted(path, tuple(map(section_title, fresh)), learned.written, events)


def log_compression(workspace: Path, log: CompressionLog, now: datetime) -> Path:
    """Append a block that says what a compression did, and return the diary's path."""
    path = diary_path(workspace, now)
    try:
        _append(path, now, render_log(log, now))
    except (OSError, PalimpsestError) as error:
        raise DiaryError(f"The compression could not be logged ({error}).") from error
    return path


def diary_path(workspace: Path, now: datetime) -> Path:
    """The diary of the day."""
    return workspace / "memory" / f"{now.date().isoformat()}.md"


def render_extract(findings: Sequence[Finding], now: datetime, session_id: str) -> str:
    """The block an extraction appends, from its rule line on."""
    parts = [f"---\n\n## {EXTRACT_HEADING} {now:%H:%M}\n"]
    for found in findings:
        why = found.context or _WHY[language_of(found.content)][found.category]
        reference = f"{session_id or 'session'} line {found.line + 1}"
        parts.append(
            f"### {section_title(found)}\n"
            f"- **Context**: {_one_line(why)}\n"
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
    """A Markdown file with a block after all that stands in it, a title before it where the file is new."""
    newline = "\r\n" if "\r\n" in text else "\n"
    head = text if text.strip() else f"{title}\n"
    gap = "\n" if head.endswith("\n") else "\n\n"
    return head + (gap + block).replace("\n", newline)


def locked_rewrite(path: Path, change: Callable[[str], str]) -> bool:
    """Replace a text file by what `change` makes of it, one writer at a time; False when that is what it was.

    The lock stands in the folder for temporary files: another agent's workspace is no place for ours.
    """
    name = hashlib.sha256(str(path.resolve()).encode("utf-8", "surrogateescape")).hexdigest()[:24]
    with hold_lock(Path(tempfile.gettempdir()) / f"palimpsest-{name}"):
        before = path.read_bytes().decode("utf-8", "surrogateescape") if path.exists() else ""
        after = change(before)
        if after == before:
            return False
        replace_file(path, _encoded(after))
    return True


def _append(path: Path, now: datetime, block: str) -> None:
    locked_rewrite(path, lambda text: append_block(text, block, f"# {now.date().isoformat()}"))


def _write_preferences(workspace: Path, findings: Sequence[Finding], now: datetime) -> Preferences:
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


def _changed_preference(old: str, new: str) -> Finding:
    return Finding(0, "Conversation", "A preference changed", f"{old} → {new}", "user")


def _not_yet_written(findings: Sequence[Finding], workspace: Path) -> list[Finding]:
    pages = sorted((workspace / "memory").glob("????-??-??.md"), reverse=True)[:_COMPARED_DIARIES]
    known = "\n".join(page.read_text("utf-8", "replace") for page in pages)
    return [found for found in findings if f"- **Content**: {_indented(found.content)}\n" not in known]


def _indented(text: str) -> str:
    """Text as the body of a list item: later lines indented, so that none of them is taken for a heading."""
    lines = text.strip().splitlines()
    if len(lines) <= 1:
        return "".join(lines)
    return "\n\n" + "\n".join(f"  {line}".rstrip() for line in lines)


def _one_line(text: str, limit_chars: int = 300) -> str:
    line = " ".join(text.split())
    return line if len(line) <= limit_chars else line[: limit_chars - 1] + "…"


def _stamp(now: datetime) -> str:
    return (now if now.tzinfo else now.astimezone()).isoformat(timespec="seconds")


def _encoded(text: str) -> bytes:
    try:
        return text.encode("utf-8", "surrogateescape")
    except UnicodeEncodeError:
        return re.sub("[\ud800-\udfff]", "\ufffd", text).encode("utf-8")
