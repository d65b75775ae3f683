"""AgentScope's model classes for DashScope and OpenAI-compatible servers, with what real providers made necessary."""

from __future__ import annotations

import contextlib
import json
from collections.abc import AsyncGenerator, Awaitable, Callable, Iterable, Sequence
from dataclasses import replace
from datetime import datetime
from typing import cast
from urllib.parse import urlsplit

import httpx
import openai
from agentscope.credential import DashScopeCredential, OpenAICredential
from agentscope.formatter import FormatterBase
from agentscope.model import ChatModelBase, ChatResponse, DashScopeChatModel, OpenAIChatModel
from agentscope.tool import ToolChoice
from openai import AsyncStream
from openai.types.chat import ChatCompletionChunk
from pydantic import SecretStr

from assistant.messages.blocks import Msg, ToolCallBlock
from assistant.models.failures import ProviderFailure, as_model_error, is_context_overflow
from assistant.models.http_client import client_for
from assistant.models.providers.call_ids import CallIds
from assistant.models.providers.carried import put_back, with_carried
from assistant.models.providers.carried_notes import with_notes
from assistant.models.providers.chunk_stream import CheckedStream
from assistant.models.providers.request_form import TidyDashScopeFormatter, TidyOpenAIFormatter, with_messages
from assistant.models.providers.retries import CLOUD_PAUSES_SECONDS, LOOPBACK_PAUSES_SECONDS, ask_with_retries
from assistant.models.providers.whole_characters import with_whole_characters
from assistant.models.server_report import is_loopback
from assistant.models.wire.answer_reader import ReadingHabits
from assistant.models.wire.regular_request import adapted_requests
from assistant.models.wire.regular_response import regular_responses
from assistant.models.wire.request_parts import RequestPart, refused_part, without_parts
from assistant.models.wire.written_text import opening_of

_CONNECT_SECONDS = 4.0
# The longest silence between two pieces of an answer; a processor alone may read a long prompt for minutes.
_READ_SECONDS = 120.0
_LOOPBACK_READ_SECONDS = 600.0

_REFUSING_STATUS = (400, 404, 415, 422, 500, 501)

OnRefused = Callable[[RequestPart], None]
Chunks = AsyncGenerator[ChatResponse, None]
Answer = ChatResponse | Chunks
"""What AgentScope's classes give: a stream here, for they are always asked for one."""
Request = Callable[..., Awaitable[Answer]]
"""How AgentScope asks a model."""


class CompatibleModel(ChatModelBase):
    """Stands before a class of AgentScope that speaks `/v1/chat/completions`; every failure is a `ModelError`."""

    client: openai.AsyncOpenAI
    formatter: FormatterBase
    _line: _Line

    def hide(self, mask: Callable[[bytes], bytes]) -> None:
        """Send no request from now on that `mask` has not gone over."""
        self._line.mask = mask

    def leave_out(self, parts: Iterable[RequestPart], on_refused: OnRefused) -> None:
        """Leave these out of every request; `on_refused` is called with what is found to be refused beside them."""
        self._line.leave_out(parts, on_refused)

    async def _call_api(
        self,
        model_name: str,
        messages: list[Msg],
        tools: list[dict[str, object]] | None = None,
        tool_choice: ToolChoice | None = None,
        **kwargs: object,
    ) -> Chunks:
        # An empty list of tools is refused, and so is a choice without tools.
        choice = tool_choice if tools else None
        # The class behind this one has it; AgentScope does not say what is in a tool.
        request = cast(Request, super()._call_api)  # pyright: ignore[reportAbstractUsage, reportUnknownMemberType]

        async def ask() -> Answer:
            sent = put_back(await self.formatter.format(messages), messages, self._line.origin)
            return await request(model_name, [], tools or None, choice, **with_messages(kwargs, sent))

        return self._line.tell(await self._line.open(messages, ask))

    def _parse_stream_response(self, start_datetime: datetime, response: AsyncStream[ChatCompletionChunk]) -> Chunks:
        checked = CheckedStream(response, self._line.call_ids, self._line.max_reply_tokens)
        # Every class that may be behind this one has it, their common base has not.
        parse = cast(Callable[[datetime, CheckedStream], Chunks], getattr(super(), "_parse_stream_response"))  # noqa: B009
        return self._line.noted(parse(start_datetime, checked), checked)


class OpenAICompatibleModel(CompatibleModel, OpenAIChatModel):
    """A model behind any server with OpenAI's chat completions."""

    type = "openai_chat"

    def __init__(self, name: str, base_url: str, api_key: str, window_tokens: int, max_reply_tokens: int) -> None:
        self._line = _Line(name, base_url, api_key, max_reply_tokens)
        # A local server takes any key, but the client refuses to start without one.
        credential = OpenAICredential(api_key=SecretStr(api_key or "none"), base_url=base_url)
        OpenAIChatModel.__init__(
            self,
            credential,
            name,
            max_retries=0,
            context_size=window_tokens,
            formatter=TidyOpenAIFormatter(),
            client_kwargs=self._line.client_arguments(),
        )


