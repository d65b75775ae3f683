"""How fast work in the background goes: beside a person who waits for something else it takes a fifth of the time."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Generator
from contextlib import contextmanager

_RESTS_A_WORK = 4
"""So many times as long as it worked it rests."""
_LONGEST_REST_SECONDS = 0.5
_PERSON_SECONDS = 3.0
"""So long after something a person did the next thing they do is near."""


class IndexPace:
    """Told in the event loop what a person does, and asked by whoever works how long to rest."""

    def __init__(self, now_seconds: Callable[[], float] = time.monotonic) -> None:
        self._now_seconds = now_seconds
        self._guard = threading.Lock()
        self._waiting = self._hurrying = 0
        self._is_wanted = threading.Event()
        self._person_until = float("-inf")

    def note_person(self) -> None:
        """A person did something just now."""
        self._person_until = self._now_seconds() + _PERSON_SECONDS

    @contextmanager
    def beside_person(self) -> Generator[None]:
        """A person waits meanwhile, for something else than the work."""
        with self._guard:
            self._waiting += 1
        try:
            yield
        finally:
            self.note_person()
            with self._guard:
                self._waiting -= 1

    @contextmanager
    def hurried(self) -> Generator[None]:
        """Somebody waits for the work itself meanwhile."""
        with self._guard:
            self._hurrying += 1
            self._is_wanted.set()
        try:
            yield
        finally:
            with self._guard:
                self._hurrying -= 1
                if not self._hurrying:
                    self._is_wanted.clear()

    def rest_after(self, work_seconds: float) -> None:
        """Rest in a thread after work that took so long, unless somebody begins to wait for more of it."""
        self._is_wanted.wait(self.rest_seconds(work_seconds))

    def rest_seconds(self, work_seconds: float) -> float:
        """How long to rest after work that took so long: half a second at most, and not at all with nobody near."""
        is_person_near = self._waiting or self._now_seconds() < self._person_until
        if self._is_wanted.is_set() or not is_person_near:
            return 0.0
        return min(_RESTS_A_WORK * work_seconds, _LONGEST_REST_SECONDS)
