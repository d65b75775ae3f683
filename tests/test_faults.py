"""Whatever breaks while a conversation is written down, every block of it is accounted for once after a restart."""

from __future__ import annotations

import asyncio
import errno
import functools
import importlib
import itertools
import os
import shutil
import signal
import threading
import traceback
import warnings
from collections import Counter
from collections.abc import AsyncGenerator, Awaitable, Callable, Generator, Iterator, Sequence
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path

import pytest

from assistant.assembly.assistant import Assistant, open_assistant
from assistant.compaction.record import CompactionRecord
from assistant.config.settings import Settings
from assistant.conversation.conversation import Conversation
from assistant.messages.blocks import BlockKey
from assistant.messages.events import (
    CompactionUndone,
    ContextCompressed,
    Event,
    Notice,
    TextDelta,
    ToolFinished,
    ToolStarted,
    TurnFailed,
    TurnFinished,
    TurnStarted,
)
from assistant.storage.journal.rebuild import since_clear
from assistant.storage.journal.rows import BlockRow, read_row
from assistant.storage.sessions.session_file import file_names
from tests.fakes.players import RuleBasedPlayer, SequencePlayer
from tests.fakes.provider import StrictProvider
from tests.fakes.wire import ChatRequest, Reply

TURN_ENDS = (TurnFinished, TurnFailed)
Change = Callable[[Assistant, Conversation], Awaitable[None]]

# ---------------------------------------------------------------- a home with a past


@functools.cache
def read_once() -> Settings:
    """The settings of all these homes. What reads the environment is tested elsewhere, and takes as long as a turn."""
    chosen = {"provider": "offline", "max_input_length": 20_000, "language": "en", "embedder": "none"}
    return Settings.model_validate(chosen)


def settings_of(home: Path, **values: object) -> Settings:
    """The built-in assistant with a window that a few tool results fill."""
    return read_once().model_copy(update={"home": home, **values})


