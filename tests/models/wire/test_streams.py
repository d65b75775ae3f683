"""Every form in which a server streams an answer, or does not: the same answer, or the server's own words."""

from __future__ import annotations

import json

import pytest

from tests.models.wire.readings import Reading, chunk, read, read_with_summary, said, sse

WHOLE = {"id": "x", "object": "chat.completion", "created": 1, "model": "m"}
MESSAGE = {"role": "assistant", "content": "Hello there."}
TEXT = Reading("Hello there.")


def completion(message: dict[str, object], **choice: object) -> bytes:
    """An answer that was not streamed although asked for."""
    return json.dumps(
        {**WHOLE, "choices": [{"index": 0, "message": message, "finish_reason": "stop", **choice}]}
    ).encode()


ANSWERS: dict[str, bytes] = {
    "as OpenAI streams it": sse(*said("Hello ", "there.")),
    "done without a finish reason": sse(chunk({"content": "Hello there."})),
    "a finish reason without done": sse(*said("Hello there."), done=False),
    "finish reasons that are empty texts": sse(
        chunk({"content": "Hello there."}, ""), chunk({}, "null"), chunk({}, "stop")
    ),
    "a finish reason of another kind": sse(chunk({"content": "Hello there."}), chunk({}, "eos_token")),
    "a finish reason that is a number": sse(
        chunk({"content": "Hello there."}), {"choices": [{"delta": {}, "finish_reason": 1}]}, done=False
    ),
    "text together with the end": sse(chunk({"content": "Hello there."}, "stop")),
    "no blank behind the colon": sse(*said("Hello there.")).replace(b"data: ", b"data:"),
    "carriage returns": sse(*said("Hello there.")).replace(b"\n", b"\r\n"),
    "old line ends": sse(*said("Hello there.")).replace(b"\n", b"\r"),
    "single line ends": sse(*said("Hello there.")).replace(b"\n\n", b"\n"),
    "a byte order mark": b"\xef\xbb\xbf" + sse(*said("Hello there.")),
    "comments between events": sse(*said("Hello there.")).replace(b"data", b": keep-alive\n\ndata"),
    "event names and ids": sse(*said("Hello there.")).replace(b"data", b"event: message\nid: 7\nretry: 10\ndata"),
    "data over several lines": (
        b'data: {"choices":[{"delta":\ndata: {"content":"Hello there."},\ndata: "finish_reason":"stop"}]}\n\n'
    ),
    "lines of JSON": "\n".join(json.dumps(row) for row in said("Hello ", "there.")).encode(),
    "one JSON object": completion(MESSAGE),
    "one JSON object over many lines": json.dumps(json.loads(completion(MESSAGE)), indent=2).encode(),
    "one JSON object as an event": sse(json.loads(completion(MESSAGE))),
    "a message in place of a delta": sse({"choices": [{"index": 0, "message": MESSAGE, "finish_reason": "stop"}]}),
    "the text of older completions": sse({"choices": [{"index": 0, "text": "Hello there.", "finish_reason": "stop"}]}),
    "Ollama's own chat": b"".join(
        json.dumps(row).encode() + b"\n"
        for row in (
            {"model": "m", "message": {"role": "assistant", "content": "Hello "}, "done": False},
            {"model": "m", "message": {"role": "assistant", "content": "there."}, "done": False},
            {"model": "m", "done": True, "done_reason": "stop", "prompt_eval_count": 3, "eval_count": 2},
        )
    ),
    "Ollama's own generate": b'{"response":"Hello there.","done":false}\n{"response":"","done":true}\n',
    "words in `text`": sse(chunk({"text": "Hello there."}), chunk({}, "stop")),
    "words in `output_text`": sse(chunk({"output_text": "Hello there."}), chunk({}, "stop")),
    "words of a spoken answer": sse(chunk({"audio": {"transcript": "Hello there."}}), chunk({}, "stop")),
    "a refusal": sse(chunk({"refusal": "Hello there."}), chunk({}, "stop")),
    "content as a list of parts": sse(
        chunk({"content": [{"type": "text", "text": "Hello "}, {"type": "text", "text": "there."}]}), chunk({}, "stop")
    ),
    "content as one part": sse(chunk({"content": {"type": "text", "text": "Hello there."}}), chunk({}, "stop")),
    "parts of plain text": sse(chunk({"content": ["Hello ", "there."]}), chunk({}, "stop")),
    "parts with a value within": sse(chunk({"content": [{"type": "text", "text": {"value": "Hello there."}}]}, "stop")),
    "parts of the Responses kind": sse(chunk({"content": [{"type": "output_text", "text": "Hello there."}]}, "stop")),
    "no choices in some chunks": sse({"choices": []}, {"id": "c"}, *said("Hello there."), {"choices": None}),
    "no delta in some chunks": sse({"choices": [{"index": 0}]}, {"choices": [{"delta": None}]}, *said("Hello there.")),
    "choices as one object": sse({"choices": {"delta": {"content": "Hello there."}, "finish_reason": "stop"}}),
    "events that are no JSON": sse("{broken", *said("Hello there."), "nothing"),
    "empty events": b"data:\n\n" + sse(*said("Hello there.")) + b"data: \n\n",
    "several answers, of which one is asked for": sse(
        {"choices": [{"index": 1, "delta": {"content": "Other"}}]}, *said("Hello there.")
    ),
    "a count in each chunk": sse(
        *(row | {"usage": {"prompt_tokens": 1, "completion_tokens": 1}} for row in said("Hello there."))
    ),
}


