"""The index of one home as the rest of the program uses it: search, status, sync, rebuild, purge."""

from __future__ import annotations

import asyncio
import datetime as dt
import logging
from collections.abc import Callable, Collection, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, Self

from assistant.config.prompts import language_of
from assistant.errors import IndexingError
from assistant.index.chunker import JournalText
from assistant.index.question import SearchQuestion, read_question
from assistant.index.quotes import Quote, QuotePlace, Sentence, is_find, make_quote, sentences_of, wants_meaning
from assistant.index.search import (
    CANDIDATES,
    Candidate,
    RankingInputs,
    SearchHit,
    best_places,
    fuse,
    hit_at,
    select_hits,
    word_trust,
)
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
from assistant.index.vectors.calibration import DEFAULT_SCORE, Calibration, MatchSignals, direction_of
from assistant.index.vectors.chroma import Backend, open_store
from assistant.index.vectors.embeddings import Embedder
from assistant.index.vectors.meaning import Meaning, NearChunk
from assistant.index.vectors.protocol import VectorSpace, VectorStore

Mode = Literal["hybrid", "text", "off"]
"""Words and vectors; words alone; not usable now."""

# Hits may fall away as the same place or below the score, so more candidates than results are looked at.
_CANDIDATES_A_RESULT = 4
# Sentences are embedded for a quote one by one; a server takes a batch a call.
_QUOTE_BATCHES = 3
_PLACES_LOOKED_AT = 3


log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class IndexSettings:
    """Where the index is and how it behaves."""

    root: Path
    """The home."""
    backend: Backend = "auto"
    server_url: str = ""
    """Address of a Chroma server, for `chroma-server`."""
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
            self._meaning = Meaning(self._embedder, self._full_text, cache_path, self._open_store)
        synchroniser = Synchroniser(root, self._full_text, self._read_dialog, self._mask)
        self._upkeep = Upkeep(root, self._full_text, synchroniser, self._meaning, self._on_change)
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
        self, query: str, max_results: int = 5, min_score: float = 0.1, patience_seconds: float = 0.0
    ) -> SearchAnswer:
        """The places that answer `query` with a relevance of at least `min_score`, best first.

        With `patience_seconds` files and vectors that are not ready yet are waited for longer than the settings say.
        """
        question = read_question(query, self._now().date())
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
            words = await asyncio.to_thread(_word_scores, full_text, question)
            near = await vectors
            calibration = self._meaning.calibration if self._meaning is not None and near is not None else None
            find = _Finder(full_text, question, words, near or [], calibration)
            hits = await asyncio.to_thread(find.hits, max_results, min_score)
            if not hits and calibration is not None and min_score <= DEFAULT_SCORE:
                hits = await self._look_closer(find, calibration, max_results, min_score)
        except IndexingError:
            self._look()
            return _answer(question, (), [NO_INDEX])
        finally:
            vectors.cancel()
        return _answer(question, hits, notices)

    async def quote(
        self, query: str, hits: Sequence[SearchHit], known_ids: Collection[str] = (), max_results: int = 5
    ) -> tuple[Quote, ...]:
        """The sentences of the hits that answer `query`, each with its line: by words, and by meaning where need be.

        Messages that are known are left out, and hits that are found by nothing else.
        """
        question = read_question(query, self._now().date())
        found = [(hit, sentences_of(hit, question.terms, known_ids)) for hit in hits]
        found = [(hit, said) for hit, said in found if is_find(hit, said, known_ids)][:max_results]
        scores = await self._sentence_scores(question, found)
        paths = {hit.path for hit, _ in found if hit.session_id}
        dialogs = {path: await asyncio.to_thread(self._dialog, path) for path in paths}
        return tuple(
            make_quote(hit, said, rated, question.terms, _PlaceFinder(hit, dialogs.get(hit.path, ())))
            for (hit, said), rated in zip(found, scores, strict=True)
        )

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
        """A memory file was written just now: the next search finds what stands in it."""
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
        """Make the whole index anew from the files; vectors come from the cache where their text is unchanged."""
        if self._upkeep is not None:
            await self._upkeep.rebuild()

    async def purge(self) -> None:
        """After a forget: leave nothing in the index's files of what stands in no file any more.

        Raises `IndexingError` where vectors stand on a server that cannot be reached.
        """
        if self._upkeep is None:
            return
        self._is_purging = True
        try:
            await self.sync()
            is_on_server = self._settings.backend == "chroma-server" and self._meaning is not None
            if is_on_server and not self._upkeep.is_meaning_open:
                notice = self._upkeep.vector_notice
                raise IndexingError(notice.text("en") if notice else "The vector server cannot be reached.")
            await self._upkeep.purge()
        finally:
            self._is_purging = False

    async def _wait_for_files(self, notices: list[SearchNotice], patience_seconds: float) -> None:
        upkeep = self._upkeep
        if upkeep is None:
            notices.append(NOT_OWNER)
            return
        try:
            seconds = max(self._settings.text_seconds, patience_seconds)
            async with asyncio.timeout(seconds):
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
    ) -> list[NearChunk] | None:
        """The nearest chunks; None, with a notice, where words must answer alone."""
        if self._upkeep is None:
            return None
        try:
            async with asyncio.timeout(max(self._settings.vector_seconds, patience_seconds)):
                await self._upkeep.is_meaning_settled.wait()
                if notice := self._vector_notice():
                    notices.append(notice)
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

    async def _sentence_scores(
        self, question: SearchQuestion, found: Sequence[tuple[SearchHit, Sequence[Sentence]]]
    ) -> list[list[float] | None]:
        """A score for each sentence of a hit; None for hits whose words decide, and where no vectors can be had."""
        scores: list[list[float] | None] = [None] * len(found)
        meaning = self._meaning
        if meaning is None or self._upkeep is None or not self._upkeep.is_meaning_open:
            return scores
        left = _QUOTE_BATCHES * meaning.embedder.batch_texts
        for index, (hit, said) in enumerate(found):
            if not wants_meaning(said) or len(said) > left:
                continue
            left -= len(said)
            try:
                async with asyncio.timeout(self._settings.vector_seconds):
                    cosines = await meaning.cosines(question.text, [sentence.text for sentence in said])
            except (TimeoutError, IndexingError):
                return scores
            direction = direction_of(question.text, hit.text)
            signals = [MatchSignals(one.share, cosine, direction) for one, cosine in zip(said, cosines, strict=True)]
            scores[index] = [_rate(meaning.calibration, one) for one in signals]
        return scores

    async def _look_closer(
        self, find: _Finder, calibration: Calibration, max_results: int, min_score: float
    ) -> list[SearchHit]:
        """The best places by their nearest sentence: one that answers is lost among the others of a chunk.

        Only where nothing was found, for it embeds each sentence of these places; nothing where that takes too long.
        """
        if self._meaning is None:
            return []
        places = await asyncio.to_thread(find.best_places, _PLACES_LOOKED_AT)
        said = [(hit, one) for hit in places for one in sentences_of(hit, find.question.terms) if one.can_answer]
        said = said[: _QUOTE_BATCHES * self._meaning.embedder.batch_texts]
        try:
            async with asyncio.timeout(self._settings.vector_seconds):
                cosines = await self._meaning.cosines(find.question.text, [one.text for _, one in said]) if said else []
        except (TimeoutError, IndexingError):
            return []
        best: dict[SearchHit, tuple[float, Sentence]] = {}
        for (hit, one), cosine in zip(said, cosines, strict=True):
            relevance = calibration.sentence_relevance(MatchSignals(one.share, cosine, "within"))
            if relevance >= max(min_score, best[hit][0] if hit in best else 0.0):
                best[hit] = (relevance, one)
        hits = [hit_at(hit, one.line, one.text, relevance) for hit, (relevance, one) in best.items()]
        return sorted(hits, key=lambda hit: hit.relevance, reverse=True)[:max_results]

    def _dialog(self, path: str) -> Sequence[JournalText]:
        try:
            return self._read_dialog(self._settings.root / path)
        except OSError:
            # The day's file went since it was indexed.
            return ()

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


