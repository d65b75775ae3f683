"""Ask a provider again when that may help, within seconds: the one place where requests are repeated."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from typing import TypeVar

import httpx
import openai

from assistant.models.failures import is_quota_used_up

# A refused port must be known within 3 s, all tries together.
CLOUD_PAUSES_SECONDS = (0.5, 1.5)
# On this machine a second try only helps against a connection that the server had just closed.
LOOPBACK_PAUSES_SECONDS = (0.2,)
# Whoever is asked to wait longer is told so instead.
_LONGEST_WAIT_SECONDS = 20.0

Answer = TypeVar("Answer")


async def ask_with_retries(ask: Callable[[], Awaitable[Answer]], pauses_seconds: Sequence[float]) -> Answer:
    """The answer of the first try that brings one; raises what the last try raised.

    Tried again: no connection, too many requests, a server's own error. Not again: a wait that ran out, because waits
    would add up to minutes, and whatever the request itself is to blame for.
    """
    for pause_seconds in pauses_seconds:
        try:
            return await ask()
        except (
            openai.APIConnectionError,
            openai.RateLimitError,
            openai.InternalServerError,
            httpx.TransportError,
        ) as error:
            wait_seconds = max(pause_seconds, _asked_wait_seconds(error))
            if not _may_help(error) or wait_seconds > _LONGEST_WAIT_SECONDS:
                raise
        await asyncio.sleep(wait_seconds)
    return await ask()


def _may_help(error: openai.APIError | httpx.TransportError) -> bool:
    if isinstance(error, openai.APITimeoutError | httpx.TimeoutException):
        return False
    return not (isinstance(error, openai.APIError) and is_quota_used_up(error))


def _asked_wait_seconds(error: Exception) -> float:
    """How long the provider asks to wait, 0 when it does not say."""
    if not isinstance(error, openai.APIStatusError):
        return 0.0
    try:
        return float(error.response.headers.get("Retry-After", "0"))
    except ValueError:
        # A date is possible too; the providers here send seconds.
        return 0.0
