"""A view follows its conversation whoever looks at it."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from pathlib import Path

import pytest

from assistant.assembly.assistant import Assistant
from assistant.ui.chat.entries import EndEntry, TextEntry, UserEntry
from assistant.ui.chat.live import LiveView, LiveViews
from tests.fakes.past import write_past
from tests.ui.open_page import held, open_page


@pytest.fixture
async def assistant(home: Path) -> AsyncGenerator[Assistant]:
    """An assistant that answers at once."""
    async with open_page(home) as page:
        yield page.assistant


async def test_a_turn_is_seen_to_its_end(assistant: Assistant) -> None:
    view = LiveView(assistant.conversations.create())
    view.conversation.ask("Hello")
    versions = [version async for version in view.updates(view.version)]
    await view.close()
    assert versions == sorted(versions)
    assert [type(entry) for entry in view.transcript.entries] == [UserEntry, TextEntry, EndEntry]
    assert view.transcript.measured is not None


async def test_updates_end_when_nothing_runs(assistant: Assistant) -> None:
    write_past(assistant.store, "old", "Old", 2)
    view = LiveView(assistant.conversations.open("old"))
    assert len([version async for version in view.updates(view.version)]) == 1  # the first measure
    assert [version async for version in view.updates(view.version)] == []
    await view.close()


async def test_a_reader_that_leaves_ends_nothing(home: Path) -> None:
    gate = asyncio.Event()
    async with open_page(home, held(gate)) as page:
        view = LiveView(page.assistant.conversations.create())
        view.conversation.ask("slow please")
        async for _ in view.updates(-1):
            break
        assert view.is_running
        gate.set()
        async for _ in view.updates(view.version):
            pass
        await view.close()
        end = view.transcript.last_end
        assert end is not None
        assert end.reason == "completed"


async def test_a_conversation_has_one_view(assistant: Assistant) -> None:
    views = LiveViews()
    first, second = assistant.conversations.create(), assistant.conversations.create()
    assert views.of(first) is views.of(first)
    assert views.of(first) is not views.of(second)
    await views.close()


async def test_views_that_nobody_used_for_long_are_let_go(assistant: Assistant) -> None:
    views = LiveViews()
    oldest = views.of(assistant.conversations.create())
    for _ in range(40):
        await views.of(assistant.conversations.create()).conversation.wait()
    assert views.of(oldest.conversation) is not oldest
    await views.close()


async def test_a_conversation_that_was_read_anew_is_new_to_every_tab(assistant: Assistant) -> None:
    views = LiveViews()
    write_past(assistant.store, "s1", "Trip", 2)
    seen = views.of(assistant.conversations.open("s1"))
    for _ in range(3):
        seen.touch()
    await assistant.conversations.close()
    again = views.of(assistant.conversations.open("s1"))
    assert again is not seen
    assert again.version > seen.version
    await views.close()
