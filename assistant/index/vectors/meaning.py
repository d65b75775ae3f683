"""The vector side of the index: embedder, cache and store, kept in step with the chunk rows."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

import numpy as np
import numpy.typing as npt

from assistant.config.words import say
from assistant.errors import IndexingError, StoreAwayError
from assistant.index.chunker import CHUNKER_VERSION
from assistant.index.pace import IndexPace
from assistant.index.text.chunk_rows import PendingChunk, VectorFacts
from assistant.index.text.full_text import FullText
from assistant.index.vectors.calibration import Calibration
from assistant.index.vectors.calibration_texts import Measurement, measure_embedder
from assistant.index.vectors.centring import Centring
from assistant.index.vectors.embedding_cache import KEPT_UNUSED, ChunkVectors, EmbeddingCache
from assistant.index.vectors.embeddings import Embedder
from assistant.index.vectors.line_signs import LineCosines, line_meanings, pack_signs, read_cosines
from assistant.index.vectors.protocol import VectorRecord, VectorSpace, VectorStore
from assistant.text.line_ends import split_lines

OpenStore = Callable[[VectorSpace, bool], VectorStore]
"""Opens the store of a space; True replaces it by an empty one."""

T = TypeVar("T")

_CHUNKS_A_ROUND = 32
_KEYS_A_ROUND = 1_000
# Fewer would not pay: each store that Chroma opens keeps a megabyte for the life of the process.
_LEAST_WEAR = 500
# With more of the vectors missing, the fusion would favour the files that happen to have theirs.
_MISSING_SHARE = 0.1
_FEW_MISSING = 16


@dataclass(frozen=True, slots=True)
class NearChunk:
    """A chunk near the question in meaning."""

    chunk_id: int
    cosine: float
    centred: float
    """The cosine less what the question has in common with every text, and the chunk with every question."""


@dataclass(frozen=True, slots=True, eq=False)
class NearChunks:
    """What a question is near to."""

    chunks: tuple[NearChunk, ...]
    """Nearest first."""
    line_cosines: Callable[[Sequence[int]], Mapping[int, LineCosines]]
    """How near the lines of any chunks are, by chunk, for those whose lines have vectors. Raises `IndexingError`."""


@dataclass(frozen=True, slots=True, eq=False)
class _AskedQuestion:
    text: str
    vector: npt.NDArray[np.float32]


class Meaning:
    """Makes the vectors that are missing and finds the nearest ones. Usable only once `open` has returned."""

    def __init__(
        self, embedder: Embedder, full_text: FullText, cache_path: Path, open_store: OpenStore, pace: IndexPace
    ) -> None:
        self.embedder = embedder
        self._pace = pace
        self._full_text = full_text
        self._open_store = open_store
        self._cache_path = cache_path
        self._cache: EmbeddingCache | None = None
        self._store: VectorStore | None = None
        self._is_store_damaged = self._is_store_away = False
        self._calibration = embedder.calibration
        self._centring: Centring | None = None
        self._last_question: _AskedQuestion | None = None
        self._space = VectorSpace(embedder.name, 0, CHUNKER_VERSION)

    @property
    def calibration(self) -> Calibration | None:
        """How the cosines are to be read; None before `open`."""
        return self._calibration

    async def open(self) -> None:
        """Load the embedder, open the store and compare it with the chunk rows. Raises `IndexingError`."""
        dimensions = await self.embedder.open()
        self._space = VectorSpace(self.embedder.name, dimensions, CHUNKER_VERSION)
        self._last_question = None
        await asyncio.to_thread(self._open_files)
        measured = await self._measure()
        self._centring = measured.centring
        self._calibration = self.embedder.calibration or measured.calibration

    async def close(self) -> None:
        """Close store, cache and embedder."""
        await asyncio.to_thread(self.close_files)
        await self.embedder.close()

    def is_complete_enough(self) -> bool:
        """True when so few vectors are missing that a search may trust those that are there."""
        counts = self._full_text.counts()
        made = counts.with_vector - counts.pending
        return counts.pending <= max(_MISSING_SHARE * counts.with_vector, min(_FEW_MISSING, made))

    def is_soon_complete(self) -> bool:
        """True when the missing vectors are made within a round: a search does better to wait."""
        return self._full_text.counts().pending <= _CHUNKS_A_ROUND

    def made_share(self) -> float:
        """Share of the vectors that are made, 0 to 1."""
        counts = self._full_text.counts()
        return 1.0 - counts.pending / counts.with_vector if counts.with_vector else 1.0

    def distrust_store(self) -> None:
        """Let the next `fill` create the store again; vectors come back from the cache where it has them."""
        self._is_store_damaged = True

    async def fill(self, should_stop: Callable[[], bool]) -> None:
        """Delete vectors of removed chunks and make those that are missing, newest chunks first.

        A store that fails is begun again once; one whose server was away is asked what it still has. Raises
        `IndexingError` when the embedder or a new store fails, `StoreAwayError` while the server is away; what was made
        until then is kept.
        """
        if self._is_store_damaged:
            await asyncio.to_thread(self._begin_anew)
        elif self._is_store_away:
            # What was put and removed last may have come to the server or not.
            await asyncio.to_thread(self._compare)
        try:
            await self._fill_all(should_stop)
        except StoreAwayError:
            raise
        except IndexingError:
            if not self._is_store_damaged:
                raise
            await asyncio.to_thread(self._begin_anew)
            await self._fill_all(should_stop)

    async def nearest(self, question: str, count: int) -> NearChunks | None:
        """The nearest chunks; None while too few vectors are made. Raises `IndexingError`."""
        if not self.is_complete_enough():
            return None
        vector = await self._vector_of(question)
        chunks = await asyncio.to_thread(self._nearest, vector, count)
        return NearChunks(chunks, lambda chunk_ids: self._line_cosines(vector, chunk_ids))

    async def cosines(self, question: str, texts: Sequence[str]) -> list[float]:
        """How near each text is to the question, centred; nothing of it is kept. Raises `IndexingError`."""
        asked, vectors = await self._vector_of(question), await self.embedder.embed(texts)
        centring = _opened(self._centring)
        cosines = vectors @ asked - centring.mean_cosines(vectors) - centring.mean_cosine(asked)
        return [float(cosine) for cosine in cosines]

    async def purge(self) -> None:
        """Leave no vector of a text that no chunk has, neither in the cache nor in the store."""
        self._last_question = None
        await asyncio.to_thread(self._keep_only_used, 0)
        self.distrust_store()

    async def _vector_of(self, question: str) -> npt.NDArray[np.float32]:
        """That of the last question is kept: what was found by it is often quoted by it a moment later."""
        last = self._last_question
        if last is None or last.text != question:
            vectors = await self.embedder.embed([question])
            if vectors.shape != (1, self._space.dimensions):
                raise IndexingError(say("index", "other_size", model=self._space.model, shape=vectors.shape))
            last = self._last_question = _AskedQuestion(question, vectors[0])
        return last.vector

    async def _measure(self) -> Measurement:
        cache, name, dimensions = _opened(self._cache), self._space.model, self._space.dimensions
        known = await asyncio.to_thread(cache.find_measurement, name, dimensions)
        if known is None:
            known = await measure_embedder(self.embedder.embed)
            await asyncio.to_thread(cache.store_measurement, name, dimensions, known)
        return known

    def _open_files(self) -> None:
        # Open already where an earlier attempt got no further than this.
        self.close_files()
        self._cache = EmbeddingCache(self._cache_path)
        self._compare()

    def _compare(self) -> None:
        """Open the store and note which chunks have their vector in it, which have none, and which vectors no chunk."""
        self._close_store()
        try:
            self._store = self._open_store(self._space, False)
            there = self._store.digests()
        except StoreAwayError:
            raise
        except IndexingError:
            self._begin_anew()
            return
        self._is_store_away = False
        wanted = self._full_text.vector_digests()
        missing = [key for key, digest in wanted.items() if there.get(key) != digest]
        with self._full_text.changing() as changes:
            changes.begin_space(self._space.collection_name)
            changes.mark_present(key for key, digest in wanted.items() if there.get(key) == digest)
            changes.mark_pending(missing)
            changes.remove_keys(key for key in there if key not in wanted)

    def _begin_anew(self) -> None:
        self._close_store()
        self._store = self._open_store(self._space, True)
        self._is_store_damaged = self._is_store_away = False
        with self._full_text.changing() as changes:
            changes.begin_space(self._space.collection_name)
            changes.mark_all_pending()

    def close_files(self) -> None:
        """Close store and cache; the embedder stays open."""
        self._close_store()
        cache, self._cache = self._cache, None
        if cache is not None:
            cache.close()

    def _close_store(self) -> None:
        store, self._store = self._store, None
        if store is not None:
            store.close()

    async def _fill_all(self, should_stop: Callable[[], bool]) -> None:
        await asyncio.to_thread(self._delete_removed)
        while not should_stop() and (chunks := await asyncio.to_thread(self._full_text.pending, _CHUNKS_A_ROUND)):
            await self._fill_round(chunks)
        await asyncio.to_thread(self._settle)

    def _delete_removed(self) -> None:
        while keys := self._full_text.removed_keys(_KEYS_A_ROUND):
            with self._using_store() as store:
                store.remove(keys)
            with self._full_text.changing() as changes:
                changes.forget_removed(keys)
        if self._is_store_worn():
            self._begin_anew()

    def _is_store_worn(self) -> bool:
        """True when so much was written that the store is much larger than what is in it."""
        counts = self._full_text.counts()
        return counts.written_vectors > counts.with_vector + max(counts.with_vector, _LEAST_WEAR)

    async def _fill_round(self, chunks: Sequence[PendingChunk]) -> None:
        cache = _opened(self._cache)
        name, dimensions = self._space.model, self._space.dimensions
        known = await asyncio.to_thread(cache.find, name, dimensions, [chunk.digest for chunk in chunks])
        unknown = list({chunk.digest: chunk for chunk in chunks if chunk.digest not in known}.values())
        size = self.embedder.batch_texts
        of_lines: dict[str, npt.NDArray[np.float32]] = {}
        for start in range(0, len(unknown), size):
            batch, started = unknown[start : start + size], time.monotonic()
            vectors = await self._embedded([chunk.meaning for chunk in batch])
            lines = [self._lines_of(chunk) for chunk in batch]
            # Chunks that follow each other share lines.
            new = list({line: None for said in lines for line in said if line and line not in of_lines})
            for first in range(0, len(new), size):
                some = new[first : first + size]
                of_lines |= zip(some, await self._embedded(some), strict=True)
            made = {
                chunk.digest: ChunkVectors(vector, pack_signs([of_lines.get(line) for line in said]))
                for chunk, vector, said in zip(batch, vectors, lines, strict=True)
            }
            await asyncio.to_thread(cache.store, name, dimensions, made)
            known |= made
            await asyncio.sleep(self._pace.rest_seconds(time.monotonic() - started))
        await asyncio.to_thread(self._put, chunks, known)

    def _lines_of(self, chunk: PendingChunk) -> list[str]:
        return line_meanings(split_lines(chunk.text)) if self.embedder.reads_lines else []

    async def _embedded(self, texts: Sequence[str]) -> npt.NDArray[np.float32]:
        vectors = await self.embedder.embed(texts)
        dimensions = self._space.dimensions
        if vectors.shape != (len(texts), dimensions):
            name, shape = self._space.model, vectors.shape[1]
            raise IndexingError(say("index", "wrong_size", name=name, shape=shape, dimensions=dimensions))
        return vectors

    def _put(self, chunks: Sequence[PendingChunk], vectors: dict[str, ChunkVectors]) -> None:
        records = [VectorRecord(chunk.key, chunk.digest, vectors[chunk.digest].vector) for chunk in chunks]
        matrix = np.stack([record.vector for record in records])
        facts = [
            VectorFacts(float(cosine), vectors[chunk.digest].line_signs)
            for chunk, cosine in zip(chunks, _opened(self._centring).mean_cosines(matrix), strict=True)
        ]
        with self._using_store() as store:
            store.put(records)
        with self._full_text.changing() as changes:
            changes.mark_embedded(chunks, facts)
            changes.count_written(len(chunks))

    def _settle(self) -> None:
        """Once every vector is there, what other models and texts left behind goes."""
        if self._full_text.counts().pending:
            return
        with self._using_store() as store:
            store.drop_other_spaces()
        self._keep_only_used(KEPT_UNUSED)

    def _keep_only_used(self, spare: int) -> None:
        _opened(self._cache).keep_only(self._full_text.vector_digests().values(), spare)

    def _nearest(self, vector: npt.NDArray[np.float32], count: int) -> tuple[NearChunk, ...]:
        with self._using_store() as store:
            neighbours = store.nearest(vector, count)
        embedded = self._full_text.embedded([neighbour.key for neighbour in neighbours])
        question_mean = _opened(self._centring).mean_cosine(vector)
        return tuple(
            NearChunk(chunk.id, near.cosine, near.cosine - chunk.mean_cosine - question_mean)
            for near in neighbours
            if (chunk := embedded.get(near.key)) is not None
        )

    def _line_cosines(self, asked: npt.NDArray[np.float32], chunk_ids: Sequence[int]) -> dict[int, LineCosines]:
        packed = self._full_text.line_signs(chunk_ids)
        return dict(zip(packed, read_cosines([*packed.values()], asked, _opened(self._centring)), strict=True))

    @contextmanager
    def _using_store(self) -> Generator[VectorStore]:
        """Remembers that the store failed, so that the next `fill` creates it again or returns to it."""
        store = _opened(self._store)
        try:
            yield store
        except StoreAwayError:
            self._is_store_away = True
            raise
        except IndexingError:
            self._is_store_damaged = True
            raise


def _opened(value: T | None) -> T:
    if value is None:
        raise IndexingError(say("index", "vectors_not_open"))
    return value
