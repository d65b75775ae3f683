"""A view follows its conversation whoever looks at it."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from assistant.ui.chat.entries import EndEntry, TextEntry, UserEntry
from assistant.ui.chat.live import LiveView, LiveViews
from tests.fakes.conversation import FakeAssistant, fake_assistant, past_conversation


@pytest.fixture
def assistant(home: Path) -> FakeAssistant:
    """An assistant that answers at once."""
    return fake_assistant(home, pace_seconds=0.0)


async def test_a_turn_is_seen_to_its_end(assistant: FakeAssistant) -> None:
    view = LiveView(assistant.conversations.create())
    view.conversation.ask("Hello")  # type: ignore[attr-defined]
    versions = [version async for version in view.updates(view.version)]
    await view.close()
    assert versions == sorted(versions)
    assert [type(entry) for entry in view.transcript.entries] == [UserEntry, TextEntry, EndEntry]
    assert view.transcript.measured is not None


async def test_updates_end_when_nothing_runs(assistant: FakeAssistant) -> None:
    view = LiveView(assistant.conversations.add("old", "Old", past_conversation(2)))
    assert len([version async for version in view.updates(view.version)]) == 1  # the first measure
    assert [version async for version in view.updates(view.version)] == []
    await view.close()


async def test_a_reader_that_leaves_ends_nothing(assistant: FakeAssistant) -> None:
    view = LiveView(assistant.conversations.create())
    view.conversation.ask("slow please")  # type: ignore[attr-defined]
    async for _ in view.updates(-1):
        break
    assert view.is_running
    assistant.gate.set()
    async for _ in view.updates(view.version):
        pass
    await view.close()
    end = view.transcript.last_end
    assert end is not None
    assert end.reason == "completed"


async def test_a_conversation_has_one_view(assistant: FakeAssistant) -> None:
    views = LiveViews()
    first, second = assistant.conversations.create(), assistant.conversations.create()
    assert views.of(first) is views.of(first)
    assert views.of(first) is not views.of(second)
    await views.close()


async def test_views_that_nobody_used_for_long_are_let_go(assistant: FakeAssistant) -> None:
    views = LiveViews()
    oldest = views.of(assistant.conversations.create())
    for _ in range(40):
        views.of(assistant.conversations.create())
    await asyncio.sleep(0)
    assert views.of(oldest.conversation) is not oldest
    await views.close()


async def test_a_conversation_that_was_read_anew_is_new_to_every_tab(assistant: FakeAssistant) -> None:
    views = LiveViews()
    seen = views.of(assistant.conversations.add("s1", "Trip", past_conversation(2)))  # type: ignore[arg-type]
    for _ in range(3):
        seen.touch()
    again = views.of(assistant.conversations.add("s1", "Trip", past_conversation(1)))  # type: ignore[arg-type]
    assert again is not seen
    assert again.version > seen.version
    await views.close()
