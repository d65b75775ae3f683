"""A conversation is put together of what its settings and its model allow."""

from __future__ import annotations

from pathlib import Path

import pytest

from assistant.models.scripted import ScriptedModel
from tests.fakes.home import say, scripted_assistant, text


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
