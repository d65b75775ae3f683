"""Claude over Anthropic's own Messages API, or another model over a server that speaks it."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator, Mapping, Sequence
from functools import cache
from typing import cast

import anthropic
import httpx
import httpx2
import openai
from agentscope.credential import AnthropicCredential
from agentscope.model import AnthropicChatModel, ModelCard
from pydantic import SecretStr

from assistant.messages.blocks import Msg, ThinkingBlock
from assistant.models.providers.anthropic_form import TidyAnthropicFormatter
from assistant.models.providers.call_ids import fresh_call_id
from assistant.models.providers.native_model import NativeModel
from assistant.models.providers.provider_line import ProviderLine
from assistant.models.wire.message_events import MessageEvents
from assistant.text.json_values import is_object

# https://platform.claude.com/docs/en/api/versioning
_VERSION = "2026-10-21"
_SENT_HEADERS = ("accept", "anthropic-beta", "content-type", "user-agent")
# What every model of the API writes in one answer at the least.
_LEAST_OUTPUT_TOKENS = 8_192
_OUTPUT_LIMIT = re.compile(r"max_tokens: \d+ > (\d+)")
_NO_ROOM = re.compile(r"input length and `max_tokens` exceed context limit: (\d+) \+ \d+ > (\d+)")


class AnthropicModel(NativeModel, AnthropicChatModel):
    """A model that speaks the Messages API; thoughts go back with their signatures, and the prompt is cached."""

    type = "anthropic_chat"
    FAILURES = (anthropic.AnthropicError, httpx.HTTPError, openai.OpenAIError)
    LISTING = "/v1/models"

    def __init__(self, name: str, base_url: str, api_key: str, window_tokens: int, max_reply_tokens: int) -> None:
        line = ProviderLine(name, base_url, api_key, max_reply_tokens)
        self._open_line(line, lambda facts, _: MessageEvents(facts, fresh_call_id))
        self._refused_thoughts: set[str] = set()
        card = _cards().get(name)
        limit = card.output_size if card else _LEAST_OUTPUT_TOKENS
        self._max_tokens = min(limit, max_reply_tokens)
        self._thinks = bool(card) and _thinks_adaptively(card)
        AnthropicChatModel.__init__(
            self,
            AnthropicCredential(api_key=SecretStr(api_key or "none"), base_url=base_url),
            name,
            self._asked_for(),
            max_retries=0,
            context_size=window_tokens,
            formatter=TidyAnthropicFormatter(),
            client_kwargs={
                "max_retries": 0,
                "timeout": httpx2.Timeout(None),
                "http_client": httpx2.AsyncClient(transport=_Bridge(self._http, self._headers())),
            },
        )

    def _asked_for(self) -> AnthropicChatModel.Parameters:
        # Models think as far as they find it needed; older ones would have to be given a budget.
        return AnthropicChatModel.Parameters(
            max_tokens=self._max_tokens,
            thinking_mode="adaptive" if self._thinks else None,
            thinking_display="summarized" if self._thinks else None,
        )

    def _headers(self) -> Mapping[str, str]:
        return {"x-api-key": self._line.key or "none", "anthropic-version": _VERSION}

    def _is_own(self, thought: ThinkingBlock) -> bool:
        return super()._is_own(thought) and thought.id not in self._refused_thoughts

    def _adapts_to(self, refusal: openai.APIStatusError, sent: Sequence[Msg]) -> bool:
        """Less room for the answer, no thinking where the model has none, no thoughts whose signature is refused."""
        if refusal.status_code != 400:
            return False
        limit = _output_limit_in(refusal.message)
        if (limit and limit < self._max_tokens) or (self._thinks and "adaptive" in refusal.message):
            self._max_tokens = limit or self._max_tokens
            self._thinks = self._thinks and "adaptive" not in refusal.message
            self.parameters = self._asked_for()
            return True
        thoughts = {block.id for one in sent for block in one.content if isinstance(block, ThinkingBlock)}
        if re.search("thinking|signature", refusal.message, re.IGNORECASE) and thoughts:
            self._refused_thoughts |= thoughts
            return True
        return False


class _Bridge(httpx2.AsyncBaseTransport):
    """Sends what Anthropic's client asks for over the client that all other providers are reached with."""

    def __init__(self, client: httpx.AsyncClient, key_headers: Mapping[str, str]) -> None:
        self._client = client
        self._key_headers = key_headers

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        """The response to a request; raises what the other client raises."""
        # The key goes under the name that every server of this API takes.
        headers = {name: value for name, value in request.headers.items() if name in _SENT_HEADERS}
        asked = self._client.build_request(
            request.method, str(request.url), headers={**headers, **self._key_headers}, content=await request.aread()
        )
        response = await self._client.send(asked, stream=True)
        stream = _Relayed(response)
        kept = ("content-type", "retry-after", "request-id")
        found = {name: value for name, value in response.headers.items() if name in kept}
        return httpx2.Response(response.status_code, headers=found, stream=stream)


class _Relayed(httpx2.AsyncByteStream):
    """The bytes of a response of the other library."""

    def __init__(self, response: httpx.Response) -> None:
        self._response = response

    async def __aiter__(self) -> AsyncIterator[bytes]:
        # The body of a refusal has been read already.
        if self._response.is_stream_consumed:
            yield self._response.content
            return
        async for content in self._response.aiter_bytes():
            yield content

    async def aclose(self) -> None:
        """Let go of the connection."""
        await self._response.aclose()


def _thinks_adaptively(card: ModelCard) -> bool:
    schema: object = cast(object, card.parameter_schema)  # pyright: ignore[reportUnknownMemberType]
    properties = schema.get("properties") if is_object(schema) else None
    mode = properties.get("thinking_mode") if is_object(properties) else None
    return is_object(mode) and mode.get("default") == "adaptive"


def _output_limit_in(message: str) -> int | None:
    """How much of an answer there is room for by the words of a refusal."""
    if found := _OUTPUT_LIMIT.search(message):
        return int(found[1])
    if found := _NO_ROOM.search(message):
        room = int(found[2]) - int(found[1])
        return room if room >= _LEAST_OUTPUT_TOKENS else None
    return None


@cache
def _cards() -> dict[str, ModelCard]:
    return {card.name: card for card in AnthropicChatModel.list_models()}
