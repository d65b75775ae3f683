"""What was said in a conversation that was left is in memory, once, whatever happens."""

from __future__ import annotations

import asyncio
import json
import os
import re
import signal
from collections.abc import Awaitable, Callable, Coroutine, Sequence
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest

from assistant.assembly.assistant import Assistant, open_assistant
from assistant.config.settings import Settings
from assistant.conversation.conversation import Conversation
from assistant.conversation.left import LeftConversations
from assistant.errors import ModelError
from assistant.messages.blocks import Msg, TextBlock, ToolCallBlock, text_of
from assistant.messages.events import MemoryChanged
from assistant.models.chat_model import ChatModel
from assistant.models.scripted import ScriptedModel, ScriptStep
from assistant.storage.journal.rows import FlushRow, FlushStartRow, LeftRow, UnwrittenRow
from assistant.storage.temporary_homes import temporary_home
from tests.fakes.home import call, connect_script, home_settings, say, scripted_assistant, text
from tests.fakes.players import RuleBasedPlayer
from tests.fakes.provider import StrictProvider
from tests.test_faults import act_at_each_operation, copied, homes_after_each_operation, settings_of

CAT, DOG = "I am allergic to my cat Mimi.", "I walk my dog Rolf every day."


def converse(messages: Sequence[Msg]) -> list[TextBlock | ToolCallBlock]:
    """Notes down, and as a flush writes what the person said of their animals."""
    if not text_of(messages[0]).startswith("You keep the long-term memory"):
        return [text("Noted.")]
    if len(messages) > 2:
        return [text("NO_REPLY")]
    said = re.findall(r"I (?:am allergic|walk)[^.]+\.", text_of(messages[1]).partition("<conversation>")[2])
    arguments = {"file": "USER.md", "heading": "Animals", "lines": list(dict.fromkeys(said))}
    return [call("add_lines", json.dumps(arguments), "call_add_lines_0001")]


def flushes_of(assistant: Assistant, session_id: str) -> list[str]:
    """How the flushes of a conversation that was left ended."""
    rows = assistant.store.journal.rows(session_id)
    return [row.state for row in rows if isinstance(row, FlushRow)]


def lines_with(home: Path, words: str) -> list[str]:
    """The lines of all memory files with these words, with their files."""
    paths = [*home.glob("*.md"), *(home / "memory").glob("*.md")]
    return [f"{path.name}: {line}" for path in paths for line in path.read_text("utf-8").splitlines() if words in line]


def conversations_read(model: ScriptedModel) -> list[str]:
    """What each call of a flush had to read of the conversation."""
    asked = [text_of(request.messages[1]) for request in model.requests if "add_lines" in request.tools]
    return [words.partition("<conversation>")[2] for words in asked]


async def talk(assistant: Assistant, *said: str) -> Conversation:
    """A conversation in which this was said."""
    conversation = assistant.conversations.create()
    for words in said:
        await say(assistant, conversation, words)
    return conversation


async def test_a_conversation_left_by_new_is_in_memory_with_its_chips_and_found_from_the_next(home: Path) -> None:
    model = ScriptedModel([converse] * 10)
    async with scripted_assistant(home, model, memory="on", recall="off") as assistant:
        conversation = await talk(assistant, CAT, DOG)
        start = conversation.next_number
        await say(assistant, conversation, "/new")
        await assistant.flushes.wait()
        told = [numbered.event async for numbered in conversation.follow_until_idle(start)]
        history = conversation.attach().history
        await assistant.index.sync()
        hits = (await assistant.index.search("allergic", 5)).hits
        ended = flushes_of(assistant, conversation.session_id)

    assert ended == ["done"]
    assert lines_with(home, "allergic") == [f"USER.md: - {CAT}"]
    assert lines_with(home, "Rolf") == [f"USER.md: - {DOG}"]
    for events in (told, history):
        assert [event.path for event in events if isinstance(event, MemoryChanged)] == ["USER.md"]
    assert "USER.md" in [hit.path for hit in hits]


