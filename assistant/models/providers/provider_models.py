"""AgentScope's model classes for DashScope and OpenAI-compatible servers, with what real providers made necessary."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Awaitable, Callable, Iterable
from dataclasses import replace
from datetime import datetime
from typing import cast

import openai
from agentscope.credential import DashScopeCredential, OpenAICredential
from agentscope.formatter import FormatterBase
from agentscope.model import DashScopeChatModel, OpenAIChatModel
from agentscope.tool import ToolChoice
from openai import AsyncStream
from openai.types.chat import ChatCompletionChunk
from pydantic import SecretStr

from assistant.messages.blocks import Msg
from assistant.models.availability import why_unavailable
from assistant.models.failures import is_context_overflow
from assistant.models.providers.carried import put_back
from assistant.models.providers.chunk_stream import CheckedStream
from assistant.models.providers.provider_line import Answer, Chunks, OnRefused, ProviderLine, ProviderModel, Request
from assistant.models.providers.request_form import TidyDashScopeFormatter, TidyOpenAIFormatter, with_messages
from assistant.models.wire.answer_facts import AnswerFacts
from assistant.models.wire.answer_reader import ReadingHabits
from assistant.models.wire.regular_request import adapted_requests
from assistant.models.wire.regular_response import regular_responses
from assistant.models.wire.request_parts import RequestPart, refused_part, without_parts
from assistant.models.wire.written_text import opening_of

_REFUSING_STATUS = (400, 404, 415, 422, 500, 501)


class CompatibleModel(ProviderModel):
    """Stands before a class of AgentScope that speaks `/v1/chat/completions`; every failure is a `ModelError`."""

    client: openai.AsyncOpenAI
    formatter: FormatterBase
    _line: CompatibleLine

    def hide(self, mask: Callable[[bytes], bytes]) -> None:
        """Send no request from now on that `mask` has not gone over."""
        self._line.mask = mask

    def leave_out(self, parts: Iterable[RequestPart], on_refused: OnRefused) -> None:
        """Leave these out of every request; `on_refused` is called with what is found to be refused beside them."""
        self._line.leave_out(parts, on_refused)

    async def why_unavailable(self) -> str:
        """In plain words why a turn would fail now; empty where nothing speaks against it."""
        return await why_unavailable(self.client, self._line.address, self._line.key)

    async def close(self) -> None:
        """Let go of the connections; may be called twice."""
        await self.client.close()

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

        return self._line.tell(await self._line.open(messages, lambda: self._line.ask_without_refused(ask)))

    def _parse_stream_response(self, start_datetime: datetime, response: AsyncStream[ChatCompletionChunk]) -> Chunks:
        checked = CheckedStream(response, self._line.call_ids, self._line.max_reply_tokens)
        # Every class that may be behind this one has it, their common base has not.
        parse = cast(Callable[[datetime, CheckedStream], Chunks], getattr(super(), "_parse_stream_response"))  # noqa: B009
        return self._line.read(parse(start_datetime, checked), checked.facts)


class OpenAICompatibleModel(CompatibleModel, OpenAIChatModel):
    """A model behind any server with OpenAI's chat completions."""

    type = "openai_chat"

    def __init__(self, name: str, base_url: str, api_key: str, window_tokens: int, max_reply_tokens: int) -> None:
        self._line = CompatibleLine(name, base_url, api_key, max_reply_tokens)
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
        self._line = CompatibleLine(name, base_url, api_key, max_reply_tokens)
        DashScopeChatModel.__init__(
            self,
            DashScopeCredential(api_key=SecretStr(api_key), base_url=base_url),
            name,
            max_retries=0,
            context_size=window_tokens,
            formatter=TidyDashScopeFormatter(),
            client_kwargs=self._line.client_arguments(),
        )


class CompatibleLine(ProviderLine):
    """The line to a server with OpenAI's chat completions: its habits, and what it refuses in a request.

    `changed` are the parts that are known to be refused, beside those that are found out.
    """

    def __init__(
        self,
        name: str,
        base_url: str,
        api_key: str,
        max_reply_tokens: int,
        changed: frozenset[RequestPart] = frozenset(),
    ) -> None:
        super().__init__(name, base_url, api_key, max_reply_tokens)
        self._changed = changed
        self._habits = ReadingHabits(opening_of(name), max_reply_tokens=max_reply_tokens)
        self._refused: set[RequestPart] = set(changed)
        self._newly_refused: list[RequestPart] = []
        self._on_refused: OnRefused = lambda _: None

    def client_arguments(self) -> dict[str, object]:
        """How AgentScope is to make the client: with responses made regular, and requests as the server takes them."""
        client = self.http_client(
            {
                "request": [adapted_requests(lambda: self._refused, lambda content: self.mask(content))],
                "response": [regular_responses(lambda: self._habits)],
            }
        )
        # Neither AgentScope nor its client retries: the two would multiply.
        return {"timeout": self.timeout, "max_retries": 0, "http_client": client}

    def leave_out(self, parts: Iterable[RequestPart], on_refused: OnRefused) -> None:
        """Leave these out of every request; `on_refused` is called with what is found to be refused beside them."""
        self._refused = {*parts, *self._changed}
        self._on_refused = on_refused

    async def read(self, parsed: Chunks, facts: AnswerFacts) -> Chunks:
        """The parsed chunks with their notes; what they show of the model's habits is kept for the next answer."""
        async with contextlib.aclosing(self.noted(parsed, facts, self._take_refused)) as chunks:
            async for chunk in chunks:
                yield chunk
        if facts.begins_in_thought:
            self._habits = replace(self._habits, opening="thought")

    def _take_refused(self) -> list[RequestPart]:
        taken, self._newly_refused = self._newly_refused, []
        return taken

    async def ask_without_refused(self, ask: Callable[[], Awaitable[Answer]]) -> Answer:
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
