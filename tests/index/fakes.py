"""Fakes at the edge of the index: an embedder without a model, and an embeddings server on loopback."""

from __future__ import annotations

import json
import threading
import zlib
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import numpy as np

from assistant.config.words import LANGUAGES
from assistant.errors import IndexingError
from assistant.index.text.terms import every_term
from assistant.index.vectors.calibration import Calibration
from assistant.index.vectors.calibration_texts import calibration_examples
from assistant.index.vectors.embeddings import Vectors, normalised

SAMPLE_TEXTS = {
    text
    for language in LANGUAGES
    for one in calibration_examples(language)
    for text in (one.note, one.related, one.unrelated)
}


class HashEmbedder:
    """A text's vector is the sum of its words' own: the same words, the same meaning.

    Remembers what it was given, apart from that the texts every embedder is measured by.
    """

    batch_texts = 8
    reads_lines = False
    calibration: Calibration | None = Calibration(0.1, 0.5, 0.4, 1.2, 0.3, 0.7, 0.3, 0.7)

    def __init__(self, name: str = "hash", dimensions: int = 16) -> None:
        self.name = name
        self.dimensions = dimensions
        self.embedded: list[str] = []
        self.sampled: list[str] = []
        self.is_down = False

    async def open(self) -> int:
        """Ready when it is not down."""
        self._refuse_when_down()
        return self.dimensions

    async def embed(self, texts: Sequence[str]) -> Vectors:
        """Sum over the words of a vector drawn from the word."""
        self._refuse_when_down()
        self.embedded += [text for text in texts if text not in SAMPLE_TEXTS]
        self.sampled += [text for text in texts if text in SAMPLE_TEXTS]
        return normalised(np.array([self._vector(text) for text in texts], dtype=np.float32))

    async def close(self) -> None:
        """Nothing to close."""

    def _refuse_when_down(self) -> None:
        if self.is_down:
            raise IndexingError("The embedder is down.")

    def _vector(self, text: str) -> Vectors:
        total = np.full(self.dimensions, 1e-6, dtype=np.float32)
        for word in every_term(text):
            seed = zlib.crc32(f"{self.name} {word}".encode())
            total += np.random.default_rng(seed).normal(size=self.dimensions).astype(np.float32)
        return total


@dataclass
class EmbeddingServer:
    """What a loopback server answers, and what it was asked."""

    url: str = ""
    dimensions: int = 4
    knows_dimensions: bool = True
    failures: list[int] = field(default_factory=list)
    """Status codes of the next answers."""
    requests: list[dict[str, object]] = field(default_factory=list)

    def answer(self, body: dict[str, object]) -> tuple[int, dict[str, object]]:
        """Status and JSON for one request."""
        self.requests.append(body)
        if self.failures:
            return self.failures.pop(0), {"error": {"message": "not now"}}
        if "dimensions" in body and not self.knows_dimensions:
            return 400, {"error": {"message": "Unrecognized request argument: dimensions"}}
        texts = body["input"]
        assert isinstance(texts, list)
        entries = [
            {"index": index, "embedding": [float(len(text))] + [1.0] * (self.dimensions - 1)}
            for index, text in enumerate(texts)
        ]
        return 200, {"data": entries[::-1], "model": body["model"]}


@contextmanager
def embedding_server() -> Generator[EmbeddingServer]:
    """An OpenAI-compatible `/v1/embeddings` on loopback; entries come in reverse, as the interface allows."""
    state = EmbeddingServer()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            status, body = state.answer(json.loads(self.rfile.read(int(self.headers["Content-Length"]))))
            content = json.dumps(body).encode()
            self.send_response(status)
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            self.wfile.write(content)

        def log_message(self, format: str, *args: object) -> None:
            return

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
    thread.start()
    state.url = f"http://127.0.0.1:{server.server_address[1]}/v1"
    try:
        yield state
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
