"""What the page needs of an assistant and its conversations, and nothing more."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from assistant.artifacts import Artifacts
from assistant.errors import PalimpsestError
from assistant.events import Event, Part
from assistant.memory.log import MemoryLog, Origin
from assistant.workspace import Workspace

if TYPE_CHECKING:
    # It brings the agent library with it, which the page does not wait for.
    from assistant.messages import BlockKey


class ContextItem(Protocol):
    """One piece of what the model sees: its part, a short label, the text and what it costs."""

    @property
    def part(self) -> Part:
        """The part of the bar it belongs to."""
        ...

    @property
    def label(self) -> str:
        """What it is, in a few words."""
        ...

    @property
    def text(self) -> str:
        """What the model reads."""
        ...

    @property
    def tokens(self) -> int:
        """What it costs."""
        ...

    @property
    def key(self) -> BlockKey | None:
        """The block it is, where it is one of a message."""
        ...

    @property
    def is_user(self) -> bool:
        """True for what the person said."""
        ...

    @property
    def is_pinned(self) -> bool:
        """True for what stays word for word."""
        ...


class Preview(Protocol):
    """What compacting now would do."""

    @property
    def previous_tokens(self) -> int:
        """What stands in the window now."""
        ...

    @property
    def folded_tokens(self) -> int:
        """How much of it would be folded."""
        ...

    @property
    def folded(self) -> Sequence[ContextItem]:
        """The pieces that would be folded."""
        ...

    @property
    def kept_turns(self) -> int:
        """The turns that would stay word for word."""
        ...

    @property
    def reason(self) -> str:
        """Why nothing would be folded; empty when something would be."""
        ...


class Numbered(Protocol):
    """A live event and its place."""

    @property
    def event(self) -> Event:
        """What was told."""
        ...


class Past(Protocol):
    """What a new reader needs."""

    @property
    def history(self) -> Sequence[Event]:
        """All that is past."""
        ...

    @property
    def start(self) -> int:
        """From which number on to follow what is live."""
        ...


class OpenConversation(Protocol):
    """A conversation of this process. Everything is called in the event loop that owns it."""

    @property
    def session_id(self) -> str:
        """Names it for ever."""
        ...

    @property
    def title(self) -> str:
        """What the list shows."""
        ...

    @property
    def is_running(self) -> bool:
        """True while a turn or another job runs or waits to run."""
        ...

    @property
    def queued(self) -> Sequence[str]:
        """Messages that wait for the running turn to end."""
        ...

    def answer(self, call_id: str, is_allowed: bool, /) -> None:
        """Allow a parked call once, or deny it."""
        ...

    async def stop(self) -> None:
        """End the running turn."""
        ...

    def continue_turn(self) -> None:
        """Go on from where the turn was cut."""
        ...

    def retry(self) -> None:
        """Answer the newest message again."""
        ...

    def compact(self, hint: str = "") -> None:
        """Compact now."""
        ...

    def undo(self) -> None:
        """Take the newest compaction back."""
        ...

    async def preview_compaction(self) -> Preview:
        """What compacting now would fold and keep; nothing is changed."""
        ...

    def pin(self, key: BlockKey, /) -> None:
        """Keep a block in every context; raises `CompactionError` when pins would take too much."""
        ...

    def unpin(self, key: BlockKey, /) -> None:
        """Let a pinned block go."""
        ...

    def attach(self) -> Past:
        """The past as events, and where to follow on."""
        ...

    def follow(self, start: int) -> AsyncIterator[Numbered]:
        """Live events from a number on, without end."""
        ...

    def measure(self) -> None:
        """Tell how full the window is now, as an event."""
        ...

    def context_items(self) -> Sequence[ContextItem]:
        """What the model sees, in order."""
        ...


class SessionLine(Protocol):
    """One conversation in the list; `updated_at` is a zone-aware ISO time."""

    @property
    def session_id(self) -> str:
        """Names it for ever."""
        ...

    @property
    def title(self) -> str:
        """What the list shows."""
        ...

    @property
    def updated_at(self) -> str:
        """When it was last used."""
        ...


class OpenConversations(Protocol):
    """All conversations of one home."""

    def open(self, session_id: str) -> OpenConversation:
        """The one conversation of that id."""
        ...

    def create(self) -> OpenConversation:
        """A new, empty one."""
        ...

    def summaries(self) -> Sequence[SessionLine]:
        """Every conversation, used last first."""
        ...


class ModelInUse(Protocol):
    """Who answers, and how that was found out."""

    @property
    def name(self) -> str:
        """Its own name."""
        ...

    @property
    def provider(self) -> str:
        """Who runs it."""
        ...

    @property
    def window_tokens(self) -> int:
        """How much it can read at once."""
        ...

    @property
    def is_language_model(self) -> bool:
        """False for the built-in assistant."""
        ...

    @property
    def is_fit_for_summaries(self) -> bool:
        """False for a model too small to write summaries and memory."""
        ...

    @property
    def how(self) -> str:
        """One line: what was tried, what answered."""
        ...


class ConnectionReport(Protocol):
    """What a test of the connection found, in words for the person."""

    @property
    def is_ok(self) -> bool:
        """True when the model answered and called its tool."""
        ...

    @property
    def text(self) -> str:
        """What happened, and what to do where it failed."""
        ...


class MemoryNote(Protocol):
    """A memory file as read."""

    @property
    def text(self) -> str:
        """What stands in it."""
        ...

    @property
    def digest(self) -> str:
        """Stands for exactly this text."""
        ...


class MemoryNotes(Protocol):
    """The one writer of memory files."""

    def read(self, name: str) -> MemoryNote:
        """The file as it is on disk."""
        ...

    def save(self, name: str, text: str, base_digest: str, writer: str, /) -> object:
        """Replace it; raises `ConflictError` when it is no longer `base_digest`."""
        ...

    def undo(self, change_id: str, writer: Origin, /) -> object | None:
        """Take one change back; None when nothing of it is left, `ConflictError` when its lines changed since."""
        ...


class Hit(Protocol):
    """A place that answers a search; `session_id` is empty for a memory file."""

    @property
    def path(self) -> str:
        """From the home, with slashes."""
        ...

    @property
    def first_line(self) -> int:
        """1-based."""
        ...

    @property
    def snippet(self) -> str:
        """The lines that answer best."""
        ...

    @property
    def day(self) -> str:
        """`2026-11-30`, empty where it has none."""
        ...

    @property
    def session_id(self) -> str:
        """The conversation it was said in."""
        ...

    @property
    def message_id(self) -> str:
        """The message the snippet starts with."""
        ...

    @property
    def message_ids(self) -> Sequence[str]:
        """The message of each line around it."""
        ...


class Hits(Protocol):
    """What a search found."""

    @property
    def hits(self) -> Sequence[Hit]:
        """Best first."""
        ...

    @property
    def notices(self) -> Sequence[str]:
        """What the person should know about how they were found."""
        ...


class IndexState(Protocol):
    """What the index is busy with."""

    @property
    def pending(self) -> int:
        """Files to read and vectors to make."""
        ...

    @property
    def progress(self) -> float:
        """0 to 1; 1 when nothing is pending."""
        ...

    @property
    def notices(self) -> Sequence[str]:
        """Degradations that hold now."""
        ...


class SearchIndex(Protocol):
    """Search over memory files and past conversations."""

    async def search(self, query: str, max_results: int = 5, /) -> Hits:
        """The places that answer `query`."""
        ...

    def status(self) -> IndexState:
        """What it holds and does now."""
        ...


class OpenStore(Protocol):
    """What stands on disk."""

    @property
    def artifacts(self) -> Artifacts:
        """The full texts of shortened tool results."""
        ...


class OpenAssistant(Protocol):
    """The assistant as the page sees it."""

    @property
    def workspace(self) -> Workspace:
        """The home."""
        ...

    @property
    def model(self) -> ModelInUse:
        """Who answers."""
        ...

    @property
    def store(self) -> OpenStore:
        """The home's files."""
        ...

    @property
    def notes(self) -> MemoryNotes:
        """The memory files."""
        ...

    @property
    def memory_log(self) -> MemoryLog:
        """Every change to them."""
        ...

    @property
    def conversations(self) -> OpenConversations:
        """All conversations."""
        ...

    @property
    def index(self) -> SearchIndex:
        """Search over all of it."""
        ...

    async def submit(self, conversation: OpenConversation, text: str, /) -> OpenConversation:
        """Run a slash command or ask; returns the conversation the person is in then."""
        ...

    async def reconnect_model(self) -> object:
        """Look for a model again."""
        ...

    async def test_connection(self) -> ConnectionReport:
        """One short request with one tool call."""
        ...


Opener = Callable[[], AbstractAsyncContextManager[OpenAssistant]]
"""Called in a worker thread (it may import much); the context is entered in the page's event loop."""

TokenCount = Callable[[str], int]


@dataclass(frozen=True, slots=True)
class Loaded:
    """The assistant and a counter that fits its model."""

    assistant: OpenAssistant
    count_tokens: TokenCount


class Loading:
    """The assistant that is about to be there: the page stands before it does."""

    def __init__(self) -> None:
        self._done = asyncio.Event()
        self._loaded: Loaded | None = None
        self._error: PalimpsestError | None = None

    @property
    def loaded(self) -> Loaded | None:
        """The assistant, or None while it loads or when it failed."""
        return self._loaded

    def finish(self, loaded: Loaded) -> None:
        """Say that the assistant is there."""
        self._loaded = loaded
        self._done.set()

    def fail(self, error: PalimpsestError) -> None:
        """Say why there will be none."""
        self._error = error
        self._done.set()

    async def ready(self) -> Loaded:
        """Wait for the assistant; raises what loading raised."""
        await self._done.wait()
        if self._loaded is None:
            raise self._error or PalimpsestError("The assistant was not loaded.")
        return self._loaded
