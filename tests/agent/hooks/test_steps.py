"""A turn is paid for no longer than it says or does something."""

from __future__ import annotations

from pathlib import Path

from assistant.agent.hooks.steps import MAX_SILENT_STEPS
from assistant.messages.blocks import ThinkingBlock
from assistant.messages.events import TurnFailed, TurnFinished
from assistant.models.scripted import ScriptedModel
from tests.fakes.home import call, said_in, say, scripted_assistant, text


def thought() -> list[ThinkingBlock]:
    return [ThinkingBlock(thinking="Hm.")]


async def test_a_model_that_only_thinks_is_not_asked_for_ever(home: Path) -> None:
    model = ScriptedModel([*(thought() for _ in range(MAX_SILENT_STEPS)), [text("At last.")]])
    async with scripted_assistant(home, model) as assistant:
        conversation = assistant.conversations.create()
        events = await say(assistant, conversation, "Well?")
        failed = [event.error for event in events if isinstance(event, TurnFailed)]
        again = await say(assistant, conversation, "Well?")
    assert failed == [f"The model thought {MAX_SILENT_STEPS} times in a row and said nothing. Ask again."]
    assert said_in(again) == "At last."


async def test_thoughts_between_calls_are_no_silence(home: Path) -> None:
    steps = [[*thought(), call("Bash", '{"command": "pwd"}', f"call_pwd000000{n}")] for n in range(5)]
    silent = [thought()] * (MAX_SILENT_STEPS - 1)
    model = ScriptedModel([*silent, *steps, *silent, [text("Done.")]])
    async with scripted_assistant(home, model) as assistant:
        events = await say(assistant, assistant.conversations.create(), "Look")
    assert [event.reason for event in events if isinstance(event, TurnFinished)] == ["completed"]
