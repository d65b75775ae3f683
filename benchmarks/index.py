"""How fast memory search is, how soon a save is found, and what the index costs in disk, memory and idle time.

Run: python -m benchmarks.index [--small | --stores] [--json]. `--small` leaves out the 100,000 chunks, which take
minutes to make; `--stores` measures a search over 10,000 chunks in each real store of vectors, and nothing else.
"""

from __future__ import annotations

import asyncio
import datetime as dt
import itertools
import os
import random
import statistics
import subprocess
import sys
import tempfile
import time
import zlib
from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path

import numpy as np
import psutil

from assistant.config.settings import StoreBackend
from assistant.index.memory_index import IndexSettings, MemoryIndex
from assistant.index.vectors.embeddings import Embedder, OfflineEmbedder, Vectors, normalised
from assistant.index.vectors.stores import SERVERS
from benchmarks.figures import Figure, report
from tests.index.vectors.sites import IMITATED, RUN_ON, Servers

SAVES = 40
SEARCHES = 200
REWRITES = 1_000
IDLE_SECONDS = 60.0
UNINDEXED_NOTES = 10_000
CHUNKS_A_FILE = 100
_WORDS_A_CHUNK = 120
_WORDS_A_LINE = 12


class SyntheticEmbedder:
    """Random vectors for chunks, which cost nothing to make; a question goes through the real encoder."""

    name = "synthetic"
    batch_texts = 500
    reads_lines = True

    def __init__(self) -> None:
        self._real = OfflineEmbedder()
        self.calibration = self._real.calibration

    async def open(self) -> int:
        """Load the real encoder."""
        return await self._real.open()

    async def embed(self, texts: Sequence[str]) -> Vectors:
        """The real vector of one text, random ones of many."""
        if len(texts) == 1:
            return await self._real.embed(texts)
        seed = zlib.crc32(texts[0].encode())
        return normalised(np.random.default_rng(seed).normal(size=(len(texts), 512)).astype(np.float32))

    async def close(self) -> None:
        """Let the encoder go."""
        await self._real.close()


