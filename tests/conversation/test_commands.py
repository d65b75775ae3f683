"""What a person types: a command does its work and says so, anything else is a message."""

from __future__ import annotations

from pathlib import Path

import pytest

from assistant.conversation.commands import COMMANDS
from assistant.messages.blocks import text_of
from assistant.messages.events import Event, Notice
from assistant.models.scripted import ScriptedModel
from tests.fakes.home import kinds_of, say, scripted_assistant, text


def notices(events: list[Event]) -> list[str]:
    return [event.text for event in events if isinstance(event, Notice)]


@pytest.mark.parametrize(
    "typed",
    ["/etc/hosts is the file I mean", "Is 1/2 more than 1/3?", " /home/me/notes.txt", "//"],
    ids=["path", "fraction", "path behind white space", "slashes"],
)
async def test_what_only_looks_like_a_command_is_a_message(home: Path, typed: str) -> None:
    model = ScriptedModel([[text("I see.")]])
    async with scripted_assistant(home, model) as assistant:
        await say(assistant, assistant.conversations.create(), typed)

    assert [text_of(message) for message in model.requests[0].messages if message.role == "user"] == [typed]


@pytest.mark.parametrize(
    ("typed", "told"),
    [
        ("/compat", "There is no command /compat. Did you mean /compact?"),
        ("/xyzzy now", "There is no command /xyzzy. /help lists the commands."),
        (
            "/load nothing-like-it",
            "No conversation has the id 'nothing-like-it'. `python -m assistant sessions` lists them.",
        ),
        ("/pin nothing", "No message in the context contains that text."),
        ("/undo", "Nothing to undo: this conversation has not been compacted."),
        ("/model", "A script answers."),
    ],
    ids=lambda value: value.partition(" ")[0],
)
async def test_a_command_that_cannot_be_done_says_so(home: Path, typed: str, told: str) -> None:
    async with scripted_assistant(home, ScriptedModel([])) as assistant:
        events = await say(assistant, assistant.conversations.create(), typed)

    assert notices(events) == [told]


async def test_white_space_alone_is_nothing(home: Path) -> None:
    async with scripted_assistant(home, ScriptedModel([])) as assistant:
        assert await say(assistant, assistant.conversations.create(), " \n ") == []


async def test_help_lists_every_command(home: Path) -> None:
    async with scripted_assistant(home, ScriptedModel([])) as assistant:
        (told,) = notices(await say(assistant, assistant.conversations.create(), "/help"))

    assert [line.partition(":")[0] for line in told.splitlines()] == [command.usage for command in COMMANDS.values()]


async def test_a_title_is_saved_and_the_conversation_found_by_it(home: Path) -> None:
    async with scripted_assistant(home, ScriptedModel([[text("Hello.")]])) as assistant:
        first = assistant.conversations.create()
        await say(assistant, first, "Hi")
        saved = notices(await say(assistant, first, "/save The garden"))
        second = (await assistant.submit(first, "/new")).conversation
        third = (await assistant.submit(second, "/load garden")).conversation

    assert saved == [f"Saved as “The garden” ({first.session_id})."]
    assert second is not first
    assert third is first


async def test_a_conversation_is_put_on_top_and_back_also_before_anything_was_said(home: Path) -> None:
    async with scripted_assistant(home, ScriptedModel([[text("Hello.")]])) as assistant:
        conversation = assistant.conversations.create()
        on = notices(await say(assistant, conversation, "/top"))
        await say(assistant, conversation, "Hi")
        listed = [one.is_on_top for one in assistant.conversations.summaries()]
        off = notices(await say(assistant, conversation, "/top"))

    assert (on, listed) == (["This conversation stays at the top of the list."], [True])
    assert off == ["This conversation is back among the others."]
    assert [one.is_on_top for one in assistant.conversations.summaries()] == [False]


async def test_history_and_context_show_what_was_said(home: Path) -> None:
    async with scripted_assistant(home, ScriptedModel([[text("Hello.")]])) as assistant:
        conversation = assistant.conversations.create()
        await say(assistant, conversation, "Good morning")
        (history,) = notices(await say(assistant, conversation, "/history"))
        (context,) = notices(await say(assistant, conversation, "/context"))

    assert history.splitlines()[0] == "1 messages of yours, 0 compactions. The newest:"
    assert history.endswith("Good morning")
    assert [line.split("  ")[-1] for line in context.splitlines()[-3:-1]] == [
        "You: text: Good morning",
        "Assistant: text: Hello.",
    ]


async def test_stop_where_nothing_runs_does_nothing(home: Path) -> None:
    async with scripted_assistant(home, ScriptedModel([])) as assistant:
        assert kinds_of(await say(assistant, assistant.conversations.create(), "/stop")) == []


async def test_a_command_that_only_looks_leaves_what_is_saved_as_it_is(home: Path) -> None:
    async with scripted_assistant(home, ScriptedModel([[text("Hello.")]])) as assistant:
        conversation = assistant.conversations.create()
        await say(assistant, conversation, "Good morning")
        saved = [item.text for item in conversation.context_items() if item.key]
        for typed in ("/history", "/context", "/help", "/model", "/memory morning", "/pin", "/stop", "/nothing"):
            await say(assistant, conversation, typed)
    async with scripted_assistant(home, ScriptedModel([])) as assistant:
        reopened = assistant.conversations.open(conversation.session_id)
        assert [item.text for item in reopened.context_items() if item.key] == saved == ["Good morning", "Hello."]
