"""What is the same on the line to every provider: waits, retries, call ids used once, failures in plain words."""

from __future__ import annotations

import contextlib
from abc import ABC, abstractmethod
from collections.abc import AsyncGenerator, Awaitable, Callable, Iterable, Sequence
from urllib.parse import urlsplit

import httpx
from agentscope.model import ChatModelBase, ChatResponse

from assistant.messages.blocks import Msg, ToolCallBlock
from assistant.models.failures import ProviderFailure, as_model_error
from assistant.models.http_client import CONNECT_SECONDS, Hooks, client_for
from assistant.models.providers.call_ids import CallIds
from assistant.models.providers.carried import with_carried
from assistant.models.providers.carried_notes import with_notes
from assistant.models.providers.retries import CLOUD_PAUSES_SECONDS, LOOPBACK_PAUSES_SECONDS, ask_with_retries
from assistant.models.providers.whole_characters import with_whole_characters
from assistant.models.server_report import is_loopback
from assistant.models.wire.answer_facts import AnswerFacts
from assistant.models.wire.request_parts import RequestPart

# The longest silence between two pieces of an answer; a processor alone may read a long prompt for minutes.
_READ_SECONDS = 120.0
_LOOPBACK_READ_SECONDS = 600.0

OnRefused = Callable[[RequestPart], None]
Chunks = AsyncGenerator[ChatResponse, None]
Answer = ChatResponse | Chunks
"""What AgentScope's classes give: a stream here, for they are always asked for one."""
Request = Callable[..., Awaitable[Answer]]
"""How AgentScope asks a model."""


class ProviderModel(ChatModelBase, ABC):
    """A model at a provider or server: what the program does with one beside asking it."""

    @abstractmethod
    def hide(self, mask: Callable[[bytes], bytes]) -> None:
        """Send no request from now on that `mask` has not gone over."""

    @abstractmethod
    def leave_out(self, parts: Iterable[RequestPart], on_refused: OnRefused) -> None:
        """Leave these out of every request; `on_refused` is called with what is found to be refused beside them."""

    @abstractmethod
    async def why_unavailable(self) -> str:
        """In plain words why a turn would fail now; empty where nothing speaks against it."""

    @abstractmethod
    async def close(self) -> None:
        """Let go of the connections; may be called twice."""


class ProviderLine:
    """The line to one model: its address and key, and what all requests over it have in common."""

    def __init__(self, name: str, base_url: str, api_key: str, max_reply_tokens: int) -> None:
        self.call_ids = CallIds()
        self.max_reply_tokens = max_reply_tokens
        self.mask: Callable[[bytes], bytes] = bytes
        self.address = base_url
        self.key = api_key
        self.origin = f"{name} at {urlsplit(base_url).netloc}"
        is_local = is_loopback(base_url)
        self.timeout = httpx.Timeout(_LOOPBACK_READ_SECONDS if is_local else _READ_SECONDS, connect=CONNECT_SECONDS)
        self._pauses_seconds = LOOPBACK_PAUSES_SECONDS if is_local else CLOUD_PAUSES_SECONDS

    def http_client(self, hooks: Hooks) -> httpx.AsyncClient:
        """The client that all requests of this line go through."""
        return client_for(self.address, self.timeout, follow_redirects=True, hooks=hooks)

    async def open(self, messages: Sequence[Msg], ask: Callable[[], Awaitable[Answer]]) -> Chunks:
        """The stream that `ask` brings; raises `ModelError` when there is none after the last try."""
        self.call_ids.remember(_call_ids_of(messages))
        try:
            stream = await ask_with_retries(ask, self._pauses_seconds)
        except ProviderFailure as error:
            raise as_model_error(error, self.address, self.key) from None
        assert not isinstance(stream, ChatResponse)
        return stream

    async def noted(
        self, parsed: Chunks, facts: AnswerFacts, take_refused: Callable[[], Sequence[RequestPart]] = tuple
    ) -> Chunks:
        """The parsed chunks with what has to go back and what is to be known of the answer."""
        carried = with_carried(parsed, facts, self.origin)
        async with contextlib.aclosing(with_notes(carried, facts, take_refused)) as chunks:
            async for chunk in chunks:
                yield chunk

    async def tell(self, stream: Chunks) -> Chunks:
        """The stream with whole characters; raises `ModelError` where it breaks."""
        async with contextlib.aclosing(with_whole_characters(stream)) as whole:
            try:
                async for chunk in whole:
                    yield chunk
            except ProviderFailure as error:
                raise as_model_error(error, self.address, self.key, has_begun=True) from None


def _call_ids_of(messages: Sequence[Msg]) -> list[str]:
    return [block.id for message in messages for block in message.content if isinstance(block, ToolCallBlock)]
