"""Qdrant's REST interface on loopback, as far as a store uses it; what it keeps is kept by the client's local mode.

Strict: a request it does not know, a write that does not wait, and a collection made twice or missing are refused.
"""

from __future__ import annotations

import re
from collections.abc import Generator
from contextlib import contextmanager

from pydantic import BaseModel
from qdrant_client import QdrantClient
from qdrant_client.http.models import (
    CountRequest,
    CreateCollection,
    PointIdsList,
    PointsList,
    QueryRequest,
    ScrollRequest,
)

from tests.fakes.json_server import JsonAnswer, JsonRequest, json_server

_PATH = re.compile(r"/collections(?:/([^/]+)(/.*)?)?")


class _RefusedError(Exception):
    def __init__(self, status: int, reason: str) -> None:
        super().__init__(reason)
        self.status = status


class _LocalQdrant:
    def __init__(self) -> None:
        self._client = QdrantClient(":memory:")

    def answer(self, request: JsonRequest) -> JsonAnswer:
        try:
            result = self._result(request)
        except _RefusedError as error:
            return JsonAnswer({"status": {"error": str(error)}, "time": 0.0}, error.status)
        return JsonAnswer({"result": _as_json(result), "status": "ok", "time": 0.0})

    def _result(self, request: JsonRequest) -> object:
        matched = _PATH.fullmatch(request.path)
        if matched is None:
            raise _RefusedError(404, request.path)
        name, rest = matched[1], matched[2] or ""
        if name is None:
            return self._client.get_collections()
        if (request.method, rest) == ("GET", "/exists"):
            return {"exists": self._client.collection_exists(name)}
        return self._of_points(name, rest, request) if rest else self._of_collection(name, request)

    def _of_collection(self, name: str, request: JsonRequest) -> bool:
        is_there = self._client.collection_exists(name)
        if request.method == "PUT" and not is_there:
            wanted = CreateCollection.model_validate_json(request.body)
            assert wanted.vectors is not None
            return self._client.create_collection(name, vectors_config=wanted.vectors)
        if request.method == "DELETE":
            return is_there and self._client.delete_collection(name)
        raise _RefusedError(409, f"{request.method} {name}")

    def _of_points(self, name: str, rest: str, request: JsonRequest) -> object:
        if not self._client.collection_exists(name):
            raise _RefusedError(404, f"Collection `{name}` doesn't exist!")
        kind = f"{request.method} {rest}"
        if kind in ("PUT /points", "POST /points/delete") and request.parameters.get("wait") != ["true"]:
            raise _RefusedError(400, "a write that does not wait")
        match kind:
            case "PUT /points":
                return self._client.upsert(name, PointsList.model_validate_json(request.body).points)
            case "POST /points/delete":
                return self._client.delete(name, PointIdsList.model_validate_json(request.body))
            case "POST /points/count":
                return self._client.count(name, exact=bool(CountRequest.model_validate_json(request.body).exact))
            case "POST /points/scroll":
                asked = ScrollRequest.model_validate_json(request.body)
                points, offset = self._client.scroll(name, limit=asked.limit or 10, offset=asked.offset)
                return {"points": [_as_json(point) for point in points], "next_page_offset": offset}
            case "POST /points/query":
                wanted = QueryRequest.model_validate_json(request.body)
                return self._client.query_points(name, query=wanted.query, limit=wanted.limit or 10)
            case _:
                raise _RefusedError(404, kind)


def _as_json(value: object) -> object:
    return value.model_dump(mode="json", exclude_none=True) if isinstance(value, BaseModel) else value


@contextmanager
def qdrant_server() -> Generator[str]:
    """The address of such a server; what it holds is gone afterwards."""
    with json_server(_LocalQdrant().answer) as address:
        yield address
