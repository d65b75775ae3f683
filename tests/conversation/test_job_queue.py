"""Jobs run one after the other; stopping one lets it clean up and leaves the next."""

from __future__ import annotations

import asyncio

from assistant.conversation.job_queue import JobQueue


class Worker:
    """Notes what begins and ends; a job waits until its gate is open."""

    def __init__(self) -> None:
        self.noted: list[str] = []
        self.gates: dict[str, asyncio.Event] = {}
        self.idle = asyncio.Event()
        self.queue: JobQueue[str] = JobQueue(self.carry_out, self.look, "job")

    async def carry_out(self, job: str) -> None:
        self.noted.append(f"begin {job}")
        try:
            await self.gates.setdefault(job, asyncio.Event()).wait()
        except asyncio.CancelledError:
            await asyncio.sleep(0)
            self.noted.append(f"stopped {job}")
            return
        self.noted.append(f"end {job}")

    def look(self) -> None:
        if not self.queue.is_busy:
            self.idle.set()

    def open_gate(self, job: str) -> None:
        self.gates.setdefault(job, asyncio.Event()).set()


async def test_jobs_run_one_after_the_other() -> None:
    worker = Worker()
    for job in ("a", "b"):
        worker.queue.add(job)
        worker.open_gate(job)
    await worker.idle.wait()

    assert worker.noted == ["begin a", "end a", "begin b", "end b"]


async def test_a_job_that_comes_between_two_jobs_waits_for_its_turn() -> None:
    worker = Worker()
    worker.queue.add("a")
    worker.queue.add("b")
    worker.open_gate("b")
    worker.open_gate("c")
    await asyncio.sleep(0)

    # Job a ends here, and c comes before anybody was told of it.
    worker.gates["a"].set()
    worker.queue.add("c")
    await worker.idle.wait()

    assert worker.noted == ["begin a", "end a", "begin b", "end b", "begin c", "end c"]


async def test_an_urgent_job_goes_before_those_that_wait() -> None:
    worker = Worker()
    for job in ("a", "b"):
        worker.queue.add(job)
        worker.open_gate(job)
    worker.queue.add("urgent", is_next=True)
    worker.open_gate("urgent")
    await worker.idle.wait()

    assert worker.noted == ["begin a", "end a", "begin urgent", "end urgent", "begin b", "end b"]


async def test_stopping_a_job_before_its_first_step_lets_it_begin() -> None:
    worker = Worker()
    worker.queue.add("a")
    await worker.queue.stop()

    assert worker.noted == ["begin a", "stopped a"]


async def test_a_second_stop_does_not_cut_off_the_cleaning_up() -> None:
    worker = Worker()
    worker.queue.add("a")
    await asyncio.gather(worker.queue.stop(), worker.queue.stop())

    assert worker.noted == ["begin a", "stopped a"]


async def test_the_next_job_goes_on_after_a_stop() -> None:
    worker = Worker()
    worker.queue.add("a")
    worker.queue.add("b")
    worker.open_gate("b")
    await worker.queue.stop()
    await worker.idle.wait()

    assert worker.noted == ["begin a", "stopped a", "begin b", "end b"]


async def test_a_closed_queue_lets_go_of_what_waits() -> None:
    worker = Worker()
    worker.queue.add("a")
    worker.queue.add("b")
    await worker.queue.close()

    assert (worker.noted, worker.queue.waiting, worker.queue.is_closed) == (["begin a", "stopped a"], (), True)
