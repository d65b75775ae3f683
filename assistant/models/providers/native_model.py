"""A model at a provider that is asked over a protocol and with a library of its own."""

from __future__ import annotations

import contextlib
from abc import abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import ClassVar, cast

import httpx
import openai
from agentscope.model import ChatResponse, ChatUsage
from agentscope.tool import ToolChoice

from assistant.config.words import say
from assistant.errors import EndlessReplyError, ModelError
from assistant.messages.blocks import Msg, TextBlock, ThinkingBlock, ToolCallBlock, copy_with_blocks
from assistant.messages.tokens import TokenCounter
from assistant.models.availability import LOOK_TIMEOUT, TELLING_STATUS
from assistant.models.failures import as_model_error
from assistant.models.providers.calls_as_words import with_calls_as_words
from assistant.models.providers.carried import ORIGIN
from assistant.models.providers.links import with_links_as_words
from assistant.models.providers.native_exchange import Exchange, MakeEvents, read_responses, refusal_in, timed_requests
from assistant.models.providers.provider_line import Answer, Chunks, OnRefused, ProviderLine, ProviderModel, Request
from assistant.models.wire.answer_facts import AnswerFacts
from assistant.models.wire.regular_request import masked_requests
from assistant.models.wire.request_parts import RequestPart


