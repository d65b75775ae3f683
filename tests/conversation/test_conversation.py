"""A conversation takes up what is asked of it in order, and tells every reader all of it once."""

from __future__ import annotations

import asyncio
import json
from contextlib import aclosing
from pathlib import Path

import psutil
import pytest

from assistant.conversation.conversation import Conversation
from assistant.errors import ContextOverflowError, SessionInUseError
from assistant.messages.events import (
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
    TurnStarted,
)
from assistant.models.scripted import ScriptedModel, ScriptStep
from tests.conversation.readings import TOUCH, questions, reasons, rows_of, sent_by_user
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


def words(count: int, start: str = "word") -> str:
    """About `count` tokens: what the byte rule counts as one is four letters."""
    return " ".join(f"{start[:3]}" for _ in range(count))


def _command_of(process: psutil.Process) -> list[str]:
    try:
        return process.cmdline()
    except psutil.Error:
        return []


async def fill(*, assistant_of: Conversation, messages: list[str]) -> None:
    """Send the messages one after the other."""
    for message in messages:
        assistant_of.ask(message)
        await assistant_of.wait()


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


async def collect(conversation: Conversation, start: int) -> list[Event]:
    """What is told from a number on until nothing runs."""
    async with aclosing(conversation.follow_until_idle(start)) as told:
        return [numbered.event async for numbered in told]


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


async def test_messages_that_no_request_can_hold_are_sent_as_files(home: Path) -> None:
    model = ScriptedModel([[text("I read it in parts.")], [text("That too.")]])
    long_messages = [words(20_000, "one"), words(20_000, "two")]
    async with scripted_assistant(home, model) as assistant:
        conversation = assistant.conversations.create()
        told = [event for message in long_messages for event in await say(assistant, conversation, message)]

    saved = {path.read_text(encoding="utf-8") for path in (home / "files" / "attached").glob("message-*.txt")}
    assert saved == set(long_messages)
    assert [type(event) for event in told if isinstance(event, Notice)] == [Notice, Notice]
    assert [event.attached[0].shown for event in told if isinstance(event, TurnStarted)] == ["beginning", "beginning"]


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
