"""Recall hands over what fits a message, as its switch says, and nothing out of the trash."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from assistant.events import Event, Recalled
from assistant.models.scripted import ScriptedModel
from tests.fakes.home import say, scripted_assistant, text


def recalled_in(events: Sequence[Event]) -> list[tuple[str, str]]:
    """File and text of each line that was recalled."""
    return [(line.path, line.text) for event in events if isinstance(event, Recalled) for line in event.lines]


async def test_recall_begins_as_the_settings_say_and_follows_its_switch(home: Path) -> None:
    model = ScriptedModel([[text("One.")], [text("Two.")], [text("Three.")]])
    async with scripted_assistant(home, model, memory="on", recall="off") as assistant:
        assistant.notes.add_lines(
            "memory/2026-11-29.md", "Events", ["filler"] * 1 + ["Compared hotels in Alfama"], "owner"
        )
        question = "Which hotels did we compare in Alfama?"
        switched: list[list[str]] = []
        for is_on in (assistant.is_recall_on, True, False):
            assistant.is_recall_on = is_on
            events = await say(assistant, assistant.conversations.create(), question)
            switched.append([path for path, _ in recalled_in(events) if path.startswith("memory/")])
    assert switched == [[], ["memory/2026-11-29.md"], []]


async def test_a_recalled_line_names_the_line_and_the_message_it_comes_from(home: Path) -> None:
    model = ScriptedModel([[text("Noted.")], [text("On the fridge.")], [text("I do not know.")]])
    async with scripted_assistant(home, model, memory="on", recall="on") as assistant:
        first = assistant.conversations.create()
        await say(assistant, first, "The gate code hangs on the fridge")
        await assistant.index.sync_words()
        events = await say(assistant, assistant.conversations.create(), "Where hangs the gate code?")
        [line] = [line for event in events if isinstance(event, Recalled) for line in event.lines][:1]
        assert line.session_id == first.session_id
        assert line.message_id in {message.id for message in assistant.store.sessions.load(first.session_id).messages}

        await assistant.conversations.trash(first.session_id)
        events = await say(assistant, assistant.conversations.create(), "Where hangs the gate code?")
        lines = [line for event in events if isinstance(event, Recalled) for line in event.lines]
        assert first.session_id not in {line.session_id for line in lines}
