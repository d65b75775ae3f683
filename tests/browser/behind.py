"""The assistant behind the page of the browser tests: the real one, answered by a provider on loopback."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Coroutine, Generator
from concurrent.futures import Future
from contextlib import asynccontextmanager, contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TypeVar

from assistant.assembly.assistant import Assistant, open_assistant
from assistant.assembly.home import open_store
from assistant.assembly.sample.show_command import with_show_command
from assistant.config.settings import Settings, load_settings
from assistant.conversation.conversation import Conversation
from assistant.messages.blocks import TextBlock, UserMsg
from assistant.models.chat_model import ChatModel, connect_offline
from assistant.models.detect import ServerPlace
from assistant.storage.sessions.session_file import Session, session_bytes
from assistant.ui.people import open_person
from tests.fakes.hostile import HOSTILE
from tests.fakes.page_player import MAX_STEPS, PagePlayer
from tests.fakes.past import PastConversation
from tests.fakes.provider import StrictProvider
from tests.ui.open_page import write_memory

T = TypeVar("T")

WINDOW_TOKENS = 128_000
COMPACT_TOKENS = 30_000
"""Where conversations are compacted, far below the window, so that little has to be said for it."""
PATIENCE_SECONDS = 20.0
NEWEST = datetime(2025, 1, 1, 12, tzinfo=UTC)


class Behind:
    """The assistant behind a page, as it is reached from outside its event loop."""

    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        self.home = settings.home
        self.store = open_store(settings)
        self._opened: Future[tuple[Assistant, asyncio.AbstractEventLoop]] = Future()

    @asynccontextmanager
    async def open(self, person: str, address: str) -> AsyncGenerator[Assistant]:
        """The assistant as the page opens it."""
        async with open_person(self.settings, person, address) as assistant:
            self._opened.set_result((assistant, asyncio.get_running_loop()))
            yield assistant

    @property
    def assistant(self) -> Assistant:
        """The assistant, once it is open."""
        return self._opened.result(PATIENCE_SECONDS)[0]

    def run(self, work: Coroutine[None, None, T]) -> T:
        """What something comes to in the event loop of the assistant."""
        loop = self._opened.result(PATIENCE_SECONDS)[1]
        return asyncio.run_coroutine_threadsafe(work, loop).result(PATIENCE_SECONDS)

    def index_words(self) -> None:
        """From now on search finds what is written so far."""
        self.run(self.assistant.index.sync_words())

    def conversation(self, address: str) -> Conversation:
        """The conversation that a tab at this address shows."""
        conversation = self.assistant.conversations.opened(address.partition("c=")[2])
        assert conversation is not None
        return conversation

    def write_past(self, session_id: str, title: str, turns: int, folded_turns: int = 0) -> None:
        """A past conversation about a trip, the first turns of it folded; the seventh is about kingfishers."""
        past = PastConversation(self.store, session_id, title)
        if folded_turns:
            past.add_turns(6)
            past.add_turns(1, "the kingfishers")
            past.add_turns(folded_turns - 6)
            past.fold("## Goal\n- A trip to Lisbon")
        past.add_turns(turns - past.turns)

    def write_many(self, title: str, count: int) -> list[Path]:
        """The files of so many conversations, one each two weeks: `{title} 1`, `{title} 2`, … newest first."""
        paths: list[Path] = []
        for number in range(1, count + 1):
            at = NEWEST - timedelta(days=14 * number)
            session = Session("owner", f"many{number}", f"{title} {number}", updated_at=at.isoformat())
            session.messages = [UserMsg("user", [TextBlock(text=f"{title} {number}")])]
            paths.append(self.store.workspace.sessions_folder / f"many-{number}.json")
            paths[-1].write_bytes(session_bytes(session))
        return paths

    @contextmanager
    def many(self, title: str, count: int) -> Generator[None]:
        """Meanwhile there are as many conversations."""
        paths = self.write_many(title, count)
        try:
            yield
        finally:
            for path in paths:
                path.unlink()


@contextmanager
def opened_behind(home: Path, player: PagePlayer) -> Generator[Behind]:
    """The assistant of a new home with memory and files for the tools, and the provider that answers it."""
    write_memory(home)
    _write_files(home / "files")
    with StrictProvider(player, window_tokens=WINDOW_TOKENS) as provider:
        values: dict[str, object] = {
            "provider": "openai",
            "base_url": provider.base_url,
            "api_key": "any",
            "embedder": "none",
            "memory_store_backend": "local",
            "recall": "off",
            "compact_threshold": COMPACT_TOKENS,
            "memory_reserve_ratio": 0.001,
            "max_steps": MAX_STEPS,
            "tool_result_max_chars": 2_000,
        }
        yield Behind(Settings.model_validate({"home": home, **values}))


@asynccontextmanager
async def opened_first(home: Path, port: int, _person: str, _address: str) -> AsyncGenerator[Assistant]:
    """The assistant of a home in which nothing was chosen, on a machine where one model server runs, at `port`."""

    async def connect(settings: Settings) -> ChatModel:
        return connect_offline(settings, "Nothing was chosen yet.")

    async with with_show_command(open_assistant(load_settings(home), connect=connect)) as assistant:
        assistant.own_settings.places = (ServerPlace("Ollama", port),)
        yield assistant


def _write_files(files: Path) -> None:
    (files / "calendar").mkdir(parents=True)
    (files / "calendar" / "friday.md").write_text(
        "free from 15:00\necho $$ && $$\n${window.pwned = 9} {{value}} <b>not bold</b>\n", "utf-8"
    )
    (files / "hostile.txt").write_text(HOSTILE, "utf-8")
    (files / "plan.md").write_text("# Plan\n- Dentist on Thursday\n- Pack\n", "utf-8")
    line = "<img src=x onerror=window.pwned=1> ${1+1} a line\n"
    (files / "all.txt").write_text(f"{line * 200}the whole text\n", "utf-8")
