"""The system prompt stays as it is until a compaction; what the person changes makes it anew, and they are told."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from assistant.assembly.assistant import Assistant
from assistant.messages.blocks import text_of
from assistant.messages.events import Event, Notice
from assistant.models.scripted import ScriptedModel, ScriptedRequest
from assistant.text.json_values import is_object
from tests.fakes.home import SUMMARY, call, say, scripted_assistant, text
from tests.index.homes import write

FACT = "The spare key hangs behind the blue door."
LONG = "The cellar was swept and the boats were counted. " * 200
SAVE = call("memory_save", json.dumps({"content": FACT, "category": "lasting_fact"}), "call_save0001")


def prompts_of(model: ScriptedModel) -> list[str]:
    """The system prompt of each request."""
    return [text_of(request.messages[0]) for request in model.requests]


def own_requests(model: ScriptedModel) -> list[ScriptedRequest]:
    """The requests of the conversation, without those of a summary or a flush."""
    return [request for request in model.requests if "memory_save" in request.tools]


def renewals_in(events: Sequence[Event]) -> list[str]:
    """What was told of a prompt that was made anew."""
    return [event.text for event in events if isinstance(event, Notice) and event.text.startswith("Changed: ")]


async def test_what_the_assistant_saves_leaves_the_prompt_as_it_is(home: Path) -> None:
    model = ScriptedModel([[SAVE], [text("Saved.")], [text("Hello.")]])
    async with scripted_assistant(home, model, memory="on", recall="off") as assistant:
        conversation = assistant.conversations.create()
        events = await say(assistant, conversation, "The key hangs behind the blue door")
        events += await say(assistant, conversation, "Hello")
    assert FACT in (home / "MEMORY.md").read_text(encoding="utf-8")
    assert len(set(prompts_of(model))) == 1
    assert (FACT in prompts_of(model)[0], renewals_in(events)) == (False, [])


def by_editor(assistant: Assistant, name: str) -> None:
    """Another program writes into the file."""
    write(assistant.workspace.root, name, f"- {FACT}\n")


def on_the_page(assistant: Assistant, name: str) -> None:
    """The person saves the file on the page."""
    note = assistant.notes.read(name)
    assistant.notes.save(name, f"{note.text}\n- {FACT}\n", note.digest, "owner")


def after_the_assistant(assistant: Assistant, name: str) -> None:
    """The assistant writes, then an editor."""
    assistant.notes.add_lines(name, "Facts", ["The gate is green."], "assistant")
    by_editor(assistant, name)


@pytest.mark.parametrize(
    ("change", "name"),
    [
        (by_editor, "AGENTS.md"),
        (by_editor, "SOUL.md"),
        (by_editor, "MEMORY.md"),
        (on_the_page, "USER.md"),
        (after_the_assistant, "MEMORY.md"),
    ],
)
async def test_a_change_by_the_person_makes_it_anew_once_and_is_told(
    home: Path, change: Callable[[Assistant, str], None], name: str
) -> None:
    model = ScriptedModel([[text("Hello.")], [text("Hello.")], [text("Hello.")]])
    async with scripted_assistant(home, model, memory="on", recall="off") as assistant:
        conversation = assistant.conversations.create()
        await say(assistant, conversation, "Good morning")
        change(assistant, name)
        told = [renewals_in(await say(assistant, conversation, "Hello")) for _ in range(2)]
    assert told == [[f"Changed: {name}. From here on the assistant follows the new text."], []]
    first, second, third = prompts_of(model)
    assert (FACT in first, FACT in second, second == third) == (False, True, True)


async def test_before_the_first_message_a_change_is_nothing_to_tell(home: Path) -> None:
    model = ScriptedModel([[text("Hello.")]])
    async with scripted_assistant(home, model) as assistant:
        conversation = assistant.conversations.create()
        conversation.measure()
        by_editor(assistant, "MEMORY.md")
        events = await say(assistant, conversation, "Good morning")
    assert (FACT in prompts_of(model)[0], renewals_in(events)) == (True, [])


async def test_a_compaction_and_its_undo_take_up_what_was_written(home: Path) -> None:
    steps = [[SAVE], [text("Saved.")], [text("Yes.")], [text(SUMMARY)], *[[text("Fine.")]] * 4]
    model = ScriptedModel(steps)
    async with scripted_assistant(home, model, memory="on", recall="off") as assistant:
        conversation = assistant.conversations.create()
        await say(assistant, conversation, "The key hangs behind the blue door")
        await say(assistant, conversation, LONG)
        events = await say(assistant, conversation, "/compact")
        await assistant.flushes.wait()
        events += await say(assistant, conversation, "Hello")
        assistant.notes.add_lines("MEMORY.md", "Facts", ["The gate is green."], "flush")
        events += await say(assistant, conversation, "Hello")
        events += await say(assistant, conversation, "/undo")
        events += await say(assistant, conversation, "Hello")
    prompts = [text_of(request.messages[0]) for request in own_requests(model)]
    assert [FACT in prompt for prompt in prompts] == [False, False, False, True, True, True]
    assert ["The gate is green." in prompt for prompt in prompts] == [False] * 5 + [True]
    assert renewals_in(events) == []


async def test_the_prompt_is_the_same_after_a_restart(home: Path) -> None:
    # A conversation that is left is written to memory, and asks the model as well.
    first, second = ScriptedModel([[SAVE], *[[text("Fine.")]] * 3]), ScriptedModel([[text("Fine.")]] * 4)
    async with scripted_assistant(home, first, memory="on", recall="off") as assistant:
        conversation = assistant.conversations.create()
        await say(assistant, conversation, "The key hangs behind the blue door")
    async with scripted_assistant(home, second, memory="on", recall="off") as assistant:
        events = await say(assistant, assistant.conversations.open(conversation.session_id), "Hello")
    before, after = own_requests(first)[0], own_requests(second)[0]
    assert (text_of(after.messages[0]), after.schemas) == (text_of(before.messages[0]), before.schemas)
    assert renewals_in(events) == []


async def test_what_the_person_changed_while_the_program_was_not_running_counts(home: Path) -> None:
    first, second = ScriptedModel([[text("Hello.")]]), ScriptedModel([[text("Hello.")]])
    async with scripted_assistant(home, first, recall="off") as assistant:
        conversation = assistant.conversations.create()
        await say(assistant, conversation, "Good morning")
    write(home, "USER.md", f"- {FACT}\n")
    async with scripted_assistant(home, second, recall="off") as assistant:
        events = await say(assistant, assistant.conversations.open(conversation.session_id), "Hello")
    assert (FACT in prompts_of(second)[0], len(renewals_in(events))) == (True, 1)


async def test_a_damaged_basis_is_made_anew(home: Path) -> None:
    first, second = ScriptedModel([[text("Hello.")]]), ScriptedModel([[text("Hello.")]])
    async with scripted_assistant(home, first, recall="off") as assistant:
        conversation = assistant.conversations.create()
        await say(assistant, conversation, "Good morning")
    (path,) = (home / "sessions").glob("*.json")
    stored = json.loads(path.read_text(encoding="utf-8"))
    assert is_object(stored["agent_state"]) and is_object(stored["agent_state"]["middle_context"])
    stored["agent_state"]["middle_context"]["prompt_basis"] = {"day": 7}
    path.write_text(json.dumps(stored), encoding="utf-8")
    async with scripted_assistant(home, second, recall="off") as assistant:
        await say(assistant, assistant.conversations.open(conversation.session_id), "Hello")
    assert prompts_of(second) == prompts_of(first)


async def test_what_is_forgotten_stands_in_no_prompt_and_in_no_session_file(home: Path) -> None:
    write(home, "MEMORY.md", f"- {FACT}\n- The gate is green.\n")
    model = ScriptedModel([[text("Hello.")]] * 4)
    async with scripted_assistant(home, model, recall="off") as assistant:
        conversation = assistant.conversations.create()
        await say(assistant, conversation, "Good morning")
        preview = await assistant.forgetter.find("spare key blue door")
        await assistant.forgetter.forget(preview.items)
        assert [
            path.name for path in (home / "sessions").glob("*.json") if "spare key" in path.read_text("utf-8")
        ] == []
        conversation = assistant.conversations.open(conversation.session_id)
        events = await say(assistant, conversation, "Hello")
    assert [FACT in prompt for prompt in prompts_of(model)] == [True, False]
    assert len(renewals_in(events)) == 1
