"""A provider's response to a chat request, made regular before the client reads it: an httpx response hook.

Whatever the server sent, the client gets one regular stream of chunks (text, thinking, whole calls, one end, one
count), or an error with a status of its own where nothing of an answer came before it.
"""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Awaitable, Callable

import httpx

from assistant.config.words import say
from assistant.errors import EndlessReplyError
from assistant.models.wire.answer_reader import AnswerReader, AnswerSummary, ReadingHabits, RegularPiece
from assistant.models.wire.pieces import AnswerText, ServerFailure, ThoughtText, WholeCall
from assistant.models.wire.written_calls import schemas_of
from assistant.models.wire.written_text import Retraction
from assistant.text.json_values import is_list, is_object

CHAT_PATH = "/chat/completions"
THOUGHT_FIELD = "reasoning_content"
SUMMARY_FIELD = "answer_summary"
"""The field of the chunk before the calls with what the client's types have no place for: see `summary_of`."""
RETRACTION_FIELD = "answer_retraction"
"""The field of a chunk that makes all text before it thinking."""
_ERROR_STATUS = 400
_WRONG_ADDRESS_STATUS = 404
# Four characters of a call's JSON are a token at the least.
_CALL_CHARS_PER_TOKEN = 4


def regular_responses(habits: Callable[[], ReadingHabits]) -> Callable[[httpx.Response], Awaitable[None]]:
    """The hook for `event_hooks["response"]` of the client that a model class uses.

    Other paths than that of chat requests, and responses with an error status, pass as they are.
    """

    async def make_regular(response: httpx.Response) -> None:
        if not response.is_success or not response.request.url.path.endswith(CHAT_PATH):
            return
        reader = AnswerReader(schemas_of(_tools_of(response.request)), habits())
        stream = _RegularStream(decoded(response), reader, habits().max_reply_tokens)
        failure = await stream.start()
        response.headers = httpx.Headers({"content-type": "application/json" if failure else "text/event-stream"})
        if failure is None:
            response.stream = stream
            return
        await stream.aclose()
        response.status_code = failure.status or _ERROR_STATUS
        response.stream = httpx.ByteStream(_to_bytes({"error": _error_of(failure)}))

    return make_regular


class _RegularStream(httpx.AsyncByteStream):
    """The events of a regular answer; `start` reads up to the first thing that the server says."""

    def __init__(self, raw: httpx.Response, reader: AnswerReader, max_reply_tokens: int) -> None:
        self._raw = raw
        self._content = raw.aiter_bytes()
        self._reader = reader
        self._max_call_chars = max_reply_tokens * _CALL_CHARS_PER_TOKEN
        self._waiting: list[RegularPiece] = []
        self._is_over = False

    async def start(self) -> ServerFailure | None:
        """The error the response consists of, if it does."""
        first = b""
        while not self._waiting and not self._reader.call_chars and not self._is_over:
            content = await anext(self._content, None)
            if len(first) < len(_PAGE_START):
                first += (content or b"").lstrip()
                if first[: len(_PAGE_START)].lower().startswith((b"<!doctype", b"<html")):
                    return ServerFailure(say("models", "web_page"), _WRONG_ADDRESS_STATUS)
            self._waiting += self._take(content)
        failed = self._waiting[0] if self._waiting else None
        return failed if isinstance(failed, ServerFailure) else None

    async def __aiter__(self) -> AsyncIterator[bytes]:
        while True:
            for piece in self._waiting:
                yield _event(_piece_value(piece))
            self._waiting.clear()
            if self._is_over:
                break
            if self._reader.call_chars > self._max_call_chars:
                raise EndlessReplyError(self._max_call_chars // _CALL_CHARS_PER_TOKEN)
            self._waiting += self._take(await anext(self._content, None))
        for value in _ending(self._reader.summary):
            yield _event(value)
        yield b"data: [DONE]\n\n"

    async def aclose(self) -> None:
        """Close the provider's own stream."""
        await self._raw.aclose()

    def _take(self, content: bytes | None) -> list[RegularPiece]:
        if content is not None:
            return self._reader.feed(content)
        self._is_over = True
        return self._reader.close()


_PAGE_START = b"<!doctype"


def summary_of(extra: dict[str, object] | None) -> dict[str, object]:
    """What the chunk before the calls says beside the client's types; empty for every other chunk.

    `calls`: extras by place of the call; `message`: extras of the answer; `thought_field`; `unread`: kinds of parts
    that could not be read; `begins_in_thought`.
    """
    value = (extra or {}).get(SUMMARY_FIELD)
    return value if is_object(value) else {}


def decoded(response: httpx.Response) -> httpx.Response:
    """The same response, so that its bytes can be read decoded while the client holds the original."""
    return httpx.Response(
        response.status_code, headers=response.headers, stream=response.stream, request=response.request
    )


def _tools_of(request: httpx.Request) -> list[object]:
    body = json.loads(request.content)
    tools = body.get("tools") if is_object(body) else None
    return tools if is_list(tools) else []


def _piece_value(piece: RegularPiece) -> dict[str, object]:
    match piece:
        case AnswerText(text=text):
            return _chunk({"content": text})
        case ThoughtText(text=text):
            return _chunk({THOUGHT_FIELD: text})
        case Retraction():
            return {**_chunk({}), RETRACTION_FIELD: True}
        case ServerFailure():
            return {"error": _error_of(piece)}


def _ending(summary: AnswerSummary) -> list[dict[str, object]]:
    """What goes beside the answer, then the calls, the end (left out where the stream broke off), and the count."""
    beside = {
        "calls": [call.extras for call in summary.calls],
        "message": summary.extras,
        "thought_field": summary.thought_field,
        "unread": list(summary.unread),
        "begins_in_thought": summary.begins_in_thought,
    }
    values: list[dict[str, object]] = [{**_CHUNK, "choices": [], SUMMARY_FIELD: beside}]
    if summary.calls:
        calls = [_call_value(place, call) for place, call in enumerate(summary.calls)]
        values.append(_chunk({"tool_calls": calls}))
    if summary.has_ended:
        values.append(_chunk({}, summary.reason))
    if usage := summary.usage:
        counts = {
            "prompt_tokens": usage.input_tokens,
            "completion_tokens": usage.output_tokens,
            "total_tokens": usage.input_tokens + usage.output_tokens,
            "prompt_tokens_details": {"cached_tokens": usage.cached_tokens},
            # The names under which DeepSeek and Moonshot say the same.
            "prompt_cache_hit_tokens": usage.cached_tokens,
            "cached_tokens": usage.cached_tokens,
        }
        values.append({**_CHUNK, "choices": [], "usage": counts})
    return values


_CHUNK: dict[str, object] = {"id": "answer", "object": "chat.completion.chunk", "created": 0, "model": ""}


def _chunk(delta: dict[str, object], reason: str | None = None) -> dict[str, object]:
    return {**_CHUNK, "choices": [{"index": 0, "delta": delta, "finish_reason": reason}]}


def _call_value(place: int, call: WholeCall) -> dict[str, object]:
    function = {"name": call.name, "arguments": call.arguments}
    return {"index": place, "id": call.call_id, "type": "function", "function": function}


def _error_of(failure: ServerFailure) -> dict[str, object]:
    return {"message": failure.message, "code": failure.code or failure.status or None, "type": failure.code or None}


def _event(value: dict[str, object]) -> bytes:
    return b"data: " + _to_bytes(value) + b"\n\n"


def _to_bytes(value: dict[str, object]) -> bytes:
    # Half a character cannot be written as UTF-8, but as an escape.
    return json.dumps(value).encode()
