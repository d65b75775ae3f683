"""Versions of an answer or a message: one stands, the others can, and a branch leaves both as they are."""

from __future__ import annotations

from pathlib import Path

import pytest

from assistant.agent.attachments.file_reading import GivenFile
from assistant.assembly.assistant import Assistant
from assistant.conversation.conversation import Conversation
from assistant.messages.blocks import text_of
from assistant.messages.events import Notice, TurnStarted, VersionShown, VersionsKnown
from assistant.models.scripted import ScriptedModel
from tests.conversation.readings import questions
from tests.fakes.home import SUMMARY, said_in, say, scripted_assistant, text


async def carried_out(conversation: Conversation, start: int) -> list[object]:
    """The events of what was just asked of a conversation."""
    return [numbered.event async for numbered in conversation.follow_until_idle(start)]


async def answered_twice(assistant: Assistant) -> Conversation:
    conversation = assistant.conversations.create()
    await say(assistant, conversation, "A name for the boat?")
    await say(assistant, conversation, "/retry")
    return conversation


async def test_the_first_answer_is_shown_again_and_the_next_message_goes_on_from_it(home: Path) -> None:
    model = ScriptedModel([[text("Kestrel.")], [text("Osprey.")], [text("It is.")]])
    async with scripted_assistant(home, model) as assistant:
        conversation = await answered_twice(assistant)
        (question,) = [event for event in conversation.attach().history if isinstance(event, TurnStarted)]
        known = VersionsKnown("answer", question.message_id, 2, 2)
        assert conversation.versions() == [known]
        assert known in conversation.attach().history
        shown = await say(assistant, conversation, "/version 1")
        assert VersionShown("answer", question.message_id, 1, 2, "Kestrel.") in shown
        assert said_in(conversation.attach().history) == "Kestrel."
        await say(assistant, conversation, "Is it a bird?")
        session_id = conversation.session_id
    assert [text_of(message) for message in model.requests[2].messages[1:]] == [
        "A name for the boat?",
        "Kestrel.",
        "Is it a bird?",
    ]
    async with scripted_assistant(home, ScriptedModel([])) as assistant:
        conversation = assistant.conversations.open(session_id)
        assert said_in(conversation.attach().history) == "Kestrel.It is."
        await say(assistant, conversation, "/version 2")
        assert said_in(conversation.attach().history) == "Osprey."
        await say(assistant, conversation, "/version 1")
        assert said_in(conversation.attach().history) == "Kestrel.It is."


async def test_an_edited_message_has_the_first_one_behind_it_with_all_that_followed(home: Path) -> None:
    model = ScriptedModel([[text("One.")], [text("Two.")], [text("Other.")]])
    async with scripted_assistant(home, model) as assistant:
        conversation = assistant.conversations.create()
        await say(assistant, conversation, "First")
        await say(assistant, conversation, "Second")
        start = conversation.next_number
        conversation.edit(conversation.questions()[0].message_id, "Instead")
        await carried_out(conversation, start)
        assert questions(conversation.attach().history) == ["Instead"]
        await say(assistant, conversation, "/version 1")
        history = conversation.attach().history
        assert (questions(history), said_in(history)) == (["First", "Second"], "One.Two.")
        assert conversation.questions()[0].later_messages == 3


@pytest.mark.parametrize(
    ("typed", "told"),
    [
        ("/version", "There is only one version here: answer again or edit a message to make another."),
        ("/branch kestrel", "No message of yours here contains that text, so there is nothing to branch from."),
    ],
)
async def test_what_cannot_be_done_is_said(home: Path, typed: str, told: str) -> None:
    async with scripted_assistant(home, ScriptedModel([])) as assistant:
        events = await say(assistant, assistant.conversations.create(), typed)
    assert [event.text for event in events if isinstance(event, Notice)] == [told]


async def test_a_version_that_is_not_there_changes_nothing(home: Path) -> None:
    model = ScriptedModel([[text("Kestrel.")], [text("Osprey.")]])
    async with scripted_assistant(home, model) as assistant:
        conversation = await answered_twice(assistant)
        events = await say(assistant, conversation, "/version 7")
        assert [event.text for event in events if isinstance(event, Notice)] == [
            "There is no version 7: this place has 2."
        ]
        assert said_in(conversation.attach().history) == "Osprey."
        for typed in ("/version", f"/version {'9' * 5_000}", "/version -1"):
            told = await say(assistant, conversation, typed)
            assert "has 2 versions; number 2 stands here" in str(told)


async def test_a_version_is_not_changed_where_it_was_folded_into_a_summary(home: Path) -> None:
    model = ScriptedModel([[text("Kestrel.")], [text("Osprey.")], [text("Noted.")], [text(SUMMARY)]])
    async with scripted_assistant(home, model) as assistant:
        conversation = assistant.conversations.create()
        await say(assistant, conversation, "one word " * 1_250)
        await say(assistant, conversation, "/retry")
        await say(assistant, conversation, "two words " * 1_250)
        await say(assistant, conversation, "/compact")
        events = await say(assistant, conversation, "/version 1")
        assert "folded into the summary" in str([event for event in events if isinstance(event, Notice)])
        assert said_in(conversation.attach().history) == "Osprey.Noted."


async def test_a_branch_begins_with_what_stands_and_leaves_the_original(home: Path, tmp_path: Path) -> None:
    model = ScriptedModel([[text("One.")], [text("Two.")], [text("Three.")]])
    note = tmp_path / "note.txt"
    note.write_text("the kept words", "utf-8")
    async with scripted_assistant(home, model) as assistant:
        first = assistant.conversations.create()
        first.ask("First", [GivenFile("note.txt", note, 14, "text", "the kept words")])
        await first.wait()
        await say(assistant, first, "Second")
        before = first.attach().history
        branch = (await assistant.submit(first, "/branch first")).conversation
        assert branch.session_id != first.session_id
        assert branch.title == "Branch of First"
        assert said_in(branch.attach().history) == "One."
        await say(assistant, branch, "Another way")
        assert said_in(branch.attach().history) == "One.Three."
        assert first.attach().history == before
        assert len(assistant.conversations.summaries()) == 2
        kept = home / "files" / "attached" / "note.txt"
        await assistant.conversations.trash(first.session_id)
        await assistant.trash.empty()
        assert kept.read_text("utf-8") == "the kept words"
        await assistant.conversations.trash(branch.session_id)
        await assistant.trash.empty()
        assert not kept.exists()


async def test_a_branch_has_nothing_of_the_versions_that_do_not_stand_and_keeps_its_pins(home: Path) -> None:
    model = ScriptedModel([[text("One.")], [text("Two.")]])
    async with scripted_assistant(home, model) as assistant:
        first = assistant.conversations.create()
        await say(assistant, first, "First")
        await say(assistant, first, "/pin First")
        # The script has an end, so the third answer fails.
        for words in ("Second", "Third"):
            await say(assistant, first, words)
        start = first.next_number
        first.edit(first.questions()[1].message_id, "Instead")
        await carried_out(first, start)
        await say(assistant, first, "/version 1")
        first.edit(first.questions()[2].message_id, "Other third")
        await first.wait()
        branch = (await assistant.submit(first, "/branch Second")).conversation
        failed = [event.type for event in branch.attach().history if event.type.startswith("turn_")]
        assert failed == ["turn_started", "turn_finished"] * 2
        assert [item.is_pinned for item in branch.context_items() if item.is_user] == [True, False]