class DashScopeModel(CompatibleModel, DashScopeChatModel):
    """A model of DashScope."""

    type = "dashscope_chat"

    def __init__(self, name: str, base_url: str, api_key: str, window_tokens: int, max_reply_tokens: int) -> None:
        self._line = _Line(name, base_url, api_key, max_reply_tokens)
        DashScopeChatModel.__init__(
            self,
            DashScopeCredential(api_key=SecretStr(api_key), base_url=base_url),
            name,
            max_retries=0,
            context_size=window_tokens,
            formatter=TidyDashScopeFormatter(),
            client_kwargs=self._line.client_arguments(),
        )


class _Line:
    """What is the same for every provider: retries, call ids that are never used twice, failures in plain words."""

    def __init__(self, name: str, base_url: str, api_key: str, max_reply_tokens: int) -> None:
        self.call_ids = CallIds()
        self.max_reply_tokens = max_reply_tokens
        self.mask: Callable[[bytes], bytes] = bytes
        self.origin = f"{name} at {urlsplit(base_url).netloc}"
        self._habits = ReadingHabits(opening_of(name), max_reply_tokens=max_reply_tokens)
        self._refused: set[RequestPart] = set()
        self._newly_refused: list[RequestPart] = []
        self._on_refused: OnRefused = lambda _: None
        self._pauses_seconds = LOOPBACK_PAUSES_SECONDS if is_loopback(base_url) else CLOUD_PAUSES_SECONDS
        self._address = base_url
        self._secret = api_key

    def client_arguments(self) -> dict[str, object]:
        """How AgentScope is to make the client: with responses made regular, and requests as the server takes them."""
        local = is_loopback(self._address)
        timeout = httpx.Timeout(_LOOPBACK_READ_SECONDS if local else _READ_SECONDS, connect=_CONNECT_SECONDS)
        client = client_for(
            self._address,
            timeout,
            follow_redirects=True,
            hooks={
                "request": [adapted_requests(lambda: self._refused, lambda content: self.mask(content))],
                "response": [regular_responses(lambda: self._habits)],
            },
        )
        # Neither AgentScope nor its client retries: the two would multiply.
        return {"timeout": timeout, "max_retries": 0, "http_client": client}

    async def open(self, messages: Sequence[Msg], ask: Callable[[], Awaitable[Answer]]) -> Chunks:
        """The stream that `ask` brings; raises `ModelError` when there is none after the last try."""
        self.call_ids.remember(_call_ids_of(messages))
        try:
            stream = await ask_with_retries(lambda: self._ask_without_refused(ask), self._pauses_seconds)
        except ProviderFailure as error:
            raise as_model_error(error, self._address, self._secret) from None
        assert not isinstance(stream, ChatResponse)
        return stream

    def leave_out(self, parts: Iterable[RequestPart], on_refused: OnRefused) -> None:
        """Leave these out of every request; `on_refused` is called with what is found to be refused beside them."""
        self._refused = set(parts)
        self._on_refused = on_refused

    async def noted(self, parsed: Chunks, checked: CheckedStream) -> Chunks:
        """The parsed chunks with what has to go back and what is to be known of the answer."""
        carried = with_carried(parsed, checked, self.origin)
        async with contextlib.aclosing(with_notes(carried, checked, self._take_refused)) as chunks:
            async for chunk in chunks:
                yield chunk
        if checked.begins_in_thought:
            self._habits = replace(self._habits, opening="thought")

    def _take_refused(self) -> list[RequestPart]:
        taken, self._newly_refused = self._newly_refused, []
        return taken

    async def _ask_without_refused(self, ask: Callable[[], Awaitable[Answer]]) -> Answer:
        """Ask; where the server refuses a part of the request, ask without it, from now on if that is what helps."""
        refused: list[RequestPart] = []
        while True:
            try:
                answer = await ask()
            except openai.APIStatusError as error:
                part = self._refused_by(error)
                if part is None:
                    self._refused.difference_update(refused)
                    raise
                self._refused.add(part)
                refused.append(part)
            else:
                self._newly_refused += refused
                for part in refused:
                    self._on_refused(part)
                return answer

    def _refused_by(self, error: openai.APIStatusError) -> RequestPart | None:
        """The part that a refusal speaks of and that was sent; limits, keys and a window that is too small are none."""
        if error.status_code not in _REFUSING_STATUS or is_context_overflow(error):
            return None
        sent = without_parts(json.loads(error.request.content), self._refused)
        part = refused_part(f"{error.message} {error.body or ''}", sent)
        return None if part in self._refused else part

    async def tell(self, stream: Chunks) -> Chunks:
        """The stream with whole characters; raises `ModelError` where it breaks."""
        async with contextlib.aclosing(with_whole_characters(stream)) as whole:
            try:
                async for chunk in whole:
                    yield chunk
            except ProviderFailure as error:
                raise as_model_error(error, self._address, self._secret, has_begun=True) from None


def _call_ids_of(messages: Sequence[Msg]) -> list[str]:
    return [block.id for message in messages for block in message.content if isinstance(block, ToolCallBlock)]
