"""A day that has changed since the prompt was made is told once, before the person's message."""

from __future__ import annotations

from pathlib import Path

from assistant.messages.hints import DAY_SOURCE, hints_from
from assistant.models.scripted import ScriptedModel
from tests.fakes.home import SUMMARY, call, say, scripted_assistant, text

LONG = "The cellar was swept and the boats were counted. " * 200
# These two are never on the same day.
EAST, WEST = "Pacific/Kiritimati", "Etc/GMT+12"
LOOK = call("Glob", '{"pattern": "*"}', "call_look0001")


async def test_it_is_told_once_and_leaves_with_a_compaction(home: Path) -> None:
    steps = [[text("Hello.")], [LOOK], [text("Nothing.")], [text("Yes.")], [text(SUMMARY)], [text("Hello.")]]
    model = ScriptedModel(steps)
    async with scripted_assistant(home, model, timezone="") as assistant:
        clock, conversation = assistant.store.clock, assistant.conversations.create()
        clock.follow(WEST)
        await say(assistant, conversation, "Good morning")
        clock.follow(EAST)
        for said in ("What is there?", LONG, "/compact", "Hello"):
            await say(assistant, conversation, said)
        east = clock.now().date().isoformat()
    told = [hints_from(DAY_SOURCE, request.messages) for request in model.requests if request.tools]
    assert [[hint.hint for hint in hints] for hints in told] == [
        [],
        *[[f"A new day has begun: today is {east}."]] * 3,
        [],
    ]
    assert f"Today is {east}" in (model.requests[-1].messages[0].get_text_content() or "")
