"""What each person has on the page: their assistant, and the controllers that serve their tabs."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Callable, Coroutine, Sequence

import gradio as gr

from assistant.config.plain_reasons import plain_reason
from assistant.config.settings import Settings
from assistant.config.words import say
from assistant.errors import PalimpsestError
from assistant.ui.chat.chat_controller import ChatController
from assistant.ui.chat.live import LiveViews
from assistant.ui.event_values import tab_of
from assistant.ui.memory.memory_panel import MemoryController
from assistant.ui.memory.memory_tasks import TaskController
from assistant.ui.memory.open_files import OpenFiles
from assistant.ui.recent_tabs import RecentTabs
from assistant.ui.server.loading import Loading

IDLE_SECONDS = 1_800.0
"""How long a user session stays open without a request; an open tab makes one every few seconds."""
MAX_SESSIONS = 24
"""Open at once: each holds an index, and some 150 MB of weights where vectors are made on this machine."""
AWAY_SECONDS = 300.0
"""How long nobody must have asked anything of a user that is closed because the page is full and somebody waits."""
SILENT_AWAY_SECONDS = 20.0
"""How long, instead, where its person never said anything; their tab, if open, asks every few seconds."""
SWEEP_SECONDS = 60.0
_MAX_TABS = 10_000

log = logging.getLogger(__name__)

WhoAsks = Callable[[gr.Request], str]
"""The person behind a request; everything that is theirs hangs on this word."""
KeepOpen = Callable[[str, Loading], Coroutine[None, None, None]]
"""Loads the assistant of a person and keeps it open until cancelled."""


class UserSession:
    """What one person has on the page."""

    def __init__(self) -> None:
        self.loading = Loading()
        self.views = LiveViews()
        self.chat = ChatController(self.loading, self.views)
        self.memory = MemoryController()
        self.tasks = TaskController()
        self.files = OpenFiles()
        self.index_states = RecentTabs[str]()
        """What each tab shows of the index."""
        self.seen_seconds = 0.0
        self.has_spoken = False
        """Whether its person ever asked anything of the assistant."""

    def leave(self, tab_hash: str) -> None:
        """Forget a tab that was closed."""
        self.chat.leave(tab_hash)
        self.files.leave(tab_hash)
        self.index_states.forget(tab_hash)

    @property
    def is_busy(self) -> bool:
        """True while a turn runs that nobody may cut."""
        loaded = self.loading.loaded
        return loaded is not None and any(one.is_running for one in loaded.assistant.conversations.all_open())


class UserSessions:
    """Opens a user session with its first request and closes it when it is idle; lives in the page's loop."""

    def __init__(
        self, who_asks: WhoAsks, keep_open: KeepOpen, now_seconds: Callable[[], float] = time.monotonic
    ) -> None:
        self._who_asks = who_asks
        self._keep_open = keep_open
        self._now_seconds = now_seconds
        self._sessions: dict[str, UserSession] = {}
        self._tasks: dict[str, asyncio.Task[None]] = {}
        self._closing: dict[asyncio.Task[None], str] = {}
        # A tab's state is kept under a name the browser chooses, so nobody may use the name of another's tab.
        self._tabs: dict[str, str] = {}

    def enter(self, request: gr.Request) -> UserSession:
        """The user session of a request, opened where it was not; one that says why where it cannot be opened."""
        try:
            person = self._person(request)
            user = self._sessions.get(person) or self.open(person)
        except PalimpsestError as error:
            user = UserSession()
            user.loading.fail(error)
        user.seen_seconds = self._now_seconds()
        if (loaded := user.loading.loaded) is not None:
            loaded.assistant.index.pace.note_person()
        return user

    def entered(self, request: gr.Request) -> UserSession | None:
        """The user session of a request if it is open."""
        try:
            user = self._sessions.get(self._person(request))
        except PalimpsestError:
            return None
        if user is not None:
            user.seen_seconds = self._now_seconds()
        return user

    def settings_of(self, person: str) -> Settings | None:
        """The settings in force for a person whose assistant is there; None for others."""
        user = self._sessions.get(person)
        loaded = user.loading.loaded if user else None
        return loaded.assistant.settings if loaded else None

    def open(self, person: str) -> UserSession:
        """Open the session of a person before their first request. Raises `PalimpsestError` where the page is full.

        Where the page is full, the user that was left longest ago is closed for it, one where nothing was said first.
        """
        waits_for = {person}
        if len(self._sessions) >= MAX_SESSIONS:
            given_up = self._first_to_give_up()
            self._begin_to_close(given_up)
            waits_for.add(given_up)
        user = self._sessions[person] = UserSession()
        user.seen_seconds = self._now_seconds()
        # Nobody may open a home that is not closed yet, nor hold the memory of one more.
        closing = [task for task, whose in self._closing.items() if whose in waits_for]
        task = asyncio.create_task(self._keep_open_after(closing, person, user.loading), name="user session")
        task.add_done_callback(lambda task: _report_failure(task, user.loading))
        self._tasks[person] = task
        return user

    async def close_idle(self) -> None:
        """Close the sessions without a request for half an hour and without a running turn."""
        for person in self._left_before(self._now_seconds() - IDLE_SECONDS):
            await self._begin_to_close(person)

    async def keep_sweeping(self) -> None:
        """Close idle sessions once a minute, until cancelled."""
        while True:
            await asyncio.sleep(SWEEP_SECONDS)
            await self.close_idle()

    async def close(self) -> None:
        """Close all of them; every turn ends, every flush writes."""
        for person in list(self._sessions):
            self._begin_to_close(person)
        await asyncio.gather(*self._closing)

    def _first_to_give_up(self) -> str:
        now = self._now_seconds()
        silent = [one for one in self._left_before(now - SILENT_AWAY_SECONDS) if not self._sessions[one].has_spoken]
        away = silent or self._left_before(now - AWAY_SECONDS)
        if not away:
            raise PalimpsestError(say("page", "page_full"))
        return min(away, key=lambda one: self._sessions[one].seen_seconds)

    def _left_before(self, seconds: float) -> list[str]:
        return [person for person, user in self._sessions.items() if user.seen_seconds < seconds and not user.is_busy]

    def _begin_to_close(self, person: str) -> asyncio.Task[None]:
        """From now on the person has no session; a new one, opened meanwhile, waits for this."""
        user, task = self._sessions.pop(person), self._tasks.pop(person)
        self._tabs = {tab: known for tab, known in self._tabs.items() if known != person}
        closing = asyncio.create_task(_close(user, task), name="user session closing")
        self._closing[closing] = person
        closing.add_done_callback(self._closing.pop)
        return closing

    async def _keep_open_after(self, closing: Sequence[asyncio.Task[None]], person: str, loading: Loading) -> None:
        if closing:
            await asyncio.wait(closing)
        await self._keep_open(person, loading)

    def _person(self, request: gr.Request) -> str:
        person, tab = self._who_asks(request), tab_of(request)
        if self._tabs.setdefault(tab, person) != person:
            raise PalimpsestError(say("page", "foreign_tab"))
        while len(self._tabs) > _MAX_TABS:
            del self._tabs[next(iter(self._tabs))]
        return person


async def _close(user: UserSession, task: asyncio.Task[None]) -> None:
    await user.views.close()
    task.cancel()
    await asyncio.gather(task, return_exceptions=True)
    user.loading.fail(PalimpsestError(say("page", "session_closed")))


def _report_failure(task: asyncio.Task[None], loading: Loading) -> None:
    """Give an assistant that cannot be opened an error, so that nobody waits for it."""
    error = None if task.cancelled() else task.exception()
    if error is not None:
        log.error("a user session could not be opened", exc_info=error)
        loading.fail(PalimpsestError(say("page", "not_opened", reason=plain_reason(error))))
