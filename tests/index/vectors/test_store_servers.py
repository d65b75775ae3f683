"""Addresses with a password, and which failures of a server pass by themselves."""

from __future__ import annotations

import httpx
import pytest

from assistant.errors import IndexingError, StoreAwayError
from assistant.index.vectors.store_servers import ServerAddress, read_address, store_failure


@pytest.mark.parametrize(
    ("url", "address", "headers"),
    [
        ("http://127.0.0.1:6333", ServerAddress("http://127.0.0.1:6333"), {}),
        (
            "https://:k%2Fey@db.example:6333/prefix",
            ServerAddress("https://db.example:6333/prefix", "", "k/ey"),
            {"Authorization": "Bearer k/ey"},
        ),
        (
            "https://ada:pass%40word@db.example",
            ServerAddress("https://db.example", "ada", "pass@word"),
            {"Authorization": "Basic YWRhOnBhc3NAd29yZA=="},
        ),
    ],
    ids=["none", "key", "name and password"],
)
def test_who_asks_is_taken_out_of_the_address_and_sent_beside_it(
    url: str, address: ServerAddress, headers: dict[str, str]
) -> None:
    read = read_address(url)
    assert (read, read.headers) == (address, headers)
    assert "pass@word" not in repr(read)


class RefusedByServerError(Exception):
    """What a client raises for an answer."""

    def __init__(self, status_code: int) -> None:
        super().__init__(status_code)
        self.status_code = status_code


@pytest.mark.parametrize(
    ("error", "kind", "reason"),
    [
        (httpx.ConnectTimeout("late"), StoreAwayError, "it took too long"),
        (ConnectionRefusedError(111, "refused"), StoreAwayError, "the connection was refused"),
        (RefusedByServerError(401), StoreAwayError, "the key was refused"),
        (RefusedByServerError(503), StoreAwayError, "the server has a problem of its own"),
        (RefusedByServerError(500), IndexingError, "the server has a problem of its own"),
        (RefusedByServerError(400), IndexingError, "the server refused the request"),
    ],
    ids=["silent", "refused", "key", "gateway", "broken", "wrong request"],
)
def test_a_failure_that_passes_leaves_the_store_as_it_is(
    error: Exception, kind: type[IndexingError], reason: str
) -> None:
    failure = store_failure(error)
    assert (type(failure), reason in str(failure)) == (kind, True)


def test_a_connection_that_failed_inside_another_failure_is_seen() -> None:
    try:
        try:
            raise httpx.ConnectError("no way")
        except httpx.ConnectError:
            raise ValueError("Could not connect") from None
    except ValueError as error:
        assert type(store_failure(error)) is StoreAwayError