@pytest.mark.parametrize("content", ANSWERS.values(), ids=ANSWERS)
@pytest.mark.parametrize("step", [0, 1, 7], ids=["at once", "byte by byte", "seven bytes at a time"])
def test_the_answer_is_read(content: bytes, step: int) -> None:
    assert read(content, step=step) == TEXT


THOUGHT = Reading("Hello there.", "Let me see.")
THOUGHTS: dict[str, bytes] = {
    name: sse(chunk({name: "Let me "}), chunk({name: "see."}), *said("Hello there."))
    for name in ("reasoning_content", "reasoning", "thinking", "reasoning_text", "thought")
} | {
    "twice under two names": sse(
        chunk({"reasoning": "Let me see.", "reasoning_content": "Let me see."}), *said("Hello there.")
    ),
    "with details beside it": sse(
        chunk({"reasoning": "Let me see.", "reasoning_details": [{"type": "reasoning.text", "text": "Let me see."}]}),
        *said("Hello there."),
    ),
    "in details alone": sse(
        chunk({"reasoning_details": [{"type": "reasoning.text", "text": "Let me see."}]}), *said("Hello there.")
    ),
    "as a part with parts": sse(
        chunk({"content": [{"type": "thinking", "thinking": [{"type": "text", "text": "Let me see."}]}]}),
        *said("Hello there."),
    ),
    "as a part with text": sse(
        chunk({"content": [{"type": "thinking", "thinking": "Let me see."}, {"type": "text", "text": "Hello there."}]}),
        chunk({}, "stop"),
    ),
    "as a part of a summary": sse(
        chunk({"content": [{"type": "reasoning", "summary": [{"type": "summary_text", "text": "Let me see."}]}]}),
        *said("Hello there."),
    ),
    "in an answer that is not streamed": completion({**MESSAGE, "reasoning_content": "Let me see."}),
    "in Ollama's own form": (
        b'{"message":{"content":"","thinking":"Let me see."}}\n{"message":{"content":"Hello there."},"done":true}\n'
    ),
}


@pytest.mark.parametrize("content", THOUGHTS.values(), ids=THOUGHTS)
@pytest.mark.parametrize("step", [0, 1], ids=["at once", "byte by byte"])
def test_thinking_is_thinking_under_any_name(content: bytes, step: int) -> None:
    assert read(content, step=step) == THOUGHT