class NativeModel(ProviderModel):
    """Stands before a class of AgentScope that has a library of its own; every failure is a `ModelError`.

    `FAILURES` is what the library raises, `LISTING` the path of a list that every key may see.
    """

    FAILURES: ClassVar[tuple[type[Exception], ...]]
    LISTING: ClassVar[str]
    _line: ProviderLine
    _http: httpx.AsyncClient

    @abstractmethod
    def _headers(self) -> Mapping[str, str]:
        """What a request of ours says of the key."""

    def _open_line(self, line: ProviderLine, make_events: MakeEvents) -> None:
        self._line = line
        self._make_events = make_events
        self._http = line.http_client(
            {
                "request": [
                    masked_requests(lambda content: line.mask(self._rewritten(content))),
                    timed_requests(lambda: line.timeout),
                ],
                "response": [read_responses(make_events)],
            }
        )

    def _rewritten(self, content: bytes) -> bytes:
        """A request with what the library has no argument for."""
        return content

    def hide(self, mask: Callable[[bytes], bytes]) -> None:
        """Send no request from now on that `mask` has not gone over."""
        self._line.mask = mask

    def leave_out(self, parts: Iterable[RequestPart], on_refused: OnRefused) -> None:
        """Nothing: what such a provider takes is known, and what it refuses beside is found out anew."""

    async def why_unavailable(self) -> str:
        """In plain words why a turn would fail now; empty where nothing speaks against it."""
        try:
            response = await self._http.get(self.LISTING, headers=dict(self._headers()), timeout=LOOK_TIMEOUT)
        except httpx.ReadTimeout:
            return ""
        except httpx.HTTPError as error:
            return str(as_model_error(error, self._line.address, self._line.key))
        if response.is_success:
            return ""
        refusal = refusal_in(response, self._make_events(AnswerFacts(), {}))
        is_telling = refusal.status_code in TELLING_STATUS
        return str(as_model_error(refusal, self._line.address, self._line.key)) if is_telling else ""

    async def close(self) -> None:
        """Let go of the connections; may be called twice."""
        await self._http.aclose()

    async def _call_api(
        self,
        model_name: str,
        messages: list[Msg],
        tools: list[dict[str, object]] | None = None,
        tool_choice: ToolChoice | None = None,
        **kwargs: object,
    ) -> Chunks:
        # The class behind this one has it; AgentScope does not say what is in a tool.
        request = cast(Request, super()._call_api)  # pyright: ignore[reportAbstractUsage, reportUnknownMemberType]
        choice = tool_choice if tools else None

        async def ask() -> Answer:
            while True:
                exchange = Exchange()
                sent = self._as_sent(messages, has_tools=bool(tools))
                try:
                    with exchange.open():
                        chunks = await _begun(
                            await request(model_name, sent, tools or None, choice, **self._beside(), **kwargs)
                        )
                except self.FAILURES as error:
                    failure = exchange.failure(error, self._line.address)
                    if not (isinstance(failure, openai.APIStatusError) and self._adapts_to(failure, sent)):
                        raise failure from None
                else:
                    return self._read(chunks, exchange)

        return self._line.tell(await self._line.open(messages, ask))

    def _beside(self) -> Mapping[str, object]:
        """More arguments of a request."""
        return {}

    def _as_sent(self, messages: Sequence[Msg], *, has_tools: bool) -> list[Msg]:
        """The messages as they are handed to the formatter; thoughts go back to the model alone from which they are."""
        sent = [self._with_own_thoughts(message) for message in with_links_as_words(messages)]
        return sent if has_tools else with_calls_as_words(sent)

    def _adapts_to(self, refusal: openai.APIStatusError, sent: Sequence[Msg]) -> bool:
        """True where the same request is to be sent once more, in another form than the one that was refused."""
        return False

    def _with_own_thoughts(self, message: Msg) -> Msg:
        kept = [block for block in message.content if not isinstance(block, ThinkingBlock) or self._is_own(block)]
        return message if len(kept) == len(message.content) else copy_with_blocks(message, kept)

    def _is_own(self, thought: ThinkingBlock) -> bool:
        """True for a thought of this model that the mask leaves as it is: a signature holds for the very words."""
        said = thought.thinking.encode("utf-8", "replace")
        return (thought.model_extra or {}).get(ORIGIN) == self._line.origin and self._line.mask(said) == said

    async def _read(self, chunks: Chunks, exchange: Exchange) -> Chunks:
        facts = exchange.facts
        newest: ChatResponse | None = None
        async with contextlib.aclosing(self._line.noted(self._own(chunks), facts)) as noted:
            try:
                async for chunk in noted:
                    newest = chunk
                    yield chunk
            except self.FAILURES as error:
                raise exchange.failure(error, self._line.address) from None
        if not facts.has_ended:
            raise ModelError(say("models", "ended_early"))
        if newest is not None and facts.usage is not None:
            yield _usage_chunk(newest, facts)

    async def _own(self, chunks: Chunks) -> Chunks:
        """The chunks with calls by ids of our own, and thoughts that say whose they are; ends an endless answer."""
        counter, tokens = TokenCounter(), 0
        own_ids: dict[str, str] = {}
        async with contextlib.aclosing(chunks):
            async for chunk in chunks:
                for block in chunk.content:
                    match block:
                        case ToolCallBlock():
                            if block.id not in own_ids:
                                own_ids[block.id] = self._line.call_ids.unique(block.id)
                            block.id = own_ids[block.id]
                            tokens += counter.text(block.input)
                        case ThinkingBlock():
                            setattr(block, ORIGIN, self._line.origin)
                            tokens += counter.text(block.thinking)
                        case TextBlock():
                            tokens += counter.text(block.text)
                        case _:
                            pass
                if tokens > self._line.max_reply_tokens:
                    raise EndlessReplyError(self._line.max_reply_tokens)
                yield chunk


async def _begun(answer: Answer) -> Chunks:
    """The stream once its first chunk is there, so that what fails before any word is asked again."""
    assert not isinstance(answer, ChatResponse)
    first = await anext(answer, None)

    async def whole() -> Chunks:
        async with contextlib.aclosing(answer):
            if first is not None:
                yield first
            async for chunk in answer:
                yield chunk

    return whole()


def _usage_chunk(newest: ChatResponse, facts: AnswerFacts) -> ChatResponse:
    """The last counts, which come behind the last words; AgentScope takes them from a chunk without any."""
    assert facts.usage is not None
    usage = ChatUsage(
        input_tokens=facts.usage.input_tokens,
        output_tokens=facts.usage.output_tokens,
        time=newest.usage.time if newest.usage else 0.0,
        cache_input_tokens=facts.usage.cached_tokens,
    )
    return ChatResponse(content=[], is_last=False, id=newest.id, usage=usage)
