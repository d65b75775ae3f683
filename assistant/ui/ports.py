"""What the page needs of an assistant and its conversations, and nothing more."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from typing import Protocol

from assistant.events import ContextMeasured, Event, Part
from assistant.settings import Settings
from assistant.workspace import Workspace


class ContextItem(Protocol):
    """One piece of what the model sees: its part, a short title, the text and what it costs."""

    @property
    def part(self) -> Part: ...
    @property
    def title(self) -> str: ...
    @property
    def text(self) -> str: ...
    @property
    def tokens(self) -> int: ...


class OpenConversation(Protocol):
    """A conversation of this process. All methods are called in the event loop that owns it."""

    @property
    def session_id(self) -> str: ...
    @property
    def title(self) -> str: ...
    @property
    def is_running(self) -> bool: ...
    def ask(self, text: str) -> None: ...
    def answer(self, call_id: str, allow: bool) -> None: ...
    async def stop(self) -> None: ...
    def continue_turn(self) -> None: ...
    def retry(self) -> None: ...
    async def compact(self, hint: str = "", preview: bool = False) -> object: ...
    async def undo(self) -> object: ...
    def history(self) -> Sequence[Event]: ...
    def follow(self, after: int = 0) -> AsyncIterator[tuple[int, Event]]: ...
    def context_view(self) -> Sequence[ContextItem]: ...
    def measure(self) -> ContextMeasured: ...


class SessionLine(Protocol):
    """One conversation in the list; `updated_at` is a zone-aware ISO time."""

    @property
    def session_id(self) -> str: ...
    @property
    def title(self) -> str: ...
    @property
    def updated_at(self) -> str: ...


class ModelInUse(Protocol):
    """Who answers, and how that was found out."""

    @property
    def name(self) -> str: ...
    @property
    def provider(self) -> str: ...
    @property
    def window_tokens(self) -> int: ...
    @property
    def is_language_model(self) -> bool: ...
    @property
    def is_fit_for_summaries(self) -> bool: ...
    @property
    def how(self) -> str: ...


class ConnectionReport(Protocol):
    """What a test of the connection found, in words for the person."""

    @property
    def is_ok(self) -> bool: ...
    @property
    def text(self) -> str: ...


class MemoryNote(Protocol):
    """A memory file as read; `digest` stands for exactly this text."""

    @property
    def text(self) -> str: ...
    @property
    def digest(self) -> str: ...


class MemoryNotes(Protocol):
    """The one writer of memory files. `save` raises `ConflictError` when the file is no longer `base_digest`."""

    def read(self, name: str) -> MemoryNote: ...
    def save(self, name: str, text: str, base_digest: str, writer: str) -> object: ...


class OpenAssistant(Protocol):
    """The assistant as the page sees it."""

    @property
    def settings(self) -> Settings: ...
    @property
    def workspace(self) -> Workspace: ...
    @property
    def model(self) -> ModelInUse | None: ...
    @property
    def notes(self) -> MemoryNotes: ...
    def conversation(self, session_id: str) -> OpenConversation: ...
    def new_conversation(self) -> OpenConversation: ...
    def sessions(self) -> Sequence[SessionLine]: ...
    async def reconnect_model(self) -> ModelInUse: ...
    async def test_connection(self) -> ConnectionReport: ...


Opener = Callable[[], AbstractAsyncContextManager[OpenAssistant]]
"""Called in a worker thread (it may import much); the context is entered in the page's event loop."""

TokenCount = Callable[[str], int]


@dataclass(frozen=True, slots=True)
class Loaded:
    """The assistant and a counter that fits its model."""

    assistant: OpenAssistant
    count_tokens: TokenCount


Ready = Callable[[], Awaitable[Loaded]]
"""Waits until the assistant is loaded; raises `PalimpsestError` where it cannot be."""


class Loading:
    """The assistant that is about to be there: the page stands before it does."""

    def __init__(self) -> None:
        self._done = asyncio.Event()
        self._loaded: Loaded | None = None
        self._error: Exception | None = None

    @property
    def loaded(self) -> Loaded | None:
        """The assistant, or None while it loads or when it failed."""
        return self._loaded

    def finish(self, loaded: Loaded) -> None:
        """Say that the assistant is there."""
        self._loaded = loaded
        self._done.set()

    def fail(self, error: Exception) -> None:
        """Say why there will be none."""
        self._error = error
        self._done.set()

    async def ready(self) -> Loaded:
        """Wait for the assistant; raises what loading raised."""
        await self._done.wait()
        if self._error is not None:
            raise self._error
        assert self._loaded is not None
        return self._loaded
