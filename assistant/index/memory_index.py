"""The index of one home as the rest of the program uses it: search, status, sync, rebuild, purge."""

from __future__ import annotations

import asyncio
import datetime as dt
import logging
from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Literal, Self

from assistant.config.prompts import language_of
from assistant.config.settings import StoreBackend
from assistant.config.words import say, spoken_language
from assistant.errors import IndexingError
from assistant.index.chunker import JournalText
from assistant.index.finder import ChunkFinder, WantedHits, word_scores
from assistant.index.found_lines import FoundLine, join_lines
from assistant.index.pace import IndexPace
from assistant.index.packing import CHUNKS_LOOKED_AT, Room, pack_lines
from assistant.index.question import SearchQuestion, read_question
from assistant.index.question_words import QuestionWords
from assistant.index.quotes import ENOUGH_SHARE, Quote, QuotePlace, Sentence, is_find, make_quotes, sentences_of
from assistant.index.search import CANDIDATES, SearchHit, hit_at
from assistant.index.search_notices import (
    FORGETTING,
    LATE,
    NO_EMBEDDER,
    NO_INDEX,
    NOT_OWNER,
    STARTING,
    SearchNotice,
    still_reading,
    vectors_incomplete,
    words_this_time,
)
from assistant.index.sync import ReadDialog, Synchroniser
from assistant.index.text.full_text import FullText, open_full_text
from assistant.index.upkeep import Upkeep
from assistant.index.vectors.calibration import DEFAULT_SCORE, Calibration, MatchSignals
from assistant.index.vectors.embeddings import Embedder
from assistant.index.vectors.meaning import Meaning, NearChunks
from assistant.index.vectors.protocol import VectorSpace, VectorStore
from assistant.index.vectors.stores import SERVERS, open_store
from assistant.text.line_ends import split_lines

Mode = Literal["hybrid", "text", "off"]
"""Words and vectors; words alone; not usable now."""

# Hits may fall away as the same place or below the score, so more candidates than results are looked at.
_CANDIDATES_A_RESULT = 4
# Sentences are embedded for a quote one by one; a server takes a batch a call.
_QUOTE_BATCHES = 3
_PLACES_LOOKED_AT = 3
_CHUNKS_READ_CLOSELY = 8
_ANY_SCORE = -1.0


log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class IndexSettings:
    """Where the index is and how it behaves."""

    root: Path
    """The home."""
    backend: StoreBackend = "auto"
    server_url: str = field(default="", repr=False)
    """Address of the server that keeps vectors, with its password; empty where they live in the home."""
    is_owner: bool = True
    """False in a process that does not own the home: it searches the words that are indexed and changes nothing."""
    is_watching: bool = True
    """Follow changes on disk; without it only `sync` looks."""
    vector_seconds: float = 2.0
    """How long a search waits for vectors."""
    text_seconds: float = 1.5
    """How long a search waits for files that were not read yet since the start."""


@dataclass(frozen=True, slots=True)
class SearchAnswer:
    """Hits, best first, and what the person should know of how they were found, in the language of the question."""

    hits: tuple[SearchHit, ...]
    notices: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class IndexStatus:
    """What the index holds and what it is busy with."""

    files: int
    chunks: int
    pending: int
    """Files to read and vectors to make."""
    progress: float
    """0 to 1; 1 when nothing is pending."""
    mode: Mode
    notices: tuple[str, ...] = ()
    """Degradations that hold now, and files in an unusual encoding."""


