"""A conversation owns its turns: nothing that was said is lost, whatever stops, fails, waits or comes between."""

from __future__ import annotations

import asyncio
import json
from contextlib import aclosing
from pathlib import Path

import psutil
import pytest

from assistant.conversation.conversation import Conversation
from assistant.errors import ContextOverflowError, ModelError, SessionInUseError
from assistant.events import (
    ApprovalRequested,
    CompactionUndone,
    ContextCompressed,
    ContextMeasured,
    Event,
    MemoryChanged,
    Notice,
    TextDelta,
    ToolFinished,
    ToolStarted,
    TurnFailed,
    TurnFinished,
    TurnStarted,
)
from assistant.journal.rows import BlockRow, DroppedRow, Row
from assistant.messages import ToolCallBlock, ToolResultBlock, block_text, text_of
from assistant.models.scripted import ScriptedModel, ScriptedRequest, ScriptStep
from assistant.sessions.session_file import file_names
from tests.fakes.home import (
    SUMMARY,
    call,
    kinds_of,
    said_in,
    say,
    scripted_assistant,
    text,
    until,
)

TOUCH = call("Bash", json.dumps({"command": "touch made.txt"}), "call_touch0001")


def words(count: int, start: str = "word") -> str:
    """About `count` tokens: what the byte rule counts as one is four letters."""
    return " ".join(f"{start[:3]}" for _ in range(count))


def sent_by_user(request: ScriptedRequest) -> list[str]:
    return [text_of(message) for message in request.messages if message.role == "user"]


def rows_of(assistant_rows: list[Row], role: str) -> list[str]:
    return [block_text(row.block) for row in assistant_rows if isinstance(row, BlockRow) and row.role == role]


def reasons(events: list[Event]) -> list[str]:
    return [event.reason for event in events if isinstance(event, TurnFinished)]


def questions(events: list[Event]) -> list[str]:
    return [event.text for event in events if isinstance(event, TurnStarted)]


async def test_a_question_is_on_disk_when_ask_returns(home: Path) -> None:
    async with scripted_assistant(home, ScriptedModel([[text("Hello.")]])) as assistant:
        conversation = assistant.conversations.create()
        conversation.ask("Good morning")
        rows = rows_of(assistant.store.journal.rows(conversation.session_id), "user")
        await conversation.wait()

    assert rows == ["Good morning"]


async def test_messages_are_queued_and_answered_in_order(home: Path) -> None:
    gate = asyncio.Event()
    model = ScriptedModel([[gate, text("One.")], [text("Two.")], [text("Three.")]])
    async with scripted_assistant(home, model) as assistant:
        conversation = assistant.conversations.create()
        for message in ("first", "second", "third"):
            conversation.ask(message)
        queued = conversation.queued
        gate.set()
        await conversation.wait()
        history = conversation.attach().history

    assert queued == ("second", "third")
    assert [sent_by_user(request) for request in model.requests] == [
        ["first"],
        ["first", "second"],
        ["first", "second", "third"],
    ]
    assert kinds_of(history) == ["turn_started", "text_delta", "turn_finished"] * 3
    model.assert_complete()


async def test_many_queued_messages_are_taken_up_in_one_go(home: Path) -> None:
    model = ScriptedModel([[asyncio.Event()]])
    async with scripted_assistant(home, model, max_input_length=128_000) as assistant:
        conversation = assistant.conversations.create()
        for number in range(300):
            conversation.ask(f"message {number}")
    async with scripted_assistant(home, ScriptedModel([[text("All read.")]]), max_input_length=128_000) as assistant:
        conversation = assistant.conversations.open(conversation.session_id)
        taken = questions(conversation.attach().history)
        told = await say(assistant, conversation, "And?")

    assert taken == [f"message {number}" for number in range(300)]
    assert said_in(told) == "All read."


async def test_white_space_around_a_message_is_kept(home: Path) -> None:
    model = ScriptedModel([[text("Python.")]])
    async with scripted_assistant(home, model) as assistant:
        await say(assistant, assistant.conversations.create(), "    indented:\n        code\n")

    assert sent_by_user(model.requests[0]) == ["    indented:\n        code\n"]


