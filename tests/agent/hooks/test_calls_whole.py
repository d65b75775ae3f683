"""Half a call is not run: the model is told, and gives it again."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from assistant.agent.hooks.calls import ends_within_text
from assistant.messages.events import ApprovalRequested, ToolFinished
from assistant.models.scripted import ScriptedModel
from tests.fakes.home import call, say, scripted_assistant, text

WHOLE = json.dumps({"content": 'a "quoted" line\\ and\nanother, 好', "category": "fact"})
CUT_TEXT = (
    "This call was cut off before its arguments were complete, so it was not run.\n"
    "Make it again with less in it, or in several calls."
)


def test_a_call_that_ends_anywhere_within_a_text_is_known() -> None:
    inside = [ends_within_text(WHOLE[:length]) for length in range(len(WHOLE) + 1)]
    opened = [not _is_closed(WHOLE[:length]) for length in range(len(WHOLE) + 1)]
    assert inside == opened
    assert inside.count(True) > 50


def _is_closed(text: str) -> bool:
    """True where every quotation mark that opens has its end."""
    return text.replace("\\\\", "").replace('\\"', "").count('"') % 2 == 0


@pytest.mark.parametrize(
    "arguments",
    ["", "{}", WHOLE, '{"a": "b"', '{"a": "b"}}', "{'a': 'b'}", '{"a": "line\nline"}', "[" * 100_000, "go on"],
    ids=["nothing", "empty", "whole", "no brace", "two braces", "single", "raw line end", "deep", "no JSON"],
)
def test_other_broken_json_is_left_to_who_mends_it(arguments: str) -> None:
    assert not ends_within_text(arguments)


async def test_two_calls_that_were_cut_off_run_neither_and_the_model_gives_them_again(home: Path) -> None:
    command = call("Bash", '{"command": "touch made.txt', "call_cut0001")
    save = call("memory_save", '{"content": "The cellar key hangs behind the bl', "call_cut0002")
    again = call("memory_save", '{"content": "The key hangs behind the blue door."}', "call_cut0003")
    model = ScriptedModel([[command, save], [again], [text("Saved.")]])
    async with scripted_assistant(home, model, memory="on", recall="off") as assistant:
        events = await say(assistant, assistant.conversations.create(), "Remember where the key is")
    model.assert_complete()
    finished = [event for event in events if isinstance(event, ToolFinished)]
    assert [(event.state, event.output) for event in finished[:2]] == [("denied", CUT_TEXT)] * 2
    assert [event.state for event in finished[2:]] == ["success"]
    assert [event for event in events if isinstance(event, ApprovalRequested)] == []
    assert not (home / "files" / "made.txt").exists()
    assert "cellar" not in (home / "MEMORY.md").read_text(encoding="utf-8")
    assert "- The key hangs behind the blue door." in (home / "MEMORY.md").read_text(encoding="utf-8")