async def test_it_is_flushed_once_and_only_what_came_since_is_flushed_again(home: Path) -> None:
    model = ScriptedModel([converse] * 20)
    async with scripted_assistant(home, model, memory="on", recall="off") as assistant:
        conversation = await talk(assistant, CAT, DOG)
        for _ in range(3):
            assistant.left.leave(conversation.session_id)
            await assistant.flushes.wait()
        first = flushes_of(assistant, conversation.session_id)
        await say(assistant, conversation, "What is for dinner?")
        assistant.left.leave(conversation.session_id)
        await assistant.flushes.wait()
        second = flushes_of(assistant, conversation.session_id)
        await say(assistant, conversation, "I walk in the evening.")
        assistant.left.leave(conversation.session_id)
        await assistant.flushes.wait()
        third = flushes_of(assistant, conversation.session_id)

    asked = conversations_read(model)
    assert (first, second, third) == (["done"], ["done"], ["done", "done"])
    assert [CAT in words for words in asked] == [True, True, False, False]
    assert lines_with(home, "walk") == [f"USER.md: - {DOG}", "USER.md: - I walk in the evening."]


async def test_a_version_that_stands_again_is_written_where_it_never_was(home: Path) -> None:
    model = ScriptedModel([converse] * 20)
    async with scripted_assistant(home, model, memory="on", recall="off") as assistant:
        conversation = await talk(assistant, f"{CAT} {'It sneezes. ' * 20}")
        conversation.edit(conversation.questions()[0].message_id, f"{DOG} {'It barks. ' * 30}")
        await conversation.wait()
        await say(assistant, conversation, "/version 1")
        assistant.left.leave(conversation.session_id)
        await assistant.flushes.wait()
        assert (len(lines_with(home, CAT)), lines_with(home, DOG)) == (1, [])
        await say(assistant, conversation, "/version 2")
    async with scripted_assistant(home, model, memory="on", recall="off") as assistant:
        assistant.left.look(idle_minutes=30)
        await assistant.flushes.wait()
    assert (len(lines_with(home, CAT)), len(lines_with(home, DOG))) == (1, 1)


async def test_a_compaction_writes_only_what_was_said_since_the_conversation_was_left(home: Path) -> None:
    model = ScriptedModel([converse] * 20)
    long = "The cellar key hangs behind the door. " * 300
    async with scripted_assistant(home, model, memory="on", recall="off") as assistant:
        conversation = await talk(assistant, f"{CAT} {long}", f"And {long}")
        assistant.left.leave(conversation.session_id)
        await assistant.flushes.wait()
        await say(assistant, conversation, "/compact")
        await assistant.flushes.wait()
        ended = flushes_of(assistant, conversation.session_id)
    assert ended[0] == "done"
    assert [CAT in words for words in conversations_read(model)].count(True) == 2


@pytest.mark.parametrize(
    ("values", "said"),
    [
        pytest.param({"memory": "on"}, [CAT], id="one short message"),
        pytest.param({"memory": "off"}, [CAT, DOG], id="memory is off"),
    ],
)
async def test_nothing_is_flushed_where_there_is_nothing_to_remember(
    home: Path, values: dict[str, object], said: list[str]
) -> None:
    model = ScriptedModel([converse] * 10)
    async with scripted_assistant(home, model, recall="off", **values) as assistant:
        conversation = await talk(assistant, *said)
        await say(assistant, conversation, "/new")
        await assistant.flushes.wait()
        rows = assistant.store.journal.rows(conversation.session_id)
    assert [row for row in rows if isinstance(row, LeftRow | FlushRow | FlushStartRow)] == []
    assert lines_with(home, "Mimi") == []


async def test_nothing_is_marked_in_a_home_that_is_thrown_away() -> None:
    model = ScriptedModel([converse] * 10)
    with temporary_home() as folder:
        async with scripted_assistant(folder, model, memory="on", recall="off") as assistant:
            conversation = await talk(assistant, CAT, DOG)
            await say(assistant, conversation, "/new")
            await assistant.flushes.wait()
            rows = assistant.store.journal.rows(conversation.session_id)
        assert lines_with(folder, "Mimi") == []
    assert [row for row in rows if isinstance(row, UnwrittenRow | LeftRow | FlushRow)] == []


