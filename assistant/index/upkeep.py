"""What goes on beside searches: files are watched and read, vectors made, damage repaired."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Coroutine
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from assistant.errors import IndexingError
from assistant.index.search_notices import SearchNotice, not_indexed, task_failed, words_for_now
from assistant.index.sync import Synchroniser, SyncResult
from assistant.index.text.full_text import FullText
from assistant.index.vectors.meaning import Meaning
from assistant.index.vectors.stores import remove_vector_files
from assistant.index.watcher import keep_going, watch_home

logger = logging.getLogger(__name__)

# A look at every file's times now and then makes lost events harmless.
_RESCAN_SECONDS = 300.0
_RETRY_SECONDS = 5.0
_LONGEST_RETRY_SECONDS = 300.0
_CLOSE_SECONDS = 5.0


@dataclass(frozen=True, slots=True)
class Progress:
    """Files read in the round that is running, or in the last one."""

    done: int = 0
    total: int = 0


class Upkeep:
    """Owns the background tasks of one index. `start` and `stop` bracket its life."""

    def __init__(
        self,
        root: Path,
        full_text: FullText,
        synchroniser: Synchroniser,
        meaning: Meaning | None,
        on_change: Callable[[frozenset[str]], None],
    ) -> None:
        self._root = root
        self._full_text = full_text
        self._synchroniser = synchroniser
        self._meaning = meaning
        self._on_change = on_change
        self._tasks: list[asyncio.Task[None]] = []
        self._watching: asyncio.Task[None] | None = None
        self._is_stopping = False
        self._is_rebuild_wanted = False
        self._to_look = asyncio.Event()
        self._to_fill = asyncio.Event()
        self._moved = asyncio.Condition()
        self._rounds_wanted = self._rounds_read = self._rounds_filled = 0
        self._named: frozenset[str] = frozenset()
        self.progress = Progress()
        self.is_read_once = asyncio.Event()
        """Set when every file has been read once since the start."""
        self.is_meaning_settled = asyncio.Event()
        """Set when vectors can be searched, or cannot for now."""
        self.is_meaning_open = False
        self.text_notice: SearchNotice | None = None
        self.vector_notice: SearchNotice | None = None

    def start(self, is_watching: bool) -> None:
        """Begin to read files, make vectors and, if wanted, follow changes."""
        self._begin("Reading files", self._keep_text)
        if (meaning := self._meaning) is None:
            self.is_meaning_settled.set()
        else:
            self._begin("Making vectors", lambda: self._keep_meaning(meaning))
        if is_watching:
            self._watching = self._begin("Watching files", self._keep_watching)
        self.look()

    async def stop(self) -> None:
        """End the tasks: at the end of their step where that is near, else at once."""
        self._is_stopping = True
        self._to_look.set()
        self._to_fill.set()
        self.is_read_once.set()
        if self._watching is not None:
            self._watching.cancel()
        await asyncio.wait(self._tasks, timeout=_CLOSE_SECONDS)
        for task in self._tasks:
            task.cancel()
        await asyncio.wait(self._tasks)
        await self._tell_moved()

    def look(self, names: frozenset[str] = frozenset()) -> int:
        """Ask for the files to be read and return the number of that round; `names` are those of an event."""
        self._named |= names
        self._rounds_wanted += 1
        self._to_look.set()
        return self._rounds_wanted

    async def wait_read(self, number: int) -> None:
        """Wait until the words of a round can be found."""
        await self._wait_until(lambda: self._rounds_read >= number)

    async def wait_filled(self, number: int) -> None:
        """Wait until the vectors of a round are made, or cannot be made for now."""
        await self.wait_read(number)
        if self._meaning is not None:
            await self._wait_until(lambda: self._rounds_filled >= number)

    async def rebuild(self) -> None:
        """Build words and vectors again and wait until both are there."""
        self._is_rebuild_wanted = True
        if self._meaning is not None:
            self._meaning.distrust_store()
        await self.wait_filled(self.look())

    async def purge(self) -> None:
        """Leave no trace of removed chunks in any file of the index."""
        await asyncio.to_thread(self._full_text.scrub)
        if self._meaning is not None and self.is_meaning_open:
            await self._meaning.purge()
            await self.wait_filled(self.look())
            return
        # Vectors that cannot be compared with the chunks now, or that an earlier embedder left, go as a whole.
        if self._meaning is not None:
            await asyncio.to_thread(self._meaning.close_files)
        await asyncio.to_thread(remove_vector_files, self._full_text.path.parent)

    async def _keep_text(self) -> None:
        while not self._is_stopping:
            with suppress(TimeoutError):
                await asyncio.wait_for(self._to_look.wait(), _RESCAN_SECONDS)
            self._to_look.clear()
            number, names, self._named = self._rounds_wanted, self._named, frozenset()
            found = await self._read_files()
            await self._finish_round(number)
            if changed := _changed_names(found, names):
                # A thousand notes that were just copied here are a thousand entries in a log.
                await asyncio.to_thread(self._on_change, changed)

    async def _read_files(self) -> SyncResult:
        try:
            if self._is_rebuild_wanted:
                self._is_rebuild_wanted = False
                await asyncio.to_thread(self._full_text.begin_anew)
            try:
                found = await self._sync()
            except IndexingError as error:
                logger.warning("The full-text index is opened anew: %s", error)
                await asyncio.to_thread(self._full_text.recover)
                found = await self._sync()
        except (IndexingError, OSError) as error:
            # A full disk, or one that cannot be written: the next look tries again.
            self.text_notice = not_indexed(error)
            return SyncResult((), ())
        self.text_notice = None
        return found

    async def _sync(self) -> SyncResult:
        found = await asyncio.to_thread(self._synchroniser.sync, self._note_progress, self._should_stop)
        if found.changed or found.removed:
            await asyncio.to_thread(self._full_text.tidy)
        return found

    async def _finish_round(self, number: int) -> None:
        self._rounds_read = number
        self.is_read_once.set()
        self._to_fill.set()
        await self._tell_moved()

    async def _keep_meaning(self, meaning: Meaning) -> None:
        wait_seconds = _RETRY_SECONDS
        # The store is compared with the chunk rows, so these come first.
        await self.is_read_once.wait()
        while not self._is_stopping:
            self._to_fill.clear()
            number = self._rounds_read
            try:
                await self._fill(meaning)
                self.vector_notice, wait_seconds = None, _RETRY_SECONDS
            except IndexingError as error:
                self.vector_notice = words_for_now(error)
            self.is_meaning_settled.set()
            self._rounds_filled = number
            await self._tell_moved()
            with suppress(TimeoutError):
                await asyncio.wait_for(self._to_fill.wait(), wait_seconds if self.vector_notice else None)
            wait_seconds = min(wait_seconds * 2, _LONGEST_RETRY_SECONDS)

    async def _fill(self, meaning: Meaning) -> None:
        if not self.is_meaning_open:
            await meaning.open()
            self.is_meaning_open = True
            if not await asyncio.to_thread(meaning.is_soon_complete):
                self.is_meaning_settled.set()
        await meaning.fill(self._should_stop)

    async def _keep_watching(self) -> None:
        async for names in watch_home(self._root):
            self.look(names)

    async def _note_failure(self, name: str, error: Exception) -> None:
        self.text_notice = task_failed(name, error)
        # Nobody may wait for ever for a round that failed.
        self._rounds_filled = self._rounds_wanted
        await self._finish_round(self._rounds_wanted)
        self.is_meaning_settled.set()

    async def _wait_until(self, is_reached: Callable[[], bool]) -> None:
        """The work does not rest meanwhile."""
        with self._synchroniser.pace.hurried():
            async with self._moved:
                await self._moved.wait_for(lambda: is_reached() or self._is_stopping)

    async def _tell_moved(self) -> None:
        async with self._moved:
            self._moved.notify_all()

    def _begin(self, name: str, work: Callable[[], Coroutine[None, None, None]]) -> asyncio.Task[None]:
        task = asyncio.create_task(keep_going(work, lambda error: self._note_failure(name, error)), name=name)
        self._tasks.append(task)
        return task

    def _should_stop(self) -> bool:
        return self._is_stopping

    def _note_progress(self, done: int, total: int) -> None:
        self.progress = Progress(done, total)


def _changed_names(found: SyncResult, named: frozenset[str]) -> frozenset[str]:
    """Indexed files count when their content changed; the home's other Markdown files when an event names them."""
    return frozenset(found.changed) | frozenset(found.removed) | {name for name in named if _is_top_file(name)}


def _is_top_file(name: str) -> bool:
    return "/" not in name and name.endswith(".md")
