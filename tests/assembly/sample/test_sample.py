"""The sample is a real run: compressed when the window is full, undone, compressed by hand, and found by search."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Sequence
from pathlib import Path

import pytest

from assistant.assembly.sample.sample import Pace
from assistant.assembly.sample.sample_home import open_sample
from assistant.cli.main import main
from assistant.config.settings import Settings
from assistant.config.words import Language
from assistant.messages.events import (
    CompactionUndone,
    ContextCompressed,
    Event,
    FlushFinished,
    MemoryChanged,
    Notice,
    ToolFinished,
    TurnStarted,
)
from tests.fakes.home import said_in

STEPS = 10


def settings_of(home: Path) -> Settings:
    """A home that needs no encoder; what is set here must not disturb the sample."""
    chosen = {"home": home, "provider": "offline", "embedder": "none", "compact_threshold": 100_000, "recall": "off"}
    return Settings.model_validate(chosen)


def told_by(events: Sequence[Event]) -> list[str]:
    """The turns, the compactions and what they brought, in order; the flush runs beside and is left out."""
    told: list[str] = []
    for event in events:
        match event:
            case TurnStarted():
                told.append("turn")
            case ContextCompressed():
                told.append(f"compressed {event.reason} {event.fallback}")
            case CompactionUndone():
                told.append("undone")
            case ToolFinished():
                told.append(f"{event.name} {event.state}")
            case _:
                pass
    return told


@pytest.mark.parametrize("language", ["en", "zh"])
async def test_the_sample_is_compressed_undone_and_searched(home: Path, language: Language):
    async with open_sample(settings_of(home), language, Pace()) as sample:
        events: list[Event] = []

        async def follow() -> None:
            events.extend([event async for event in sample.follow()])

        await asyncio.gather(follow(), sample.play())
        assert sample.steps_left == 0
        assert await sample.next_step() is False

    assert told_by(events) == [
        "turn",
        *("turn", "memory_get success"),
        *("turn", "turn", "turn"),
        *("turn", "compressed automatic False"),
        "undone",
        "compressed manual False",
        *("turn", "memory_search success", "memory_search success"),
    ]
    changed = {event.path: event for event in events if isinstance(event, MemoryChanged)}
    assert {event.writer for event in changed.values()} == {"flush"}
    assert sorted(changed) == ["MEMORY.md", "USER.md"]
    # The first one wrote it all down; after the undo the same messages are folded again, and memory has them.
    assert [event.state for event in events if isinstance(event, FlushFinished)] == ["done", "nothing"]
    last_turn = max(index for index, event in enumerate(events) if isinstance(event, TurnStarted))
    answer = said_in(events[last_turn:])
    assert "`USER.md:9`" in answer
    assert "`MEMORY.md:7`" in answer
    assert [event.level for event in events if isinstance(event, Notice)] == ["info"] * (STEPS + 1)


@pytest.mark.parametrize("language", ["en", "zh"])
async def test_the_window_fills_at_its_step_with_room_on_both_sides(home: Path, language: Language):
    async with open_sample(settings_of(home), language, Pace()) as sample:
        conversation = sample.conversation
        for _ in range(4):
            await sample.next_step()
        before = sum(item.tokens for item in conversation.context_items())
        await sample.next_step()
        after = sum(item.tokens for item in conversation.context_items())
        assert not any(isinstance(event, ContextCompressed) for event in conversation.attach().history)
    assert before < 2_700
    assert after > 2_850


async def test_a_sample_leaves_nothing_behind_and_touches_no_file_of_the_home(home: Path):
    async with open_sample(settings_of(home), "en", Pace()) as sample:
        folder = sample.assistant.workspace.root
        assert folder.is_dir()
        await sample.next_step()
    assert not folder.exists()
    assert not home.exists()


async def test_whatever_is_not_in_the_story_is_answered_honestly(home: Path):
    async with open_sample(settings_of(home), "en", Pace()) as sample:
        start = sample.conversation.next_number
        sample.conversation.ask("What is the meaning of life?")
        events = [numbered.event async for numbered in sample.conversation.follow_until_idle(start)]
    assert said_in(events).startswith("This is the sample conversation")


def test_the_command_plays_the_sample_to_its_end(
    home: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setenv("PALIMPSEST_EMBEDDER", "none")
    assert main(["show", "--json"]) == 0
    kinds = [json.loads(line)["type"] for line in capsys.readouterr().out.splitlines()]
    assert kinds.count("context_compressed") == 2
    assert kinds[0] == kinds[-1] == "notice"
    assert not home.exists()


def test_a_terminal_shows_both_sides(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("PALIMPSEST_EMBEDDER", "none")
    assert main(["show", "--language", "zh"]) == 0
    shown = capsys.readouterr().out
    assert "\n> 我想坐火车去海边玩三天" in shown
    assert "⚡ context compressed" in shown
    assert "↶ compaction taken back" in shown
