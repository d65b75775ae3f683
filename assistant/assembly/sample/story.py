"""The story of the sample conversation, as its data file gives it in each language."""

from __future__ import annotations

import datetime as dt
import tomllib
from dataclasses import dataclass
from typing import Literal

from pydantic import TypeAdapter

from assistant.config.resources import resource_folder
from assistant.config.words import Language

STORY_WINDOW_TOKENS = 4_000
"""So small that the story fills it."""
NOTE_DAYS = 5
"""How many days before the story its note was written."""

Act = Literal["ask", "settle", "undo", "compact"]
"""Say something; wait until memory is written; take the compaction back; compact by hand."""


@dataclass(frozen=True, slots=True)
class StoryCall:
    """A tool call of the story."""

    tool: str
    arguments: dict[str, str]


@dataclass(frozen=True, slots=True)
class StoryReply:
    """What one model call answers: tool calls or a text, followed by `quotes` finds of each search before it."""

    text: str = ""
    calls: tuple[StoryCall, ...] = ()
    quotes: int = 0


@dataclass(frozen=True, slots=True)
class StoryStep:
    """One thing that happens, and what is told about it."""

    act: Act
    told: str
    text: str = ""
    replies: tuple[StoryReply, ...] = ()


@dataclass(frozen=True, slots=True)
class StoryLines:
    """What the flush writes into one memory file."""

    file: str
    heading: str
    lines: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Story:
    """All of it; `note` is in the home before it begins, `unknown` answers whatever is not in it."""

    title: str
    note: str
    summary: str
    flush: tuple[StoryLines, ...]
    steps: tuple[StoryStep, ...]
    unknown: str
    end: str


_STORY: TypeAdapter[Story] = TypeAdapter(Story)


def read_story(language: Language, today: dt.date) -> Story:
    """The story in a language, as if it were told on `today`."""
    text = (resource_folder("prompts") / language / "show_story.toml").read_text(encoding="utf-8")
    values = {
        "today": today.isoformat(),
        "note": note_name(today),
        "note_day": note_day(today).isoformat(),
        "note_days": str(NOTE_DAYS),
        "window": f"{STORY_WINDOW_TOKENS:,}",
    }
    for name, value in values.items():
        text = text.replace(f"{{{name}}}", value)
    return _STORY.validate_python(tomllib.loads(text))


def note_day(today: dt.date) -> dt.date:
    """The day of the note that the story looks into."""
    return today - dt.timedelta(days=NOTE_DAYS)


def note_name(today: dt.date) -> str:
    """Where that note is in the home."""
    return f"memory/{note_day(today).isoformat()}.md"
