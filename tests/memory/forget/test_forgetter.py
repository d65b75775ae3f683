"""What a person chooses is forgotten in an open assistant too: no turn, index or later start brings it back."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Sequence
from pathlib import Path

import pytest

from assistant.assembly.assistant import Assistant, open_assistant
from assistant.assembly.home import end_nothing, make_forgetter, open_home, open_store
from assistant.config.settings import Settings
from assistant.conversation.conversation import Conversation
from assistant.errors import HomeInUseError, PalimpsestError
from assistant.index.dialog import read_dialog
from assistant.index.memory_index import SearchAnswer
from assistant.index.search_notices import FORGETTING, NO_EMBEDDER
from assistant.memory.forget.forgetter import (
    ForgetItem,
    ForgetPreview,
    Receipt,
    chosen_items,
    preview_lines,
    receipt_text,
)
from assistant.memory.forget.places import ForgetPlace, Gone
from assistant.messages.blocks import Msg, TextBlock, UserMsg
from assistant.messages.events import Event, MemoryChanged, Notice, TextDelta
from assistant.models.scripted import ScriptedModel
from tests.fakes.home import SUMMARY, scripted_assistant, text, until
from tests.index.fakes import HashEmbedder
from tests.index.homes import opened

EN = "My phone number is 555-0142."
ZH = "我的手机号是 138-0013-8000。"


def item(number: int) -> ForgetItem:
    return ForgetItem(f"k{number}", f"Fact {number}.", "exact", (ForgetPlace("memory", "USER.md", number),) * number)


PREVIEW = ForgetPreview("fact", tuple(item(number) for number in range(1, 5)))


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    return Settings(home=tmp_path / "home", provider="offline", embedder="none", memory_store_backend="local")


@pytest.fixture
async def assistant(settings: Settings) -> AsyncIterator[Assistant]:
    async with open_assistant(settings) as opened_assistant:
        yield opened_assistant


async def told(assistant: Assistant, conversation: Conversation, text: str) -> list[Event]:
    """What a command or message brings."""
    return [numbered.event async for numbered in (await assistant.submit(conversation, text)).events]


def notices(events: Sequence[Event]) -> list[str]:
    return [event.text for event in events if isinstance(event, Notice)]


def holders(root: Path, fact: str) -> list[str]:
    paths = [path for path in root.rglob("*") if path.is_file() and fact.encode() in path.read_bytes()]
    return sorted(path.relative_to(root).as_posix() for path in paths)


@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        ("all", [1, 2, 3]),
        ("全部", [1, 2, 3]),
        ("1", [1]),
        ("#3, 1", [1, 3]),
        ("1-2", [1, 2]),
        ("2-9", []),
        ("4", []),
        ("0", []),
        ("phone 1", []),
        ("", []),
    ],
)
def test_an_answer_names_what_was_shown(answer: str, expected: list[int]) -> None:
    assert chosen_items(PREVIEW, answer, 3) == [item(number) for number in expected]


def test_a_preview_is_numbered_and_says_where() -> None:
    assert preview_lines(PREVIEW, 3) == [
        "1. Fact 1.\n   USER.md:1 (memory)",
        "2. Fact 2.\n   USER.md:2 (memory)",
        "3. Fact 3.\n   USER.md:3 (memory)",
        "… and 1 more: say it more exactly.",
    ]
    assert preview_lines(ForgetPreview("", (item(4),)), 3) == ["1. Fact 4.\n   USER.md:4 (memory) and 1 more places"]


def test_a_receipt_says_what_went_where() -> None:
    receipt = Receipt(2, (Gone("memory", "USER.md", 1), Gone("journal", "dialog", 3)))
    assert receipt_text(receipt) == (
        "Forgotten: 2 sentences.\nGone from: 1 × USER.md (memory); 3 × dialog (journal).\n"
        "The search index and its vectors hold it no more."
    )
    assert receipt_text(Receipt(1, (), ("Not yet.",))) == (
        "Forgotten: 1 sentence.\nIt stood nowhere any more.\nNot yet."
    )


async def test_a_fact_is_remembered_found_and_forgotten_from_the_conversation(assistant: Assistant) -> None:
    conversation = assistant.conversations.create()
    events = await told(assistant, conversation, f"/remember {EN}")
    assert [event.path for event in events if isinstance(event, MemoryChanged)] == ["MEMORY.md"]
    assert notices(events) == ["Remembered in MEMORY.md."]
    assert notices(await told(assistant, conversation, f"/remember {EN}")) == ["It stands there already."]
    await told(assistant, conversation, f"Hello there! {EN} Bye.")
    await assistant.index.sync()
    found = notices(await told(assistant, conversation, "/memory phone number"))
    assert "MEMORY.md:" in found[0]
    assert "dialog/" in found[0]

    preview = notices(await told(assistant, conversation, "/forget 555-0142"))
    assert preview[0].startswith(f"1. {EN}\n")
    assert "/forget all" in preview[0]
    assert holders(assistant.workspace.root, "555-0142") != []

    (receipt,) = notices(await told(assistant, conversation, "/forget all"))
    assert receipt.startswith("Forgotten: ")
    assert holders(assistant.workspace.root, "555-0142") == []
    again = assistant.conversations.open(conversation.session_id)
    assert again is not conversation
    assert notices(again.attach().history) == [receipt]
    assert "Hello there! ⟦forgotten⟧ Bye." in str(again.context_items())
    (nothing,) = notices(await told(assistant, again, "/memory 555-0142"))
    assert nothing.startswith("Nothing was found.")
    assert notices(await told(assistant, again, "/forget 555-0142")) == [
        "It stands nowhere: not in memory, not in a conversation."
    ]


async def test_numbers_answer_only_what_was_shown(assistant: Assistant) -> None:
    conversation = assistant.conversations.create()
    await told(assistant, conversation, "/remember Room 1 is blue")
    assert "Room 1 is blue" in notices(await told(assistant, conversation, "/forget 1"))[0]
    assert "Room 1 is blue" in assistant.notes.read("MEMORY.md").text
    assert "Say what" in notices(await told(assistant, conversation, "/forget"))[0]


@pytest.mark.parametrize("command", ["/remember", "/memory"])
async def test_a_command_without_its_text_says_how_it_is_used(assistant: Assistant, command: str) -> None:
    (text,) = notices(await told(assistant, assistant.conversations.create(), command))
    assert text.startswith(command)


async def test_a_conversation_that_is_open_elsewhere_could_write_it_again(settings: Settings) -> None:
    async with open_assistant(settings) as assistant:
        conversation = assistant.conversations.create()
        await told(assistant, conversation, f"/remember {EN}")
        await told(assistant, conversation, "/forget 555-0142")
        with open_store(settings).sessions.open_lock("held"):
            (refused,) = notices(await told(assistant, conversation, "/forget all"))
        assert len(assistant.conversations.all_open()) == 1
        assert "Another process has a conversation open" in refused
        assert EN in assistant.notes.read("MEMORY.md").text
        assert not assistant.workspace.forget_path.exists()


async def test_a_process_beside_the_owner_talks_and_forgets_nothing(settings: Settings) -> None:
    async with open_assistant(settings) as owner:
        await told(owner, owner.conversations.create(), f"/remember {EN}")
        with pytest.raises(HomeInUseError):
            async with open_assistant(settings):
                pass
        async with open_assistant(settings, may_be_owned=True) as beside:
            assert beside.other_owner is not None
            conversation = beside.conversations.create()
            await told(beside, conversation, "hello")
            await told(beside, conversation, "/forget 555-0142")
            (refused,) = notices(await told(beside, conversation, "/forget all"))
            assert "is in use by process" in refused
    assert EN in (settings.home / "MEMORY.md").read_text(encoding="utf-8")


async def test_a_forget_that_was_cut_off_is_finished_when_the_home_is_opened(settings: Settings) -> None:
    async with open_home(settings) as home:
        home.store.notes.add_lines("USER.md", "About", [EN, ZH, "likes tea"], "owner")
        await home.index.sync()
        preview = await make_forgetter(home.store, home.index, end_nothing).find("手机号")
        home.store.forget_files.begin([found.key for found in preview.items])
    assert holders(settings.home, "138-0013-8000") != []
    async with open_assistant(settings) as assistant:
        answer = await assistant.index.search("手机号")
        assert all("138-0013-8000" not in hit.text for hit in answer.hits)
        assert not assistant.workspace.forget_path.exists()
    assert holders(settings.home, "138-0013-8000") == []
    assert EN in (settings.home / "USER.md").read_text(encoding="utf-8")


async def test_what_the_disk_refused_is_forgotten_at_the_next_start(settings: Settings) -> None:
    store = open_store(settings)
    store.notes.add_lines("USER.md", "About", [EN], "owner")
    store.forget_files.begin(["my phone number is 555-0142"])
    blocker = settings.home / "tool_result" / "x.txt"
    blocker.symlink_to(settings.home / "nowhere")
    async with open_home(settings) as home:
        await home.index.sync()
    assert settings.home.joinpath("forget.json").exists()
    blocker.unlink()
    async with open_home(settings) as home:
        assert not home.store.forget_files.is_pending
    assert holders(settings.home, "555-0142") == []


@pytest.mark.parametrize("is_down", [False, True])
async def test_words_vectors_and_their_cache_are_gone_from_the_index(settings: Settings, is_down: bool) -> None:
    store = open_store(settings)
    store.notes.add_lines("USER.md", "About", [EN, "likes tea"], "owner")
    store.journal.append_missing("s", "owner", [UserMsg("user", f"Hi. {EN}")])
    embedder = HashEmbedder()
    async with opened(settings.home, embedder, read_dialog=read_dialog):
        pass
    embedder.is_down = is_down
    async with opened(settings.home, embedder, read_dialog=read_dialog) as index:
        forgetter = make_forgetter(store, index, end_nothing)
        receipt = await forgetter.forget((await forgetter.find("555-0142")).items)
        assert receipt.notices == ()
        answer = await index.search("my phone number is 555-0142")
        assert all("555-0142" not in hit.text for hit in answer.hits)
    assert holders(settings.home, "555-0142") == []
    assert (settings.home / "index" / "embeddings.sqlite").exists() is not is_down


async def test_nothing_is_found_while_it_is_being_forgotten(settings: Settings) -> None:
    store = open_store(settings)
    async with opened(settings.home) as index:
        purge = asyncio.create_task(make_forgetter(store, index, end_nothing).clear_index())
        await asyncio.sleep(0)
        assert await index.search("tea") == SearchAnswer((), (FORGETTING.text("en"),))
        await purge
        assert await index.search("tea") == SearchAnswer((), (NO_EMBEDDER.text("en"),))


async def test_there_must_be_something_to_look_for(settings: Settings) -> None:
    async with open_home(settings) as home:
        with pytest.raises(PalimpsestError, match="Say what"):
            await make_forgetter(home.store, home.index, end_nothing).find(" ")


async def test_what_an_editor_changed_stands_in_the_memory_log(settings: Settings) -> None:
    async with open_home(settings) as home:
        # What is found at the start is logged beside the search that finds it.
        while not home.store.memory_log.history("USER.md"):
            await home.index.sync()
        (settings.home / "USER.md").write_text("- likes tea\n", encoding="utf-8")
        (settings.home / "memory" / "own").mkdir()
        (settings.home / "memory" / "own" / "x.md").write_text("no history", encoding="utf-8")
        await home.index.sync()
        while not home.store.memory_log.history("USER.md")[1:]:
            await home.index.sync()
        (first, second) = home.store.memory_log.history("USER.md")
        assert (first.writer, second.writer, second.added_lines) == ("outside", "outside", ["- likes tea"])


async def test_a_turn_that_was_told_of_it_ends_before_it_could_write_it(home: Path) -> None:
    waiting = asyncio.Event()
    model = ScriptedModel([[text("You said: "), waiting, text(EN)], [text("Gone on.")]])
    async with scripted_assistant(home, model) as assistant:
        other = assistant.conversations.create()
        other.ask(f"Hi. {EN} Say it back.")
        await until(other, TextDelta, 0)
        conversation = assistant.conversations.create()
        await told(assistant, conversation, "/forget 555-0142")
        (receipt,) = notices(await told(assistant, conversation, "/forget all"))
        waiting.set()
        assert receipt.startswith("Forgotten: ")
        assert not other.is_running
        again = assistant.conversations.open(other.session_id)
        again.continue_turn()
        await again.wait()
        sent = str([message.get_text_content() for message in model.requests[-1].messages])
        assert "Hi. ⟦forgotten⟧ Say it back." in sent
        assert "555-0142" not in sent
    assert holders(home, "555-0142") == []


async def test_a_flush_that_was_told_of_it_is_cut_and_goes_on_without_it(home: Path) -> None:
    waiting = asyncio.Event()
    calls: list[str] = []

    def flush(messages: Sequence[Msg]) -> Sequence[TextBlock]:
        calls.append(str([message.get_text_content() for message in messages]))
        return [text("NO_REPLY")]

    async def wait_in_flush(messages: Sequence[Msg]) -> Sequence[TextBlock]:
        flush(messages)
        await waiting.wait()
        return [text("NO_REPLY")]

    model = ScriptedModel([[text("Noted.")], [text("So be it.")], [text(SUMMARY)], wait_in_flush, flush])
    async with scripted_assistant(home, model, memory="on", recall="off") as assistant:
        conversation = assistant.conversations.create()
        await told(assistant, conversation, f"Hello. {EN} {'Much more was said. ' * 400}")
        await told(assistant, conversation, "And now?")
        await told(assistant, conversation, "/compact")
        while not calls:
            await asyncio.sleep(0.01)
        await told(assistant, conversation, "/forget 555-0142")
        await told(assistant, conversation, "/forget all")
        await assistant.flushes.wait()
        assert ["555-0142" in call for call in calls] == [True, False]
        assert "⟦forgotten⟧" in calls[1]
        model.assert_complete()
    assert holders(home, "555-0142") == []
