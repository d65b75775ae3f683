"""One home that is open: its files, its index and who owns it. Needs no model."""

from __future__ import annotations

import asyncio
import logging
import threading
from collections.abc import AsyncGenerator, Awaitable, Callable, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

from assistant.assembly.known_keys import KeySource
from assistant.config.clock import Clock
from assistant.config.settings import Settings
from assistant.conversation.trash import Trash
from assistant.errors import HomeInUseError, WorkspaceError
from assistant.index.dialog import read_dialog
from assistant.index.memory_index import IndexSettings, MemoryIndex
from assistant.index.vectors.embeddings import EmbedderSettings, make_embedder
from assistant.memory.admission import Admission
from assistant.memory.forget.forgetter import ForgetFiles, Forgetter
from assistant.memory.forget.places import Places
from assistant.memory.forgotten import ForgottenLines
from assistant.memory.log import MemoryChange, MemoryLog
from assistant.memory.notes import Notes
from assistant.memory.waiting import WaitingLines
from assistant.storage.allowed_calls import AllowedCalls
from assistant.storage.artifacts import Artifacts
from assistant.storage.atomic_io import remove_left_over
from assistant.storage.journal.journal import Journal
from assistant.storage.ownership import HomeOwnership
from assistant.storage.portable import PortableHome
from assistant.storage.refused_parts import RefusedParts
from assistant.storage.sessions.sessions import Sessions
from assistant.storage.token_factors import TokenFactors
from assistant.storage.workspace import Workspace
from assistant.text.known_secrets import KnownSecrets

if TYPE_CHECKING:
    # It brings the agent with it, which most commands can do without.
    from assistant.conversation.conversation import Conversation

_LEFT_OVER_SECONDS = 3_600.0
"""A program beside this one may be writing; no file takes it that long."""

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Store:
    """What is on disk of one home; needs no model and no lock."""

    workspace: Workspace
    clock: Clock
    journal: Journal
    sessions: Sessions
    artifacts: Artifacts
    memory_log: MemoryLog
    notes: Notes
    admission: Admission
    places: Places
    forget_files: ForgetFiles
    refused_parts: RefusedParts
    token_factors: TokenFactors
    allowed_calls: AllowedCalls
    known: KnownSecrets
    """What takes the values of keys out of all that this home keeps, sends and shows."""

    @property
    def portable(self) -> PortableHome:
        """What conversations are taken away from, and come in to."""
        return PortableHome(self.workspace, self.sessions, self.journal, self.artifacts, self.known)


@dataclass(frozen=True, slots=True)
class Home:
    """One home that is open without a model. `other_owner` says who owns it where this process does not."""

    settings: Settings
    store: Store
    index: MemoryIndex
    other_owner: HomeInUseError | None

    @property
    def is_owned(self) -> bool:
        """True when this process owns the home."""
        return self.other_owner is None


@asynccontextmanager
async def open_home(settings: Settings, address: str = "", *, may_be_owned: bool = False) -> AsyncGenerator[Home]:
    """A home with its index; what was not forgotten when the program was killed is forgotten first.

    Where another process owns the home: as far as its files can be used beside that one if `may_be_owned`, else raises
    `HomeInUseError`.
    """
    async with AsyncExitStack() as stack:
        store = open_store(settings)
        other_owner: HomeInUseError | None = None
        try:
            stack.enter_context(HomeOwnership(store.workspace)).tell_address(address)
        except HomeInUseError as error:
            if not may_be_owned:
                raise
            other_owner = error
        if other_owner is None:
            await asyncio.to_thread(_sweep, store)
        # The first time this reads every day file, and nobody can be served meanwhile.
        await asyncio.to_thread(store.sessions.read_on)
        is_pending = other_owner is None and store.forget_files.is_pending
        is_index_left = is_pending and await asyncio.to_thread(_finish_forget, store)
        index = await stack.enter_async_context(open_index(settings, store, is_owner=other_owner is None))
        if is_index_left:
            # Before anything else: a command may end long before a task beside it would.
            await _clear_index(store, index)
        store.notes.on_change.append(in_this_loop(lambda _: index.expect_change()))
        yield Home(settings, store, index, other_owner)


async def finish_forget(settings: Settings) -> None:
    """Finish what a kill cut off, for a command that opens no home; nothing where another process owns the home."""
    if Workspace(settings.home).forget_path.exists():
        async with open_home(settings, may_be_owned=True):
            pass


