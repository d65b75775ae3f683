"""The home in which the sample conversation plays: what it runs on, and what stands in it before the first word."""

from __future__ import annotations

from dataclasses import fields
from datetime import date
from pathlib import Path

from assistant.assembly.sample.story import STORY_WINDOW_TOKENS, Story, note_day
from assistant.compaction.policy import PolicyOverrides
from assistant.config.prompts import Language
from assistant.config.settings import Settings
from assistant.storage.atomic_io import replace_text
from assistant.storage.workspace import Workspace


def show_settings(settings: Settings, home: Path, language: Language) -> Settings:
    """The story's window and numbers of compaction, and nothing that is private to the owner."""
    numbers = dict.fromkeys((field.name for field in fields(PolicyOverrides)), None)
    # Public pages have many visitors, and a paid server has no use for the story.
    is_local = not settings.is_public and settings.embedder in ("default", "none")
    chosen: dict[str, object] = {
        "home": home,
        "language": language,
        "policy": "copaw",
        "max_input_length": STORY_WINDOW_TOKENS,
        "tools": "off",
        "memory": "on",
        "recall": "off",
        "compactor_model": "",
        "embedder": settings.embedder if is_local else "none",
        "memory_store_backend": "local",
        "host": "",
        "space_id": "",
    }
    return settings.model_copy(update=numbers | chosen)


def furnish(workspace: Workspace, story: Story, language: Language, today: date) -> None:
    """The home of somebody who is known already and has written a note."""
    workspace.create(language)
    workspace.bootstrap_path.unlink()
    replace_text(workspace.note_path(note_day(today)), story.note.lstrip())
