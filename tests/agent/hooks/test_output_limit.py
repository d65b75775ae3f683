"""What the provider cut at the output limit is told, goes on, and never runs."""

from __future__ import annotations

import json
from pathlib import Path

from assistant.agent.hooks.output_limit import MAX_CUT_STEPS
from assistant.messages.blocks import Msg, ThinkingBlock, ToolCallBlock, ToolResultBlock
from assistant.messages.events import Event, ToolFinished, TurnFinished
from assistant.models.scripted import OutputCut, ScriptedModel
from tests.fakes.home import call, said_in, say, scripted_assistant, text

HALF = '{"command": "rm -rf build'
CUT_TEXT = (
    "This call was cut off at your output limit of 4096 tokens before its arguments were complete, so it was not run.\n"
    "Make it again with less in it, or in several calls."
)


def ends(events: list[Event]) -> list[str]:
    """How the turns ended."""
    return [event.reason for event in events if isinstance(event, TurnFinished)]


def results(events: list[Event]) -> list[tuple[str, str, str]]:
    """Each tool result: call, state and what the model sees."""
    return [(event.call_id, event.state, event.output) for event in events if isinstance(event, ToolFinished)]


def half_call(number: int) -> list[ToolCallBlock | OutputCut]:
    """A call that was cut in the middle of its arguments."""
    return [call("Bash", HALF, f"call_half{number:07d}"), OutputCut(4096)]


def is_paired(messages: tuple[Msg, ...]) -> bool:
    """Every call has its result."""
    blocks = [block for message in messages for block in message.content]
    calls = {block.id for block in blocks if isinstance(block, ToolCallBlock)}
    return calls == {block.id for block in blocks if isinstance(block, ToolResultBlock)}


async def test_an_answer_that_was_cut_says_so_and_goes_on(home: Path) -> None:
    model = ScriptedModel([[text("The first half"), OutputCut(4096)], [text(" and the second.")]])
    async with scripted_assistant(home, model) as assistant:
        conversation = assistant.conversations.create()
        events = await say(assistant, conversation, "Tell me all")
        past = conversation.attach().history
        again = await say(assistant, conversation, "/continue")
        said = said_in(conversation.attach().history)
    assert (ends(events), ends(past), ends(again)) == (["output_limit"], ["output_limit"], ["completed"])
    assert said == "The first half and the second."
    model.assert_complete()


async def test_a_call_that_was_cut_is_not_run_and_the_model_makes_it_again(home: Path) -> None:
    whole = call("Bash", json.dumps({"command": "pwd"}), "call_whole00001")
    model = ScriptedModel([[text("I tidy."), *half_call(1)], [whole], [text("Done.")]])
    async with scripted_assistant(home, model) as assistant:
        conversation = assistant.conversations.create()
        events = await say(assistant, conversation, "Tidy up")
        waiting = conversation.approvals()
    assert results(events)[0] == ("call_half0000001", "error", CUT_TEXT)
    assert [(name, state) for name, state, _ in results(events)[1:]] == [("call_whole00001", "success")]
    assert (waiting, ends(events)) == ([], ["completed"])
    assert all(is_paired(request.messages) for request in model.requests)


async def test_whole_calls_before_the_cut_are_run(home: Path) -> None:
    whole = call("Bash", json.dumps({"command": "pwd"}), "call_whole00001")
    model = ScriptedModel([[whole, *half_call(1)], [text("Done.")]])
    async with scripted_assistant(home, model) as assistant:
        events = await say(assistant, assistant.conversations.create(), "Look")
    assert {(name, state) for name, state, _ in results(events)} == {
        ("call_half0000001", "error"),
        ("call_whole00001", "success"),
    }
    assert is_paired(model.requests[1].messages)


async def test_a_call_that_was_whole_when_the_limit_came_is_run(home: Path) -> None:
    whole = call("Bash", json.dumps({"command": "pwd"}), "call_whole00001")
    model = ScriptedModel([[whole, OutputCut(4096)], [text("Done.")]])
    async with scripted_assistant(home, model) as assistant:
        events = await say(assistant, assistant.conversations.create(), "Look")
    assert ([state for _, state, _ in results(events)], ends(events)) == (["success"], ["completed"])


async def test_a_model_whose_calls_are_always_cut_is_not_asked_for_ever(home: Path) -> None:
    model = ScriptedModel([*(half_call(number) for number in range(MAX_CUT_STEPS)), [text("Shorter now.")]])
    async with scripted_assistant(home, model) as assistant:
        conversation = assistant.conversations.create()
        events = await say(assistant, conversation, "Write it all")
        again = await say(assistant, conversation, "/continue")
    assert ([state for _, state, _ in results(events)], ends(events)) == (["error"] * MAX_CUT_STEPS, ["output_limit"])
    assert (said_in(again), ends(again)) == ("Shorter now.", ["completed"])
    model.assert_complete()


async def test_thoughts_that_reach_the_limit_end_the_turn(home: Path) -> None:
    model = ScriptedModel([[ThinkingBlock(thinking="Hm. " * 20), OutputCut(0)]])
    async with scripted_assistant(home, model) as assistant:
        events = await say(assistant, assistant.conversations.create(), "Well?")
    assert ends(events) == ["output_limit"]
    model.assert_complete()