async def test_a_queued_message_is_there_after_the_process_ended(home: Path) -> None:
    async with scripted_assistant(home, ScriptedModel([[asyncio.Event()]])) as assistant:
        conversation = assistant.conversations.create()
        conversation.ask("first")
        conversation.ask("second")
        await until(conversation, TurnStarted, 0)
        session_id = conversation.session_id

    model = ScriptedModel([[text("Both.")]])
    async with scripted_assistant(home, model) as assistant:
        conversation = assistant.conversations.open(session_id)
        before = conversation.attach().history
        conversation.continue_turn()
        await conversation.wait()
        rows = rows_of(assistant.store.journal.rows(session_id), "user")

    assert (questions(before), reasons(before)) == (["first", "second"], ["interrupted", "interrupted"])
    assert sent_by_user(model.requests[0]) == ["first", "second"]
    assert rows == ["first", "second"]


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


def sleepers() -> list[int]:
    """Children of this process that sleep as the test said."""
    children = psutil.Process().children(recursive=True)
    return [child.pid for child in children if "4242" in " ".join(_command_of(child))]


def _command_of(process: psutil.Process) -> list[str]:
    try:
        return process.cmdline()
    except psutil.Error:
        return []


async def test_stop_in_a_compaction_changes_nothing_and_asks_nothing_again(home: Path) -> None:
    model = ScriptedModel([[text("Noted.")], [text("Noted.")], [asyncio.Event(), text(SUMMARY)]])
    async with scripted_assistant(home, model, compact_threshold=9_000) as assistant, asyncio.timeout(20):
        conversation = assistant.conversations.create()
        await fill(assistant_of=conversation, messages=[words(3_000, "one"), words(2_000, "two")])
        before = [item.text for item in conversation.context_items() if item.key]
        conversation.compact()
        while len(model.requests) < 3:
            await asyncio.sleep(0)
        await conversation.stop()
        after = [item.text for item in conversation.context_items() if item.key]

    assert after == before
    assert len(model.requests) == 3


async def fill(*, assistant_of: Conversation, messages: list[str]) -> None:
    """Send the messages one after the other."""
    for message in messages:
        assistant_of.ask(message)
        await assistant_of.wait()


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


def touch(name: str) -> ToolCallBlock:
    return call("Bash", json.dumps({"command": f"touch {name}"}), f"call_touch_{name}")


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


async def test_a_parked_call_survives_a_compaction(home: Path) -> None:
    model = ScriptedModel([[text("Noted.")], [TOUCH], [text(SUMMARY)], [text("Made.")]])
    async with scripted_assistant(home, model) as assistant:
        conversation = assistant.conversations.create()
        await fill(assistant_of=conversation, messages=[words(3_000)])
        await say(assistant, conversation, "Make a file")
        compacted = await say(assistant, conversation, "/compact")
        approvals = [approval.call_id for approval in conversation.approvals()]
        conversation.answer("call_touch0001", True)
        await conversation.wait()

    assert any(isinstance(event, ContextCompressed) for event in compacted)
    assert approvals == ["call_touch0001"]
    assert (home / "files" / "made.txt").exists()
    model.assert_complete()


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


async def test_undo_brings_every_message_back_after_a_restart(home: Path) -> None:
    said = [words(2_500, "one"), words(2_500, "two")]
    model = ScriptedModel([[text("Noted.")], [text("Noted.")], [text(SUMMARY)]])
    async with scripted_assistant(home, model) as assistant:
        conversation = assistant.conversations.create()
        await fill(assistant_of=conversation, messages=said)
        await say(assistant, conversation, "/compact")
        kept = [item.text for item in conversation.context_items() if item.is_user]
        session_id = conversation.session_id
    async with scripted_assistant(home, ScriptedModel([])) as assistant:
        conversation = assistant.conversations.open(session_id)
        undone = await say(assistant, conversation, "/undo")
        back = [item.text for item in conversation.context_items() if item.is_user]
        history = conversation.attach().history

    assert kept == [said[1]]
    assert [type(event) for event in undone if isinstance(event, CompactionUndone)] == [CompactionUndone]
    assert back == said
    assert [event.is_undone for event in history if isinstance(event, ContextCompressed)] == [True]


