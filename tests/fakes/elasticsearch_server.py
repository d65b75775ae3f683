"""Elasticsearch's interface on loopback, as far as a store uses it: an imitation by its documentation.

Strict: a document must fit the mapping, an index is not made by a write, and a search sees only what was refreshed.
"""

from __future__ import annotations

import json
import re
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass, field
from fnmatch import fnmatchcase

import numpy as np

from tests.fakes.json_server import JsonAnswer, JsonRequest, json_server

_NAME = re.compile(r"[a-z0-9][a-z0-9_.-]{0,254}")
_LARGEST_RESULT = 10_000
_PRODUCT = {
    "X-Elastic-Product": "Elasticsearch",
    "Content-Type": "application/vnd.elasticsearch+json;compatible-with=9",
}

Document = dict[str, object]


class _RefusedRequestError(Exception):
    def __init__(self, status: int, kind: str) -> None:
        super().__init__(kind)
        self.status = status


@dataclass
class _Index:
    dimensions: int
    fields: set[str]
    written: dict[str, Document] = field(default_factory=dict[str, Document])
    visible: dict[str, Document] = field(default_factory=dict[str, Document])

    def refuses(self, document: Document) -> bool:
        embedding = document.get("embedding")
        return {*document} != self.fields or not isinstance(embedding, list) or len(embedding) != self.dimensions

    def refresh(self) -> None:
        self.visible = dict(self.written)


class _Imitation:
    def __init__(self) -> None:
        self._indices: dict[str, _Index] = {}
        self._scrolls: dict[str, tuple[list[object], int]] = {}

    def answer(self, request: JsonRequest) -> JsonAnswer:
        try:
            return JsonAnswer(self._result(request), headers=_PRODUCT)
        except _RefusedRequestError as error:
            content = {"error": {"type": str(error), "reason": str(error)}, "status": error.status}
            return JsonAnswer(content, error.status, _PRODUCT)

    def _result(self, request: JsonRequest) -> object:
        first, _, rest = request.path.strip("/").partition("/")
        body: dict[str, object] = {}
        if request.body and rest != "_bulk":
            body = json.loads(request.body)
        match request.method, first, rest:
            case _, "_search", "scroll":
                return self._next_page(body) if request.method == "POST" else {"succeeded": True}
            case "PUT", name, "":
                return self._create(name, body)
            case "DELETE", name, "":
                return {"acknowledged": self._indices.pop(name, None) is not None}
            case "GET", pattern, "_alias":
                return {name: {"aliases": {}} for name in self._indices if fnmatchcase(name, pattern)}
            case _:
                return self._of_index(self._index(first), f"{request.method} {rest}", request, body)

    def _of_index(self, index: _Index, kind: str, request: JsonRequest, body: dict[str, object]) -> object:
        match kind:
            case "HEAD ":
                return {}
            case "PUT _bulk":
                result = _write(index, request.body)
            case "POST _delete_by_query":
                result = _delete(index, body)
            case "POST _count":
                return {"count": len(index.visible)}
            case "POST _search":
                return self._search(index, request, body)
            case _:
                raise _RefusedRequestError(405, kind)
        if request.parameters.get("refresh") == ["true"]:
            index.refresh()
        return result

    def _index(self, name: str) -> _Index:
        if name not in self._indices:
            raise _RefusedRequestError(404, "index_not_found_exception")
        return self._indices[name]

    def _create(self, name: str, body: dict[str, object]) -> object:
        if name in self._indices or not _NAME.fullmatch(name):
            raise _RefusedRequestError(400, "resource_already_exists_exception")
        mappings = body["mappings"]
        assert isinstance(mappings, dict)
        assert mappings["dynamic"] == "strict"
        embedding = mappings["properties"]["embedding"]
        assert (embedding["type"], embedding["similarity"], embedding["index_options"]) == (
            "dense_vector",
            "cosine",
            {"type": "flat"},
        )
        self._indices[name] = _Index(embedding["dims"], {*mappings["properties"]})
        return {"acknowledged": True, "shards_acknowledged": True, "index": name}

    def _search(self, index: _Index, request: JsonRequest, body: dict[str, object]) -> object:
        size = body.get("size") or int(request.parameters.get("size", ["10"])[0])
        assert isinstance(size, int)
        if size > _LARGEST_RESULT:
            raise _RefusedRequestError(400, "illegal_argument_exception")
        if "scroll" in request.parameters:
            every: list[object] = [_hit(key, one, 1.0, body) for key, one in index.visible.items()]
            scroll_id = f"scroll-{len(self._scrolls)}"
            self._scrolls[scroll_id] = (every, size)
            return self._next_page({"scroll_id": scroll_id})
        return {"hits": {"hits": _nearest(index, body)[:size]}}

    def _next_page(self, body: dict[str, object]) -> object:
        scroll_id = str(body["scroll_id"])
        left, size = self._scrolls[scroll_id]
        self._scrolls[scroll_id] = (left[size:], size)
        shards = {"total": 1, "successful": 1, "skipped": 0, "failed": 0}
        return {"_scroll_id": scroll_id, "_shards": shards, "hits": {"hits": left[:size]}}


def _write(index: _Index, content: bytes) -> object:
    lines = [json.loads(line) for line in content.splitlines() if line]
    items: list[object] = []
    for action, document in zip(lines[::2], lines[1::2], strict=True):
        key = action["index"]["_id"]
        is_refused = index.refuses(document)
        if not is_refused:
            index.written[key] = document
        error = {"error": {"type": "document_parsing_exception"}} if is_refused else {}
        items.append({"index": {"_id": key, "status": 400 if is_refused else 201, **error}})
    return {"errors": any("error" in str(item) for item in items), "items": items}


def _delete(index: _Index, body: dict[str, object]) -> object:
    query = body["query"]
    assert isinstance(query, dict)
    # It deletes what a search would find.
    keys = [key for key in query["ids"]["values"] if key in index.visible]
    for key in keys:
        index.written.pop(key, None)
    return {"deleted": len(keys), "failures": []}


def _nearest(index: _Index, body: dict[str, object]) -> list[object]:
    knn = body["knn"]
    assert isinstance(knn, dict)
    if not 1 <= knn["k"] <= knn["num_candidates"] <= _LARGEST_RESULT or len(knn["query_vector"]) != index.dimensions:
        raise _RefusedRequestError(400, "illegal_argument_exception")
    asked = np.array(knn["query_vector"], dtype=np.float32)
    scored = [
        ((1.0 + float(np.dot(np.array(one["embedding"], dtype=np.float32), asked))) / 2.0, key, one)
        for key, one in index.visible.items()
    ]
    scored.sort(key=lambda entry: -entry[0])
    return [_hit(key, one, score, body) for score, key, one in scored[: knn["k"]]]


def _hit(key: str, document: Document, score: float, body: dict[str, object]) -> object:
    wanted = body["_source"]
    assert isinstance(wanted, dict)
    return {"_id": key, "_score": score, "_source": {name: document[name] for name in wanted["includes"]}}


@contextmanager
def elasticsearch_server() -> Generator[str]:
    """The address of such a server; what it holds is gone afterwards."""
    with json_server(_Imitation().answer) as address:
        yield address
