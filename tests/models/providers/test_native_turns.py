"""The assistant over each provider's own protocol: a turn with two commands, of which a person allows one."""

from __future__ import annotations

from pathlib import Path

import pytest

from assistant.assembly.assistant import open_assistant
from assistant.messages.events import ApprovalRequested, ThinkingDelta, ToolFinished, TurnFinished
from tests.fakes.home import home_settings, said_in, say
from tests.fakes.wire import Reply, ReplyCall
from tests.models.providers.native_cases import CASES, NativeCase

COMMANDS = Reply(
    thinking="Two files are asked for.",
    text="I make both.",
    calls=(ReplyCall("Bash", {"command": "touch one.txt"}), ReplyCall("Bash", {"command": "touch two.txt"})),
)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
async def test_a_command_is_allowed_another_denied_and_the_turn_goes_on(case: NativeCase, home: Path) -> None:
    with case.serve(COMMANDS, Reply(text="One is there."), Reply(text="Again, one.")) as server:
        chosen = {"provider": case.name, "base_url": server.address, "model": server.MODEL, "tools": "ask"}
        key = {"api_key": server.key} if case.has_key else {}
        async with open_assistant(home_settings(home, **chosen, **key)) as assistant:
            assert not assistant.model.is_stand_in
            conversation = assistant.conversations.create()
            events = await say(assistant, conversation, "Make one.txt and two.txt")
            for is_allowed in (True, False):
                asked = [event for event in events if isinstance(event, ApprovalRequested)][-1]
                start = conversation.next_number
                conversation.answer(asked.call_id, is_allowed)
                events += [numbered.event async for numbered in conversation.follow_until_idle(start)]
            again = await say(assistant, conversation, "And?")

    assert server.malformed == []
    assert [event.state for event in events if isinstance(event, ToolFinished)] == ["success", "denied"]
    assert [(home / "files" / name).exists() for name in ("one.txt", "two.txt")] == [True, False]
    thought = "".join(event.text for event in events if isinstance(event, ThinkingDelta))
    assert thought == ("Two files are asked for." if case.shows_thoughts else "")
    assert said_in(events) == "I make both.One is there."
    assert said_in(again) == "Again, one."
    assert isinstance(again[-1], TurnFinished)
    sent = [str(entry.body) for entry in server.log]
    assert ["Two files are asked for." in body for body in sent[1:]] == [case.returns_thoughts] * 2
