"""Look for model servers on loopback, all at once, and say what was tried and what answered."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import httpx

from assistant.config.words import say
from assistant.models.ollama_server import is_ollama, list_ollama
from assistant.models.server_report import ListedModel, direct_client, list_models


@dataclass(frozen=True, slots=True)
class ServerPlace:
    """Where a server of a kind listens by default."""

    name: str
    port: int


PLACES = (
    ServerPlace("Ollama", 11434),
    ServerPlace("LM Studio", 1234),
    ServerPlace("llama-server", 8080),
    ServerPlace("Jan", 1337),
    ServerPlace("vLLM", 8000),
)
LOOK_SECONDS = 0.3

Outcome = Literal["models", "no models", "asks for a key", "something else answers", "nothing answers"]


@dataclass(frozen=True, slots=True)
class LocalServer:
    """A server on loopback with models to offer; `window_tokens` is that of the first model, if it is given.

    `speaks` is the protocol to ask it in; `hints` says of each model how large it is, where that is told.
    """

    name: str
    base_url: str
    models: tuple[str, ...]
    window_tokens: int | None = None
    speaks: Literal["openai", "ollama"] = "openai"
    hints: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Probe:
    """One place that was tried; `server` is there when the outcome is `models`."""

    place: ServerPlace
    outcome: Outcome
    server: LocalServer | None = None


@dataclass(frozen=True, slots=True)
class LookUp:
    """All places that were tried, in order of preference."""

    probes: tuple[Probe, ...]

    @property
    def servers(self) -> list[LocalServer]:
        """The servers that have models."""
        return [probe.server for probe in self.probes if probe.server is not None]

    def describe(self) -> str:
        """One line: what was tried, what answered."""
        tried = ", ".join(f"{probe.place.name} ({probe.place.port})" for probe in self.probes)
        told = [_tell(probe) for probe in self.probes if probe.outcome != "nothing answers"]
        return say("models", "looked_for", tried=tried, found="; ".join(told) or say("models", "found_nothing"))


async def look_up_local_servers(
    timeout_seconds: float = LOOK_SECONDS, places: Sequence[ServerPlace] = PLACES, host: str = "127.0.0.1"
) -> LookUp:
    """Try every place at the same time.

    Takes `timeout_seconds` at most, however silent they are; as long again where an Ollama has models to tell of.
    """
    async with direct_client(timeout_seconds) as client:
        probes = await asyncio.gather(*(_probe(client, host, place, timeout_seconds) for place in places))
    return LookUp(tuple(probes))


async def _probe(client: httpx.AsyncClient, host: str, place: ServerPlace, timeout_seconds: float) -> Probe:
    base_url = f"http://{host}:{place.port}/v1"
    try:
        async with asyncio.timeout(timeout_seconds):
            models = await list_models(client, base_url)
    except httpx.HTTPStatusError as error:
        asks = error.response.status_code in (401, 403)
        return Probe(place, "asks for a key" if asks else "something else answers")
    except (TimeoutError, httpx.HTTPError):
        return Probe(place, "nothing answers")
    except ValueError:
        return Probe(place, "something else answers")
    if not models:
        return Probe(place, "no models")
    names = tuple(model.name for model in models)
    if place.name == "Ollama" and (server := await _ask_ollama(client, f"http://{host}:{place.port}", timeout_seconds)):
        return Probe(place, "models", server)
    return Probe(place, "models", LocalServer(place.name, base_url, names, models[0].window_tokens))


async def _ask_ollama(client: httpx.AsyncClient, root: str, timeout_seconds: float) -> LocalServer | None:
    """The server with what it says of its models; None where it does not speak Ollama's own protocol."""
    try:
        async with asyncio.timeout(timeout_seconds):
            if not await is_ollama(client, root):
                return None
            models = await list_ollama(client, root)
    except (TimeoutError, httpx.HTTPError, ValueError):
        return None
    names = tuple(model.name for model in models)
    return LocalServer("Ollama", root, names, speaks="ollama", hints=tuple(map(_size_in_words, models)))


def _size_in_words(model: ListedModel) -> str:
    if not (model.size_billions and model.disk_bytes):
        return ""
    return say("models", "model_size", billions=model.size_billions, gigabytes=model.disk_bytes / 1e9)


def _tell(probe: Probe) -> str:
    name = probe.place.name
    match probe.outcome:
        case "models":
            count = len(probe.server.models) if probe.server else 0
            return say("models", "found_one" if count == 1 else "found_models", name=name, count=count)
        case "no models":
            return say("models", "found_without_model", name=name)
        case "asks for a key":
            return say("models", "found_asks_for_key", name=name)
        case "something else answers":
            return say("models", "found_something_else", name=name)
        case "nothing answers":
            return say("models", "found_silent", name=name)