@pytest.fixture(scope="module")
def past(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A home whose only conversation was compacted once and went on; tests work on copies."""
    home = tmp_path_factory.mktemp("past") / "home"
    asyncio.run(_live_through(home))
    return home


async def _live_through(home: Path) -> None:
    (home / "files").mkdir(parents=True)
    for name in ("harbour", "market", "garden", "workshop"):
        lines = [f"{number}. The {name} was counted again, and {number * 7} pieces were found." for number in range(45)]
        (home / "files" / f"{name}.txt").write_text("\n".join(lines), encoding="utf-8")
    async with open_assistant(settings_of(home)) as assistant:
        conversation = assistant.conversations.create("counting")
        for name in ("harbour", "market", "garden"):
            await said(assistant, conversation, f"read {name}.txt")
        conversation.compact()
        await conversation.wait()
        for name in ("workshop", "harbour", "market"):
            await said(assistant, conversation, f"read {name}.txt")
        await said(assistant, conversation, "hello")
        await assistant.flushes.wait()
        assert sum(isinstance(event, ContextCompressed) for event in conversation.attach().history) == 1


async def said(assistant: Assistant, conversation: Conversation, text: str) -> None:
    await assistant.submit(conversation, text)
    await conversation.wait()


async def heard(conversation: Conversation, start: int) -> list[Event]:
    """What was told from event number `start` on, up to the end of what runs."""
    return [numbered.event async for numbered in conversation.follow_until_idle(start)]


def copied(past: Path, folder: Path) -> Path:
    shutil.rmtree(folder, ignore_errors=True)
    shutil.copytree(past, folder)
    return folder


def open_newest(assistant: Assistant) -> Conversation:
    return assistant.conversations.newest_or_new()


# ---------------------------------------------------------------- accounting


def keys_in_files(home: Path) -> list[BlockKey]:
    """The key of every block line of the journal as it stands in the files, repeats included."""
    lines = [line for path in sorted((home / "dialog").glob("*.jsonl")) for line in path.read_bytes().splitlines()]
    return [row.key for line in lines if isinstance(row := read_row(line), BlockRow)]


async def account_for(home: Path, known: set[BlockKey], inside: Sequence[BlockKey] | None = None) -> None:
    """Open the home as after a restart and hold every promise about what stands in it to account.

    `inside` is what stood in the context before the restart, where that is known.
    """
    journalled = keys_in_files(home)
    assert {key: count for key, count in Counter(journalled).items() if count > 1} == {}
    assert known <= set(journalled)
    async with open_assistant(settings_of(home)) as assistant:
        conversation = open_newest(assistant)
        assert inside is None or context_keys(conversation) == inside
        _account_for_page(conversation, assistant)
        _account_for_context(conversation, assistant)
        await _account_for_undo(conversation, assistant)
        await said(assistant, conversation, "hello")
        assert isinstance(conversation.attach().history[-1], TurnFinished)
    assert {key: count for key, count in Counter(keys_in_files(home)).items() if count > 1} == {}


def standing_blocks(conversation: Conversation, assistant: Assistant) -> list[BlockKey]:
    """The keys of all blocks that were not dropped, oldest first."""
    rows = assistant.store.journal.rows(conversation.session_id)
    return [row.key for row in rows if isinstance(row, BlockRow)]


def context_keys(conversation: Conversation) -> list[BlockKey]:
    return [item.key for item in conversation.context_items() if item.key is not None]


def _account_for_page(conversation: Conversation, assistant: Assistant) -> None:
    history = conversation.attach().history
    shown = Counter(
        [("text", event.message_id) for event in history if isinstance(event, TurnStarted)]
        + [("text", event.block_id) for event in history if isinstance(event, TextDelta)]
        + [("tool_call", event.call_id) for event in history if isinstance(event, ToolStarted)]
        + [("tool_result", event.call_id) for event in history if isinstance(event, ToolFinished)]
    )
    rows = assistant.store.journal.rows(conversation.session_id)
    blocks = [row for row in rows if isinstance(row, BlockRow)]
    names = [(row.key.kind, row.message_id if row.role == "user" else row.key.block_id) for row in blocks]
    assert {name: shown[name] for name in names} == dict.fromkeys(names, 1)
    since = {row.compaction_id for row in since_clear(rows) if isinstance(row, CompactionRecord)}
    cards = [event.compaction_id for event in history if isinstance(event, ContextCompressed) and not event.is_undone]
    session = assistant.store.sessions.load(conversation.session_id)
    assert [name for name in cards if name in since][-1:] == [name for name in [session.compaction_id] if name]


def _account_for_context(conversation: Conversation, assistant: Assistant) -> None:
    rows = assistant.store.journal.rows(conversation.session_id)
    cards = [event for event in conversation.attach().history if isinstance(event, ContextCompressed)]
    standing = {card.compaction_id for card in cards if not card.is_undone}
    records = [row for row in rows if isinstance(row, CompactionRecord) and row.compaction_id in standing]
    folded = [key for row in records for key in row.keys]
    inside = context_keys(conversation)
    standing_keys = standing_blocks(conversation, assistant)
    healed = healed_keys(inside, standing_keys)
    assert all(key.kind == "tool_result" for key in healed)
    assert Counter([*folded, *inside]) == Counter([*standing_keys, *healed])


def healed_keys(inside: Sequence[BlockKey], standing: Sequence[BlockKey]) -> list[BlockKey]:
    """What stands in the context and in no line of the journal: results that were put in for calls without one."""
    journalled = set(standing)
    return [key for key in inside if key not in journalled]


async def _account_for_undo(conversation: Conversation, assistant: Assistant) -> None:
    healed = healed_keys(context_keys(conversation), standing_blocks(conversation, assistant))
    while any(item.part == "summary" for item in conversation.context_items()):
        start = conversation.attach().start
        conversation.undo()
        await conversation.wait()
        told = await heard(conversation, start)
        assert any(isinstance(event, CompactionUndone) for event in told), told
    rows = since_clear(assistant.store.journal.rows(conversation.session_id))
    inside = [key for key in context_keys(conversation) if key not in healed]
    assert inside == [row.key for row in rows if isinstance(row, BlockRow) and row.key not in healed]


# ---------------------------------------------------------------- killed in the middle


async def _turn(assistant: Assistant, conversation: Conversation) -> None:
    await said(assistant, conversation, "read garden.txt")


async def _compact(assistant: Assistant, conversation: Conversation) -> None:
    conversation.compact()
    await conversation.wait()
    await assistant.flushes.wait()


async def _undo(assistant: Assistant, conversation: Conversation) -> None:
    conversation.undo()
    await conversation.wait()


async def _edit(assistant: Assistant, conversation: Conversation) -> None:
    newest = [item.key for item in conversation.context_items() if item.is_user and item.key]
    conversation.edit(newest[-1].message_id, "good morning")
    await conversation.wait()


async def _clear(assistant: Assistant, conversation: Conversation) -> None:
    conversation.clear()
    await conversation.wait()


CHANGES = {"turn": _turn, "compact": _compact, "undo": _undo, "edit": _edit, "clear": _clear}


def act_at_each_operation(act: Callable[[int], None], is_half: bool) -> None:
    """Act at every disk operation of this process from now on, by its number: before it, or half way through a write.

    The operations of other threads wait meanwhile; what `act` itself does on the disk is no operation.
    """
    numbers = itertools.count(1)
    lock = threading.RLock()
    acting: list[int] = []

    def acted_at(number: int) -> None:
        acting.append(number)
        act(number)
        acting.clear()

    def counted(operation: Callable[..., object]) -> Callable[..., object]:
        def run(*arguments: object, **names: object) -> object:
            with lock:
                if acting:
                    return operation(*arguments, **names)
                if not is_half:
                    acted_at(next(numbers))
                    return operation(*arguments, **names)
                descriptor, content = arguments
                written = write(descriptor, content[: len(content) // 2])
                acted_at(next(numbers))
                return written + write(descriptor, content[written:])

        return run

    write = os.write
    # A kill before an fsync leaves the same files as one before the operation that follows it.
    for name in ["write"] if is_half else ["write", "replace", "unlink", "ftruncate", "mkdir"]:
        setattr(os, name, counted(getattr(os, name)))


def change_in_child(home: Path, change: Change, act: Callable[[int], None], is_half: bool) -> int:
    """Make the change in a forked child that acts at each operation of it; the signal that ended the child, or 0."""
    with warnings.catch_warnings():
        # The child uses none of the threads that other tests may have left.
        warnings.simplefilter("ignore", DeprecationWarning)
        child = os.fork()
    if child == 0:
        code = 1
        try:
            asyncio.run(_change_acted_on(home, change, act, is_half))
            code = 0
        except BaseException:
            traceback.print_exc()
        finally:
            os._exit(code)
    _, status = os.waitpid(child, 0)
    if os.WIFSIGNALED(status):
        return os.WTERMSIG(status)
    assert os.WEXITSTATUS(status) == 0
    return 0


async def _change_acted_on(home: Path, change: Change, act: Callable[[int], None], is_half: bool) -> None:
    async with open_assistant(settings_of(home)) as assistant:
        conversation = open_newest(assistant)
        act_at_each_operation(act, is_half)
        await change(assistant, conversation)


def files_in(home: Path) -> dict[Path, bytes | None]:
    """Everything in a home with its content; None for a folder."""
    return {path.relative_to(home): path.read_bytes() if path.is_file() else None for path in sorted(home.rglob("*"))}


def homes_after_each_operation(home: Path, copies: Path, change: Change, is_half: bool) -> Iterator[Path]:
    """Copies of the home as a kill at each operation of the change leaves it, then the home; those that differ."""

    # A kill leaves the files as they stand at that moment: one child copies them at each operation.
    def copy(number: int) -> None:
        shutil.copytree(home, copies / f"{number}")

    assert change_in_child(home, change, copy, is_half) == 0
    count = len(list(copies.iterdir()))
    assert count > 1
    before: dict[Path, bytes | None] = {}
    for left in [*(copies / f"{number}" for number in range(1, count + 1)), home]:
        # An operation that changed nothing, as the making of a folder that is there, leaves what was there before.
        before, earlier = files_in(left), before
        if before != earlier:
            yield left


@pytest.mark.parametrize("is_half", [False, True], ids=["before", "within"])
@pytest.mark.parametrize("name", CHANGES)
@pytest.mark.skipif(os.name == "nt", reason="Windows cannot fork")
@pytest.mark.timeout(600)
def test_a_kill_at_any_operation_leaves_every_block_accounted_for_once(
    past: Path, tmp_path: Path, name: str, is_half: bool
):
    known = set(keys_in_files(past))
    home, copies = copied(past, tmp_path / "home"), tmp_path / "copies"

    for left in homes_after_each_operation(home, copies, CHANGES[name], is_half):
        asyncio.run(account_for(left, known))

    # And one is killed in earnest.
    count = len(list(copies.iterdir()))

    def kill(number: int) -> None:
        if number == count // 2 + 1:
            os.kill(os.getpid(), signal.SIGKILL)

    home = copied(past, tmp_path / "killed")
    assert change_in_child(home, CHANGES[name], kill, is_half) == signal.SIGKILL
    asyncio.run(account_for(home, known))


# ---------------------------------------------------------------- summarisers that are no help


class FaultySummariser(RuleBasedPlayer):
    """Answers the person, and writes no memory; a summary is whatever `replies` holds, its last one again and again."""

    def __init__(self, *replies: Reply) -> None:
        super().__init__()
        self._replies = replies
        self.summary_requests = 0
        self.was_asked = threading.Event()

    def __call__(self, request: ChatRequest) -> Reply:
        if "add_lines" in request.tools:
            return Reply(text="NO_REPLY")
        if request.tools:
            return Reply(text=f"Noted. {len(request.messages)} messages stand here.")
        self.summary_requests += 1
        self.was_asked.set()
        return self._replies[min(self.summary_requests, len(self._replies)) - 1]


def _section(title: str, words: int) -> str:
    return f"## {title}\n" + " ".join(f"word{number}" for number in range(words))


CHINESE = "## 目标\n" + "把码头上的每一个箱子都数一遍，然后把结果写进报告。" * 20
INVALID = {
    "an error": Reply(text="the machine is on fire", status=500),
    "a connection that breaks": Reply(text="## Goal\n" + "Count. " * 200, breaks_after_chunks=3),
    "ok": Reply(text="ok"),
    "nothing": Reply(text=""),
    "another language": Reply(text=CHINESE),
}
VALID = {
    "50,000 words": Reply(text=_section("Goal", 50_000)),
    "missing sections": Reply(text=_section("Next steps", 120)),
}
ENOUGH_TURNS = 7


@asynccontextmanager
async def talked(home: Path, provider: StrictProvider) -> AsyncGenerator[tuple[Assistant, Conversation]]:
    """A conversation of long messages, still below the threshold of its window."""
    values = {"home": home, "provider": "openai", "base_url": provider.base_url, "api_key": "k", "embedder": "none"}
    async with open_assistant(Settings.model_validate(values)) as assistant:
        conversation = assistant.conversations.create("long messages")
        for number in range(ENOUGH_TURNS):
            await said(
                assistant, conversation, f"Message {number}. " + f"The keeper counted {number} boats again. " * 90
            )
        yield assistant, conversation


async def told_by(conversation: Conversation, change: Awaitable[None] | None) -> list[Event]:
    start = conversation.attach().start
    if change is not None:
        await change
    await conversation.wait()
    return await heard(conversation, start)


@pytest.mark.parametrize("kind", [*INVALID, *VALID])
async def test_a_poor_summary_costs_nothing_that_was_said(home: Path, kind: str):
    player = FaultySummariser((INVALID | VALID)[kind])
    with StrictProvider(player, chunk_chars=20_000) as provider:
        async with talked(home, provider) as (assistant, conversation):
            before = context_keys(conversation)
            known = set(keys_in_files(home))
            told = await told_by(conversation, _compact(assistant, conversation))
            after = context_keys(conversation)

    cards = [event for event in told if isinstance(event, ContextCompressed)]
    failures = list((home / "compaction_failures").glob("*.json"))
    if kind in VALID:
        assert [card.fallback for card in cards] == [False]
        assert cards[0].after_tokens < cards[0].previous_tokens
        assert failures == []
    else:
        assert (cards, len(failures)) == ([], 1)
        assert after == before
        assert any(isinstance(event, Notice) and "No compaction took place" in event.text for event in told)
        assert "keeper counted 3 boats" in failures[0].read_text(encoding="utf-8")
    assert provider.malformed == []
    await account_for(home, known)


@pytest.mark.parametrize("kind", INVALID)
async def test_a_poor_summary_never_keeps_a_full_window_full(home: Path, kind: str):
    player = FaultySummariser(INVALID[kind])
    with StrictProvider(player, chunk_chars=20_000) as provider:
        async with talked(home, provider) as (assistant, conversation):
            # The server was started anew with a smaller window, and nobody was told.
            provider.window_tokens = 8_000
            known = set(keys_in_files(home))
            told = await told_by(conversation, said(assistant, conversation, "How many boats were there?"))

    cards = [event for event in told if isinstance(event, ContextCompressed)]
    assert [(card.reason, card.fallback, card.context_limit) for card in cards] == [("overflow", True, 8_000)]
    assert [event.reason for event in told if isinstance(event, TurnFinished)] == ["completed"]
    assert provider.malformed == []
    await account_for(home, known)


async def test_a_summariser_that_hangs_is_given_up(home: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("assistant.agent.summariser.SILENT_SECONDS", 0.5)
    player = FaultySummariser(Reply(text="## Goal\n" + "Count. " * 200, gate=threading.Event()))
    with StrictProvider(player) as provider:
        async with talked(home, provider) as (assistant, conversation):
            before = context_keys(conversation)
            told = await told_by(conversation, _compact(assistant, conversation))
            assert context_keys(conversation) == before

    assert any(isinstance(event, Notice) and "sent nothing for" in event.text for event in told)
    assert player.summary_requests == 1
    await account_for(home, set(keys_in_files(home)))


async def test_stop_ends_a_turn_whose_summary_is_being_written(home: Path):
    player = FaultySummariser(Reply(text="## Goal\n" + "Count. " * 200, gate=threading.Event()))
    with StrictProvider(player) as provider:
        async with talked(home, provider) as (assistant, conversation):
            start = conversation.attach().start
            conversation.ask("And now? " + "The keeper counted more boats. " * 500)
            conversation.compact()
            await asyncio.to_thread(player.was_asked.wait)
            await conversation.stop()
            told = await heard(conversation, start)

    assert [event.reason for event in told if isinstance(event, TurnFinished)] == ["interrupted"]
    assert [event for event in told if isinstance(event, ContextCompressed)] == []
    assert player.summary_requests == 1
    await account_for(home, set(keys_in_files(home)))


# ---------------------------------------------------------------- a disk that refuses


@contextmanager
def refused(monkeypatch: pytest.MonkeyPatch, at: int) -> Generator[Callable[[], bool]]:
    """The disk operation number `at` fails as on a full disk; yields whether it was reached."""
    numbers = itertools.count(1)
    reached: list[str] = []

    def refusing(name: str, operation: Callable[..., object]) -> Callable[..., object]:
        def run(*arguments: object, **names: object) -> object:
            if next(numbers) == at:
                reached.append(name)
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
            return operation(*arguments, **names)

        return run

    with monkeypatch.context() as patch:
        for name in ("write", "fsync", "replace"):
            patch.setattr(os, name, refusing(name, getattr(os, name)))
        yield lambda: bool(reached)


@pytest.mark.parametrize("name", ["turn", "compact", "undo", "clear"])
async def test_an_operation_the_disk_refuses_costs_nothing_that_stood_there(
    past: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
):
    known = set(keys_in_files(past))
    for at in itertools.count(1):
        home = copied(past, tmp_path / "refused")
        async with open_assistant(settings_of(home)) as assistant:
            conversation = open_newest(assistant)
            with refused(monkeypatch, at) as was_reached:
                await CHANGES[name](assistant, conversation)
                await assistant.flushes.wait()
            told = await heard(conversation, 0)
            started, ended = (sum(isinstance(event, kind) for event in told) for kind in (TurnStarted, TURN_ENDS))
            assert started == ended
            await said(assistant, conversation, "hello")
            inside = context_keys(conversation)
        await account_for(home, known, inside)
        if not was_reached():
            break
    assert at > 2


@pytest.mark.parametrize("room_bytes", [0, 1, 700, 6_000])
@pytest.mark.skipif(os.name == "nt", reason="Windows has no such limit")
async def test_a_write_that_ends_in_the_middle_leaves_whole_lines(past: Path, tmp_path: Path, room_bytes: int):
    resource = importlib.import_module("resource")
    home = copied(past, tmp_path / "limited")
    known = set(keys_in_files(home))
    largest = max(path.stat().st_size for path in (home / "dialog").glob("*.jsonl"))
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    async with open_assistant(settings_of(home)) as assistant:
        conversation = open_newest(assistant)
        resource.setrlimit(resource.RLIMIT_FSIZE, (largest + room_bytes, hard))
        try:
            await said(assistant, conversation, "read garden.txt")
            await _compact(assistant, conversation)
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
        told = await heard(conversation, 0)
        lines = [line for path in (home / "dialog").glob("*.jsonl") for line in path.read_bytes().splitlines(True)]
        assert [line for line in lines if not line.endswith(b"\n") or read_row(line) is None] == []
        await said(assistant, conversation, "hello")
    assert any("could not be" in event.error for event in told if isinstance(event, TurnFailed)) or any(
        isinstance(event, Notice) and "the disk is full" in event.text for event in told
    )
    await account_for(home, known)


async def test_folders_where_the_session_file_should_be_cost_nothing(past: Path, tmp_path: Path):
    home = copied(past, tmp_path / "blocked")
    known = set(keys_in_files(home))
    async with open_assistant(settings_of(home)) as assistant:
        conversation = open_newest(assistant)
        for name in file_names("owner", conversation.session_id):
            (home / "sessions" / name).unlink(missing_ok=True)
            (home / "sessions" / name).mkdir()
        await said(assistant, conversation, "read garden.txt")
        failed = [event for event in (await heard(conversation, 0)) if isinstance(event, TurnFailed)]
        assert len(failed) == 1
        assert "something else stands there" in failed[0].error
        await _compact(assistant, conversation)
    for name in file_names("owner", conversation.session_id):
        (home / "sessions" / name).rmdir()
    await account_for(home, known)


async def test_a_folder_where_the_journal_should_be_is_told_and_nothing_is_asked(past: Path, tmp_path: Path):
    home = copied(past, tmp_path / "blocked")
    async with open_assistant(settings_of(home)) as assistant:
        conversation = open_newest(assistant)
        before = context_keys(conversation)
        today = assistant.store.clock.now().date()
        journal = home / "dialog" / f"{today.isoformat()}.jsonl"
        journal.rename(home / "dialog" / "aside")
        journal.mkdir()
        await assistant.submit(conversation, "read garden.txt")
        told = await heard(conversation, 0)
        assert [event for event in told if isinstance(event, TurnStarted)] == []
        assert any(isinstance(event, Notice) and "was not sent: read garden.txt" in event.text for event in told)
        assert context_keys(conversation) == before
        journal.rmdir()
        (home / "dialog" / "aside").rename(journal)
    await account_for(home, set(keys_in_files(home)))


async def test_a_refused_summary_that_cannot_be_kept_does_not_keep_the_digest_away(home: Path):
    player = FaultySummariser(INVALID["ok"])
    with StrictProvider(player, chunk_chars=20_000) as provider:
        async with talked(home, provider) as (assistant, conversation):
            folder = assistant.workspace.compaction_failures_folder
            folder.rmdir() if folder.is_dir() else None
            folder.write_text("in the way", encoding="utf-8")
            provider.window_tokens = 8_000
            told = await told_by(conversation, said(assistant, conversation, "How many boats were there?"))

    assert [event.fallback for event in told if isinstance(event, ContextCompressed)] == [True]
    assert [event.reason for event in told if isinstance(event, TurnFinished)] == ["completed"]
    assert any(isinstance(event, Notice) and "could not be kept" in event.text for event in told)


# ---------------------------------------------------------------- in the middle of things


async def test_a_flush_that_is_cut_at_shutdown_is_taken_up_again(home: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("assistant.agent.flush_tasks.CLOSE_SECONDS", 0.2)
    player = HangingFlush()
    with StrictProvider(player, chunk_chars=20_000) as provider:
        async with talked(home, provider) as (_, conversation):
            conversation.compact()
            await conversation.wait()
            await asyncio.to_thread(player.was_asked.wait)
        asked_before = player.flush_requests
        player.gate.set()
        values = {"home": home, "provider": "openai", "base_url": provider.base_url, "api_key": "k", "embedder": "none"}
        async with open_assistant(Settings.model_validate(values)) as assistant:
            conversation = open_newest(assistant)
            cards = [event for event in conversation.attach().history if isinstance(event, ContextCompressed)]
            await assistant.flushes.wait()
            after = [event for event in conversation.attach().history if isinstance(event, ContextCompressed)]

    assert asked_before == 1
    assert [card.flush for card in cards] == ["pending"]
    assert [card.flush for card in after] == ["nothing"]


class HangingFlush(FaultySummariser):
    """Writes a good summary; an answer about memory does not come before `gate` is open."""

    def __init__(self) -> None:
        super().__init__(Reply(text=_section("Goal", 120)))
        self.gate = threading.Event()
        self.flush_requests = 0

    def __call__(self, request: ChatRequest) -> Reply:
        if "add_lines" not in request.tools:
            was_asked = self.was_asked.is_set()
            reply = super().__call__(request)
            if not was_asked:
                self.was_asked.clear()
            return reply
        self.flush_requests += 1
        self.was_asked.set()
        return Reply(text="NO_REPLY, nothing here will matter later.", gate=self.gate)


async def test_whoever_comes_while_a_continued_turn_runs_sees_its_beginning(home: Path):
    gate = threading.Event()
    player = SequencePlayer(Reply(text="It broke", breaks_after_chunks=3), Reply(text="and went on.", gate=gate))
    with StrictProvider(player, chunk_chars=4) as provider:
        values = {"home": home, "provider": "openai", "base_url": provider.base_url, "api_key": "k"}
        async with open_assistant(Settings.model_validate(values)) as assistant:
            conversation = assistant.conversations.create()
            await said(assistant, conversation, "What happened?")
            conversation.continue_turn()
            async for numbered in conversation.follow(conversation.attach().start):
                if isinstance(numbered.event, TextDelta):
                    break
            attached = conversation.attach()
            gate.set()
            await conversation.wait()
            seen = [*attached.history, *(await heard(conversation, attached.start))]

    assert [event.text for event in seen if isinstance(event, TurnStarted)] == ["What happened?", ""]
    assert "".join(event.text for event in seen if isinstance(event, TextDelta)).endswith("and went on.")
    assert len([event for event in seen if isinstance(event, TURN_ENDS)]) == 2
