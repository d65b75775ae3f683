"""The vectors of a chunk's lines with one bit a dimension: enough to see which line answers, in little room (pure).

Measured on LoCoMo, MemDaily and XQuAD, the signs rank as well as the whole vectors do.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from assistant.index.vectors.centring import Centring

_Vectors = npt.NDArray[np.float32]

# Bullet, time of day and speaker say nothing of what a line means.
_LEAD = re.compile(r"\s*(?:[-*+]\s+|\d{1,3}[.)]\s+)?(?:\[[ xX]\]\s+)?(?:\d{1,2}:\d{2}\s+)?(?:(?:user|assistant): )?")
_SCALE_BYTES = 4


@dataclass(frozen=True, slots=True)
class LineCosines:
    """How near each line of a chunk is to a question, in the order of its lines."""

    plain: tuple[float, ...]
    centred: tuple[float, ...]
    """Less what question and line have in common with every text."""


def line_meanings(lines: Sequence[str]) -> list[str]:
    """What each line says, as an embedder gets it; empty for one that has no vector.

    A single line has none: it is what the whole chunk says.
    """
    said = [line[found.end() :].strip() if (found := _LEAD.match(line)) else line.strip() for line in lines]
    return said if sum(map(bool, said)) > 1 else [""] * len(said)


def pack_signs(vectors: Sequence[_Vectors | None]) -> bytes:
    """The signs of each vector and what makes their sum its cosine; nothing where no line has a vector."""
    dimensions = next((len(vector) for vector in vectors if vector is not None), 0)
    if not dimensions:
        return b""
    rows = np.stack([np.zeros(dimensions, np.float32) if vector is None else vector for vector in vectors])
    sums = np.abs(rows).sum(axis=1)
    scales = np.divide((rows * rows).sum(axis=1), sums, out=np.zeros_like(sums), where=sums > 0.0)
    return scales.astype(np.float32).tobytes() + np.packbits(rows > 0.0, axis=1).tobytes()


def read_cosines(packed: Sequence[bytes], question: _Vectors, centring: Centring) -> list[LineCosines]:
    """For each chunk how near its lines are to the question."""
    dimensions = len(question)
    row_bytes = -(-dimensions // 8)
    counts = [len(one) // (_SCALE_BYTES + row_bytes) for one in packed]
    if not sum(counts):
        return [LineCosines((), ()) for _ in packed]
    parts = list(zip(packed, counts, strict=True))
    scales = np.frombuffer(b"".join(one[: _SCALE_BYTES * count] for one, count in parts), np.float32)
    signs = np.frombuffer(b"".join(one[_SCALE_BYTES * count :] for one, count in parts), np.uint8)
    bits = np.unpackbits(signs.reshape(-1, row_bytes), axis=1, count=dimensions).astype(np.float32)
    asked = np.stack([question, centring.question], axis=1)
    products = (2.0 * (bits @ asked) - asked.sum(axis=0)) * scales[:, None]
    common = products[:, 1] - centring.text @ centring.question + centring.mean_cosine(question)
    centred = np.where(scales > 0.0, products[:, 0] - common, 0.0)
    ends = np.cumsum(counts)[:-1]
    plain_parts, centred_parts = np.split(products[:, 0], ends), np.split(centred, ends)
    return [
        LineCosines(tuple(plain.tolist()), tuple(middle.tolist()))
        for plain, middle in zip(plain_parts, centred_parts, strict=True)
    ]
