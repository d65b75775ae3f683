"""A home is opened by one process, with what its settings and its model allow."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest
from pydantic import SecretStr

from assistant.assembly.assistant import open_assistant
from assistant.assembly.home import open_store
from assistant.config.prompts import render
from assistant.errors import HomeInUseError, ModelError, SessionNotFoundError
from assistant.memory.log import Origin
from assistant.messages.events import MemoryChanged, Notice
from assistant.models.chat_model import connect_or_stand_in
from assistant.models.scripted import ScriptedModel
from tests.fakes.home import home_settings, say, scripted_assistant, text
from tests.fakes.players import SequencePlayer
from tests.fakes.provider import StrictProvider
from tests.fakes.wire import Reply


async def test_a_home_is_owned_by_one_assistant(home: Path) -> None:
    async with scripted_assistant(home, ScriptedModel([])):
        with pytest.raises(HomeInUseError):
            async with scripted_assistant(home, ScriptedModel([])):
                pass


async def test_a_home_can_be_looked_at_while_it_is_open(home: Path) -> None:
    async with scripted_assistant(home, ScriptedModel([[text("Hello.")]])) as assistant:
        conversation = assistant.conversations.create()
        await say(assistant, conversation, "Hi")
        summaries = open_store(home_settings(home)).sessions.list()

    assert [(summary.session_id, summary.title) for summary in summaries] == [(conversation.session_id, "Hi")]


async def test_a_memory_file_that_changes_is_told_in_its_conversation_and_in_the_next_prompt(home: Path) -> None:
    model = ScriptedModel([[text("Hello.")], [text("Hello, Captain.")]])
    async with scripted_assistant(home, model) as assistant:
        conversation = assistant.conversations.create()
        await say(assistant, conversation, "Hi")
        start = conversation.next_number
        soul = assistant.notes.read("SOUL.md")
        assistant.notes.save(
            "SOUL.md", f"{soul.text}\nSay Captain.\n", soul.digest, Origin("owner", conversation.session_id)
        )
        told = [numbered.event async for numbered in conversation.follow_until_idle(start)]
        await say(assistant, conversation, "Hi again")

    assert [event.path for event in told if isinstance(event, MemoryChanged)] == ["SOUL.md"]
    prompts = [request.messages[0].get_text_content() or "" for request in model.requests]
    assert ["Say Captain." in prompt for prompt in prompts] == [False, True]


async def test_what_another_thread_writes_wakes_a_reader_that_waits(home: Path) -> None:
    async with scripted_assistant(home, ScriptedModel([[text("Hello.")]])) as assistant:
        conversation = assistant.conversations.create()
        await say(assistant, conversation, "Hi")
        told = conversation.follow(conversation.next_number)
        waiting = asyncio.ensure_future(anext(told))
        await asyncio.sleep(0)
        origin = Origin("owner", conversation.session_id)
        soul = assistant.notes.read("SOUL.md")
        # Before an event is told in the loop, no reader in it may be woken from outside.
        async with asyncio.timeout(20):
            await asyncio.to_thread(assistant.notes.save, "SOUL.md", "Say Captain.", soul.digest, origin)
            assert isinstance((await waiting).event, MemoryChanged)
        await told.aclose()


async def test_a_conversation_in_the_trash_cannot_be_opened(home: Path) -> None:
    async with scripted_assistant(home, ScriptedModel([[text("Hello.")]])) as assistant:
        conversation = assistant.conversations.create()
        await say(assistant, conversation, "Hi")
        await assistant.conversations.trash(conversation.session_id)
        with pytest.raises(SessionNotFoundError):
            assistant.conversations.open(conversation.session_id)


async def test_a_home_opens_without_its_model_and_goes_on_with_it_when_it_is_there(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("assistant.assembly.assistant.FIRST_LOOK_SECONDS", 0.01)
    monkeypatch.setattr("assistant.assembly.assistant.LAST_LOOK_SECONDS", 0.05)
    with StrictProvider(SequencePlayer()) as provider:
        provider.extra_answers["/v1/models"] = {"data": []}
        settings = home_settings(home, provider="openai", base_url=provider.base_url)
        async with open_assistant(settings, connect=connect_or_stand_in, read_settings=lambda: settings) as assistant:
            first = assistant.model
            conversation = assistant.conversations.create()
            await say(assistant, conversation, "Hi")
            provider.extra_answers["/v1/models"] = {"data": [{"id": "strict-7b"}]}
            async with asyncio.timeout(60):
                while assistant.model.is_stand_in:
                    await asyncio.sleep(0)
            found = assistant.model.name
            titles = [summary.title for summary in assistant.conversations.summaries()]
    assert (first.is_language_model, first.how) == (
        False,
        f"The server at {provider.base_url} has no chat model yet. Load or download one there.",
    )
    assert (found, titles) == ("strict-7b", ["Hi"])


async def test_a_model_that_is_named_is_looked_for_until_its_key_is_taken(home: Path) -> None:
    with StrictProvider(SequencePlayer(Reply(text="Hello.")), api_key="right") as provider:
        address = provider.base_url
        given = [home_settings(home, provider="openai", base_url=address, model="strict-7b", api_key="wrong")]
        async with open_assistant(given[0], connect=connect_or_stand_in, read_settings=lambda: given[-1]) as assistant:
            conversation = assistant.conversations.create()
            await say(assistant, conversation, "Hi")
            reasons = [assistant.model.how]
            given.append(given[0].model_copy(update={"model": "", "api_key": SecretStr("")}))
            with pytest.raises(ModelError):
                await assistant.reconnect_model()
            reasons.append(assistant.model.how)
            given.append(given[0].model_copy(update={"api_key": SecretStr("right")}))
            await assistant.reconnect_model()
            found = assistant.model.name
            goes_on = assistant.conversations.open(conversation.session_id)
            await say(assistant, goes_on, "Hi again")
    assert reasons == [
        f"{address} refused the key. Check the key and that it belongs to this provider.",
        f"{address} asks for a key. Set PALIMPSEST_API_KEY.",
    ]
    assert (found, [entry.path for entry in provider.log]) == ("strict-7b", ["/v1/chat/completions"])


async def test_what_a_server_refuses_is_left_out_from_the_next_start_on_and_told_once(home: Path) -> None:
    no_tools = Reply(status=400, text="strict-7b does not support tools", error_code="invalid_request")
    player = SequencePlayer(no_tools, *[Reply(text="Hello.")] * 3, Reply(text="With tools."))
    told: list[str] = []
    with StrictProvider(player) as provider:
        settings = home_settings(home, provider="openai", base_url=provider.base_url)
        for _ in range(2):
            async with open_assistant(settings, read_settings=lambda: settings) as assistant:
                told += [
                    event.text
                    for event in await say(assistant, assistant.conversations.create(), "Hi")
                    if isinstance(event, Notice)
                ]
        async with open_assistant(settings, read_settings=lambda: settings) as assistant:
            await say(assistant, assistant.conversations.create(), "Hi")
            await assistant.reconnect_model()
            await say(assistant, assistant.conversations.create(), "Hi")
    assert told == [render("refused_tools", "en")]
    assert [bool(request.tools) for request in player.requests] == [True, False, False, False, True]


async def test_a_part_that_was_blamed_in_vain_is_sent_again(home: Path) -> None:
    player = SequencePlayer(
        Reply(status=400, text="tools are not supported", error_code="invalid_request"),
        Reply(status=400, text="a reason of its own", error_code="invalid_request"),
        Reply(text="With tools."),
    )
    with StrictProvider(player) as provider:
        settings = home_settings(home, provider="openai", base_url=provider.base_url)
        async with open_assistant(settings) as assistant:
            for _ in range(2):
                await say(assistant, assistant.conversations.create(), "Hi")
    assert [bool(request.tools) for request in player.requests] == [True, False, True]


async def test_a_model_that_cannot_be_found_again_leaves_the_one_that_answers(home: Path) -> None:
    with StrictProvider(SequencePlayer()) as provider:
        given = [home_settings(home, provider="openai", base_url=provider.base_url)]
        async with open_assistant(given[0], connect=connect_or_stand_in, read_settings=lambda: given[-1]) as assistant:
            given.append(given[0].model_copy(update={"model": "other", "base_url": "http://127.0.0.1:9/v1"}))
            with pytest.raises(ModelError):
                await assistant.reconnect_model()
            assert (assistant.model.name, assistant.model.is_stand_in) == ("strict-7b", False)
