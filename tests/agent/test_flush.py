"""What a compaction folded is written into memory beside the conversation, once, whatever happens."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path

from assistant.compaction.record import CompactionRecord
from assistant.errors import ModelError
from assistant.events import FlushFinished, MemoryChanged
from assistant.journal.rows import FlushRow
from assistant.messages import ToolCallBlock, text_of
from assistant.models.scripted import ScriptedModel
from tests.fakes.home import SUMMARY, call, kinds_of, say, scripted_assistant, text

LONG = "The cellar key hangs behind the door. " * 300
OAT = "- I am allergic to oats."


def add(lines: list[str], call_id: str = "call_add_lines_0001") -> ToolCallBlock:
    arguments = {"file": "USER.md", "heading": "Preferences", "lines": lines}
    return call("add_lines", json.dumps(arguments), call_id)


def user_file(home: Path) -> str:
    return (home / "USER.md").read_text(encoding="utf-8")


async def test_a_flush_writes_lines_and_tells_it_in_the_conversation(home: Path) -> None:
    model = ScriptedModel(
        [[text("Noted.")], [text("Noted.")], [text(SUMMARY)], [add(["I am allergic to oats."])], [text("NO_REPLY")]]
    )
    async with scripted_assistant(home, model, memory="on") as assistant:
        conversation = assistant.conversations.create()
        await say(assistant, conversation, f"I am allergic to oats. {LONG}")
        await say(assistant, conversation, "And now?")
        start = conversation.next_number
        await say(assistant, conversation, "/compact")
        await assistant.flushes.wait()
        told = [numbered.event async for numbered in conversation.follow_until_idle(start)]
        rows = assistant.store.journal.rows(conversation.session_id)

    assert OAT in user_file(home).splitlines()
    assert kinds_of(told) == ["context_compressed", "memory_changed", "flush_finished"]
    assert [event.path for event in told if isinstance(event, MemoryChanged)] == ["USER.md"]
    assert [event.state for event in told if isinstance(event, FlushFinished)] == ["done"]
    assert [row.state for row in rows if isinstance(row, FlushRow)] == ["done"]
    assert "I am allergic to oats." in text_of(model.requests[3].messages[1])
    assert set(model.requests[3].tools) == {"read", "add_lines"}


async def test_a_flush_that_was_cut_off_is_done_at_the_next_start_with_what_it_wrote_shown(home: Path) -> None:
    script = [[text("Noted.")], [text("Noted.")], [text(SUMMARY)], [add(["I am allergic to oats."])], [asyncio.Event()]]
    model = ScriptedModel(script)
    async with scripted_assistant(home, model, memory="on") as assistant:
        conversation = assistant.conversations.create()
        await say(assistant, conversation, f"I am allergic to oats. {LONG}")
        await say(assistant, conversation, "And now?")
        await say(assistant, conversation, "/compact")
        while len(model.requests) < 5:
            await asyncio.sleep(0.01)
        session_id = conversation.session_id
        await assistant.flushes.cut()
        cut = [row for row in assistant.store.journal.rows(session_id) if isinstance(row, FlushRow)]

    again = ScriptedModel([[add(["I am allergic to oats."], "call_add_lines_0002")], [text("NO_REPLY")]])
    async with scripted_assistant(home, again, memory="on") as assistant:
        assistant.conversations.open(session_id)
        await assistant.flushes.wait()
        rows = assistant.store.journal.rows(session_id)

    assert cut == []
    assert user_file(home).splitlines().count(OAT) == 1
    assert "You have already written these lines" in text_of(again.requests[0].messages[1])
    assert [row.state for row in rows if isinstance(row, FlushRow)] == ["done"]


async def test_a_flush_that_fails_leaves_a_note_made_by_code(home: Path) -> None:
    model = ScriptedModel([[text("Noted.")], [text("Noted.")], [text(SUMMARY)], ModelError("Nobody answers.")])
    async with scripted_assistant(home, model, memory="on") as assistant:
        conversation = assistant.conversations.create()
        await say(assistant, conversation, f"I am allergic to oats. {LONG}")
        await say(assistant, conversation, "And now?")
        await say(assistant, conversation, "/compact")
        await assistant.flushes.wait()
        rows = assistant.store.journal.rows(conversation.session_id)

    (note,) = [path.read_text(encoding="utf-8") for path in (home / "memory").glob("*.md")]
    assert "written by the program, not by a model" in note
    assert "- what was said about progress, kept for whoever goes on from here" in note
    assert "## Said by the person on " in note
    assert OAT in note.splitlines()
    assert [row.state for row in rows if isinstance(row, FlushRow)] == ["failed"]
    assert sum(isinstance(row, CompactionRecord) for row in rows) == 1
