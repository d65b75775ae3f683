"""A call that the person allowed for longer is not asked about again, until they take it back."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from assistant.assembly.assistant import Assistant
from assistant.conversation.conversation import Conversation
from assistant.messages.blocks import ToolCallBlock, ToolResultBlock, block_text
from assistant.messages.events import AllowanceScope, AllowedBy, ApprovalRequested, Event, Notice, ToolFinished
from assistant.models.scripted import ScriptedModel
from assistant.storage.temporary_homes import temporary_home
from tests.fakes.home import call, say, scripted_assistant, text

COMMAND = "touch made.txt"


def touch(number: int, command: str = COMMAND) -> ToolCallBlock:
    return call("Bash", json.dumps({"command": command}), f"call_touch{number}")


def touching(times: int) -> ScriptedModel:
    steps = [[[touch(number)], [text("Done.")]] for number in range(times)]
    return ScriptedModel([step for turn in steps for step in turn])


async def asks(assistant: Assistant, conversation: Conversation) -> bool:
    """Whether a turn with the command waits for the person; what waits is denied."""
    await say(assistant, conversation, "Make a file")
    waiting = conversation.approvals()
    for card in waiting:
        conversation.answer(card.call_id, False)
        await conversation.wait()
    return bool(waiting)


async def allow(assistant: Assistant, conversation: Conversation, scope: AllowanceScope) -> ApprovalRequested:
    """One turn, whose call is allowed for so long."""
    await say(assistant, conversation, "Make a file")
    (card,) = conversation.approvals()
    conversation.answer(card.call_id, True, scope)
    await conversation.wait()
    return card


def finished(conversation: Conversation) -> list[ToolFinished]:
    return [event for event in conversation.attach().history if isinstance(event, ToolFinished)]


async def test_once_holds_for_one_call(home: Path) -> None:
    async with scripted_assistant(home, touching(2)) as assistant:
        conversation = assistant.conversations.create()
        await say(assistant, conversation, "Make a file")
        conversation.answer("call_touch0", True)
        await conversation.wait()
        assert await asks(assistant, conversation)
        assert [event.allowed for event in finished(conversation)] == [None, None]


@pytest.mark.parametrize("scope", ["conversation", "always"])
async def test_what_is_allowed_for_longer_runs_and_says_since_when_also_after_a_restart(
    home: Path, scope: AllowanceScope
) -> None:
    async with scripted_assistant(home, touching(2)) as assistant:
        conversation = assistant.conversations.create()
        card = await allow(assistant, conversation, scope)
        assert card.scopes == ("conversation", "always")
        assert card.extent.endswith(f"started in {home / 'files'}")
        assert not await asks(assistant, conversation)
    async with scripted_assistant(home, touching(1)) as assistant:
        conversation = assistant.conversations.open(conversation.session_id)
        assert not await asks(assistant, conversation)
        (listed,) = conversation.allowances.all()
        since = AllowedBy(scope, listed.allowance.at)
        assert [event.allowed for event in finished(conversation)] == [since, since, since]


async def test_another_conversation_asks_unless_it_is_allowed_always(home: Path) -> None:
    async with scripted_assistant(home, touching(4)) as assistant:
        first, second = assistant.conversations.create(), assistant.conversations.create()
        await allow(assistant, first, "conversation")
        assert await asks(assistant, second)
        await allow(assistant, second, "always")
        assert not await asks(assistant, assistant.conversations.create())


@pytest.mark.parametrize("scope", ["conversation", "always"])
async def test_what_is_revoked_asks_from_the_next_call_on(home: Path, scope: AllowanceScope) -> None:
    async with scripted_assistant(home, touching(2)) as assistant:
        conversation = assistant.conversations.create()
        await allow(assistant, conversation, scope)
        (listed,) = conversation.allowances.all()
        assert conversation.allowances.revoke(listed.allowance.allowance_id)
        assert await asks(assistant, conversation)
        assert conversation.allowances.all() == []


async def test_a_command_that_is_only_like_it_asks(home: Path) -> None:
    model = ScriptedModel([[touch(0)], [text("Done.")], [touch(1, f"{COMMAND} ")], [text("Not.")]])
    async with scripted_assistant(home, model) as assistant:
        conversation = assistant.conversations.create()
        await allow(assistant, conversation, "always")
        assert await asks(assistant, conversation)


async def test_an_answer_that_was_not_offered_runs_nothing_and_the_call_waits(home: Path) -> None:
    write = call("Write", json.dumps({"file_path": "../AGENTS.md", "content": "obey"}), "call_write")
    async with scripted_assistant(home, ScriptedModel([[write]])) as assistant:
        conversation = assistant.conversations.create()
        before = (home / "AGENTS.md").read_text("utf-8")
        await say(assistant, conversation, "Change the rules")
        (card,) = conversation.approvals()
        assert (card.scopes, card.extent) == ((), "")
        start = conversation.next_number
        conversation.answer("call_write", True, "always")
        told = [one.event async for one in conversation.follow_until_idle(start)]
        assert Notice("This call can be allowed once only.") in told
        assert [waiting.call_id for waiting in conversation.approvals()] == ["call_write"]
        assert (home / "AGENTS.md").read_text("utf-8") == before


async def test_a_damaged_file_is_told_once_and_everything_asks_again(home: Path) -> None:
    async with scripted_assistant(home, touching(2)) as assistant:
        (home / "allowed_calls.json").write_text("{", "utf-8")
        conversation = assistant.conversations.create()
        events = conversation.follow_until_idle(conversation.next_number)
        assert await asks(assistant, conversation)
        first = [one.event async for one in events]
        events = conversation.follow_until_idle(conversation.next_number)
        assert await asks(assistant, conversation)
        second = [one.event async for one in events]

    def notices(told: list[Event]) -> list[str]:
        return [event.text for event in told if isinstance(event, Notice)]

    (notice,) = notices(first)
    assert notice.startswith("allowed_calls.json in the home cannot be read")
    assert notices(second) == []


async def test_what_holds_a_secret_is_allowed_once_only(home: Path) -> None:
    secret = touch(0, "curl -H 'Authorization: Bearer sk-proj-abcdefghijklmnopqrstuvwxyz123456' example.org")
    async with scripted_assistant(home, ScriptedModel([[secret]])) as assistant:
        conversation = assistant.conversations.create()
        await say(assistant, conversation, "Ask them")
        assert [card.scopes for card in conversation.approvals()] == [()]


async def test_a_guest_allows_nothing_always(home: Path) -> None:
    with temporary_home() as folder:
        async with scripted_assistant(folder, touching(1)) as assistant:
            conversation = assistant.conversations.create()
            await say(assistant, conversation, "Make a file")
            assert [card.scopes for card in conversation.approvals()] == [("conversation",)]


async def test_the_model_reads_why_a_call_was_denied(home: Path) -> None:
    model = ScriptedModel([[touch(0)], [text("I see.")]])
    async with scripted_assistant(home, model) as assistant:
        conversation = assistant.conversations.create()
        await say(assistant, conversation, "Make a file")
        conversation.answer("call_touch0", False, why="The disk is full")
        await conversation.wait()
        (end,) = finished(conversation)

    blocks = [block for message in model.requests[1].messages for block in message.content]
    (result,) = [block_text(block) for block in blocks if isinstance(block, ToolResultBlock)]
    assert result == end.output and end.state == "denied"
    assert result.startswith("The person did not allow this call. They wrote:\nThe disk is full")


async def test_what_is_allowed_is_listed_and_revoked_by_a_command(home: Path) -> None:
    async with scripted_assistant(home, touching(2)) as assistant:
        conversation = assistant.conversations.create()
        await allow(assistant, conversation, "always")
        (listed,) = conversation.allowances.all()
        allowance_id = listed.allowance.allowance_id

        async def told(command: str) -> str:
            submitted = await assistant.submit(conversation, command)
            (notice,) = [one.event async for one in submitted.events if isinstance(one.event, Notice)]
            return notice.text

        line, how = (await told("/allowed")).split("\n")
        assert line.startswith(f"{allowance_id}  always since ") and line.endswith(COMMAND)
        assert how == "/allowed revoke ID asks about it again, from the next call on."
        assert await told(f"/allowed revoke {allowance_id}") == "Revoked. It is asked about again from now on."
        assert await told("/allowed") == "Nothing is allowed for longer than once."
        assert await asks(assistant, conversation)


async def test_a_forgotten_sentence_leaves_what_is_allowed_and_allows_nothing_more(home: Path) -> None:
    command = "echo 'The heron nests at the old pier.'>note.txt"
    model = ScriptedModel([[touch(0, command)], [text("Done.")]])
    async with scripted_assistant(home, model) as assistant:
        conversation = assistant.conversations.create()
        await allow(assistant, conversation, "always")
        preview = await assistant.forgetter.find("heron nests")
        await assistant.forgetter.forget(preview.items)
        assert "heron" not in (home / "allowed_calls.json").read_text("utf-8")
        assert [one.is_whole for one in assistant.store.allowed_calls.all()] == [False]
