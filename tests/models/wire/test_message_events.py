"""Events of the Messages API from servers that leave something out: the same answer for the library."""

from __future__ import annotations

import pytest

from assistant.models.wire.answer_facts import AnswerFacts
from assistant.models.wire.message_events import MessageEvents
from assistant.models.wire.pieces import TokenUsage
from assistant.text.json_values import JsonObject, is_object

TEXT: JsonObject = {"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": "Hi"}}
END: JsonObject = {"type": "message_delta", "delta": {"stop_reason": "end_turn"}, "usage": {"output_tokens": 3}}


def read(*values: JsonObject) -> tuple[list[str], AnswerFacts]:
    """What kinds of events come out, and what was found out."""
    events = MessageEvents(AnswerFacts(), lambda: "fresh")
    told = [one for value in values for one in events.feed(value)]
    return [_kind(one) for one in told], events.facts


def _kind(event: JsonObject) -> str:
    delta, block = event.get("delta"), event.get("content_block")
    inner = delta if isinstance(delta, dict) else block if isinstance(block, dict) else {}
    return f"{event['type']} {inner.get('type', '')}".strip()


def test_a_start_that_is_missing_is_put_in() -> None:
    kinds, facts = read(TEXT, END)

    assert kinds == ["message_start", "content_block_start text", "content_block_delta text_delta", "message_delta"]
    assert facts.has_ended


def test_a_block_that_is_whole_where_it_starts_is_told_in_deltas() -> None:
    call = {"type": "tool_use", "id": "toolu_1", "name": "add", "input": {"first": 1}}
    thought = {"type": "thinking", "thinking": "Hm.", "signature": "s"}
    kinds, _ = read(
        {"type": "content_block_start", "index": 0, "content_block": thought},
        {"type": "content_block_start", "index": 1, "content_block": call},
    )

    assert kinds[1:] == [
        "content_block_start thinking",
        "content_block_delta thinking_delta",
        "content_block_delta signature_delta",
        "content_block_start tool_use",
        "content_block_delta input_json_delta",
    ]


def test_an_answer_that_was_not_streamed_is_read() -> None:
    message: JsonObject = {
        "type": "message",
        "id": "msg_1",
        "content": [{"type": "text", "text": "Hi"}],
        "stop_reason": "max_tokens",
        "usage": {"input_tokens": 7, "output_tokens": 2},
    }
    kinds, facts = read(message)

    assert kinds == [
        "message_start",
        "content_block_start text",
        "content_block_delta text_delta",
        "content_block_stop",
        "message_delta",
    ]
    assert (facts.is_cut, facts.usage) == (True, TokenUsage(7, 2, 0))


def test_what_is_cached_counts_as_read_wherever_the_usage_comes() -> None:
    counts = {"input_tokens": 5, "cache_read_input_tokens": 90, "cache_creation_input_tokens": 5, "output_tokens": 1}
    start: JsonObject = {"type": "message_start", "message": {"id": "msg_1", "usage": counts}}
    _, facts = read(start, TEXT, END)
    _, late = read(TEXT, {**END, "usage": {**counts, "output_tokens": 3}})

    assert facts.usage == late.usage == TokenUsage(100, 3, 90)


def test_what_cannot_be_shown_is_named_and_what_is_unknown_is_passed_over() -> None:
    kinds, facts = read(
        {"type": "content_block_start", "index": 0, "content_block": {"type": "server_tool_use", "id": "s"}},
        {"type": "content_block_delta", "index": 0, "delta": {"type": "input_json_delta", "partial_json": "{}"}},
        {"type": "content_block_stop", "index": 0},
        {"type": "something_new"},
        {"type": "ping"},
    )

    assert kinds == ["message_start"]
    assert facts.unread == ("server_tool_use",)


@pytest.mark.parametrize("given", [{}, {"id": None}, {"id": ""}, {"id": "a"}], ids=["none", "null", "empty", "twice"])
def test_a_call_without_an_id_of_its_own_gets_one(given: JsonObject) -> None:
    events, ids = MessageEvents(AnswerFacts(), lambda: "fresh"), list[object]()
    for index, block in enumerate(({"id": "a"}, given)):
        call: JsonObject = {"type": "tool_use", "name": "add", **block}
        for event in events.feed({"type": "content_block_start", "index": index, "content_block": call}):
            start = event.get("content_block")
            ids += [start["id"]] if is_object(start) else []
    assert ids == ["a", "fresh"]


@pytest.mark.parametrize(
    "odd",
    [
        {"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta"}},
        {"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": 5}},
        {"type": "content_block_delta", "index": 0, "delta": {"type": "thinking_delta", "thinking": None}},
        {"type": "content_block_delta", "index": [0], "delta": None},
        {"type": "content_block_start", "index": 1, "content_block": {"type": "tool_use", "id": "a"}},
        {"type": "content_block_start", "index": 1, "content_block": {"type": "tool_use", "id": "a", "name": ""}},
        {"type": "content_block_stop", "index": [0]},
        {"type": "content_block_stop", "index": {}},
    ],
    ids=str,
)
def test_what_no_library_can_read_is_left_out_and_the_rest_is_read(odd: JsonObject) -> None:
    kinds, facts = read(odd, TEXT, END)
    assert kinds == ["message_start", "content_block_start text", "content_block_delta text_delta", "message_delta"]
    assert facts.has_ended
