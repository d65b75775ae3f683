"""What any store of vectors can do, the values it takes and gives, and which it takes not."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
import numpy.typing as npt

from assistant.config.words import say
from assistant.errors import IndexingError


@dataclass(frozen=True, slots=True)
class VectorSpace:
    """Whose vectors may be compared with one another."""

    model: str
    dimensions: int
    chunker_version: int

    @property
    def collection_name(self) -> str:
        """A name every store accepts, other for every space."""
        text = f"{self.model}|{self.dimensions}|{self.chunker_version}"
        return f"chunks-{hashlib.sha256(text.encode()).hexdigest()[:16]}"


@dataclass(frozen=True, slots=True)
class VectorRecord:
    """The vector of a chunk; `digest` is the hash of the text it was made from."""

    key: str
    digest: str
    vector: npt.NDArray[np.float32]


@dataclass(frozen=True, slots=True)
class Neighbour:
    """A chunk near a question's vector."""

    key: str
    cosine: float


def refuse_other_lengths(records: Sequence[VectorRecord], space: VectorSpace) -> None:
    """Raise `IndexingError` where a vector is not as long as those of its space."""
    for record in records:
        if record.vector.shape != (space.dimensions,):
            shape, dimensions = record.vector.shape[0], space.dimensions
            raise IndexingError(say("index", "wrong_size", name=space.model, shape=shape, dimensions=dimensions))


class VectorStore(Protocol):
    """Vectors of one space by chunk key, each of length 1 and as long as the space says.

    Every method raises `IndexingError` when the store cannot be used, and `StoreAwayError` while its server is away.
    """

    def digests(self) -> dict[str, str]:
        """Key and digest of every vector, once it is sure that a search can find each of them."""
        ...

    def put(self, records: Sequence[VectorRecord]) -> None:
        """Add vectors, in place of those with the same keys."""
        ...

    def remove(self, keys: Sequence[str]) -> None:
        """Delete vectors; keys that are not there are ignored."""
        ...

    def nearest(self, vector: npt.NDArray[np.float32], count: int) -> list[Neighbour]:
        """The `count` nearest chunks of this home and space, nearest first."""
        ...

    def clear(self) -> None:
        """Delete every vector of this space, and what deleted ones left behind."""
        ...

    def drop_other_spaces(self) -> None:
        """Delete the vectors of other models, once those of this one are complete."""
        ...

    def close(self) -> None:
        """Let go of files and connections."""
        ...