async def test_undo_during_a_turn_comes_before_its_next_step(home: Path) -> None:
    said = [words(2_000, "one"), words(2_000, "two")]
    gate = asyncio.Event()
    look = call("Bash", '{"command": "pwd"}', "call_pwd000001")
    model = ScriptedModel([[text("Noted.")], [text("Noted.")], [text(SUMMARY)], [gate, look], [text("Done.")]])
    async with scripted_assistant(home, model) as assistant:
        conversation = assistant.conversations.create()
        await fill(assistant_of=conversation, messages=said)
        await say(assistant, conversation, "/compact")
        conversation.ask("Look")
        conversation.undo()
        gate.set()
        await conversation.wait()

    assert [sent_by_user(request)[-2:] for request in model.requests[3:]] == [[said[1], "Look"], [said[1], "Look"]]
    assert sent_by_user(model.requests[4]) == [*said, "Look"]


async def test_a_compaction_asked_for_in_the_last_step_comes_when_the_turn_ends(home: Path) -> None:
    gate = asyncio.Event()
    model = ScriptedModel([[text("Noted.")], [gate, text("Done.")], [text(SUMMARY)]])
    async with scripted_assistant(home, model) as assistant:
        conversation = assistant.conversations.create()
        await fill(assistant_of=conversation, messages=[words(3_000)])
        conversation.ask("Go on")
        await until(conversation, TurnStarted, conversation.attach().start)
        while len(model.requests) < 2:
            await asyncio.sleep(0)
        conversation.compact()
        gate.set()
        await conversation.wait()
        history = conversation.attach().history

    # Whether the flush has written its note by now is another matter.
    kinds = [kind for kind in kinds_of(history) if kind != "memory_changed"]
    assert kinds[-2:] == ["turn_finished", "context_compressed"]
    model.assert_complete()


async def test_undo_shortens_the_results_it_brings_back(home: Path) -> None:
    read = [[call("Bash", '{"command": "cat long.txt"}', f"call_cat00000{number}")] for number in range(4)]
    model = ScriptedModel([*read, [text("All four read.")], [text("Thanks.")], [text(SUMMARY)]])
    async with scripted_assistant(home, model) as assistant:
        (home / "files" / "long.txt").write_text("\n".join(f"line {n} of it" for n in range(2_000)), encoding="utf-8")
        conversation = assistant.conversations.create()
        await say(assistant, conversation, "Read it four times")
        await say(assistant, conversation, "Thank you")
        await say(assistant, conversation, "/compact")
        undone = await say(assistant, conversation, "/undo")

    assert [event.text for event in undone if isinstance(event, Notice)] == []
    assert any(isinstance(event, CompactionUndone) for event in undone)


async def test_however_often_it_is_folded_and_taken_back_a_message_stands_on_disk_once(home: Path) -> None:
    rounds = 6
    steps: list[ScriptStep] = [[text("Noted.")]]
    for _ in range(rounds):
        steps += [[text("Noted.")], [text(SUMMARY)]]
    async with scripted_assistant(home, ScriptedModel(steps)) as assistant:
        conversation = assistant.conversations.create()
        await say(assistant, conversation, f"{words(700)} The locker code is 4471.")
        for number in range(rounds):
            await say(assistant, conversation, words(700, f"round{number}"))
            await say(assistant, conversation, "/compact")
        folded = text_files_with(home, "The locker code is 4471.")
        for _ in range(rounds):
            await say(assistant, conversation, "/undo")
        context = [item.text for item in conversation.context_items() if item.key]

    assert [path.parent.name for path in folded] == ["dialog"]
    assert folded[0].read_text(encoding="utf-8").count("The locker code is 4471.") == 1
    assert len([words for words in context if "The locker code is 4471." in words]) == 1


def text_files_with(home: Path, words: str) -> list[Path]:
    """The files of the home, but for the index, that hold these words."""
    paths = sorted(path for path in home.rglob("*") if path.is_file() and "index" not in path.parts)
    return [path for path in paths if words.encode() in path.read_bytes()]


async def measured_parts(conversation: Conversation) -> set[str]:
    """The parts of the window that hold something."""
    start = conversation.next_number
    conversation.measure()
    async for numbered in conversation.follow_until_idle(start):
        if isinstance(numbered.event, ContextMeasured):
            return {part.name for part in numbered.event.parts}
    return set()


