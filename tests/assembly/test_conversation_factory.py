"""A conversation is put together of what its settings and its model allow."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest

from assistant.assembly.assistant import open_assistant
from assistant.messages.events import ContextMeasured, Event
from assistant.models.chat_model import connect_model
from assistant.models.scripted import ScriptedModel
from tests.fakes.home import home_settings, say, scripted_assistant, text
from tests.fakes.players import SequencePlayer
from tests.fakes.provider import StrictProvider
from tests.fakes.wire import Reply


@pytest.mark.parametrize(
    ("tools", "window_tokens", "expected"),
    [("ask", 16_000, True), ("read-only", 16_000, True), ("off", 16_000, False), ("ask", 8_192, False)],
)
async def test_file_tools_need_a_window_and_a_permission(
    home: Path, tools: str, window_tokens: int, expected: bool
) -> None:
    async with scripted_assistant(
        home, ScriptedModel([[text("Hi.")]]), tools=tools, max_input_length=window_tokens
    ) as assistant:
        model = assistant.model.model
        await say(assistant, assistant.conversations.create(), "Hello")

    assert isinstance(model, ScriptedModel)
    assert ("Bash" in model.requests[0].tools) is expected


def measured(events: Sequence[Event]) -> int:
    """What the meter shows at last."""
    return [event.used_tokens for event in events if isinstance(event, ContextMeasured)][-1]


async def test_the_meter_shows_what_the_provider_counted_and_what_came_since(home: Path) -> None:
    settings = home_settings(home, provider="openai", model="strict-7b", max_input_length=32_000)
    with StrictProvider(SequencePlayer(Reply("Noted."), Reply("Noted.")), usage_factor=3.0) as provider:
        settings = settings.model_copy(update={"base_url": provider.base_url})
        async with open_assistant(settings, connect=connect_model) as assistant:
            conversation = assistant.conversations.create()
            shown = measured(await say(assistant, conversation, "Hi"))
            session_id = conversation.session_id
        counted = provider.log[0].tokens
        async with open_assistant(settings, connect=connect_model) as assistant:
            factor = assistant.counter.factor
            conversation = assistant.conversations.open(session_id)
            again = (await conversation.preview_compaction()).previous_tokens
    # The answer came since; it has one word.
    assert counted < shown <= counted + 40
    assert (factor > 1.5, abs(again - shown) <= shown * 0.02) == (True, True)
