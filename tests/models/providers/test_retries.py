"""Requests are repeated only where that may help, and never for long."""

from __future__ import annotations

import httpx
import openai
import pytest

from assistant.models.providers.retries import ask_with_retries

REQUEST = httpx.Request("POST", "http://127.0.0.1:8080/v1/chat/completions")


def status_error(kind: type[openai.APIStatusError], status: int, code: str = "", **headers: str) -> openai.APIError:
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    response = httpx.Response(status, request=REQUEST, headers=named)
    return kind("no", response=response, body={"code": code})


class Provider:
    """Fails as told, then answers."""

    def __init__(self, *failures: openai.APIError) -> None:
        self.failures = list(failures)
        self.calls = 0

    async def ask(self) -> str:
        self.calls += 1
        if self.failures:
            raise self.failures.pop(0)
        return "answer"


@pytest.mark.parametrize(
    "failure",
    [
        openai.APIConnectionError(request=REQUEST),
        status_error(openai.RateLimitError, 429),
        status_error(openai.RateLimitError, 429, retry_after="0"),
        status_error(openai.InternalServerError, 503, retry_after="Wed, 21 Oct 2026 07:28:00 GMT"),
    ],
    ids=["no connection", "too many requests", "wait", "a date"],
)
async def test_what_may_pass_is_asked_again(failure: openai.APIError):
    provider = Provider(failure, failure)

    assert await ask_with_retries(provider.ask, (0.0, 0.0)) == "answer"
    assert provider.calls == 3


async def test_the_last_try_counts():
    provider = Provider(*[openai.APIConnectionError(request=REQUEST)] * 3)

    with pytest.raises(openai.APIConnectionError):
        await ask_with_retries(provider.ask, (0.0, 0.0))
    assert provider.calls == 3


@pytest.mark.parametrize(
    "failure",
    [
        openai.APITimeoutError(request=REQUEST),
        status_error(openai.RateLimitError, 429, "insufficient_quota"),
        status_error(openai.RateLimitError, 429, retry_after="300"),
        status_error(openai.BadRequestError, 400),
        status_error(openai.AuthenticationError, 401),
    ],
    ids=["a wait that ran out", "no money left", "a long wait", "the request's fault", "a wrong key"],
)
async def test_what_will_not_pass_is_told_at_once(failure: openai.APIError):
    provider = Provider(failure)

    with pytest.raises(type(failure)):
        await ask_with_retries(provider.ask, (0.0, 0.0))
    assert provider.calls == 1
