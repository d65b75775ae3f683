"""Vectors in Qdrant: a collection for each home and embedder, searched exactly."""

from __future__ import annotations

import uuid
from collections.abc import Generator, Sequence
from contextlib import contextmanager, suppress

import numpy as np
import numpy.typing as npt
from qdrant_client import QdrantClient, models
from qdrant_client.common.client_exceptions import QdrantException
from qdrant_client.http.exceptions import ApiException

from assistant.config.words import say
from assistant.errors import IndexingError
from assistant.index.vectors.protocol import Neighbour, VectorRecord, VectorSpace, refuse_other_lengths
from assistant.index.vectors.store_servers import ANSWER_SECONDS, read_address, store_failure

# A request may have 32 MB, and a number takes 20 bytes in JSON.
_PUT_IN_ONE_CALL = 200
_READ_IN_ONE_CALL = 5_000


class QdrantStore:
    """A collection of a Qdrant server. What is put or deleted is there when the call returns."""

    def __init__(self, url: str, space: VectorSpace, owner: str) -> None:
        """`owner` keeps the collections of several homes on one server apart."""
        self._space = space
        self._prefix = f"palimpsest-{owner}-"
        self._name = f"{self._prefix}{space.collection_name}"
        address = read_address(url)
        with _as_indexing_errors():
            headers = address.headers
            self._client = QdrantClient(
                url=address.url, headers=headers, timeout=ANSWER_SECONDS, check_compatibility=False
            )
        try:
            self._create()
        except IndexingError:
            self.close()
            raise

    def digests(self) -> dict[str, str]:
        """Key and digest of every vector. Raises `IndexingError` when some cannot be read."""
        found: dict[str, str] = {}
        offset = None
        with _as_indexing_errors():
            count = self._client.count(self._name, exact=True).count
            while True:
                points, offset = self._client.scroll(self._name, limit=_READ_IN_ONE_CALL, offset=offset)
                found |= {str(one.payload["key"]): str(one.payload["digest"]) for one in points if one.payload}
                if offset is None:
                    break
        if len(found) != count:
            raise IndexingError(say("index", "vectors_missing", found=len(found), count=count))
        return found

    def put(self, records: Sequence[VectorRecord]) -> None:
        """Add vectors, in place of those with the same keys."""
        refuse_other_lengths(records, self._space)
        for start in range(0, len(records), _PUT_IN_ONE_CALL):
            points = [
                models.PointStruct(
                    id=_point_id(one.key), vector=one.vector.tolist(), payload={"key": one.key, "digest": one.digest}
                )
                for one in records[start : start + _PUT_IN_ONE_CALL]
            ]
            with _as_indexing_errors():
                self._client.upsert(self._name, points, wait=True)

    def remove(self, keys: Sequence[str]) -> None:
        """Delete vectors."""
        if keys:
            with _as_indexing_errors():
                self._client.delete(self._name, [_point_id(key) for key in keys], wait=True)

    def nearest(self, vector: npt.NDArray[np.float32], count: int) -> list[Neighbour]:
        """The nearest chunks, exactly."""
        with _as_indexing_errors():
            found = self._client.query_points(
                self._name,
                query=vector.tolist(),
                limit=count,
                with_payload=["key"],
                search_params=models.SearchParams(exact=True),
            ).points
        return [Neighbour(str(one.payload["key"]), one.score) for one in found if one.payload]

    def clear(self) -> None:
        """Delete the collection and create it again."""
        with _as_indexing_errors():
            self._client.delete_collection(self._name)
        self._create()

    def drop_other_spaces(self) -> None:
        """Delete the collections of other models."""
        with _as_indexing_errors():
            for collection in self._client.get_collections().collections:
                if collection.name.startswith(self._prefix) and collection.name != self._name:
                    self._client.delete_collection(collection.name)

    def close(self) -> None:
        """Close the connections."""
        with suppress(IndexingError), _as_indexing_errors():
            self._client.close()

    def _create(self) -> None:
        with _as_indexing_errors():
            if not self._client.collection_exists(self._name):
                self._client.create_collection(
                    self._name,
                    vectors_config=models.VectorParams(size=self._space.dimensions, distance=models.Distance.COSINE),
                    # No graph: a search looks at every vector of one person.
                    hnsw_config=models.HnswConfigDiff(m=0),
                )


def _point_id(key: str) -> str:
    """Qdrant takes numbers and UUIDs alone; the key itself is in the payload."""
    return str(uuid.uuid5(uuid.NAMESPACE_URL, key))


@contextmanager
def _as_indexing_errors() -> Generator[None]:
    """Whatever the client raises, as `IndexingError`."""
    try:
        yield
    except (ApiException, QdrantException, OSError, ValueError) as error:
        raise store_failure(error) from None