def _word_scores(full_text: FullText, question: SearchQuestion) -> dict[int, float]:
    return {hit.chunk_id: hit.score for hit in full_text.rank(question, CANDIDATES)}


def _rate(calibration: Calibration | None, signals: MatchSignals) -> float:
    if calibration is None:
        return signals.share + (signals.cosine or 0.0)
    return calibration.relevance(signals)


@dataclass(frozen=True, slots=True)
class _PlaceFinder:
    """Where in its file a sentence of a hit stands."""

    hit: SearchHit
    dialog: Sequence[JournalText]

    def __call__(self, sentence: Sentence) -> QuotePlace:
        if not self.hit.session_id:
            return QuotePlace(self.hit.first_line + sentence.line)
        texts = [text for text in self.dialog if text.message_id == sentence.message_id and text.kind == self._kind]
        text = next((text for text in texts if sentence.text in text.text), texts[0] if texts else None)
        return QuotePlace(text.line, text.name or text.role) if text else QuotePlace(self.hit.first_line)

    @property
    def _kind(self) -> str:
        return "tool_result" if self.hit.kind == "tool_result" else "text"


@dataclass(frozen=True, slots=True)
class _Finder:
    """Both rankings of a question, and what turns them into hits."""

    full_text: FullText
    question: SearchQuestion
    words: dict[int, float]
    near: Sequence[NearChunk]
    calibration: Calibration | None

    def best_places(self, count: int) -> list[SearchHit]:
        """The first places of both rankings, whether they answer or not."""
        candidates = fuse(self.words, {chunk.chunk_id: chunk.cosine for chunk in self.near}, count=4 * count)
        chunks = self.full_text.chunks([candidate.chunk_id for candidate in candidates])
        return best_places(candidates, chunks, self.question, count)

    def hits(self, max_results: int, min_score: float) -> list[SearchHit]:
        """The best places, each once."""
        count = max_results * _CANDIDATES_A_RESULT
        cosines = {chunk.chunk_id: chunk.cosine for chunk in self.near}
        candidates = fuse(self.words, cosines, count=count)
        shares = self._shares(candidates, {})
        if (trust := word_trust(shares.values())) < 1.0:
            candidates = fuse(self.words, cosines, trust, count)
            shares = self._shares(candidates, shares)
        chunks = self.full_text.chunks([candidate.chunk_id for candidate in candidates])
        centred = {chunk.chunk_id: chunk.centred for chunk in self.near}
        inputs = RankingInputs(self.question, shares, centred, self.calibration)
        return select_hits(candidates, chunks, inputs, max_results, min_score)

    def _shares(self, candidates: list[Candidate], known: dict[int, float]) -> dict[int, float]:
        unknown = [candidate.chunk_id for candidate in candidates if candidate.chunk_id not in known]
        return known | self.full_text.shares(self.question, unknown) if unknown else known
