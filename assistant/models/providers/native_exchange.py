"""One request in a protocol of its own and its answer, between the provider's library and the network.

What goes out is masked; what comes back is read and mended before the library reads it.
"""

from __future__ import annotations

import contextlib
import json
import re
from collections.abc import AsyncIterator, Awaitable, Callable, Generator
from contextvars import ContextVar
from dataclasses import dataclass, field

import httpx
import openai

from assistant.config.words import say
from assistant.errors import ModelError
from assistant.messages.blocks import parse_object
from assistant.models.failures import status_failure
from assistant.models.wire.answer_facts import AnswerFacts
from assistant.models.wire.event_lines import EventLines
from assistant.models.wire.native_events import NativeEvents
from assistant.models.wire.pieces import ServerFailure
from assistant.models.wire.regular_response import decoded
from assistant.models.wire.server_failures import failure_in
from assistant.text.json_values import JsonObject, is_object

MakeEvents = Callable[[AnswerFacts, JsonObject], NativeEvents]
"""The reader of one answer, from where its facts go and from the body of the request."""
_ERROR_STATUS = 400
# Google says in the body how long to wait.
_RETRY_DELAY = re.compile(r'"retryDelay":\s*"(\d+)')
_WRONG_ADDRESS_STATUS = 404


@dataclass(slots=True)
class Exchange:
    """One request: what is known of its answer, and the provider's refusal where that is the answer."""

    facts: AnswerFacts = field(default_factory=AnswerFacts)
    refusal: openai.APIStatusError | None = None

    @contextlib.contextmanager
    def open(self) -> Generator[None]:
        """Requests that are sent within belong to this exchange."""
        token = _current.set(self)
        try:
            yield
        finally:
            _current.reset(token)

    def failure(self, error: BaseException, address: str) -> Exception:
        """Why there is no answer: the refusal, what broke on the way, or what the library says."""
        if self.refusal is not None:
            return self.refusal
        cause: BaseException | None = error
        while cause is not None:
            if isinstance(cause, httpx.HTTPError | openai.OpenAIError | ModelError):
                return cause
            cause = cause.__cause__ or cause.__context__
        # The types of the client name the other library that it can use.
        return openai.APIError(str(error), httpx.Request("POST", address), body=None)  # type: ignore[arg-type]


_current: ContextVar[Exchange] = ContextVar("exchange")


def timed_requests(timeout: Callable[[], httpx.Timeout]) -> Callable[[httpx.Request], Awaitable[None]]:
    """The hook for `event_hooks["request"]`: an exchange waits as long as ours do, whatever a library sets."""

    async def set_timeout(request: httpx.Request) -> None:
        if _current.get(None) is not None:
            request.extensions = {**request.extensions, "timeout": timeout().as_dict()}

    return set_timeout


def read_responses(make_events: MakeEvents) -> Callable[[httpx.Response], Awaitable[None]]:
    """The hook for `event_hooks["response"]`; a response that belongs to no exchange passes as it is."""

    async def read(response: httpx.Response) -> None:
        exchange = _current.get(None)
        if exchange is None:
            return
        events = make_events(exchange.facts, _body_of(response.request))
        if not response.is_success:
            await response.aread()
            exchange.refusal = refusal_in(response, events)
            return
        stream = _MendedStream(decoded(response), events, str(response.request.url))
        exchange.refusal = await stream.start()
        if exchange.refusal is None:
            response.headers = httpx.Headers({"content-type": response.headers.get("content-type", "")})
            response.stream = stream
            return
        await stream.aclose()
        response.headers = httpx.Headers({"content-type": "application/json"})
        response.status_code = exchange.refusal.status_code
        response.stream = httpx.ByteStream(json.dumps({"error": {"message": exchange.refusal.message}}).encode())

    return read


def _body_of(request: httpx.Request) -> JsonObject:
    body: object = json.loads(request.content) if request.content else None
    return body if is_object(body) else {}


def refusal_in(response: httpx.Response, events: NativeEvents) -> openai.APIStatusError:
    """The refusal that a response with an error status is; its body has been read."""
    delay = _RETRY_DELAY.search(response.text)
    wait = response.headers.get("Retry-After") or (delay[1] if delay else "")
    address = str(response.request.url)
    try:
        body: object = response.json()
    except ValueError:
        body = None
    failure = failure_in(body) if is_object(body) else None
    if failure is None:
        return status_failure(response.status_code, response.text.strip() or response.reason_phrase, address, wait=wait)
    status = events.status_of(response.status_code, failure)
    return status_failure(status, failure.message, address, code=failure.code, wait=wait)


class _MendedStream(httpx.AsyncByteStream):
    """The events as the library expects them; `start` reads up to the first thing the provider says of the answer."""

    def __init__(self, raw: httpx.Response, events: NativeEvents, address: str) -> None:
        self._raw = raw
        self._content = raw.aiter_bytes()
        self._lines = EventLines()
        self._events = events
        self._address = address
        self._waiting: list[JsonObject] = []
        self._is_over = False

    async def start(self) -> openai.APIStatusError | None:
        """The refusal that the response consists of, if it does."""
        try:
            while not self._events.has_begun and not self._is_over:
                await self._read_on()
        except openai.APIStatusError as refusal:
            return refusal
        return None

    async def __aiter__(self) -> AsyncIterator[bytes]:
        while True:
            for value in self._waiting:
                yield self._events.encode(value)
            self._waiting.clear()
            if self._is_over:
                return
            await self._read_on()

    async def aclose(self) -> None:
        """Close the provider's own stream."""
        await self._raw.aclose()

    async def _read_on(self) -> None:
        content = await anext(self._content, None)
        self._is_over = content is None
        for text in self._lines.close() if content is None else self._lines.feed(content):
            self._waiting += self._mended(text)
        if content is None:
            self._waiting += self._events.close()

    def _mended(self, text: str) -> list[JsonObject]:
        if text.lstrip().lower().startswith(("<!doctype", "<html")):
            raise status_failure(_WRONG_ADDRESS_STATUS, say("models", "web_page"), self._address)
        value = parse_object(text)
        if value is None:
            return []
        if failure := self._events.failure_in(value):
            raise self._refusal(failure)
        return self._events.feed(value)

    def _refusal(self, failure: ServerFailure) -> openai.APIStatusError:
        status = failure.status or self._events.STATUS_OF_CODE.get(failure.code, _ERROR_STATUS)
        status = self._events.status_of(status, failure)
        return status_failure(status, failure.message, self._address, code=failure.code)
