"""A body comes in whole, in time and in its turn, or not at all."""

from __future__ import annotations

import asyncio

import pytest

from assistant.ui.server.bodies import MAX_BODIES, MAX_BODIES_OF_ADDRESS, Bodies, Body, has_body


def scope(address: str = "192.0.2.1", **headers: str) -> dict[str, object]:
    """A request from an address."""
    pairs = [(name.replace("_", "-").encode(), value.encode()) for name, value in headers.items()]
    return {"client": (address, 1), "headers": pairs}


async def never() -> dict[str, object]:
    """A sender that falls silent."""
    await asyncio.Event().wait()
    return {}


async def gone() -> dict[str, object]:
    """A sender that left."""
    return {"type": "http.disconnect"}


async def nothing() -> dict[str, object]:
    """A body without a byte."""
    return {"type": "http.request", "body": b"", "more_body": False}


async def test_a_body_that_does_not_come_is_given_up() -> None:
    assert await Bodies(body_seconds=0.01).read(scope(), never) == Body(refusal=408)


async def test_a_body_whose_sender_left_is_none() -> None:
    assert await Bodies().read(scope(), gone) == Body(refusal=400)


async def test_slow_senders_of_one_address_keep_nobody_else_out() -> None:
    bodies = Bodies()
    slow = [asyncio.create_task(bodies.read(scope("192.0.2.1"), never)) for _ in range(MAX_BODIES_OF_ADDRESS)]
    await asyncio.sleep(0)
    assert await bodies.read(scope("192.0.2.1"), nothing) == Body(refusal=503)
    assert await bodies.read(scope("192.0.2.2"), nothing) == Body()
    for task in slow:
        task.cancel()
    await asyncio.gather(*slow, return_exceptions=True)
    assert await bodies.read(scope("192.0.2.1"), nothing) == Body()


async def test_only_so_many_bodies_come_in_at_once() -> None:
    bodies = Bodies()
    slow = [asyncio.create_task(bodies.read(scope(f"192.0.2.{n}"), never)) for n in range(MAX_BODIES)]
    await asyncio.sleep(0)
    assert await bodies.read(scope("198.51.100.1"), nothing) == Body(refusal=503)
    for task in slow:
        task.cancel()
    await asyncio.gather(*slow, return_exceptions=True)


@pytest.mark.parametrize(
    ("headers", "expected"),
    [
        ({}, False),
        ({"content_length": "0"}, False),
        ({"content_length": "5"}, True),
        ({"transfer_encoding": "chunked"}, True),
    ],
)
def test_a_request_says_whether_it_has_a_body(headers: dict[str, str], expected: bool) -> None:
    assert has_body(scope(**headers)) is expected  # type: ignore[arg-type]
