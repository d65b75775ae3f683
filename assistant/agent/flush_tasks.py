"""The flushes that run beside the conversations, and their owner: started, resumed, awaited at shutdown."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager

from assistant.agent.flush import Flusher, FlushModel
from assistant.agent.turn_gate import TurnGate
from assistant.errors import SessionInUseError
from assistant.messages.events import FlushFinished, FlushState
from assistant.storage.journal.unwritten import Unwritten

CLOSE_SECONDS = 20.0
"""How long shutdown waits; a flush that takes longer is cut and resumed at the next start."""

EmitFlush = Callable[[str, FlushFinished], None]
HoldSession = Callable[[str], AbstractContextManager[None]]


class FlushTasks:
    """Runs one flush at a time, oldest first, so that two never write the same fact at once."""

    def __init__(self, flusher: Flusher, emit: EmitFlush, hold: HoldSession, gate: TurnGate) -> None:
        """`hold` keeps other processes from the same flush; by `gate` one on this machine waits until no turn runs."""
        self._flusher = flusher
        self._emit = emit
        self._hold = hold
        self._gate = gate
        self._tasks: dict[asyncio.Task[None], Unwritten] = {}
        self._known: set[str] = set()
        self._turn = asyncio.Lock()

    def start(self, stretch: Unwritten) -> None:
        """Flush a stretch, once in this process."""
        if stretch.flush_id in self._known:
            return
        self._known.add(stretch.flush_id)
        task = asyncio.create_task(self._flush(stretch), name=f"flush {stretch.flush_id}")
        self._tasks[task] = stretch
        task.add_done_callback(self._tasks.pop)

    def leave(self, session_id: str, compaction_id: str | None) -> bool:
        """Flush what was said in a conversation since the last time, and what was cut off of it before.

        Its context is the one after the compaction `compaction_id`. False where there is nothing worth it.
        """
        self._flusher.begin_left(session_id, compaction_id)
        return self.resume(session_id, compaction_id)

    def resume(self, session_id: str, compaction_id: str | None) -> bool:
        """Start again what was cut off in this conversation, whose context builds on that compaction.

        False where that is nothing.
        """
        pending = self._flusher.pending(session_id, compaction_id)
        for stretch in pending:
            self.start(stretch)
        return bool(pending)

    async def wait(self) -> None:
        """Return when no flush runs."""
        while self._tasks:
            await asyncio.wait(set(self._tasks))

    async def finish(self) -> None:
        """Wait for the flushes that run; what takes too long is cut, and code writes it down."""
        if self._tasks:
            await asyncio.wait(set(self._tasks), timeout=CLOSE_SECONDS)
        slow = list(self._tasks.values())
        await self.cut()
        for stretch in slow:
            self._tell(stretch, await self._flusher.flush(stretch, None))

    async def close(self) -> None:
        """Wait for the flushes that run, then cut what is left."""
        if self._tasks:
            await asyncio.wait(set(self._tasks), timeout=CLOSE_SECONDS)
        await self.cut()

    async def cut(self) -> None:
        """End what runs at once; it goes on, from the journal as it is then, when its conversation is opened again."""
        await self._cut(list(self._tasks))

    async def cut_of(self, session_ids: set[str]) -> None:
        """The same for these conversations alone."""
        await self._cut([task for task, stretch in self._tasks.items() if stretch.session_id in session_ids])

    async def _cut(self, tasks: Sequence[asyncio.Task[None]]) -> None:
        for task in tasks:
            self._known.discard(self._tasks[task].flush_id)
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    async def _flush(self, stretch: Unwritten) -> None:
        async with self._turn:
            try:
                with self._hold(f"{stretch.session_id}.flush"):
                    if self._flusher.has_ended(stretch):
                        return
                    state = await self._run(stretch, await self._flusher.begin(stretch))
            except SessionInUseError:
                # Another process writes it down.
                self._known.discard(stretch.flush_id)
                return
        self._tell(stretch, state)

    async def _run(self, stretch: Unwritten, model: FlushModel | None) -> FlushState:
        if model is None or not model.shares_machine:
            return await self._flusher.flush(stretch, model)
        while True:
            await self._gate.until_idle()
            flush = asyncio.create_task(self._flusher.flush(stretch, model))
            busy = asyncio.create_task(self._gate.until_busy())
            try:
                await asyncio.wait({flush, busy}, return_when=asyncio.FIRST_COMPLETED)
            finally:
                for task in (flush, busy):
                    task.cancel()
                await asyncio.gather(flush, busy, return_exceptions=True)
            if not flush.cancelled():
                return flush.result()

    def _tell(self, stretch: Unwritten, state: FlushState) -> None:
        self._emit(stretch.session_id, FlushFinished(stretch.flush_id, state))
