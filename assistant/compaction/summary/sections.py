"""A summary as a document of titled sections: which ones are asked for, and how a model's answer is read into them."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from assistant.config.prompts import render
from assistant.config.words import Language
from assistant.text.markdown import MarkdownLine, read_lines

SectionList = Literal["copaw", "skill_compose", "turn_prefix"]

USER_MESSAGES_KEY = "user_messages"
"""The section that code fills."""
RUNNING_TURN_KEY = "running_turn"
"""The section of the steps that left a turn which is still running."""

_HEADING_CHARS = 200
_NAMED_LEVELS = 3
_BOLD_HEADING = re.compile(r"^(?:\*\*|__)([^*_]{2,60})(?:\*\*|__)[:：]?$")
_NUMBERING = re.compile(r"^(?:\d+|[一二三四五六七八九十]+)[.、)）:：]\s*")


@dataclass(frozen=True, slots=True)
class Section:
    """A section a summary is asked for."""

    key: str
    title: str
    guidance: str


@dataclass(frozen=True, slots=True)
class FilledSection:
    """A section of a summary that was written. `key` is empty for one that nobody asked for."""

    key: str
    title: str
    body: str


def sections_for(name: SectionList, language: Language) -> tuple[Section, ...]:
    """The sections of a list, in order."""
    lines = render(f"summary_sections_{name}", language).splitlines()
    return tuple(Section(*(part.strip() for part in line.split("|", 2))) for line in lines if line.strip())


def running_turn_section(language: Language) -> Section:
    """The section that holds what is folded of a running turn."""
    return Section(RUNNING_TURN_KEY, render("summary_running_turn_title", language), "")


def read_sections(text: str, asked: Sequence[Section], other_titles: Sequence[Section] = ()) -> list[FilledSection]:
    """The sections of a document, in order; text before the first heading is left out.

    A heading counts when it is at level 2, or names an asked section at level 1 to 3 or as a bold line, in any
    case and with numbering. `other_titles` are the same sections in another language. Headings in code are text.
    """
    keys = {_normal(section.title): section.key for section in (*other_titles, *asked)}
    titles = {section.key: section.title for section in asked}
    found: list[FilledSection] = []
    body: list[str] = []

    def close() -> None:
        if found:
            last = found.pop()
            found.append(FilledSection(last.key, last.title, "\n".join(body).strip("\n").rstrip()))
        body.clear()

    for line in read_lines(text.splitlines()):
        title = _title_of(line, keys)
        if title is None:
            body.append(line.text)
            continue
        close()
        key = keys.get(_normal(title), "")
        found.append(FilledSection(key, titles.get(key, title), ""))
    close()
    return found


def write_sections(sections: Sequence[FilledSection]) -> str:
    """The document of the sections that hold something."""
    return "\n\n".join(f"## {section.title}\n{section.body}" for section in sections if section.body.strip())


def merge_repeated(sections: Sequence[FilledSection], asked: Sequence[Section]) -> dict[str, str]:
    """The body of each asked section; what is under headings nobody asked for joins the section before it."""
    bodies: dict[str, str] = {}
    current = asked[-1].key
    for section in sections:
        text = section.body
        if section.key:
            current = section.key
        elif text:
            text = f"### {section.title}\n{text}"
        if text.strip():
            bodies[current] = f"{bodies[current]}\n{text}" if current in bodies else text
    return bodies


def _title_of(line: MarkdownLine, keys: dict[str, str]) -> str | None:
    if line.is_code or len(line.text) > _HEADING_CHARS:
        return None
    heading = line.heading
    if heading is not None and heading.title:
        is_named = heading.level <= _NAMED_LEVELS and _normal(heading.title) in keys
        return heading.title if is_named or heading.level == 2 else None
    bold = _BOLD_HEADING.match(line.text.strip())
    return bold[1] if bold is not None and _normal(bold[1]) in keys else None


def _normal(title: str) -> str:
    plain = _NUMBERING.sub("", title.strip().strip("*_").strip())
    return plain.rstrip(":：").replace("&", "and").casefold().strip()