class Prose:
    """Random English and Chinese with words as frequent as in real text."""

    def __init__(self, seed: int = 1) -> None:
        self._random = random.Random(seed)
        self._words = [self._word(number) for number in range(30_000)]
        self._weights = list(itertools.accumulate(1.0 / (number + 20) for number in range(30_000)))

    def lines(self) -> str:
        """As many words as a chunk has, in lines as people write them."""
        return "\n".join(self.text(_WORDS_A_LINE) for _ in range(_WORDS_A_CHUNK // _WORDS_A_LINE))

    def text(self, words: int = _WORDS_A_CHUNK) -> str:
        """So many words."""
        return " ".join(self._random.choices(self._words, cum_weights=self._weights, k=words))

    def question(self) -> str:
        """A few words, as a person asks."""
        return f"what do you know about {self.text(5)}"

    def _word(self, number: int) -> str:
        if number % 3 == 0:
            return "".join(chr(self._random.randint(0x4E00, 0x6FFF)) for _ in range(2))
        return "".join(self._random.choices("abcdefghijklmnoprstuvwy", k=self._random.randint(3, 9)))


@asynccontextmanager
async def opened(
    root: Path, embedder: Embedder, backend: StoreBackend = "auto", url: str = "", is_watching: bool = False
) -> AsyncGenerator[MemoryIndex]:
    """An index in step with its files."""
    settings = IndexSettings(root, backend, url, is_watching=is_watching)
    async with MemoryIndex(settings, embedder, lambda path: (), lambda: dt.datetime.now(dt.UTC)) as index:
        await index.sync()
        yield index


async def measure_saves(root: Path) -> list[Figure]:
    """From the end of a save to the moment a search finds it, with the default embedder and store."""
    prose = Prose()
    write_notes(root, prose, 200, 3)
    times: list[float] = []
    async with opened(root, OfflineEmbedder(), is_watching=True) as index:
        for number in range(SAVES):
            token = f"marker{number}x"
            with (root / "memory" / "note-7.md").open("a", encoding="utf-8") as file:
                file.write(f"\n- {token} {prose.text(12)}\n")
            started = time.perf_counter()
            answer = await index.search(token)
            while not answer.hits:
                await asyncio.sleep(0.002)
                answer = await index.search(token)
            times.append(1000.0 * (time.perf_counter() - started))
            await index.sync()
    return [
        Figure("save to searchable, median", statistics.median(times), "ms"),
        Figure("save to searchable, 95th percentile", percentile(times, 95), "ms", at_most=300),
    ]


async def measure_search(
    root: Path, chunks: int, backend: StoreBackend, limit_ms: float, url: str = ""
) -> list[Figure]:
    """Hybrid search over so many chunks."""
    prose = Prose()
    write_notes(root, prose, chunks // CHUNKS_A_FILE, CHUNKS_A_FILE)
    questions = [prose.question() for _ in range(SEARCHES)]
    async with opened(root, SyntheticEmbedder(), backend, url) as index:
        status = index.status()
        await index.search(questions[0])
        times: list[float] = []
        used: list[float] = []
        for question in questions:
            started, used_before = time.perf_counter(), time.process_time()
            answer = await index.search(question)
            times.append(1000.0 * (time.perf_counter() - started))
            used.append(1000.0 * (time.process_time() - used_before))
            if answer.notices:
                raise SystemExit(f"not a hybrid search: {answer.notices}")
    label = f"hybrid search, {status.chunks:,} chunks, {backend}"
    return [
        Figure(f"{label}, median", statistics.median(times), "ms", at_most=limit_ms),
        Figure(f"{label}, 95th percentile", percentile(times, 95), "ms"),
        Figure(f"{label}, CPU time of all threads, median", statistics.median(used), "ms"),
        Figure(f"{label}, disk", folder_bytes(root / "index") / 1e6, "MB"),
    ]


async def measure_rewrites(root: Path, backend: StoreBackend) -> list[Figure]:
    """A note that is rewritten a thousand times, sometimes longer, sometimes shorter."""
    prose = Prose()
    write_notes(root, prose, 50, 4)
    note = root / "memory" / "diary.md"
    sizes: dict[int, int] = {}
    process = psutil.Process()
    async with opened(root, OfflineEmbedder(), backend) as index:
        memory_before = process.memory_info().rss
        for number in range(1, REWRITES + 1):
            sections = "".join(f"## {part}\n{prose.text(60)}\n" for part in range(1 + number % 5))
            note.write_text(f"# Diary {number}\n{sections}", encoding="utf-8")
            await index.sync()
            if number in (100, REWRITES):
                sizes[number] = folder_bytes(root / "index")
        memory_mb = (process.memory_info().rss - memory_before) / 1e6
        status = index.status()
        everything = await index.search(prose.text(40), max_results=status.chunks, min_score=0.0)
    label = f"{REWRITES:,} rewrites, {backend}"
    return [
        Figure(f"{label}: index size against that after 100", sizes[REWRITES] / sizes[100], "", at_most=1.1),
        Figure(f"{label}: memory above start", memory_mb, "MB", at_most=50),
        Figure(f"{label}: vectors pending", status.pending, "", at_most=0),
        Figure(f"{label}: places found", len(everything.hits), "", at_least=1),
    ]


async def measure_idle(root: Path) -> list[Figure]:
    """Share of one core while nothing happens."""
    write_notes(root, Prose(), 200, 3)
    async with opened(root, OfflineEmbedder(), is_watching=True):
        await asyncio.sleep(2.0)
        used, started = time.process_time(), time.monotonic()
        await asyncio.sleep(IDLE_SECONDS)
        share = (time.process_time() - used) / (time.monotonic() - started)
    return [Figure("idle, watching 200 notes", 100.0 * share, "% of a core", at_most=0.3)]


_FIRST_SEARCH = """
import asyncio, datetime as dt, sys
from pathlib import Path
from assistant.index.vectors.embeddings import OfflineEmbedder
from assistant.index.memory_index import IndexSettings, MemoryIndex

async def main():
    settings = IndexSettings(Path(sys.argv[1]), is_watching=False)
    async with MemoryIndex(settings, OfflineEmbedder(), lambda path: (), lambda: dt.datetime.now(dt.UTC)) as index:
        answer = await index.search(sys.argv[2])
        print(len(answer.hits), *answer.notices, flush=True)
        sys.stdin.read()

asyncio.run(main())
"""


def measure_first_search(root: Path) -> list[Figure]:
    """From the start of a process to its answer, over notes nobody has indexed."""
    prose = Prose()
    write_notes(root, prose, UNINDEXED_NOTES, 1)
    token = "needlehaystack"
    (root / "memory" / "note-77.md").write_text(f"# Note\n{token} {prose.text(20)}\n", encoding="utf-8")
    started = time.perf_counter()
    command = [sys.executable, "-c", _FIRST_SEARCH, str(root), token]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, encoding="utf-8") as process:
        assert process.stdout is not None and process.stdin is not None
        answer = process.stdout.readline()
        seconds = time.perf_counter() - started
        process.kill()
    return [
        Figure(f"first answer over {UNINDEXED_NOTES:,} unindexed notes", seconds, "s", at_most=3),
        Figure("hits in that answer", float(answer.split()[0]), "", at_least=1),
    ]


def write_notes(root: Path, prose: Prose, files: int, sections: int) -> None:
    """So many notes with so many sections, each section a chunk."""
    folder = root / "memory"
    folder.mkdir(parents=True, exist_ok=True)
    for number in range(files):
        body = "".join(f"## Section {section}\n{prose.lines()}\n" for section in range(sections))
        (folder / f"note-{number}.md").write_text(f"# Note {number}\n{body}", encoding="utf-8")


def percentile(values: Sequence[float], percent: float) -> float:
    """The value that so many percent stay below."""
    return float(np.percentile(values, percent))


def folder_bytes(folder: Path) -> int:
    """Bytes of every file below a folder."""
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())


async def measure(folder: Path, is_small: bool) -> list[Figure]:
    """Everything, each in a home of its own."""
    figures = measure_first_search(folder / "first")
    figures += await measure_saves(folder / "saves")
    figures += await measure_search(folder / "ten-local", 10_000, "local", 10)
    figures += await measure_search(folder / "ten-chroma", 10_000, "chroma", 10)
    if not is_small:
        figures += await measure_search(folder / "hundred-local", 100_000, "local", 50)
        figures += await measure_search(folder / "hundred-chroma", 100_000, "chroma", 50)
    figures += await measure_rewrites(folder / "rewrites-local", "local")
    figures += await measure_rewrites(folder / "rewrites-chroma", "chroma")
    return figures + await measure_idle(folder / "idle")


async def measure_stores(folder: Path) -> list[Figure]:
    """The same search in every store that runs for real here, each server on this machine."""
    figures: list[Figure] = []
    servers = Servers()
    try:
        for backend in RUN_ON:
            if backend in IMITATED:
                continue
            url = servers.address(backend) if backend in SERVERS else ""
            figures += await measure_search(folder / backend, 10_000, backend, 50 if url else 15, url)
    finally:
        servers.close()
    return figures


def main() -> int:
    """Measure and print."""
    os.environ.setdefault("ORT_DISABLE_TELEMETRY", "1")
    options = sys.argv[1:]
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        return report(
            asyncio.run(measure_stores(folder) if "--stores" in options else measure(folder, "--small" in options))
        )


if __name__ == "__main__":
    sys.exit(main())