@pytest.mark.parametrize("is_failing", [False, True], ids=["no fit model", "a model that fails"])
async def test_where_no_model_writes_it_code_does(home: Path, is_failing: bool) -> None:
    failing: list[ScriptStep] = [[text("Noted.")], [text("Noted.")], ModelError("Nobody answers.")]
    values = {"memory": "on", "recall": "off"} | ({} if is_failing else {"provider": "offline"})
    opened = (
        scripted_assistant(home, ScriptedModel(failing), **values)
        if is_failing
        else open_assistant(home_settings(home, **values))
    )
    async with opened as assistant:
        conversation = await talk(assistant, CAT, DOG)
        await say(assistant, conversation, "/new")
        await assistant.flushes.wait()
        ended = flushes_of(assistant, conversation.session_id)
    (note,) = (home / "memory").glob("*.md")
    assert ended == ["failed" if is_failing else "done"]
    assert [line for line in note.read_text("utf-8").splitlines() if line.startswith("- ")] == [f"- {CAT}", f"- {DOG}"]


@pytest.mark.parametrize("tools", ["read-only", "off"])
async def test_where_no_model_may_write_to_memory_code_writes_what_was_said(home: Path, tools: str) -> None:
    # A third question to the model would be one too many.
    model = ScriptedModel([converse] * 2)
    async with scripted_assistant(home, model, memory="on", recall="off", tools=tools) as assistant:
        conversation = await talk(assistant, CAT, DOG)
        await say(assistant, conversation, "/new")
        await assistant.flushes.wait()
        ended = flushes_of(assistant, conversation.session_id)
    (note,) = (home / "memory").glob("*.md")
    model.assert_complete()
    assert ended == ["done"]
    assert lines_with(home, "Mimi") == [f"{note.name}: - {CAT}"]


async def test_an_idle_conversation_counts_as_left_and_one_that_goes_on_does_not(home: Path) -> None:
    model = ScriptedModel([converse] * 10)
    async with scripted_assistant(home, model, memory="on", recall="off") as assistant:
        later = [timedelta(minutes=29)]
        store = assistant.store
        left = LeftConversations(
            assistant.conversations,
            store.sessions,
            store.journal,
            assistant.flushes.leave,
            lambda: store.clock.now() + later[0],
        )
        conversation = await talk(assistant, CAT, DOG)
        seen: list[list[str]] = []
        for minutes, idle_minutes in ((29, 30), (31, 0), (31, 30), (31, 30)):
            later[0] = timedelta(minutes=minutes)
            left.look(idle_minutes)
            await assistant.flushes.wait()
            seen.append(flushes_of(assistant, conversation.session_id))
    assert seen == [[], [], ["done"], ["done"]]


async def test_what_a_shutdown_cut_is_written_at_the_next_start(home: Path) -> None:
    async with scripted_assistant(home, ScriptedModel([converse] * 10), memory="on", recall="off") as assistant:
        conversation = await talk(assistant, CAT, DOG)
    assert lines_with(home, "Mimi") == []
    async with scripted_assistant(home, ScriptedModel([converse] * 10), memory="on", recall="off") as assistant:
        while not flushes_of(assistant, conversation.session_id):
            await asyncio.sleep(0.01)
        history = assistant.conversations.open(conversation.session_id).attach().history
    assert lines_with(home, "Mimi") == [f"USER.md: - {CAT}"]
    assert [event.path for event in history if isinstance(event, MemoryChanged)] == ["USER.md"]


