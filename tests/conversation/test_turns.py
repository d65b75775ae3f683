"""A turn leaves a valid context and every word, whatever stops it, fails, waits or goes on."""

from __future__ import annotations

import asyncio
import json
import shutil
from pathlib import Path

import psutil

from assistant.errors import ModelError
from assistant.messages.blocks import ToolCallBlock, ToolResultBlock, block_text, text_of
from assistant.messages.events import (
    Notice,
    TextDelta,
    ToolFinished,
    TurnFailed,
)
from assistant.models.scripted import ScriptedModel
from assistant.storage.journal.rows import DroppedRow
from assistant.storage.sessions.session_file import file_names
from tests.conversation.readings import TOUCH, questions, reasons, rows_of, sent_by_user
from tests.fakes.home import (
    call,
    kinds_of,
    said_in,
    say,
    scripted_assistant,
    text,
    until,
)


def sleepers() -> list[int]:
    """Children of this process that sleep as the test said."""
    children = psutil.Process().children(recursive=True)
    return [child.pid for child in children if "4242" in " ".join(_command_of(child))]


def _command_of(process: psutil.Process) -> list[str]:
    try:
        return process.cmdline()
    except psutil.Error:
        return []


def touch(name: str) -> ToolCallBlock:
    return call("Bash", json.dumps({"command": f"touch {name}"}), f"call_touch_{name}")


async def test_stop_in_a_stream_keeps_what_was_said(home: Path) -> None:
    model = ScriptedModel([[text("The first half"), asyncio.Event(), text("never said")], [text("Well.")]])
    async with scripted_assistant(home, model) as assistant:
        conversation = assistant.conversations.create()
        conversation.ask("Tell me all")
        await until(conversation, TextDelta, 0)
        await conversation.stop()
        history = conversation.attach().history
        await say(assistant, conversation, "And now?")

    assert (said_in(history), reasons(history)) == ("The first half", ["interrupted"])
    assert [text_of(message) for message in model.requests[1].messages[1:]] == [
        "Tell me all",
        "The first half",
        "And now?",
    ]


async def test_a_kill_in_a_stream_keeps_what_was_said_and_the_turn_goes_on_behind_it(
    home: Path, tmp_path: Path
) -> None:
    copy = tmp_path / "killed"
    model = ScriptedModel([[text("The first half"), asyncio.Event(), text("never said")]])
    async with scripted_assistant(home, model) as assistant:
        conversation = assistant.conversations.create()
        conversation.ask("Tell me all")
        await until(conversation, TextDelta, 0)
        session_id = conversation.session_id
        async with asyncio.timeout(20):
            while not assistant.workspace.draft_path(session_id).exists():
                await asyncio.sleep(0)
        # The disk as a kill leaves it now.
        shutil.copytree(home, copy, ignore=shutil.ignore_patterns("*.lock", "owner.json", "index"))
        await conversation.stop()
        assert not assistant.workspace.draft_path(session_id).exists()
    after = ScriptedModel([[text(" and the second.")]])
    async with scripted_assistant(copy, after) as assistant:
        conversation = assistant.conversations.open(session_id)
        assert said_in(conversation.attach().history) == "The first half"
        assert rows_of(assistant.store.journal.rows(session_id), "assistant") == ["The first half"]
        assert not assistant.workspace.draft_path(session_id).exists()
        start = conversation.next_number
        conversation.continue_turn()
        told = [numbered.event async for numbered in conversation.follow_until_idle(start)]
    assert said_in(told) == " and the second."
    assert [text_of(message) for message in after.requests[0].messages][-1:] == ["The first half"]


async def test_stop_before_the_first_step_keeps_the_question(home: Path) -> None:
    gate = asyncio.Event()
    model = ScriptedModel([[gate, text("Hello.")], [text("Hello.")]])
    async with scripted_assistant(home, model) as assistant:
        conversation = assistant.conversations.create()
        conversation.ask("Are you there?")
        await conversation.stop()
        stopped = conversation.attach().history
        gate.set()
        conversation.continue_turn()
        await conversation.wait()

    assert (questions(stopped), reasons(stopped)) == (["Are you there?"], ["interrupted"])
    assert sent_by_user(model.requests[-1]) == ["Are you there?"]


