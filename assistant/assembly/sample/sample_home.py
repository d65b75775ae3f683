"""The home in which the sample conversation plays: its settings, and its files before the first word."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import fields
from datetime import date
from pathlib import Path
from typing import NoReturn

from assistant.assembly.assistant import open_assistant
from assistant.assembly.home import make_forgetter
from assistant.assembly.sample.sample import Pace, Sample
from assistant.assembly.sample.story import STORY_WINDOW_TOKENS, Story, note_day, read_story
from assistant.assembly.sample.story_model import connect_story
from assistant.compaction.policy import PolicyOverrides
from assistant.config.clock import Clock
from assistant.config.settings import Settings
from assistant.config.words import Language, say
from assistant.errors import PalimpsestError
from assistant.models.chat_model import ChatModel
from assistant.storage.atomic_io import replace_text
from assistant.storage.temporary_homes import temporary_home
from assistant.storage.workspace import Workspace


@asynccontextmanager
async def open_sample(settings: Settings, language: Language, pace: Pace) -> AsyncGenerator[Sample]:
    """The sample in a home that is thrown away; it plays a step for each `next_step`, or all by `play`.

    The model, the window and the numbers of compaction are the story's; what is private to the owner stays out.
    """
    with temporary_home() as folder:
        settings = sample_settings(settings, folder, language)
        today = Clock(settings).now().date()
        story = read_story(language, today)
        write_sample_files(Workspace(settings.home), story, language, today)

        async def connect(_: Settings) -> ChatModel:
            return connect_story(story, language, pace.piece_seconds)

        async with open_assistant(settings, connect=connect) as assistant:
            assistant.forgetter = make_forgetter(assistant.store, assistant.index, _refuse_to_forget)
            yield Sample(assistant, story, pace.pause_seconds)


def sample_settings(settings: Settings, home: Path, language: Language) -> Settings:
    """The story's window and numbers of compaction, and nothing that is private to the owner."""
    numbers = dict.fromkeys((field.name for field in fields(PolicyOverrides)), None)
    # Public pages have many visitors, and a paid server has no use for the story.
    is_local = not settings.is_public and settings.embedder in ("default", "none")
    chosen: dict[str, object] = {
        "home": home,
        "language": language,
        "policy": "copaw",
        "max_input_length": STORY_WINDOW_TOKENS,
        "tools": "memory",
        "memory": "on",
        "recall": "off",
        "compactor_model": "",
        "embedder": settings.embedder if is_local else "none",
        "memory_store_backend": "local",
        "host": "",
        "space_id": "",
    }
    return settings.model_copy(update=numbers | chosen)


def write_sample_files(workspace: Workspace, story: Story, language: Language, today: date) -> None:
    """The home of somebody who is known already and has written a note."""
    workspace.create(language)
    workspace.bootstrap_path.unlink()
    replace_text(workspace.note_path(note_day(today)), story.note.lstrip())


async def _refuse_to_forget() -> NoReturn:
    # To forget, every conversation is closed first, and this one goes on playing.
    raise PalimpsestError(say("conversation", "forget_in_sample"))
