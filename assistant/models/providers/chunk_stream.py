"""A provider's stream as AgentScope's parsers get it: each call with an id of its own, no answer cut short."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from types import TracebackType

from openai import AsyncStream
from openai.types.chat import ChatCompletionChunk
from openai.types.chat.chat_completion_chunk import Choice, ChoiceDelta, ChoiceDeltaToolCall

from assistant.config.words import say
from assistant.errors import EndlessReplyError, ModelError
from assistant.messages.tokens import TokenCounter
from assistant.models.providers.call_ids import CallIds
from assistant.models.wire.answer_facts import AnswerFacts
from assistant.models.wire.regular_response import RETRACTION_FIELD, summary_of
from assistant.text.json_values import is_list, is_object

# Why an answer ended, where it is the output limit: OpenAI's own word, and what gateways to others leave as it was.
_LIMIT_REASONS = ("length", "max_tokens")


class CheckedStream:
    """The chunks of one answer; entered and iterated like the `AsyncStream` it replaces.

    Raises `ModelError` when the chunks end before the provider has said that the answer ends, `EndlessReplyError` when
    they go on for more than `max_tokens`. What else is to be known of the answer is in `facts`.
    """

    def __init__(self, stream: AsyncStream[ChatCompletionChunk], ids: CallIds, max_tokens: int) -> None:
        self._stream = stream
        self._max_tokens = max_tokens
        self._counter = TokenCounter()
        self._calls = _Calls(ids)
        self.facts = AnswerFacts()
        self._extras_by_place: list[object] = []

    async def __aenter__(self) -> AsyncIterator[ChatCompletionChunk]:
        return self._checked(await self._stream.__aenter__())

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        await self._stream.__aexit__(kind, error, traceback)

    async def _checked(self, chunks: AsyncIterator[ChatCompletionChunk]) -> AsyncIterator[ChatCompletionChunk]:
        facts = self.facts
        tokens = text_chars = 0
        async for chunk in chunks:
            _mend(chunk)
            self._read_summary(summary_of(chunk.model_extra))
            if (chunk.model_extra or {}).get(RETRACTION_FIELD):
                facts.thought_chars = text_chars
            facts.output_tokens = chunk.usage.completion_tokens if chunk.usage else facts.output_tokens
            tokens += sum(self._counter.text(piece) for choice in chunk.choices for piece in _pieces_of(choice.delta))
            if tokens > self._max_tokens:
                raise EndlessReplyError(self._max_tokens)
            for choice in chunk.choices:
                text_chars += len(choice.delta.content or "")
                facts.has_ended = facts.has_ended or choice.finish_reason is not None
                facts.is_cut = facts.is_cut or str(choice.finish_reason).lower() in _LIMIT_REASONS
                facts.is_filtered = facts.is_filtered or choice.finish_reason == "content_filter"
                for place, delta in enumerate(choice.delta.tool_calls or ()):
                    self._calls.renumber(delta)
                    if extras := dict(enumerate(self._extras_by_place)).get(place):
                        facts.call_extras[delta.id or ""] = extras
            yield chunk
        if not facts.has_ended:
            raise ModelError(say("models", "ended_early"))

    def _read_summary(self, summary: Mapping[str, object]) -> None:
        facts = self.facts
        name, message, calls = (summary.get(field) for field in ("thought_field", "message", "calls"))
        unread = summary.get("unread")
        facts.unread = tuple(map(str, unread)) if is_list(unread) else facts.unread
        facts.begins_in_thought = facts.begins_in_thought or summary.get("begins_in_thought") is True
        facts.thought_field = name if isinstance(name, str) else facts.thought_field
        facts.message_extras = message if is_object(message) else facts.message_extras
        self._extras_by_place = calls if is_list(calls) else self._extras_by_place


def _mend(chunk: ChatCompletionChunk) -> None:
    """Put in what the types promise and some servers leave out: a list of choices, a delta, numbers of tokens."""
    choices: list[Choice] | None = chunk.choices
    chunk.choices = choices or []
    for choice in chunk.choices:
        delta: ChoiceDelta | None = choice.delta
        choice.delta = delta or ChoiceDelta()
    usage = chunk.usage
    if usage and not (_is_count(usage.prompt_tokens) and _is_count(usage.completion_tokens)):
        chunk.usage = None


def _pieces_of(delta: ChoiceDelta) -> list[str]:
    """All that a piece of an answer brings: text, thinking under the names in use, arguments of calls."""
    extra = delta.model_extra or {}
    thinking = [extra.get(name) for name in ("reasoning_content", "reasoning")]
    calls = [call.function.arguments for call in delta.tool_calls or () if call.function]
    return [piece for piece in (delta.content, *thinking, *calls) if isinstance(piece, str) and piece]


def _is_count(value: object) -> bool:
    return isinstance(value, int) and value >= 0


class _Calls:
    """The calls of one reply so far: which wire index and id belong to which call."""

    def __init__(self, ids: CallIds) -> None:
        self._ids = ids
        self._wire_ids: dict[int, str] = {}
        self._current: dict[int, int] = {}
        self._own_ids: list[str] = []

    def renumber(self, delta: ChoiceDeltaToolCall) -> None:
        """Give the delta the index and id of its call, or those of a new one."""
        # Typed as always there, yet some servers leave the index out, and some send 0 for every call.
        wire_index: int = delta.index or 0
        number = self._current.get(wire_index)
        if number is None or (delta.id and delta.id != self._wire_ids[number]):
            number = len(self._own_ids)
            self._wire_ids[number] = delta.id or ""
            self._current[wire_index] = number
            self._own_ids.append(self._ids.unique(delta.id or ""))
        delta.index = number
        delta.id = self._own_ids[number]