class MemoryIndex:
    """Search over memory files and past conversations. Open it with `async with`; it then follows the files itself."""

    def __init__(
        self,
        settings: IndexSettings,
        embedder: Embedder | None,
        read_dialog: ReadDialog,
        now: Callable[[], dt.datetime],
        mask: Callable[[str], str] = str,
        on_change: Callable[[frozenset[str]], None] | None = None,
    ) -> None:
        """`now` is the person's time, `mask` hides secrets, `on_change` gets names of files whose content changed,
        in a thread of its own.
        """
        self._settings = settings
        self._embedder = embedder
        self._read_dialog = read_dialog
        self._now = now
        self._mask = mask
        self._on_change = on_change or _ignore
        self.pace = IndexPace()
        """What slows the index beside a person who waits for something else."""
        self._full_text: FullText | None = None
        self._meaning: Meaning | None = None
        self._upkeep: Upkeep | None = None
        self._is_purging = False
        self._round_expected = 0

    async def __aenter__(self) -> Self:
        """Open the words; files are read and vectors made in the background."""
        root = self._settings.root
        path = root / "index" / "full_text.sqlite"
        if not self._settings.is_owner:
            with suppress(IndexingError):
                self._full_text = await asyncio.to_thread(FullText, path, False)
            return self
        try:
            self._full_text = await asyncio.to_thread(open_full_text, path)
        except (IndexingError, OSError) as error:
            # A cache that cannot be made keeps nobody from talking; each search says that there is none.
            log.warning("the search index cannot be opened: %s", error)
            return self
        if self._embedder is not None:
            cache_path = root / "index" / "embeddings.sqlite"
            self._meaning = Meaning(self._embedder, self._full_text, cache_path, self._open_store, self.pace)
        synchroniser = Synchroniser(root, self._full_text, self._read_dialog, self._mask, self.pace)
        self._upkeep = Upkeep(root, self._full_text, synchroniser, self._meaning, self._on_change)
        # Whoever opened the home is about to ask for something.
        self.pace.note_person()
        self._upkeep.start(self._settings.is_watching)
        return self

    async def __aexit__(self, *exception: object) -> None:
        """Stop at the end of the current step and close every file."""
        if self._upkeep is not None:
            await self._upkeep.stop()
        if self._meaning is not None:
            await self._meaning.close()
        if self._full_text is not None:
            await asyncio.to_thread(self._full_text.close)

    async def search(
        self, query: str, max_results: int = 5, min_score: float = DEFAULT_SCORE, patience_seconds: float = 0.0
    ) -> SearchAnswer:
        """The places that answer `query` with a relevance of at least `min_score`, best first.

        With `patience_seconds` files and vectors that are not ready yet are waited for longer than the settings say.
        """
        wanted = WantedHits(max_results, max_results * _CANDIDATES_A_RESULT, min_score, min_score)
        return await self._search(query, wanted, patience_seconds)

    async def search_widely(
        self, query: str, min_score: float = DEFAULT_SCORE, patience_seconds: float = 0.0
    ) -> SearchAnswer:
        """The chunks that `quote` chooses its lines from: nothing where not even the best reaches `min_score`."""
        return await self._search(
            query, WantedHits(CHUNKS_LOOKED_AT, CHUNKS_LOOKED_AT, min_score, _ANY_SCORE), patience_seconds
        )

    async def quote(
        self,
        query: str,
        hits: Sequence[SearchHit],
        room: Room,
        known_ids: Collection[str] = (),
        refused_marks: Collection[str] = (),
    ) -> tuple[Quote, ...]:
        """The lines of the hits that answer `query` best, as far as there is room, newest first.

        Messages that are known are left out, and hits that are found by nothing else; so are lines whose sentences all
        have one of the `refused_marks`.
        """
        question = read_question(query, self._now().date())
        words = await asyncio.to_thread(self._words_of, question)
        found = [hit for hit in hits if is_find(hit, words, known_ids)]
        closeness = await self._closeness(question, words, found)
        packed = await asyncio.to_thread(
            lambda: pack_lines(join_lines(found, words, closeness, known_ids, refused_marks), room)
        )
        paths = {run.hit.path for run in packed if run.hit.session_id}
        dialogs = {path: await asyncio.to_thread(self.dialog, path) for path in paths}
        return make_quotes(packed, words, _PlaceFinder(dialogs))

    def dialog(self, path: str) -> Sequence[JournalText]:
        """What was said on the day of this file of conversations, secrets hidden; nothing where there is no such file.

        Lines that `search` and `quote` cite in such a file are the `line` of these texts.
        """
        try:
            texts = self._read_dialog(self._settings.root / path)
        except OSError:
            return ()
        return [replace(text, text=self._mask(text.text)) for text in texts]

    def status(self) -> IndexStatus:
        """What the index holds and does now."""
        full_text, upkeep = self._full_text, self._upkeep
        if full_text is None:
            return IndexStatus(0, 0, 0, 0.0, "off", (NO_INDEX.text("en"),))
        try:
            counts = full_text.counts()
            encodings = full_text.notices()
        except IndexingError:
            return IndexStatus(0, 0, 0, 0.0, "off", (NO_INDEX.text("en"),))
        if upkeep is None:
            return IndexStatus(counts.files, counts.chunks, 0, 1.0, "text", (NOT_OWNER.text("en"), *encodings))
        unread = upkeep.progress.total - upkeep.progress.done
        waiting = counts.pending if self._meaning is not None else 0
        whole = upkeep.progress.total + counts.with_vector
        degradations = [notice.text("en") for notice in (upkeep.text_notice, self._vector_notice()) if notice]
        return IndexStatus(
            files=counts.files,
            chunks=counts.chunks,
            pending=unread + waiting,
            progress=1.0 - (unread + waiting) / whole if whole else 1.0,
            mode="hybrid" if upkeep.is_meaning_open and not upkeep.vector_notice else "text",
            notices=(*degradations, *encodings),
        )

    def expect_change(self) -> None:
        """A memory file was written just now: the next search finds its text."""
        if self._upkeep is not None:
            self._round_expected = self._upkeep.look()

    async def sync(self) -> None:
        """Look at the files now; returns when words and vectors agree with them, or vectors cannot be made for now."""
        if self._upkeep is not None:
            await self._upkeep.wait_filled(self._upkeep.look())

    async def sync_words(self) -> None:
        """Look at the files now; returns when their words can be found. Vectors follow in the background."""
        if self._upkeep is not None:
            await self._upkeep.wait_read(self._upkeep.look())

    async def rebuild(self) -> None:
        """Build the whole index again from the files; vectors come from the cache where their text is unchanged."""
        if self._upkeep is not None:
            await self._upkeep.rebuild()

    async def purge(self) -> None:
        """After a forget: leave nothing in the index's files of text that is in no file any more.

        Raises `IndexingError` where vectors stand on a server that cannot be reached.
        """
        if self._upkeep is None:
            return
        self._is_purging = True
        try:
            await self.sync()
            self._require_server()
            await self._upkeep.purge()
            self._require_server()
        finally:
            self._is_purging = False

    def _require_server(self) -> None:
        """Raises `IndexingError` where vectors stand on a server that could not be reached last."""
        upkeep = self._upkeep
        if upkeep is None or self._meaning is None or self._settings.backend not in SERVERS:
            return
        if notice := upkeep.vector_notice:
            raise IndexingError(notice.text(spoken_language()))
        if not upkeep.is_meaning_open:
            raise IndexingError(say("index", "vector_server_away"))

    async def _search(self, query: str, wanted: WantedHits, patience_seconds: float) -> SearchAnswer:
        # A server may be asked for its vector.
        question = read_question(self._mask(query), self._now().date())
        if not question.text:
            return SearchAnswer(())
        full_text = self._full_text
        if full_text is None or self._is_purging:
            return _answer(question, (), [FORGETTING if self._is_purging else NO_INDEX])
        notices: list[SearchNotice] = []
        # Both waits run at the same time: together they may not keep a person waiting.
        vectors = asyncio.create_task(self._near(question, notices, patience_seconds))
        try:
            await self._wait_for_files(notices, patience_seconds)
            words = await asyncio.to_thread(word_scores, full_text, question)
            near = await vectors
            calibration = self._meaning.calibration if self._meaning is not None and near is not None else None
            find = ChunkFinder(full_text, question, words, near, calibration)
            hits = await asyncio.to_thread(find.hits, wanted)
            if not hits and calibration is not None and wanted.best_score <= DEFAULT_SCORE:
                hits = await self._look_closer(find, calibration, wanted)
        except IndexingError:
            self._look()
            return _answer(question, (), [NO_INDEX])
        finally:
            vectors.cancel()
        return _answer(question, hits, notices)

    async def _wait_for_files(self, notices: list[SearchNotice], patience_seconds: float) -> None:
        upkeep = self._upkeep
        if upkeep is None:
            notices.append(NOT_OWNER)
            return
        try:
            seconds = max(self._settings.text_seconds, patience_seconds)
            async with asyncio.timeout(seconds):
                with self.pace.hurried():
                    await upkeep.is_read_once.wait()
                await upkeep.wait_read(self._round_expected)
        except TimeoutError:
            done, total = upkeep.progress.done, upkeep.progress.total
            # What was written a moment ago is waited for, but not worth a word: the next search finds it.
            if not upkeep.is_read_once.is_set():
                notices.append(still_reading(done, total) if total else NO_INDEX)
        if upkeep.text_notice:
            notices.append(upkeep.text_notice)

    async def _near(
        self, question: SearchQuestion, notices: list[SearchNotice], patience_seconds: float
    ) -> NearChunks | None:
        """The nearest chunks; None, with a notice, where words must answer alone."""
        if self._upkeep is None:
            return None
        try:
            async with asyncio.timeout(max(self._settings.vector_seconds, patience_seconds)):
                await self._upkeep.is_meaning_settled.wait()
                if notice := self._vector_notice():
                    notices.append(notice)
                if self._upkeep.vector_notice:
                    # What failed may be back: it is tried beside the search, which need not wait for it.
                    self._look()
                    return None
                if self._meaning is None or not self._upkeep.is_meaning_open:
                    return None
                return await self._meaning.nearest(question.text, CANDIDATES)
        except TimeoutError:
            if self._upkeep.is_read_once.is_set():
                notices.append(LATE if self._upkeep.is_meaning_settled.is_set() else STARTING)
            return None
        except IndexingError as error:
            notices.append(words_this_time(error))
            self._look()
            return None

    def _words_of(self, question: SearchQuestion) -> QuestionWords:
        if self._full_text is None:
            return QuestionWords(dict.fromkeys(question.terms, 1.0))
        try:
            return QuestionWords(self._full_text.weights(question))
        except IndexingError:
            return QuestionWords(dict.fromkeys(question.terms, 1.0))

    async def _closeness(
        self, question: SearchQuestion, words: QuestionWords, hits: Sequence[SearchHit]
    ) -> dict[int, list[float]]:
        """Cosines of the lines of the first hits, where they do not bring them and words do not tell lines apart."""
        closeness: dict[int, list[float]] = {}
        meaning = self._meaning
        if meaning is None or self._upkeep is None or not self._upkeep.is_meaning_open or meaning.embedder.reads_lines:
            return closeness
        lines_of = [split_lines(hit.text) for hit in hits[:_CHUNKS_READ_CLOSELY]]
        if max((words.share_in(line) for lines in lines_of for line in lines), default=1.0) >= ENOUGH_SHARE:
            return closeness
        left = _QUOTE_BATCHES * meaning.embedder.batch_texts
        for index, lines in enumerate(lines_of):
            if (left := left - len(lines)) < 0:
                break
            try:
                async with asyncio.timeout(self._settings.vector_seconds):
                    closeness[index] = await meaning.cosines(question.text, lines)
            except (TimeoutError, IndexingError):
                break
        return closeness

    async def _look_closer(self, find: ChunkFinder, calibration: Calibration, wanted: WantedHits) -> list[SearchHit]:
        """The best places by their nearest sentence: one that answers is lost among the others of a chunk.

        Only where nothing was found, for it embeds each sentence of these places; nothing where that takes too long.
        """
        if self._meaning is None:
            return []
        places = await asyncio.to_thread(find.best_places, _PLACES_LOOKED_AT)
        words = QuestionWords(dict.fromkeys(find.question.terms, 1.0))
        said = [(hit, one) for hit in places for one in sentences_of(hit, words) if one.can_answer]
        said = said[: _QUOTE_BATCHES * self._meaning.embedder.batch_texts]
        try:
            async with asyncio.timeout(self._settings.vector_seconds):
                cosines = await self._meaning.cosines(find.question.text, [one.text for _, one in said]) if said else []
        except (TimeoutError, IndexingError):
            return []
        best: dict[SearchHit, tuple[float, Sentence]] = {}
        for (hit, one), cosine in zip(said, cosines, strict=True):
            relevance = calibration.sentence_relevance(MatchSignals(one.share, cosine, "within"))
            if relevance >= max(wanted.best_score, best[hit][0] if hit in best else 0.0):
                best[hit] = (relevance, one)
        hits = [hit_at(hit, one.line, one.text, relevance) for hit, (relevance, one) in best.items()]
        return sorted(hits, key=lambda hit: hit.relevance, reverse=True)[: wanted.count]

    def _vector_notice(self) -> SearchNotice | None:
        if self._meaning is None or self._upkeep is None:
            return NO_EMBEDDER
        if self._upkeep.vector_notice or not self._upkeep.is_meaning_open:
            return self._upkeep.vector_notice
        if self._meaning.is_complete_enough():
            return None
        return vectors_incomplete(self._meaning.made_share())

    def _look(self) -> None:
        if self._upkeep is not None:
            self._upkeep.look()

    def _open_store(self, space: VectorSpace, is_fresh: bool) -> VectorStore:
        settings = self._settings
        return open_store(settings.backend, settings.root / "index", space, settings.server_url, is_fresh)


def _answer(question: SearchQuestion, hits: Sequence[SearchHit], notices: Sequence[SearchNotice]) -> SearchAnswer:
    language = language_of(question.text)
    return SearchAnswer(tuple(hits), tuple(notice.text(language) for notice in notices))


def _ignore(names: frozenset[str]) -> None:
    """For callers who need not know what changed."""


@dataclass(frozen=True, slots=True)
class _PlaceFinder:
    """Where in its file a found line is; `dialogs` has the texts of the days that are quoted."""

    dialogs: Mapping[str, Sequence[JournalText]]

    def __call__(self, line: FoundLine) -> QuotePlace:
        hit = line.hit
        if not hit.session_id:
            return QuotePlace(hit.first_line + line.offset)
        kind = "tool_result" if hit.kind == "tool_result" else "text"
        texts = [
            text for text in self.dialogs.get(hit.path, ()) if text.message_id == line.message_id and text.kind == kind
        ]
        text = next((text for text in texts if _is_in(line.text, text)), texts[0] if texts else None)
        return QuotePlace(text.line, text.name or text.role) if text else QuotePlace(hit.first_line)


def _is_in(line: str, text: JournalText) -> bool:
    return line.removeprefix(f"{text.role}: ") in text.text
