"""A home is opened by one process, with what its settings and its model allow."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from assistant.assembly import open_guest, open_member
from assistant.errors import HomeInUseError, SessionNotFoundError
from assistant.events import MemoryChanged
from assistant.home import open_store
from assistant.memory.log import Origin
from assistant.models.scripted import ScriptedModel
from tests.fakes.home import home_settings, say, scripted_assistant, text

PASSWORD_HASH = "scrypt.2.1.1." + "00" * 16 + "." + "11" * 32


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


@pytest.mark.parametrize(
    ("tools", "window_tokens", "expected"),
    [("ask", 16_000, True), ("read-only", 16_000, True), ("off", 16_000, False), ("ask", 8_192, False)],
)
async def test_file_tools_need_a_window_and_a_permission(
    home: Path, tools: str, window_tokens: int, expected: bool
) -> None:
    async with scripted_assistant(
        home, ScriptedModel([[text("Hi.")]]), tools=tools, max_input_length=window_tokens
    ) as assistant:
        model = assistant.model.model
        await say(assistant, assistant.conversations.create(), "Hello")

    assert isinstance(model, ScriptedModel)
    assert ("Bash" in model.requests[0].tools) is expected


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


async def test_a_guest_has_a_home_that_is_thrown_away_and_nothing_of_the_owner(home: Path) -> None:
    async with open_guest(home_settings(home, host="0.0.0.0", provider="auto", api_key="key", tools="ask")) as guest:
        root = guest.workspace.root
        await say(guest, guest.conversations.create(), "Hello")
        await guest.reconnect_model()
        kept = (guest.model.is_language_model, guest.has_file_tools, guest.workspace.root == root)

    assert (kept, root.exists(), home.exists()) == ((False, False, True), False, False)


async def test_a_member_has_a_home_of_their_own_and_no_tools_also_with_the_settings_read_anew(home: Path) -> None:
    pairs = ",".join(f"{name}:{PASSWORD_HASH}" for name in ("ada", "Ben"))
    settings = home_settings(home, users=pairs, tools="ask")
    home.mkdir()
    (home / ".env").write_text(f"PALIMPSEST_USERS={pairs}\nPALIMPSEST_PROVIDER=offline\n")
    async with open_member(settings, settings.accounts[1]) as member:
        (member.workspace.root / ".env").write_text("PALIMPSEST_TOOLS=ask\n")
        before = (member.workspace.root, member.has_file_tools)
        await member.reconnect_model()
        after = (member.settings.home, member.has_file_tools)

    assert before == after == (home / "users" / "ben", False)