async def test_a_flush_that_two_processes_did_not_end_is_written_by_code(home: Path) -> None:
    session_id = ""
    for number in range(3):
        script: list[ScriptStep] = [] if number else [[text("Noted.")], [text("Noted.")]]
        model = ScriptedModel([*script, [asyncio.Event()]] if number < 2 else [])
        async with scripted_assistant(home, model, memory="on", recall="off") as assistant:
            if not session_id:
                conversation = await talk(assistant, CAT, DOG)
                session_id = conversation.session_id
                assistant.left.leave(session_id)
            if number < 2:
                while len(model.requests) < len(script) + 1:
                    await asyncio.sleep(0.01)
                await assistant.flushes.cut()
            else:
                while not flushes_of(assistant, session_id):
                    await asyncio.sleep(0.01)
            ended = flushes_of(assistant, session_id)
        model.assert_complete()
        assert ended == ([] if number < 2 else ["done"])
    (note,) = (home / "memory").glob("*.md")
    assert lines_with(home, "Mimi") == [f"{note.name}: - {CAT}"]


def local_script(model: ScriptedModel) -> Callable[[Settings], Awaitable[ChatModel]]:
    """The script as a server on this machine."""

    async def connect(settings: Settings) -> ChatModel:
        return replace(await connect_script(model)(settings), address="http://127.0.0.1:9/v1")

    return connect


async def test_on_a_local_server_a_flush_makes_room_for_a_turn_and_begins_again_after_it(home: Path) -> None:
    answer = asyncio.Event()
    steps: list[ScriptStep] = [[asyncio.Event()], [answer, text("Later.")], *[converse] * 2]
    model = ScriptedModel([converse, converse, *steps])
    settings = home_settings(home, memory="on", recall="off")
    async with open_assistant(settings, connect=local_script(model)) as assistant:
        left, other = await talk(assistant, CAT, DOG), assistant.conversations.create()
        assistant.left.leave(left.session_id)
        while len(model.requests) < 3:
            await asyncio.sleep(0.005)
        # The flush has been sent and waits for its answer.
        other.ask("What do you know of me?")
        while len(model.requests) < 4:
            await asyncio.sleep(0.005)
        sent_in_turn = len(model.requests)
        answer.set()
        await other.wait()
        await assistant.flushes.wait()
        ended = flushes_of(assistant, left.session_id)
    assert (sent_in_turn, ended) == (4, ["done"])
    assert lines_with(home, "Mimi") == [f"USER.md: - {CAT}"]


async def test_on_a_local_server_no_flush_begins_while_a_turn_runs(home: Path) -> None:
    answer = asyncio.Event()
    model = ScriptedModel([converse, converse, [answer, text("Later.")], converse, converse])
    settings = home_settings(home, memory="on", recall="off")
    async with open_assistant(settings, connect=local_script(model)) as assistant:
        left, other = await talk(assistant, CAT, DOG), assistant.conversations.create()
        other.ask("What do you know of me?")
        while len(model.requests) < 3:
            await asyncio.sleep(0.005)
        assistant.left.leave(left.session_id)
        for _ in range(50):
            await asyncio.sleep(0)
        sent_in_turn = [set(request.tools) for request in model.requests[2:]]
        answer.set()
        await other.wait()
        await assistant.flushes.wait()
    assert ["add_lines" in tools for tools in sent_in_turn] == [False]
    assert lines_with(home, "Mimi") == [f"USER.md: - {CAT}"]


async def _leave_all(assistant: Assistant, conversation: Conversation) -> None:
    assistant.left.leave(conversation.session_id)
    await assistant.flushes.wait()


async def _talk_and_leave(assistant: Assistant, conversation: Conversation) -> None:
    await say(assistant, conversation, "I live in Oslo, in a red house.")
    await _leave_all(assistant, conversation)


async def _restarted(settings: Settings, said: Sequence[str]) -> None:
    """After a kill, and after one more start, each thing that was said is in memory once."""
    home = settings.home
    for _ in range(2):
        async with open_assistant(settings) as assistant:
            conversation = assistant.conversations.newest_or_new()
            assistant.left.leave(conversation.session_id)
            while assistant.store.journal.unwritten_sessions():
                await asyncio.sleep(0.005)
            await assistant.flushes.wait()
            rows = assistant.store.journal.rows(conversation.session_id)
        ends = [row.compaction_id for row in rows if isinstance(row, FlushRow)]
        assert len(ends) == len(set(ends))
        asked = [text_of_row for row in rows if (text_of_row := _question(row))]
        found = {words: len(lines_with(home, words.rstrip("."))) for words in said if words in asked}
        assert found == dict.fromkeys(found, 1), found
        assert len(found) >= 2


