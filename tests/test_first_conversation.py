"""The first conversation fills USER.md and SOUL.md with the person, and its guide is gone once both are filled."""

from __future__ import annotations

import json
from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from assistant.assembly import Assistant, open_assistant
from assistant.commands import respond
from assistant.conversation import Conversation
from assistant.events import ApprovalRequested, Event, MemoryChanged, Notice, TextDelta
from assistant.messages import TextBlock, ToolCallBlock, block_text
from assistant.models.chat import ChatModel
from assistant.models.scripted import Reply, ScriptedModel
from assistant.settings import Settings

HAVE_MET = "We have met: the guide for the first conversation (BOOTSTRAP.md) is gone now."


def settings_of(home: Path, **values: object) -> Settings:
    """A home whose index needs no encoder."""
    return Settings.model_validate({"home": home, "provider": "offline", "embedder": "none", **values})


@asynccontextmanager
async def opened(home: Path, model: ScriptedModel | None = None, **values: object) -> AsyncGenerator[Assistant]:
    """The assistant of a new home, answered by the script or the built-in assistant."""
    scripted = model and ChatModel(
        model=model,
        name="scripted",
        provider="openai",
        address="",
        window_tokens=32_000,
        vocabulary="bytes",
        is_language_model=True,
        is_fit_for_summaries=True,
        how="A script.",
    )
    async with open_assistant(settings_of(home, **values), model=scripted) as assistant:
        yield assistant


async def said(assistant: Assistant, conversation: Conversation, text: str) -> list[Event]:
    """What a message brings."""
    return [event async for event in respond(assistant.conversations, conversation, text)]


def answer_of(events: Sequence[Event]) -> str:
    """What was answered."""
    return "".join(event.text for event in events if isinstance(event, TextDelta))


def notices_of(events: Sequence[Event]) -> list[str]:
    """What was told beside it."""
    return [event.text for event in events if isinstance(event, Notice)]


def call(name: str, **arguments: object) -> Reply:
    """One tool call, as a model makes it."""
    return [ToolCallBlock(id=f"call-{name}-{len(json.dumps(arguments))}", name=name, input=json.dumps(arguments))]


async def test_the_guide_is_gone_when_both_names_were_saved_and_not_before(home: Path):
    model = ScriptedModel(
        [
            call("memory_save", content="Name: Ada", category="preference"),
            [TextBlock(text="Hello Ada. What may I be called?")],
            call("memory_save", content="Name: Quill\nUse few words.", category="persona"),
            [TextBlock(text="Quill it is.")],
            [TextBlock(text="Fine.")],
        ]
    )
    async with opened(home, model) as assistant:
        conversation = assistant.conversations.create()
        first = await said(assistant, conversation, "Hi, I am Ada")
        assert [(event.path, event.writer) for event in first if isinstance(event, MemoryChanged)] == [
            ("USER.md", "assistant")
        ]
        assert not any(isinstance(event, ApprovalRequested) for event in first)
        assert assistant.workspace.bootstrap_path.exists()
        assert HAVE_MET not in notices_of(first)
        second = await said(assistant, conversation, "Quill, and use few words")
        assert notices_of(second) == [HAVE_MET]
        assert not assistant.workspace.bootstrap_path.exists()
        assert notices_of(await said(assistant, conversation, "How are you?")) == []
    model.assert_complete()
    assert "- Name: Ada\n" in (home / "USER.md").read_text(encoding="utf-8")
    assert "- Name: Quill\n" in (home / "SOUL.md").read_text(encoding="utf-8")
    prompts = [block_text(request.messages[0].content[0]) for request in model.requests]
    assert ['path="BOOTSTRAP.md"' in prompt for prompt in prompts] == [True, True, True, True, False]
    assert "- Name: Ada\n" in prompts[1]


async def test_a_file_tool_fills_them_too_once_it_is_allowed(home: Path):
    model = ScriptedModel(
        [
            call("memory_save", content="Name: Quill", category="persona"),
            call("Read", file_path=str(home / "USER.md")),
            call("Edit", file_path=str(home / "USER.md"), old_string="- Name:", new_string="- Name: Ada"),
            [TextBlock(text="Noted.")],
        ]
    )
    async with opened(home, model) as assistant:
        conversation = assistant.conversations.create()
        events = await said(assistant, conversation, "You are Quill, I am Ada")
        [approval] = [event for event in events if isinstance(event, ApprovalRequested)]
        assert "+- Name: Ada" in approval.preview
        assert assistant.workspace.bootstrap_path.exists()
        start = conversation.next_number
        conversation.answer(approval.call_id, True)
        after = [numbered.event async for numbered in conversation.follow_until_idle(start)]
        print(after)
        assert HAVE_MET in notices_of(after)
    model.assert_complete()
    assert not (home / "BOOTSTRAP.md").exists()


async def test_messages_alone_leave_the_guide_where_it_is(home: Path):
    model = ScriptedModel([[TextBlock(text="Hello!")], call("memory_save", content="x"), [TextBlock(text="Kept.")]])
    async with opened(home, model) as assistant:
        conversation = assistant.conversations.create()
        await said(assistant, conversation, "Hello")
        await said(assistant, conversation, "Keep x")
        assert assistant.workspace.bootstrap_path.exists()