async def test_stop_ends_a_running_command_and_pairs_its_call(home: Path) -> None:
    sleeping = call("Bash", json.dumps({"command": "sleep 4242"}), "call_sleep0001")
    model = ScriptedModel([[sleeping], [text("As you wish.")]])
    async with scripted_assistant(home, model) as assistant, asyncio.timeout(20):
        conversation = assistant.conversations.create()
        await say(assistant, conversation, "Sleep")
        conversation.answer("call_sleep0001", True)
        while not sleepers():
            await asyncio.sleep(0.01)
        await conversation.stop()
        left = sleepers()
        history = conversation.attach().history
        await say(assistant, conversation, "Never mind")

    assert left == []
    assert [event.state for event in history if isinstance(event, ToolFinished)] == ["interrupted"]
    assert reasons(history)[-1] == "interrupted"
    blocks = [block for message in model.requests[1].messages for block in message.content]
    assert [block.id for block in blocks if isinstance(block, ToolResultBlock)] == ["call_sleep0001"]


async def test_a_model_that_fails_mid_stream_leaves_the_question_and_what_it_said(home: Path) -> None:
    model = ScriptedModel([[text("It begins"), ModelError("The connection broke.")], [text(" and ends.")]])
    async with scripted_assistant(home, model) as assistant:
        conversation = assistant.conversations.create()
        failed = await say(assistant, conversation, "Tell me")
        session_id = conversation.session_id
    async with scripted_assistant(home, model) as assistant:
        conversation = assistant.conversations.open(session_id)
        history = conversation.attach().history
        conversation.continue_turn()
        await conversation.wait()
        whole = conversation.attach().history

    assert kinds_of(failed) == ["turn_started", "text_delta", "turn_failed"]
    assert (questions(history), said_in(history)) == (["Tell me"], "It begins")
    assert [event.error for event in history if isinstance(event, TurnFailed)] == ["The connection broke."]
    assert (questions(whole), said_in(whole), reasons(whole)) == (["Tell me"], "It begins and ends.", ["completed"])


async def test_a_model_that_cannot_be_reached_leaves_the_question(home: Path) -> None:
    model = ScriptedModel([ModelError("Nobody answers."), [text("Here I am.")]])
    async with scripted_assistant(home, model) as assistant:
        conversation = assistant.conversations.create()
        await say(assistant, conversation, "Hello?")
        conversation.continue_turn()
        await conversation.wait()

    assert [sent_by_user(request) for request in model.requests] == [["Hello?"], ["Hello?"]]


async def test_a_parked_call_survives_a_restart_and_runs_when_allowed(home: Path) -> None:
    async with scripted_assistant(home, ScriptedModel([[text("I make it."), TOUCH]])) as assistant:
        conversation = assistant.conversations.create()
        parked = await say(assistant, conversation, "Make a file")
        session_id = conversation.session_id

    model = ScriptedModel([[text("Made.")]])
    async with scripted_assistant(home, model) as assistant:
        conversation = assistant.conversations.open(session_id)
        history = conversation.attach().history
        conversation.answer("call_touch0001", True)
        await conversation.wait()
        whole = conversation.attach().history

    expected = ["turn_started", "text_delta", "tool_started", "approval_requested", "turn_finished"]
    assert kinds_of(parked) == kinds_of(history) == expected
    assert reasons(history) == ["awaiting_approval"]
    assert (home / "files" / "made.txt").exists()
    assert kinds_of(whole) == [
        "turn_started",
        "text_delta",
        "tool_started",
        "tool_finished",
        "text_delta",
        "turn_finished",
    ]


async def test_a_denied_call_does_not_run_and_the_model_is_told(home: Path) -> None:
    model = ScriptedModel([[TOUCH], [text("Then not.")]])
    async with scripted_assistant(home, model) as assistant:
        conversation = assistant.conversations.create()
        await say(assistant, conversation, "Make a file")
        conversation.answer("call_touch0001", False)
        await conversation.wait()
        history = conversation.attach().history

    assert not (home / "files" / "made.txt").exists()
    assert [event.state for event in history if isinstance(event, ToolFinished)] == ["denied"]
    assert reasons(history) == ["completed"]


async def test_a_message_sent_meanwhile_denies_the_parked_call_with_that_text(home: Path) -> None:
    model = ScriptedModel([[TOUCH], [text("I see.")]])
    async with scripted_assistant(home, model) as assistant:
        conversation = assistant.conversations.create()
        await say(assistant, conversation, "Make a file")
        await say(assistant, conversation, "No, rather tell me the time")
        approvals = conversation.approvals()

    blocks = [block for message in model.requests[1].messages for block in message.content]
    results = [block_text(block) for block in blocks if isinstance(block, ToolResultBlock)]
    assert approvals == []
    assert len(results) == 1 and "No, rather tell me the time" in results[0]
    assert sent_by_user(model.requests[1]) == ["Make a file", "No, rather tell me the time"]


