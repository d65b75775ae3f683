"""What was judged is what the person reads, and what runs."""

from __future__ import annotations

from pathlib import Path

import pytest

from assistant.messages.events import ApprovalRequested, ToolFinished
from assistant.models.scripted import ScriptedModel
from tests.fakes.home import call, say, scripted_assistant, text


@pytest.mark.parametrize(
    "arguments",
    [
        '{"command": "touch made.txt"',
        '{"command": "touch made.txt"}}',
        "{'command': 'touch made.txt'}",
        '{"command": "ls", "command": "touch made.txt"}',
        '```json\n{"command": "touch made.txt"}\n```',
    ],
    ids=["cut off", "one brace too many", "single quotes", "given twice", "fenced"],
)
async def test_a_call_in_broken_json_is_shown_as_it_will_run(home: Path, arguments: str) -> None:
    model = ScriptedModel([[call("Bash", arguments, "call_broken00001")], [text("Done.")]])
    async with scripted_assistant(home, model) as assistant:
        conversation = assistant.conversations.create()
        events = await say(assistant, conversation, "Make the file")
        asked = [event.preview for event in events if isinstance(event, ApprovalRequested)]
        start = conversation.next_number
        for request in conversation.approvals():
            conversation.answer(request.call_id, is_allowed=True)
        await conversation.wait()
        ran = [numbered.event async for numbered in conversation.follow_until_idle(start)]
    results = [event for event in ran if isinstance(event, ToolFinished)]
    has_run = (home / "files" / "made.txt").exists()
    assert asked == ["touch made.txt"]
    assert (has_run, [result.state for result in results]) == (True, ["success"])
