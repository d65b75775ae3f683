"""*Show me* is a real run: compressed when the window is full, undone, compressed by hand, and found by search."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Sequence
from pathlib import Path

import pytest

from assistant.assembly.assistant import open_assistant, open_show
from assistant.assembly.sample.sample import ShowPace
from assistant.cli.main import main
from assistant.config.prompts import Language
from assistant.config.settings import Settings
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
from tests.fakes.home import said_in, say

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
    async with open_show(settings_of(home), language, ShowPace()) as show:
        events: list[Event] = []

        async def follow() -> None:
            events.extend([event async for event in show.follow()])

        await asyncio.gather(follow(), show.play())
        assert show.steps_left == 0
        assert await show.next_step() is False

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
    assert {event.state for event in events if isinstance(event, FlushFinished)} == {"done"}
    last_turn = max(index for index, event in enumerate(events) if isinstance(event, TurnStarted))
    answer = said_in(events[last_turn:])
    assert "`USER.md:9`" in answer
    assert "`MEMORY.md:7`" in answer
    assert [event.level for event in events if isinstance(event, Notice)] == ["info"] * (STEPS + 1)


@pytest.mark.parametrize("language", ["en", "zh"])
async def test_the_window_fills_at_its_step_with_room_on_both_sides(home: Path, language: Language):
    async with open_show(settings_of(home), language, ShowPace()) as show:
        conversation = show.conversation
        for _ in range(4):
            await show.next_step()
        before = sum(item.tokens for item in conversation.context_items())
        await show.next_step()
        after = sum(item.tokens for item in conversation.context_items())
        assert not any(isinstance(event, ContextCompressed) for event in conversation.attach().history)
    assert before < 2_700
    assert after > 2_850


async def test_a_sample_leaves_nothing_behind_and_touches_no_file_of_the_home(home: Path):
    async with open_show(settings_of(home), "en", ShowPace()) as show:
        folder = show.home
        assert folder.is_dir()
        await show.next_step()
    assert not folder.exists()
    assert not home.exists()


async def test_show_is_a_conversation_like_any_other_and_in_no_list(home: Path):
    async with open_assistant(settings_of(home)) as assistant:
        own = assistant.conversations.create()
        sample = await assistant.submit(own, "/show zh")
        assert sample is not own
        assert sample.language == "zh"
        assert assistant.conversations.open(sample.session_id) is sample
        assert [line.session_id for line in assistant.conversations.summaries()] != [sample.session_id]
        show = assistant.shows.current
        assert show is not None
        assert show.conversation is sample
        assert said_in(await say(assistant, own, "hello")) != ""
        assert await assistant.start_show("en") is not sample
        assert not show.home.exists()
        again = assistant.shows.current
        assert again is not None
        assert again.home.exists()
    assert not again.home.exists()


async def test_forget_in_the_sample_looks_in_its_home_and_takes_nothing_out(home: Path):
    async with open_assistant(settings_of(home)) as assistant:
        fact = "The harbour of Genoa is my own secret place."
        (home / "MEMORY.md").write_text(f"- {fact}\n", encoding="utf-8")
        sample = await assistant.conversations.show("en")

        async def told(text: str) -> str:
            start = sample.next_number
            assert await assistant.submit(sample, text) is sample
            events = [numbered.event async for numbered in sample.follow_until_idle(start)]
            return "\n".join(event.text for event in events if isinstance(event, Notice))

        assert "It stands nowhere" in await told("/forget harbour of Genoa")
        note = next((assistant.at_home(sample.session_id).workspace.memory_folder).glob("*.md"))
        line = note.read_text("utf-8").strip().split("\n")[-1].removeprefix("- ")
        assert "/forget 1 3 forgets" in await told(f"/forget {line}")
        assert "thrown away whole" in await told("/forget all")
        assert line in note.read_text("utf-8")
        assert fact in (home / "MEMORY.md").read_text("utf-8")


async def test_whatever_is_not_in_the_story_is_answered_honestly(home: Path):
    async with open_show(settings_of(home), "en", ShowPace()) as show:
        start = show.conversation.next_number
        show.conversation.ask("What is the meaning of life?")
        events = [numbered.event async for numbered in show.conversation.follow_until_idle(start)]
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
