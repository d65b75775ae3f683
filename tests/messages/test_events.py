"""Events are one line of JSON each, told apart by `type`."""

from __future__ import annotations

import json
from dataclasses import fields, is_dataclass
from typing import get_args

import pytest

from assistant.messages.events import (
    ContextCompressed,
    ContextMeasured,
    ContextPart,
    Event,
    MemoryChanged,
    Recalled,
    RecalledLine,
    TextDelta,
    event_line,
)

EVENTS: tuple[type, ...] = get_args(Event)


def event_type(event: type) -> str:
    """The `type` of an event class."""
    return str({field.name: field.default for field in fields(event)}["type"])


def test_an_event_is_one_line_of_json_with_its_type_first() -> None:
    line = event_line(TextDelta("b1", "two\nlines, 中文 and \u2028"))
    assert json.loads(line) == {"type": "text_delta", "block_id": "b1", "text": "two\nlines, 中文 and \u2028"}
    assert line.startswith('{"type": "text_delta"')
    assert line.splitlines() == [line]


def test_nested_values_are_plain_json() -> None:
    measured = ContextMeasured(300, 700, 1000, (ContextPart("system", 200), ContextPart("messages", 100)))
    assert json.loads(event_line(measured)) == {
        "type": "context_measured",
        "used_tokens": 300,
        "threshold_tokens": 700,
        "context_limit": 1000,
        "parts": [{"name": "system", "tokens": 200}, {"name": "messages", "tokens": 100}],
        "shortened_results": 0,
    }
    recalled = Recalled((RecalledLine("MEMORY.md", 12, "tea, not coffee", 0.8),))
    assert json.loads(event_line(recalled))["lines"] == [
        {
            "path": "MEMORY.md",
            "line": 12,
            "text": "tea, not coffee",
            "relevance": 0.8,
            "session_id": "",
            "message_id": "",
            "last_line": 0,
            "day": "",
        }
    ]


def test_a_lone_surrogate_from_a_model_does_not_break_the_line() -> None:
    line = event_line(TextDelta("b1", "broken \ud83d"))
    assert line.encode("utf-8")
    assert json.loads(line)["text"] == "broken \ufffd"


@pytest.mark.parametrize("event", EVENTS, ids=lambda event: event.__name__)
def test_every_event_is_a_frozen_value_whose_type_is_its_name(event: type) -> None:
    assert is_dataclass(event)
    names = [field.name for field in fields(event)]
    assert names[-1] == "type"
    words = "".join(f"_{letter.lower()}" if letter.isupper() else letter for letter in event.__name__)
    assert event_type(event) == words.removeprefix("_")
    assert event.__hash__ is not None


def test_the_types_are_unique() -> None:
    types = [event_type(event) for event in EVENTS]
    assert sorted(set(types)) == sorted(types)


def test_a_compaction_carries_every_figure_of_its_card() -> None:
    assert [field.name for field in fields(ContextCompressed)] == [
        "compaction_id",
        "reason",
        "previous_tokens",
        "after_tokens",
        "context_limit",
        "threshold_tokens",
        "folded_messages",
        "kept_turns",
        "summary",
        "summary_tokens",
        "fallback",
        "flush",
        "carried_over",
        "at",
        "is_undone",
        "type",
    ]


def test_equal_events_are_equal_values() -> None:
    assert MemoryChanged("USER.md", "flush", "+a", "c1") == MemoryChanged("USER.md", "flush", "+a", "c1")
