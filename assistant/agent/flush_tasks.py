"""The flushes that run beside the conversations, and their owner: started, resumed, awaited at shutdown."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence

from assistant.agent.flush import Flusher
from assistant.compaction.record import CompactionRecord
from assistant.messages.events import FlushFinished

CLOSE_SECONDS = 20.0
"""How long shutdown waits; a flush that takes longer is cut and resumed at the next start."""

EmitFlush = Callable[[str, FlushFinished], None]


class FlushTasks:
    """Runs one flush at a time, oldest first, so that two never write the same fact at once."""

    def __init__(self, flusher: Flusher, emit: EmitFlush) -> None:
        self._flusher = flusher
        self._emit = emit
        self._tasks: dict[asyncio.Task[None], CompactionRecord] = {}
        self._known: set[str] = set()
        self._turn = asyncio.Lock()

    def start(self, compaction: CompactionRecord) -> None:
        """Flush a compaction, once in this process."""
        if compaction.compaction_id in self._known:
            return
        self._known.add(compaction.compaction_id)
        task = asyncio.create_task(self._flush(compaction), name=f"flush of {compaction.compaction_id}")
        self._tasks[task] = compaction
        task.add_done_callback(self._tasks.pop)

    def resume(self, session_id: str, compaction_id: str | None) -> None:
        """Start again what was cut off in this conversation, whose context builds on that compaction."""
        for compaction in self._flusher.pending(session_id, compaction_id):
            self.start(compaction)

    async def wait(self) -> None:
        """Return when no flush runs."""
        while self._tasks:
            await asyncio.wait(set(self._tasks))

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
        await self._cut([task for task, compaction in self._tasks.items() if compaction.session_id in session_ids])

    async def _cut(self, tasks: Sequence[asyncio.Task[None]]) -> None:
        for task in tasks:
            self._known.discard(self._tasks[task].compaction_id)
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    async def _flush(self, compaction: CompactionRecord) -> None:
        async with self._turn:
            state = await self._flusher.flush(compaction)
        self._emit(compaction.session_id, FlushFinished(compaction.compaction_id, state))