def _question(row: object) -> str:
    block = getattr(row, "block", None)
    return block.text if getattr(row, "role", "") == "user" and isinstance(block, TextBlock) else ""


SAID = [CAT, DOG, "I live in Oslo, in a red house."]
CHANGES: dict[str, Callable[[Assistant, Conversation], Awaitable[None]]] = {
    "left": _leave_all,
    "said and left": _talk_and_leave,
}


@pytest.fixture(scope="module")
def past(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A home with one conversation that nobody has left yet; tests work on copies."""
    home = tmp_path_factory.mktemp("past") / "home"

    async def live() -> None:
        async with open_assistant(settings_of(home, timezone="UTC")) as assistant:
            await talk(assistant, CAT, DOG)

    asyncio.run(live())
    return home


@pytest.mark.parametrize("is_half", [False, True], ids=["before", "within"])
@pytest.mark.parametrize("name", CHANGES)
@pytest.mark.skipif(os.name == "nt", reason="Windows cannot fork")
@pytest.mark.timeout(600)
def test_a_kill_at_any_operation_neither_flushes_twice_nor_never(
    past: Path, tmp_path: Path, name: str, is_half: bool
) -> None:
    home, copies = copied(past, tmp_path / "home"), tmp_path / "copies"

    for left in homes_after_each_operation(home, copies, CHANGES[name], is_half):
        asyncio.run(_restarted(settings_of(left, timezone="UTC"), SAID))


@pytest.mark.parametrize("moment", range(1, 8))
@pytest.mark.skipif(os.name == "nt", reason="Windows cannot fork")
def test_a_kill_beside_a_model_neither_flushes_twice_nor_never(past: Path, tmp_path: Path, moment: int) -> None:
    home = copied(past, tmp_path / "home")
    with StrictProvider(RuleBasedPlayer()) as provider:
        values = {"provider": "openai", "base_url": provider.base_url, "timezone": "UTC"}

        async def leave_and_die() -> None:
            async with open_assistant(settings_of(home, **values)) as assistant:
                conversation = assistant.conversations.newest_or_new()
                act_at_each_operation(lambda number: _die_at(number, moment), is_half=False)
                await _leave_all(assistant, conversation)

        is_killed = _is_killed_in(leave_and_die)
        asyncio.run(_restarted(settings_of(home, **values), SAID))
    assert is_killed


@pytest.mark.skipif(os.name == "nt", reason="Windows cannot fork")
def test_what_was_said_before_a_kill_is_written_at_the_next_start_and_never_again(home: Path) -> None:
    async def talk_and_die() -> None:
        async with scripted_assistant(home, ScriptedModel([converse] * 2), memory="on", recall="off") as assistant:
            await talk(assistant, CAT, DOG)
            os.kill(os.getpid(), signal.SIGKILL)

    async def start() -> None:
        async with scripted_assistant(home, ScriptedModel([converse] * 4), memory="on", recall="off") as assistant:
            assistant.left.look(idle_minutes=30)
            await assistant.flushes.wait()

    is_killed = _is_killed_in(talk_and_die)
    found = [lines_with(home, "Mimi")]
    for _ in range(2):
        asyncio.run(start())
        found.append(lines_with(home, "Mimi"))
    assert is_killed
    assert found == [[], [f"USER.md: - {CAT}"], [f"USER.md: - {CAT}"]]


def _is_killed_in(work: Callable[[], Coroutine[object, object, None]]) -> bool:
    """True where a child process that does this ends by a signal."""
    child = os.fork()
    if child == 0:
        try:
            asyncio.run(work())
        finally:
            os._exit(0)
    _, status = os.waitpid(child, 0)
    return os.WIFSIGNALED(status)


def _die_at(number: int, moment: int) -> None:
    if number == moment:
        os.kill(os.getpid(), signal.SIGKILL)
