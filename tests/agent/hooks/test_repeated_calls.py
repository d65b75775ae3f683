"""A model that makes the same call again and again is stopped, told so, and answers."""

from __future__ import annotations

from pathlib import Path

from assistant.messages.blocks import ToolCallBlock
from assistant.messages.events import ToolFinished, TurnFinished
from assistant.models.scripted import ScriptedModel
from tests.fakes.home import call, said_in, say, scripted_assistant, text


def look(number: int, command: str = "pwd") -> ToolCallBlock:
    return call("Bash", f'{{"command": "{command}"}}', f"call_look_{number:04}")


async def test_the_third_call_with_the_same_result_is_refused_and_the_next_step_has_no_tools(home: Path) -> None:
    model = ScriptedModel([[look(1)], [look(2)], [look(3)], [text("In files.")]])
    async with scripted_assistant(home, model) as assistant:
        events = await say(assistant, assistant.conversations.create(), "Where are we?")
    ended = [event for event in events if isinstance(event, ToolFinished)]
    assert [event.state for event in ended] == ["success", "success", "denied"]
    assert ended[-1].output.startswith("You made this very call 2 times before")
    assert [request.tool_choice for request in model.requests] == [None, None, None, "none"]
    assert said_in(events) == "In files."
    assert [event.reason for event in events if isinstance(event, TurnFinished)] == ["completed"]


async def test_a_new_turn_counts_its_own_calls(home: Path) -> None:
    model = ScriptedModel([[look(1)], [look(2)], [text("Here.")], [look(3)], [look(4)], [text("Here.")]])
    async with scripted_assistant(home, model) as assistant:
        conversation = assistant.conversations.create()
        first = await say(assistant, conversation, "Where are we?")
        second = await say(assistant, conversation, "And now?")
    ended = [event for event in [*first, *second] if isinstance(event, ToolFinished)]
    assert [event.state for event in ended] == ["success"] * 4
