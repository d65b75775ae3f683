"""SOUL.md of another agent's workspace: a section of preferences and an index of what was talked about."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date

from assistant.config.prompts import language_of

_HEADING = re.compile(r"^#{1,6}\s+(.+?)\s*#*\s*$")
_BULLET = re.compile(r"^\s*[-*]\s+(.*\S)\s*$")
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


@dataclass(frozen=True, slots=True)
class Preferences:
    """SOUL.md with preferences added: the new `text`, the bullets written, and pairs of old and new wording."""

    text: str
    written: tuple[str, ...]
    updated: tuple[tuple[str, str], ...]


def add_preferences(text: str, sentences: Sequence[str], today: date) -> Preferences:
    """The file with each sentence as a bullet of its preference section.

    A sentence on the same matter as an older bullet takes its place; one that stands there is not written again.
    """
    lines = text.splitlines()
    written: list[str] = []
    updated: list[tuple[str, str]] = []
    for sentence in sentences:
        line = " ".join(sentence.split())
        start, end = _section(lines, _PREFERENCES, "偏好" if language_of(text + line) == "zh" else "Preferences")
        bullets = {at: _bullet_text(lines[at]) for at in range(start, end) if _BULLET.match(lines[at])}
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
    start, end = _section(lines, _EVENTS, "事件索引" if language_of(text + title) == "zh" else "Event index")
    if any(title in line for line in lines[start:end]):
        return text
    bullet = f"- {today.isoformat()}: {title} → memory/{today.isoformat()}.md"
    lines.insert(_after_last_text(lines, start, end), bullet)
    return _joined(text, lines)


def _section(lines: list[str], title: re.Pattern[str], new_title: str) -> tuple[int, int]:
    """Where a section's body starts and ends; a missing section is added at the end."""
    for at, line in enumerate(lines):
        heading = _HEADING.match(line)
        if heading and title.search(heading.group(1)):
            end = next((to for to in range(at + 1, len(lines)) if _HEADING.match(lines[to])), len(lines))
            return at + 1, end
    if not lines:
        lines.append("# SOUL")
    lines.extend(["", f"## {new_title}", ""])
    return len(lines), len(lines)


def _after_last_text(lines: Sequence[str], start: int, end: int) -> int:
    return next((at + 1 for at in range(end - 1, start - 1, -1) if lines[at].strip()), end if start == end else start)


def _bullet_text(line: str) -> str:
    found = _BULLET.match(line)
    return _DATED.sub("", found.group(1)) if found else ""


def _subject(sentence: str) -> str | None:
    found = _SUBJECTS.search(sentence)
    if found is None:
        return None
    words = next(group for group in found.groups() if group is not None).lower()
    return _ALIASES.get(words, words)


def _joined(original: str, lines: Sequence[str]) -> str:
    newline = "\r\n" if "\r\n" in original else "\n"
    return newline.join(lines) + newline
