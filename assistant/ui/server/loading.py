"""The assistant that the page waits for: the page is there before it."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from assistant.config.words import say
from assistant.errors import PalimpsestError
from assistant.storage.sessions.session_head import SessionSummary

if TYPE_CHECKING:
    # It brings the agent library with it, which the page does not wait for.
    from assistant.assembly.assistant import Assistant

Opener = Callable[[str, str], "AbstractAsyncContextManager[Assistant]"]
"""Opens the assistant of a person (empty: of the one owner), whose page is at an address. Called in a worker thread,
as it may import much; the context is entered in the page's event loop."""

TokenCount = Callable[[str], int]


@dataclass(frozen=True, slots=True)
class Loaded:
    """The assistant and a counter that fits its model."""

    assistant: Assistant
    count_tokens: TokenCount
    is_guest: bool = False
    """True where it is that of a guest conversation, in a home that is not the person's."""

    def of(self, session_id: str) -> Loaded:
        """The same, of the assistant in whose home a conversation is."""
        owner = self.assistant.owner_of(session_id)
        return self if owner is self.assistant else replace(self, assistant=owner, is_guest=True)


class Loading:
    """The assistant that is being loaded."""

    def __init__(self) -> None:
        self._done = asyncio.Event()
        self._loaded: Loaded | None = None
        self._error: PalimpsestError | None = None
        self._read_list: Callable[[], Sequence[SessionSummary]] | None = None

    @property
    def loaded(self) -> Loaded | None:
        """The assistant, or None while it loads or when it failed."""
        return self._loaded

    def foresee(self, read_list: Callable[[], Sequence[SessionSummary]]) -> None:
        """Say how the list of conversations is read without the assistant."""
        self._read_list = read_list

    async def list_meanwhile(self) -> Sequence[SessionSummary]:
        """The conversations as far as can be told before the assistant is there."""
        return await asyncio.to_thread(self._read_list) if self._read_list else ()

    def finish(self, loaded: Loaded) -> None:
        """Say that the assistant is there."""
        self._loaded = loaded
        self._done.set()

    def fail(self, error: PalimpsestError) -> None:
        """Say why there will be none, or is none any more."""
        self._loaded = None
        self._error = error
        self._done.set()

    async def ready(self) -> Loaded:
        """Wait for the assistant; raises what loading raised."""
        await self._done.wait()
        if self._loaded is None:
            raise self._error or PalimpsestError(say("page", "not_loaded"))
        return self._loaded