async def test_a_pin_is_sent_word_for_word_after_two_compactions(home: Path) -> None:
    model = ScriptedModel(
        [[text("Noted.")], [text("Noted.")], [text(SUMMARY)], [text("Noted.")], [text(SUMMARY)], [text("Seven.")]]
    )
    async with scripted_assistant(home, model) as assistant:
        conversation = assistant.conversations.create()
        await say(assistant, conversation, "The locker code is 4471 and the gate opens at seven.")
        await say(assistant, conversation, "/pin locker")
        await fill(assistant_of=conversation, messages=[words(3_000)])
        await say(assistant, conversation, "/compact")
        await fill(assistant_of=conversation, messages=[words(3_000, "two")])
        await say(assistant, conversation, "/compact")
        await say(assistant, conversation, "When does the gate open?")
        pinned = [(item.part, item.text) for item in conversation.context_items() if item.is_pinned]
        parts = await measured_parts(conversation)

    assert pinned == [("pins", "The locker code is 4471 and the gate opens at seven.")]
    assert {"summary", "pins", "messages"} <= parts
    sent = "\n".join(sent_by_user(model.requests[-1]))
    assert sent.count("The locker code is 4471 and the gate opens at seven.") == 1
    model.assert_complete()


async def test_messages_that_no_request_can_hold_are_saved_as_files(home: Path) -> None:
    model = ScriptedModel([])
    long_messages = [words(20_000, "one"), words(20_000, "two")]
    async with scripted_assistant(home, model) as assistant:
        conversation = assistant.conversations.create()
        told = [event for message in long_messages for event in await say(assistant, conversation, message)]

    saved = {path.read_text(encoding="utf-8") for path in (home / "files").glob("message-*.txt")}
    assert saved == set(long_messages)
    assert [type(event) for event in told] == [Notice, Notice]


async def test_a_request_that_the_provider_finds_too_long_is_compacted_and_sent_again(home: Path) -> None:
    too_long = ContextOverflowError("This model's maximum context length is 16000 tokens.")
    model = ScriptedModel([[text("Noted.")], too_long, [text(SUMMARY)], [text("Now it fits.")]])
    async with scripted_assistant(home, model) as assistant:
        conversation = assistant.conversations.create()
        await fill(assistant_of=conversation, messages=[words(3_000)])
        events = await say(assistant, conversation, "And now?")

    assert (said_in(events), reasons(events)) == ("Now it fits.", ["completed"])
    assert [event.reason for event in events if isinstance(event, ContextCompressed)] == ["overflow"]


async def test_a_conversation_that_is_open_elsewhere_is_refused(home: Path) -> None:
    async with scripted_assistant(home, ScriptedModel([[text("Hello.")]])) as assistant:
        conversation = assistant.conversations.create()
        await say(assistant, conversation, "Hi")
        with (
            assistant.store.sessions.open_lock("other"),
            pytest.raises(SessionInUseError),
        ):
            assistant.conversations.open("other")
        with pytest.raises(SessionInUseError), assistant.store.sessions.open_lock(conversation.session_id):
            pass


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


async def test_who_attaches_in_the_middle_of_a_turn_gets_every_event_once(home: Path) -> None:
    gate = asyncio.Event()
    model = ScriptedModel([[text("First.")], [text("Half "), gate, text("and half.")]])
    async with scripted_assistant(home, model) as assistant:
        conversation = assistant.conversations.create()
        await say(assistant, conversation, "one")
        conversation.ask("two")
        await until(conversation, TextDelta, conversation.attach().start)
        late = conversation.attach()
        following = asyncio.ensure_future(collect(conversation, late.start))
        gate.set()
        seen = [*late.history, *await following]

    assert (questions(seen), said_in(seen), reasons(seen)) == (
        ["one", "two"],
        "First.Half and half.",
        ["completed", "completed"],
    )


