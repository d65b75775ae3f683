"""Jobs of one owner, run one after the other, each in a task of its own: one can be stopped and the next goes on."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable, Coroutine
from typing import Generic, TypeVar

Job = TypeVar("Job")
CarryOut = Callable[[Job], Coroutine[object, object, None]]


class JobQueue(Generic[Job]):
    """Never two at once. `carry_out` raises nothing; `on_end` is called after each job, once the next has its task."""

    def __init__(self, carry_out: CarryOut[Job], on_end: Callable[[], None], name: str) -> None:
        self._carry_out = carry_out
        self._on_end = on_end
        self._name = name
        self._waiting: deque[Job] = deque()
        self._running: tuple[Job, ...] = ()
        self._task: asyncio.Task[None] | None = None
        self._is_stopping = False
        self._is_closed = False

    @property
    def is_busy(self) -> bool:
        """True while a job runs or waits to run."""
        return self._task is not None or bool(self._waiting)

    @property
    def is_closed(self) -> bool:
        """True when no job is taken any more."""
        return self._is_closed

    @property
    def waiting(self) -> tuple[Job, ...]:
        """The jobs that have not begun, in order."""
        return tuple(self._waiting)

    @property
    def unfinished(self) -> tuple[Job, ...]:
        """The job that runs, and those that have not begun, in order."""
        return (*self._running, *self._waiting)

    def add(self, job: Job, *, is_next: bool = False) -> None:
        """Run a job now, or after those that wait, or before them; a closed queue lets go of it."""
        if self._is_closed:
            return
        if self._task is not None:
            if is_next:
                self._waiting.appendleft(job)
            else:
                self._waiting.append(job)
            return
        self._is_stopping = False
        self._running = (job,)
        self._task = asyncio.create_task(self._carry_out(job), name=self._name)
        self._task.add_done_callback(self._end)

    async def stop(self) -> None:
        """Cancel the running job and return when it has ended; those that wait go on."""
        task = self._task
        if task is None:
            return
        # A task that is cancelled before its first step never runs at all, and its job would be lost; here it has run.
        await asyncio.sleep(0)
        if self._task is task and not self._is_stopping:
            # Once: a second cancellation would cut off the cleaning up of the first.
            self._is_stopping = True
            task.cancel()
        await asyncio.wait({task})

    async def close(self) -> None:
        """Stop, and let go of what waits."""
        self._is_closed = True
        self._waiting.clear()
        await self.stop()

    def _end(self, _: asyncio.Task[None]) -> None:
        self._task = None
        self._running = ()
        if self._waiting:
            self.add(self._waiting.popleft())
        self._on_end()
