"""Whether a turn runs: what a model server that serves one request at a time must not do beside it waits here."""

from __future__ import annotations

import asyncio
from collections.abc import Generator
from contextlib import contextmanager

from assistant.index.pace import IndexPace


class TurnGate:
    """Counts the turns of one assistant's conversations that run now."""

    def __init__(self, pace: IndexPace) -> None:
        """`pace` is that of the index, which goes slowly beside a turn."""
        self._pace = pace
        self._turns = 0
        self._idle, self._busy = asyncio.Event(), asyncio.Event()
        self._idle.set()

    @contextmanager
    def turn(self) -> Generator[None]:
        """A turn runs meanwhile."""
        self._turns += 1
        self._idle.clear()
        self._busy.set()
        try:
            with self._pace.beside_person():
                yield
        finally:
            self._turns -= 1
            if not self._turns:
                self._busy.clear()
                self._idle.set()

    async def until_idle(self) -> None:
        """Return when no turn runs."""
        await self._idle.wait()

    async def until_busy(self) -> None:
        """Return when a turn runs."""
        await self._busy.wait()