async def test_who_attaches_while_an_allowed_call_runs_sees_what_was_said_before(home: Path) -> None:
    gate = asyncio.Event()
    model = ScriptedModel([[text("I make it."), TOUCH], [gate, text("Made.")]])
    async with scripted_assistant(home, model) as assistant:
        conversation = assistant.conversations.create()
        await say(assistant, conversation, "Make a file")
        conversation.answer("call_touch0001", True)
        await until(conversation, ToolFinished, conversation.next_number)
        late = conversation.attach()
        following = asyncio.ensure_future(collect(conversation, late.start))
        gate.set()
        seen = [*late.history, *await following]

    assert (questions(seen), said_in(seen)) == (["Make a file", ""], "I make it.Made.")
    assert [type(event) for event in seen if isinstance(event, ToolStarted | ToolFinished | ApprovalRequested)] == [
        ToolStarted,
        ToolFinished,
    ]
    assert reasons(seen) == ["awaiting_approval", "completed"]


async def collect(conversation: Conversation, start: int) -> list[Event]:
    """What is told from a number on until nothing runs."""
    async with aclosing(conversation.follow_until_idle(start)) as told:
        return [numbered.event async for numbered in told]


async def test_a_reader_that_lags_behind_gets_the_end_of_one_turn_and_the_next(home: Path) -> None:
    model = ScriptedModel([[text("One.")], [text("Two.")]])
    async with scripted_assistant(home, model) as assistant:
        conversation = assistant.conversations.create()
        slow = conversation.follow_until_idle(0)
        conversation.ask("first")
        conversation.ask("second")
        await conversation.wait()
        async with aclosing(slow):
            seen = [numbered.event async for numbered in slow]

    assert (questions(seen), said_in(seen)) == (["first", "second"], "One.Two.")
    assert reasons(seen) == ["completed", "completed"]


async def test_what_was_written_to_memory_is_told_at_its_place_after_a_restart(home: Path) -> None:
    save = call("memory_save", json.dumps({"content": "Likes tea", "category": "preference"}), "call_save0001")
    model = ScriptedModel([[save], [text("Noted.")], [text("Hello.")]])
    async with scripted_assistant(home, model, memory="on") as assistant:
        conversation = assistant.conversations.create()
        live = await say(assistant, conversation, "I like tea")
        await say(assistant, conversation, "Hello")
        session_id = conversation.session_id
    async with scripted_assistant(home, ScriptedModel([]), memory="on") as assistant:
        history = assistant.conversations.open(session_id).attach().history
        (change,) = [event for event in history if isinstance(event, MemoryChanged)]
        known = assistant.memory_log.change(change.change_id)

    assert change in live
    assert kinds_of(history) == [
        "turn_started", "tool_started", "tool_finished", "memory_changed", "text_delta", "turn_finished",
        "turn_started", "text_delta", "turn_finished",
    ]  # fmt: skip
    assert known is not None
    assert known.turn_id == [event.message_id for event in history if isinstance(event, TurnStarted)][0]


async def test_an_empty_context_keeps_the_journal(home: Path) -> None:
    model = ScriptedModel([[text("One.")], [text("Two.")]])
    async with scripted_assistant(home, model) as assistant:
        conversation = assistant.conversations.create()
        await say(assistant, conversation, "first")
        await say(assistant, conversation, "/clear")
        await say(assistant, conversation, "second")
        rows = rows_of(assistant.store.journal.rows(conversation.session_id, include_dropped=True), "user")

    assert sent_by_user(model.requests[1]) == ["second"]
    assert rows == ["first", "second"]


async def test_the_meter_counts_the_tools_after_a_restart(home: Path) -> None:
    async with scripted_assistant(home, ScriptedModel([[text("One.")]])) as assistant:
        conversation = assistant.conversations.create()
        told = await say(assistant, conversation, "first")
        session_id = conversation.session_id
    async with scripted_assistant(home, ScriptedModel([])) as assistant:
        conversation = assistant.conversations.open(session_id)
        conversation.measure()
        again = await collect(conversation, 0)

    def tools(events: list[Event]) -> set[int]:
        parts = [part for event in events if event.type == "context_measured" for part in event.parts]
        return {part.tokens for part in parts if part.name == "tools"}

    # The counter learns from the provider's own counts, so the figures may differ a little.
    assert max(tools(again)) in range(min(tools(told)) - 20, max(tools(told)) + 20)
