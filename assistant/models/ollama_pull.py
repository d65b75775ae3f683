"""Download a model to a server of Ollama, and say how far it is."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from dataclasses import dataclass

import httpx

from assistant.config.settings import Settings
from assistant.config.words import say
from assistant.errors import ModelError
from assistant.messages.blocks import parse_object
from assistant.models.failures import as_model_error, status_failure
from assistant.models.http_client import CONNECT_SECONDS, client_for
from assistant.models.known_providers import NATIVE_PROVIDERS
from assistant.models.native_making import own_address

# A server that checks the digest of a large file says nothing meanwhile.
_SILENCE_SECONDS = 600.0


@dataclass(frozen=True, slots=True)
class PullProgress:
    """What the server does, in its own word for it; of a part that is downloaded, how many bytes are there."""

    step: str
    done_bytes: int = 0
    total_bytes: int = 0


async def pull_model(settings: Settings, name: str) -> AsyncGenerator[PullProgress]:
    """Each change of a download, oldest first; it goes on where an earlier one ended.

    Raises `ModelError` where nothing answers, the library has no such model, or the download ends without success.
    """
    address = own_address(settings, "ollama") or NATIVE_PROVIDERS["ollama"].base_url
    key, step = _key_at(address, settings), ""
    timeout = httpx.Timeout(_SILENCE_SECONDS, connect=CONNECT_SECONDS)
    try:
        async with (
            client_for(address, timeout, key=key) as client,
            client.stream("POST", "/api/pull", json={"model": name, "stream": True}) as response,
        ):
            if not response.is_success:
                await response.aread()
                raise as_model_error(status_failure(response.status_code, _said(response.text), address), address, key)
            async for line in response.aiter_lines():
                progress = _read(line, name)
                step = progress.step
                yield progress
    except httpx.HTTPError as error:
        raise as_model_error(error, address, key, has_begun=bool(step)) from None
    if step != "success":
        raise ModelError(say("models", "pull_ended", name=name))


def _key_at(address: str, settings: Settings) -> str:
    """The key of whoever answers only where that is the server at this address; no other's goes there."""
    answers = settings.provider == "ollama" or (settings.base_url and settings.base_url.startswith(address))
    return settings.key_of("ollama") if answers else settings.own_key_of("ollama")


def _read(line: str, name: str) -> PullProgress:
    row = parse_object(line) or {}
    if error := row.get("error"):
        raise ModelError(say("models", "pull_failed", name=name, quote=error))
    done, total = (value if isinstance(value := row.get(field), int) else 0 for field in ("completed", "total"))
    return PullProgress(str(row.get("status", "")), done, total)


def _said(body: str) -> str:
    return str((parse_object(body) or {}).get("error", body))