FAILURES: dict[str, tuple[object, str]] = {
    "OpenAI's": ({"error": {"message": "Insufficient credits", "code": 402}}, "Insufficient credits"),
    "a plain text": ({"error": "model is overloaded"}, "model is overloaded"),
    "a text with a message": ({"error": "overloaded", "message": "try later"}, "overloaded: try later"),
    "a list": ({"errors": [{"message": "bad request"}]}, "bad request"),
    "FastAPI's detail": ({"detail": "Not enough memory"}, "Not enough memory"),
    "vLLM's": ({"object": "error", "message": "engine died", "code": 500}, "engine died"),
    "Anthropic's": ({"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}}, "Overloaded"),
    "a code and a message": ({"code": "InvalidParameter", "message": "range of input"}, "range of input"),
    "a code and msg": ({"error_code": 17, "error_msg": "daily limit"}, "daily limit"),
    "nested": ({"error": {"error": {"message": "deep inside"}}}, "deep inside"),
}


@pytest.mark.parametrize(("body", "words"), FAILURES.values(), ids=FAILURES)
@pytest.mark.parametrize("form", ["json", "event"])
def test_an_error_is_given_in_its_own_words(body: object, words: str, form: str) -> None:
    content = json.dumps(body).encode() if form == "json" else sse(body, done=False)
    assert read(content) == Reading(failure=words, has_ended=False)


def test_an_error_after_the_first_words_keeps_them() -> None:
    content = sse(chunk({"content": "Hello"}), {"error": {"message": "upstream died"}}, done=False)
    assert read(content) == Reading("Hello", failure="upstream died", has_ended=False)


def test_an_end_without_any_word_of_it_is_a_broken_answer() -> None:
    assert read(sse(chunk({"content": "Hello"}), done=False)) == Reading("Hello", has_ended=False)


def test_a_response_that_cannot_be_read_says_so() -> None:
    assert read(b"data: {broken\n\n", step=3).failure == "The answer was in no form that can be read."


@pytest.mark.parametrize(
    "usage",
    [
        {"usage": {"prompt_tokens": 100, "completion_tokens": 10, "prompt_tokens_details": {"cached_tokens": 64}}},
        {"usage": {"input_tokens": 100, "output_tokens": 10, "cached_tokens": 64}},
        {"usage": {"prompt_tokens": 100.0, "completion_tokens": 10.0, "prompt_cache_hit_tokens": 64}},
        {"x_groq": {"usage": {"prompt_tokens": 100, "completion_tokens": 10, "cached_tokens": 64}}},
    ],
    ids=["OpenAI", "Responses", "DeepSeek, as floats", "Groq"],
)
def test_the_count_of_tokens_is_found(usage: dict[str, object]) -> None:
    _, summary = read_with_summary(sse(*said("Hi"), {"choices": [], **usage}))
    counted = summary.usage
    assert counted is not None
    assert (counted.input_tokens, counted.output_tokens, counted.cached_tokens) == (100, 10, 64)


@pytest.mark.parametrize("usage", [None, {}, {"prompt_tokens": None, "completion_tokens": -1}, "many"])
def test_a_count_that_is_none_is_left_out(usage: object) -> None:
    _, summary = read_with_summary(sse(*said("Hi"), {"choices": [], "usage": usage}))
    assert summary.usage is None


@pytest.mark.parametrize(
    ("reason", "end"),
    [
        ("length", "length"),
        ("MAX_TOKENS", "length"),
        ("content_filter", "content_filter"),
        ("SAFETY", "content_filter"),
        ("end_turn", "stop"),
    ],
)
def test_why_an_answer_ended_is_known(reason: str, end: str) -> None:
    _, summary = read_with_summary(sse(chunk({"content": "Hi"}), chunk({}, reason), chunk({}, "stop")))
    assert summary.reason == end


def test_parts_that_cannot_be_shown_are_named() -> None:
    parts = [{"type": "text", "text": "Look:"}, {"type": "image_url", "image_url": {"url": "data:image/png;base64,AA"}}]
    reading, summary = read_with_summary(sse(chunk({"content": parts}), chunk({}, "stop")))
    assert (reading.text, summary.unread) == ("Look:", ("image_url",))


def test_half_a_character_waits_for_the_other_half() -> None:
    content = sse(*said("Tea \U0001f375 时间"))
    assert {read(content, step=step).text for step in range(1, 9)} == {"Tea \U0001f375 时间"}