async def test_parallel_calls_are_asked_one_after_the_other(home: Path) -> None:
    model = ScriptedModel([[touch("one"), touch("two")], [text("One of two.")]])
    async with scripted_assistant(home, model) as assistant:
        conversation = assistant.conversations.create()
        await say(assistant, conversation, "Make two files")
        first = [card.call_id for card in conversation.approvals()]
        conversation.answer("call_touch_one", True)
        await conversation.wait()
        second = [card.call_id for card in conversation.approvals()]
        conversation.answer("call_touch_two", False)
        await conversation.wait()
        history = conversation.attach().history

    assert (first, second) == (["call_touch_one"], ["call_touch_two"])
    assert [event.state for event in history if isinstance(event, ToolFinished)] == ["success", "denied"]
    assert [(home / "files" / name).exists() for name in ("one", "two")] == [True, False]
    assert (said_in(history), reasons(history)) == ("One of two.", ["completed"])


async def test_calls_that_are_asked_together_are_answered_one_by_one(home: Path, tmp_path: Path) -> None:
    outside = tmp_path / "outside.txt"
    outside.write_text("far away", encoding="utf-8")
    reads = [call("Read", json.dumps({"file_path": str(outside)}), f"call_read_{number}") for number in "ab"]
    model = ScriptedModel([reads, [text("Both read.")]])
    async with scripted_assistant(home, model) as assistant:
        conversation = assistant.conversations.create()
        await say(assistant, conversation, "Read it twice")
        together = [card.call_id for card in conversation.approvals()]
        conversation.answer("call_read_a", True)
        await conversation.wait()
        waiting = conversation.attach().history
        left = [card.call_id for card in conversation.approvals()]
        conversation.answer("call_read_b", True)
        await conversation.wait()
        history = conversation.attach().history

    assert (together, left) == (["call_read_a", "call_read_b"], ["call_read_b"])
    assert kinds_of(waiting)[-3:] == ["tool_finished", "approval_requested", "turn_finished"]
    assert [event.state for event in history if isinstance(event, ToolFinished)] == ["success", "success"]
    model.assert_complete()


async def test_a_message_denies_every_call_that_waits_or_would_follow(home: Path) -> None:
    model = ScriptedModel([[touch("one"), touch("two")], [text("Then not.")]])
    async with scripted_assistant(home, model) as assistant:
        conversation = assistant.conversations.create()
        await say(assistant, conversation, "Make two files")
        await say(assistant, conversation, "Leave it")
        history = conversation.attach().history

    assert [event.state for event in history if isinstance(event, ToolFinished)] == ["denied", "denied"]
    assert reasons(history) == ["interrupted", "completed"]


async def test_a_turn_does_not_go_on_over_a_call_that_waits(home: Path) -> None:
    async with scripted_assistant(home, ScriptedModel([[TOUCH]])) as assistant:
        conversation = assistant.conversations.create()
        await say(assistant, conversation, "Make a file")
        told = await say(assistant, conversation, "/continue")
        approvals = [card.call_id for card in conversation.approvals()]

    assert [event.text for event in told if isinstance(event, Notice)] == [
        "A call waits for your answer first: allow or deny it."
    ]
    assert approvals == ["call_touch0001"]


async def test_an_answer_without_a_word_is_told(home: Path) -> None:
    async with scripted_assistant(home, ScriptedModel([[], [text("Sorry: yes.")]])) as assistant:
        conversation = assistant.conversations.create()
        empty = await say(assistant, conversation, "Is it?")
        again = await say(assistant, conversation, "/retry")

    assert [event.text for event in empty if isinstance(event, Notice)] == [
        "The model ended its turn without a word. Ask again, or retry."
    ]
    assert said_in(again) == "Sorry: yes."


async def test_an_answer_to_a_call_that_no_longer_waits_does_nothing(home: Path) -> None:
    async with scripted_assistant(home, ScriptedModel([[text("Hello.")]])) as assistant:
        conversation = assistant.conversations.create()
        await say(assistant, conversation, "Hi")
        start = conversation.next_number
        conversation.answer("call_touch0001", True)
        await conversation.wait()

    assert conversation.next_number == start


async def test_a_turn_ends_at_its_step_limit_and_goes_on(home: Path) -> None:
    look = [[call("Bash", '{"command": "pwd"}', f"call_pwd00000{number}")] for number in range(3)]
    model = ScriptedModel([*look, [text("That was all.")]])
    async with scripted_assistant(home, model, max_steps=2) as assistant:
        conversation = assistant.conversations.create()
        first = await say(assistant, conversation, "Look around")
        start = conversation.next_number
        conversation.continue_turn()
        await conversation.wait()
        history = conversation.attach().history

    assert start > 0 and reasons(first) == ["max_steps"]
    assert (questions(history), reasons(history), said_in(history)) == (["Look around"], ["completed"], "That was all.")
    model.assert_complete()


