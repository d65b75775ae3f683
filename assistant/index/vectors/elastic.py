"""Vectors in Elasticsearch: an index for each home and embedder, searched exactly."""

from __future__ import annotations

import hashlib
from collections.abc import Generator, Mapping, Sequence
from contextlib import contextmanager
from urllib.parse import urlsplit, urlunsplit

import numpy as np
import numpy.typing as npt
from elastic_transport import TransportError
from elasticsearch import ApiError, Elasticsearch, UnsupportedProductError
from elasticsearch.helpers import BulkIndexError, bulk, scan

from assistant.config.plain_reasons import plain_reason
from assistant.config.words import say
from assistant.errors import IndexingError, StoreAwayError
from assistant.index.vectors.protocol import Neighbour, VectorRecord, VectorSpace, refuse_other_lengths
from assistant.index.vectors.store_servers import ANSWER_SECONDS, ServerAddress, read_address, store_failure

_PORTS = {"http": 9200, "https": 443}
_READ_IN_ONE_CALL = 5_000
# Elasticsearch gives out no more at once, and says no to a request for more.
_MOST_FOUND = 10_000


class ElasticsearchStore:
    """An index of an Elasticsearch server. What is put or deleted can be searched when the call returns."""

    def __init__(self, url: str, space: VectorSpace, owner: str) -> None:
        """`owner` keeps the indices of several homes on one server apart."""
        self._space = space
        self._prefix = f"palimpsest-{owner}-"
        self._name = f"{self._prefix}{space.collection_name}"
        with _as_indexing_errors():
            self._client = _connect(read_address(url))
        try:
            self._create()
        except IndexingError:
            self.close()
            raise

    def digests(self) -> dict[str, str]:
        """Key and digest of every vector. Raises `IndexingError` when some cannot be read."""
        with _as_indexing_errors():
            count = int(self._client.count(index=self._name)["count"])
            hits = scan(
                self._client,
                index=self._name,
                size=_READ_IN_ONE_CALL,
                query={"_source": {"includes": ["key", "digest"]}},
            )
            found = {str(hit["_source"]["key"]): str(hit["_source"]["digest"]) for hit in hits}
        if len(found) != count:
            raise IndexingError(say("index", "vectors_missing", found=len(found), count=count))
        return found

    def put(self, records: Sequence[VectorRecord]) -> None:
        """Add vectors, in place of those with the same keys."""
        refuse_other_lengths(records, self._space)
        actions = (
            {
                "_id": _document_id(one.key),
                "_source": {"key": one.key, "digest": one.digest, "embedding": one.vector.tolist()},
            }
            for one in records
        )
        with _as_indexing_errors():
            bulk(self._client, actions, index=self._name, refresh=True)

    def remove(self, keys: Sequence[str]) -> None:
        """Delete vectors."""
        if keys:
            query = {"ids": {"values": [_document_id(key) for key in keys]}}
            with _as_indexing_errors():
                self._client.delete_by_query(index=self._name, query=query, conflicts="proceed", refresh=True)

    def nearest(self, vector: npt.NDArray[np.float32], count: int) -> list[Neighbour]:
        """The nearest chunks, exactly; 10,000 at most."""
        wanted = min(count, _MOST_FOUND)
        knn = {"field": "embedding", "query_vector": vector.tolist(), "k": wanted, "num_candidates": wanted}
        with _as_indexing_errors():
            found = self._client.search(index=self._name, knn=knn, size=wanted, source={"includes": ["key"]})
        # A score is never below 0 there: (1 + cosine) / 2.
        return [
            Neighbour(str(hit["_source"]["key"]), 2.0 * float(hit["_score"]) - 1.0) for hit in found["hits"]["hits"]
        ]

    def clear(self) -> None:
        """Delete the index and create it again."""
        with _as_indexing_errors():
            self._client.indices.delete(index=self._name, ignore_unavailable=True)
        self._create()

    def drop_other_spaces(self) -> None:
        """Delete the indices of other models."""
        with _as_indexing_errors():
            names: Mapping[str, object] = self._client.indices.get_alias(index=f"{self._prefix}*").body
            for name in names:
                if name != self._name:
                    self._client.indices.delete(index=name, ignore_unavailable=True)

    def close(self) -> None:
        """Close the connections."""
        self._client.close()

    def _create(self) -> None:
        name = {"type": "keyword", "index": False}
        embedding = {
            "type": "dense_vector",
            "dims": self._space.dimensions,
            "index": True,
            "similarity": "cosine",
            # No graph: a search looks at every vector of one person.
            "index_options": {"type": "flat"},
        }
        with _as_indexing_errors():
            if not self._client.indices.exists(index=self._name):
                self._client.indices.create(
                    index=self._name,
                    settings={"number_of_shards": 1, "auto_expand_replicas": "0-1"},
                    mappings={
                        "dynamic": "strict",
                        "properties": {"key": name, "digest": name, "embedding": embedding},
                    },
                )


def _connect(address: ServerAddress) -> Elasticsearch:
    parts = urlsplit(address.url)
    place = parts.netloc if parts.port else f"{parts.netloc}:{_PORTS[parts.scheme]}"
    return Elasticsearch(
        urlunsplit(parts._replace(netloc=place)),
        basic_auth=(address.name, address.password) if address.name else None,
        api_key=address.password if address.password and not address.name else None,
        request_timeout=ANSWER_SECONDS,
        max_retries=0,
    )


def _document_id(key: str) -> str:
    """An id has 512 bytes at most; the key itself is in the document."""
    return hashlib.sha256(key.encode()).hexdigest()


@contextmanager
def _as_indexing_errors() -> Generator[None]:
    """Whatever the client raises, as `IndexingError`."""
    try:
        yield
    except TransportError as error:
        raise StoreAwayError(say("index", "store_away", reason=plain_reason(error))) from None
    except UnsupportedProductError:
        raise IndexingError(say("index", "no_elasticsearch")) from None
    except (ApiError, BulkIndexError, OSError, ValueError, KeyError) as error:
        raise store_failure(error) from None
