"""Arguments that no parser can read cost the call, not the turn."""

from __future__ import annotations

from pathlib import Path

import pytest

from assistant.messages.blocks import text_of
from assistant.messages.events import ToolFinished, TurnFinished
from assistant.models.scripted import ScriptedModel
from tests.fakes.home import call, say, scripted_assistant, text


@pytest.mark.parametrize("deep", ['{"file_path": ' + "[" * 50_000 + "]" * 50_000 + "}", '{"a":' * 50_000])
async def test_arguments_nested_too_deep_are_an_error_the_model_reads(home: Path, deep: str) -> None:
    model = ScriptedModel([[call("Read", deep, "call_read_00000001")], [text("I will read it another way.")]])
    async with scripted_assistant(home, model) as assistant:
        conversation = assistant.conversations.create()
        told = await say(assistant, conversation, "read it")
    assert [event.state for event in told if isinstance(event, ToolFinished)] == ["error"]
    assert [event.reason for event in told if isinstance(event, TurnFinished)] == ["completed"]
    asked = "".join(map(text_of, model.requests[1].messages)) + str(model.requests[1].messages)
    assert "nested more than 200 levels deep" in asked
    assert "[[[[" not in asked