async def test_retry_drops_the_answer_from_the_context_and_not_from_the_journal(home: Path) -> None:
    model = ScriptedModel([[text("Bad answer.")], [text("Good answer.")]])
    async with scripted_assistant(home, model) as assistant:
        conversation = assistant.conversations.create()
        await say(assistant, conversation, "Explain")
        conversation.retry()
        await conversation.wait()
        history = conversation.attach().history
        rows = assistant.store.journal.rows(conversation.session_id, include_dropped=True)

    assert [text_of(message) for message in model.requests[1].messages[1:]] == ["Explain"]
    assert (said_in(history), reasons(history)) == ("Good answer.", ["completed"])
    assert rows_of(rows, "assistant") == ["Bad answer.", "Good answer."]
    assert [(row.reason, len(row.keys)) for row in rows if isinstance(row, DroppedRow)] == [("retry", 1)]


async def test_an_edit_drops_the_message_and_all_that_followed(home: Path) -> None:
    model = ScriptedModel([[text("One.")], [text("Two.")], [text("New.")]])
    async with scripted_assistant(home, model) as assistant:
        conversation = assistant.conversations.create()
        await say(assistant, conversation, "first")
        await say(assistant, conversation, "second")
        message_id = next(item.key.message_id for item in conversation.context_items() if item.key and item.is_user)
        conversation.edit(message_id, "first, but better")
        await conversation.wait()
        history = conversation.attach().history
        rows = assistant.store.journal.rows(conversation.session_id, include_dropped=True)

    assert sent_by_user(model.requests[2]) == ["first, but better"]
    assert questions(history) == ["first, but better"]
    assert rows_of(rows, "user") == ["first", "second", "first, but better"]


async def test_an_edit_takes_a_call_that_waits_with_it(home: Path) -> None:
    model = ScriptedModel([[text("One.")], [text("I would touch it."), TOUCH], [text("New.")]])
    async with scripted_assistant(home, model) as assistant:
        conversation = assistant.conversations.create()
        await say(assistant, conversation, "first")
        await say(assistant, conversation, "touch a file")
        waiting = conversation.approvals()
        questions_before = [question.later_messages for question in conversation.questions()]
        conversation.edit(conversation.questions()[1].message_id, "leave it")
        await conversation.wait()
        history = conversation.attach().history

    assert (len(waiting), questions_before, conversation.approvals()) == (1, [3, 1], [])
    assert sent_by_user(model.requests[2]) == ["first", "leave it"]
    assert (questions(history), reasons(history)) == (["first", "leave it"], ["completed", "completed"])


async def test_an_edit_of_a_message_that_is_gone_changes_nothing(home: Path) -> None:
    async with scripted_assistant(home, ScriptedModel([[text("One.")]])) as assistant:
        conversation = assistant.conversations.create()
        await say(assistant, conversation, "first")
        conversation.edit("unknown", "something else")
        await conversation.wait()
        history = conversation.attach().history
        session_id = conversation.session_id
    async with scripted_assistant(home, ScriptedModel([])) as assistant:
        again = assistant.conversations.open(session_id).attach().history

    assert questions(history) == questions(again) == ["first"]


async def test_a_turn_cut_by_a_crash_is_there_and_goes_on(home: Path) -> None:
    gate = asyncio.Event()
    model = ScriptedModel([[text("Hello.")], [call("Bash", '{"command": "pwd"}', "call_pwd000001")], [gate]])
    async with scripted_assistant(home, model) as assistant:
        conversation = assistant.conversations.create()
        await say(assistant, conversation, "Hi")
        session_id = conversation.session_id
        path = home / "sessions" / file_names("owner", session_id)[0]
        older = path.read_bytes()
        conversation.ask("Look around")
        await until(conversation, ToolFinished, 0)
        journal = {file: file.read_bytes() for file in (home / "dialog").glob("*.jsonl")}
    # The disk as a kill in the middle of the turn leaves it.
    path.write_bytes(older)
    for file, content in journal.items():
        file.write_bytes(content)

    again = ScriptedModel([[text("I am in files.")]])
    async with scripted_assistant(home, again) as assistant:
        conversation = assistant.conversations.open(session_id)
        before = conversation.attach().history
        conversation.continue_turn()
        await conversation.wait()
        after = conversation.attach().history

    assert (questions(before), reasons(before)) == (["Hi", "Look around"], ["completed", "interrupted"])
    assert (questions(after), reasons(after)) == (["Hi", "Look around"], ["completed", "completed"])
    assert said_in(after) == "Hello.I am in files."
    calls = [block for message in again.requests[0].messages for block in message.content]
    assert [block.id for block in calls if isinstance(block, ToolCallBlock)] == ["call_pwd000001"]
