"""A result is fit for files and requests, whatever a tool found."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

from assistant.messages.events import ToolFinished, TurnFailed, TurnFinished
from assistant.models.scripted import ScriptedModel
from tests.fakes.home import call, said_in, say, scripted_assistant, text


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere every file name is text")
async def test_a_file_name_that_is_no_text_fails_nothing(home: Path) -> None:
    model = ScriptedModel([[call("Glob", '{"pattern": "*"}', "call_glob000001")], [text("One file.")], [text("Yes.")]])
    async with scripted_assistant(home, model) as assistant:
        conversation = assistant.conversations.create()
        Path(os.fsdecode(os.fsencode(home / "files") + b"/\xd6\xd0.txt")).touch()
        events = await say(assistant, conversation, "Which files are there?")
        after = await say(assistant, conversation, "Sure?")
    outputs = [event.output for event in events if isinstance(event, ToolFinished)]
    assert outputs == [f"{home}/files/��.txt"]
    assert (said_in(events), said_in(after)) == ("One file.", "Yes.")


@pytest.mark.parametrize("said", ["half \ud83d of it", "\ude00", "whole 😀"])
async def test_a_message_with_half_a_character_is_answered(home: Path, said: str) -> None:
    model = ScriptedModel([[text("Yes.")], [text("Still.")]])
    async with scripted_assistant(home, model) as assistant:
        conversation = assistant.conversations.create()
        events = await say(assistant, conversation, said)
        after = await say(assistant, conversation, "And now?")
    ends = [type(event) for event in [*events, *after] if isinstance(event, TurnFailed | TurnFinished)]
    assert ends == [TurnFinished, TurnFinished]
