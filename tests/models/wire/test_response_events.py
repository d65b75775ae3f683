"""Events of the Responses from servers that leave something out: the same answer for the library."""

from __future__ import annotations

import pytest

from assistant.models.wire.answer_facts import AnswerFacts
from assistant.models.wire.pieces import TokenUsage
from assistant.models.wire.response_events import ResponseEvents
from assistant.text.json_values import JsonObject, is_object

USAGE: JsonObject = {"input_tokens": 7, "output_tokens": 2}
END: JsonObject = {"type": "response.completed", "response": {"output": [], "usage": USAGE}}
TEXT: JsonObject = {"type": "response.output_text.delta", "delta": "Hi"}
WHOLE = {**TEXT, "item_id": "item_0", "content_index": 0}


def read(*values: JsonObject) -> tuple[list[JsonObject], AnswerFacts]:
    """What comes out, and what was found out."""
    events = ResponseEvents(AnswerFacts(), lambda: "fresh")
    return [one for value in values for one in events.feed(value)], events.facts


@pytest.mark.parametrize(
    "odd",
    [
        {"type": "response.output_text.delta"},
        {"type": "response.output_text.delta", "delta": 5},
        {"type": "response.reasoning_summary_text.delta", "delta": None},
        {"type": "response.output_item.added", "item": None},
        {"type": "response.output_item.added", "item": {"type": "function_call", "call_id": "a"}},
        {"type": "response.failed", "response": None},
        {"type": "ping"},
        {"type": 5},
    ],
    ids=str,
)
def test_what_no_library_can_read_is_left_out_and_the_rest_is_read(odd: JsonObject) -> None:
    told, facts = read(odd, TEXT, END)
    assert told[0] == WHOLE
    assert [one["type"] for one in told[1:]] == ["response.completed"]
    assert facts.has_ended
    assert facts.usage == TokenUsage(7, 2, 0)


@pytest.mark.parametrize("given", [{}, {"call_id": None}, {"call_id": "a"}], ids=["none", "null", "twice"])
def test_a_call_without_an_id_of_its_own_gets_one_and_its_arguments(given: JsonObject) -> None:
    items: list[JsonObject] = [{"type": "function_call", "name": "add", **one} for one in ({"call_id": "a"}, given)]
    starts: list[JsonObject] = [
        {"type": "response.output_item.added", "output_index": at, "item": item} for at, item in enumerate(items)
    ]
    arguments: JsonObject = {"type": "response.function_call_arguments.done", "output_index": 1, "arguments": "{}"}
    told, _ = read(*starts, arguments)
    found = [one["item"] for one in told if is_object(one.get("item"))]
    assert [(item["call_id"], item["id"]) for item in found if is_object(item)] == [
        ("a", "item_0"),
        ("fresh", "item_1"),
    ]
    assert told[-1]["item_id"] == "item_1"


@pytest.mark.parametrize(
    ("response", "usage"),
    [
        (None, None),
        ({"usage": "x"}, None),
        ({"usage": {}}, TokenUsage(0, 0)),
        ({"output": "x", "usage": USAGE}, TokenUsage(7, 2)),
    ],
    ids=["no response", "words for counts", "no counts", "words for parts"],
)
def test_an_end_without_its_response_is_an_end(response: object, usage: TokenUsage | None) -> None:
    _, facts = read(TEXT, {"type": "response.completed", "response": response})
    assert facts.has_ended
    assert facts.usage == usage
