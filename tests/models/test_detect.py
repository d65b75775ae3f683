"""The look-up on loopback: all places at once, never longer than its time, and it says what it found."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from assistant.models.detect import LocalServer, ServerPlace, look_up_local_servers
from tests.fakes.free_port import free_port
from tests.fakes.players import SequencePlayer
from tests.fakes.provider import StrictProvider


@contextmanager
def silent_port() -> Iterator[int]:
    """A port that takes connections and never says a word."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        yield server.getsockname()[1]


async def test_every_place_is_tried_at_once_and_told_of():
    with (
        StrictProvider(
            SequencePlayer(), models=("tiny-1b", "big-70b", "nomic-embed-text"), window_tokens=4_096
        ) as found,
        StrictProvider(SequencePlayer(), models=()) as empty,
        StrictProvider(SequencePlayer(), api_key="secret") as locked,
        silent_port() as silent,
    ):
        places = [
            ServerPlace("Refused", free_port()),
            ServerPlace("Found", found.port),
            ServerPlace("Empty", empty.port),
            ServerPlace("Locked", locked.port),
            ServerPlace("Silent", silent),
        ]
        async with asyncio.timeout(3):
            look_up = await look_up_local_servers(0.3, places)

    outcomes = [probe.outcome for probe in look_up.probes]
    assert outcomes == ["nothing answers", "models", "no models", "asks for a key", "nothing answers"]
    assert look_up.servers == [LocalServer("Found", found.base_url, ("tiny-1b", "big-70b"), 4_096)]
    assert look_up.describe() == (
        f"Looked on this machine for Refused ({places[0].port}), Found ({found.port}), Empty ({empty.port}), "
        f"Locked ({locked.port}), Silent ({silent}): Found answered with 2 models; Empty answered but has no "
        "chat model yet; Locked asks for a key (PALIMPSEST_API_KEY with PALIMPSEST_BASE_URL)."
    )


async def test_a_server_of_something_else_is_no_model_server():
    with StrictProvider(SequencePlayer()) as provider:
        provider.extra_answers["/v1/models"] = {"hello": "I am a wiki"}
        look_up = await look_up_local_servers(0.3, [ServerPlace("vLLM", provider.port)])

    assert look_up.servers == []
    assert look_up.describe().endswith(": at vLLM's port something else answers.")


async def test_where_nothing_runs_it_says_so():
    look_up = await look_up_local_servers(0.3, [ServerPlace("Ollama", free_port())])

    assert look_up.describe().endswith(": nothing answered.")


async def test_a_proxy_from_the_environment_is_never_asked(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("HTTP_PROXY", f"http://127.0.0.1:{free_port()}")
    monkeypatch.setenv("ALL_PROXY", f"http://127.0.0.1:{free_port()}")
    with StrictProvider(SequencePlayer()) as provider:
        look_up = await look_up_local_servers(1.0, [ServerPlace("vLLM", provider.port)])

    assert [server.models for server in look_up.servers] == [("strict-7b",)]
