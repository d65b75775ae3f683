"""The first conversation fills USER.md and SOUL.md with the person, and its guide is gone once both are filled."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

from assistant.messages.blocks import ToolCallBlock, block_text
from assistant.messages.events import ApprovalRequested, Event, MemoryChanged, Notice
from assistant.models.scripted import ScriptedModel
from tests.fakes.home import call, say, scripted_assistant, text

HAVE_MET = "We have met: the guide for the first conversation (BOOTSTRAP.md) is gone now."


def save(number: int, content: str, category: str) -> ToolCallBlock:
    """A call of memory_save, as a model makes it."""
    return call("memory_save", json.dumps({"content": content, "category": category}), f"save-{number}")


def notices_of(events: Sequence[Event]) -> list[str]:
    """What was told beside the answer."""
    return [event.text for event in events if isinstance(event, Notice)]


async def test_the_guide_is_gone_when_both_names_were_saved_and_not_before(home: Path):
    model = ScriptedModel(
        [
            [save(1, "Name: Ada", "preference")],
            [text("Hello Ada. What may I be called?")],
            [save(2, "Name: Quill\nUse few words.", "persona")],
            [text("Quill it is.")],
            [text("Fine.")],
        ]
    )
    async with scripted_assistant(home, model, memory="on", recall="off") as assistant:
        conversation = assistant.conversations.create()
        first = await say(assistant, conversation, "Hi, I am Ada")
        assert [(event.path, event.writer) for event in first if isinstance(event, MemoryChanged)] == [
            ("USER.md", "assistant")
        ]
        assert not any(isinstance(event, ApprovalRequested) for event in first)
        assert assistant.workspace.bootstrap_path.exists()
        assert HAVE_MET not in notices_of(first)
        second = await say(assistant, conversation, "Quill, and use few words")
        assert notices_of(second) == [HAVE_MET]
        assert not assistant.workspace.bootstrap_path.exists()
        assert notices_of(await say(assistant, conversation, "How are you?")) == []
    model.assert_complete()
    assert "- Name: Ada\n" in (home / "USER.md").read_text(encoding="utf-8")
    assert "- Name: Quill\n" in (home / "SOUL.md").read_text(encoding="utf-8")
    prompts = [block_text(request.messages[0].content[0]) for request in model.requests]
    assert ['path="BOOTSTRAP.md"' in prompt for prompt in prompts] == [True, True, True, True, False]
    # What the assistant saved stands in the conversation; the prompt is made anew once the guide is gone.
    assert ["- Name: Ada\n" in prompt for prompt in prompts] == [False, False, False, False, True]


async def test_a_file_tool_fills_them_too_once_it_is_allowed(home: Path):
    user_path = str(home / "USER.md")
    edit = {"file_path": user_path, "old_string": "- Name:", "new_string": "- Name: Ada"}
    model = ScriptedModel(
        [
            [save(1, "Name: Quill", "persona")],
            [call("Read", json.dumps({"file_path": user_path}), "read")],
            [call("Edit", json.dumps(edit), "edit")],
            [text("Noted.")],
        ]
    )
    async with scripted_assistant(home, model, memory="on", recall="off") as assistant:
        conversation = assistant.conversations.create()
        events = await say(assistant, conversation, "You are Quill, I am Ada")
        [approval] = [event for event in events if isinstance(event, ApprovalRequested)]
        assert "+- Name: Ada" in approval.preview
        assert assistant.workspace.bootstrap_path.exists()
        start = conversation.next_number
        conversation.answer(approval.call_id, True)
        after = [numbered.event async for numbered in conversation.follow_until_idle(start)]
        assert HAVE_MET in notices_of(after)
    model.assert_complete()
    assert not (home / "BOOTSTRAP.md").exists()


async def test_messages_alone_leave_the_guide_where_it_is(home: Path):
    model = ScriptedModel([[text("Hello!")], [save(1, "x", "fact")], [text("Kept.")]])
    async with scripted_assistant(home, model, memory="on", recall="off") as assistant:
        conversation = assistant.conversations.create()
        await say(assistant, conversation, "Hello")
        await say(assistant, conversation, "Keep x")
        assert assistant.workspace.bootstrap_path.exists()