def open_store(settings: Settings) -> Store:
    """The home's files, made where they are missing."""
    clock = Clock(settings)
    workspace = Workspace(settings.home)
    workspace.create(settings.program_language)
    known = KnownSecrets(KeySource(settings).values)
    journal = Journal(workspace, clock.now, known)
    sessions = Sessions(workspace, journal, clock.now, known=known)
    memory_log = MemoryLog(workspace.memory_log_path)
    forgotten = ForgottenLines(workspace.forgotten_path, journal.said_since)
    notes = Notes(workspace, memory_log, clock.now, forgotten, known)
    places = Places(workspace, journal, sessions, memory_log, notes)
    return Store(
        workspace=workspace,
        clock=clock,
        journal=journal,
        sessions=sessions,
        artifacts=Artifacts(workspace, known),
        memory_log=memory_log,
        notes=notes,
        admission=Admission(notes, WaitingLines(workspace.waiting_path, known), journal, clock.now),
        places=places,
        forget_files=ForgetFiles(workspace, places, forgotten, clock.now),
        refused_parts=RefusedParts(workspace.refused_parts_path, clock.now),
        token_factors=TokenFactors(workspace.token_factors_path),
        allowed_calls=AllowedCalls(workspace.allowed_calls_path),
        known=known,
    )


def open_index(settings: Settings, store: Store, *, is_owner: bool) -> MemoryIndex:
    """The search index of the home, still to be entered. Only the owner of the home may change it."""
    # Memory goes to no address that the person did not name: the provider's, where none is set for it.
    follows = settings.embedder == "openai" and not settings.embedding_base_url and bool(settings.base_url)
    api_key = settings.embedding_api_key.get_secret_value()
    embedder = make_embedder(
        EmbedderSettings(
            settings.embedder,
            settings.embedding_model,
            settings.base_url if follows else settings.embedding_base_url,
            api_key or (settings.api_key.get_secret_value() if follows else ""),
            settings.embedding_dimensions,
        )
    )
    return MemoryIndex(
        IndexSettings(
            settings.home, settings.memory_store_backend, settings.memory_store_url.get_secret_value(), is_owner
        ),
        embedder,
        read_dialog,
        store.clock.now,
        mask=lambda text: store.known.mask_all(text).text,
        on_change=lambda names: _note_outside_changes(store.notes, names),
    )


def make_forgetter(store: Store, index: MemoryIndex, end_all: Callable[[], Awaitable[None]]) -> Forgetter:
    """What forgets in a home that this process owns; `end_all` closes all its conversations."""
    return Forgetter(places=store.places, files=store.forget_files, sessions=store.sessions, index=index, stop=end_all)


def make_trash(
    store: Store,
    index: MemoryIndex,
    stop: Callable[[set[str]], Awaitable[None]],
    all_open: Callable[[], Sequence[Conversation]] = tuple,
) -> Trash:
    """What empties the trash of a home that this process owns.

    `stop` ends what is written from conversations in it; `all_open` says which conversations are open.
    """
    return Trash(
        workspace=store.workspace,
        sessions=store.sessions,
        journal=store.journal,
        index=index,
        stop=stop,
        all_open=all_open,
    )


def _note_outside_changes(notes: Notes, names: frozenset[str]) -> None:
    """What an editor or another program made of a memory file comes into the memory log."""
    for name in sorted(names):
        try:
            notes.note_outside_change(name)
        except WorkspaceError:
            # The journal, or a file that only the index takes for memory: it has no history.
            continue
        except OSError as error:
            log.warning("the change of %s could not be logged: %s", name, error)


def _sweep(store: Store) -> None:
    """What kills left of files that were being written is no one's, and may hold what was forgotten since."""
    oldest = store.clock.now().timestamp() - _LEFT_OVER_SECONDS
    root = store.workspace.root.resolve()
    inside = [folder for folder in store.workspace.folders if folder.resolve().is_relative_to(root)]
    removed = sum(remove_left_over(folder, oldest) for folder in inside)
    if removed:
        log.info("%d unfinished temporary files were removed", removed)


def _finish_forget(store: Store) -> bool:
    """Take what was decided before the program was killed out of the files; True when only the index is left."""
    log.warning("a forget was cut off and is finished now")
    try:
        store.forget_files.carry_out()
    except (OSError, WorkspaceError) as error:
        log.warning("not all of it could be forgotten: %s; it goes on at the next start", error)
        return False
    return True


async def _clear_index(store: Store, index: MemoryIndex) -> None:
    """The rest of a forget that was cut off."""
    for notice in await make_forgetter(store, index, end_nothing).clear_index():
        log.warning(notice)


def in_this_loop(call: Callable[[MemoryChange], None]) -> Callable[[MemoryChange], None]:
    """The same call, made in the loop that runs now: tools and the watcher write in threads of their own."""
    loop, thread_id = asyncio.get_running_loop(), threading.get_ident()

    def called(change: MemoryChange) -> None:
        if threading.get_ident() == thread_id:
            call(change)
        else:
            loop.call_soon_threadsafe(call, change)

    return called


async def end_nothing() -> None:
    """For a home in which this process has no conversation open."""


async def stop_nothing(session_ids: set[str]) -> None:
    """For a home in which this process writes nothing to memory."""


async def cancel_task(task: asyncio.Task[None]) -> None:
    """End a task and wait until it has ended."""
    task.cancel()
    await asyncio.gather(task, return_exceptions=True)
