"""Every form in which servers stream tool calls: the calls that were meant."""

from __future__ import annotations

import json

import pytest

from tests.models.wire.readings import Reading, chunk, read, read_with_summary, sse

USER, SOUL = '{"path":"USER.md"}', '{"path":"SOUL.md"}'
ONE = (("memory_get", {"path": "USER.md"}),)
TWO = (*ONE, ("memory_get", {"path": "SOUL.md"}))


def call(name: str | None = None, arguments: object = None, **more: object) -> dict[str, object]:
    """A part of a call as OpenAI writes it; a name or arguments that are None are left out."""
    function = {key: value for key, value in (("name", name), ("arguments", arguments)) if value is not None}
    return {"type": "function", "function": function, **more}


def parts(*calls: dict[str, object]) -> list[dict[str, object]]:
    """A chunk for each part, and the end."""
    return [*(chunk({"tool_calls": [one]}) for one in calls), chunk({}, "tool_calls")]


G = "memory_get"
ONE_CALL: dict[str, list[dict[str, object]]] = {
    "whole": parts(call(G, USER, index=0, id="call_1")),
    "in pieces": parts(
        call(G, "", index=0, id="call_1"), call(None, '{"path":', index=0), call(None, '"USER.md"}', index=0)
    ),
    "no index": parts(call(G, '{"path":', id="call_1"), call(None, '"USER.md"}')),
    "no id": parts(call(G, '{"path":', index=0), call(None, '"USER.md"}', index=0)),
    "an empty id in the parts that follow": parts(
        call(G, '{"path":', index=0, id="call_1"), call("", '"USER.md"}', index=0, id="")
    ),
    "the id again in each part": parts(
        call(G, '{"path":', index=0, id="call_1"), call(None, '"USER.md"}', index=0, id="call_1")
    ),
    "a new id in each part": parts(
        call(G, '{"path":', index=0, id="a1"),
        call(None, '"USER', index=0, id="a2"),
        call(None, '.md"}', index=0, id="a3"),
    ),
    "a new index in each part": parts(call(G, '{"path":', index=0), call(None, '"USER.md"}', index=1)),
    "the name again in each part": parts(
        call(G, '{"path":', index=0, id="call_1"), call(G, '"USER.md"}', index=0, id="call_1")
    ),
    "name and a new id in each part": parts(
        call(G, '{"path":', index=0, id="a1"), call(G, '"USER.md"}', index=0, id="a2")
    ),
    "the name in two pieces": parts(call("memory_", "", index=0, id="call_1"), call("get", USER, index=0)),
    "the name in pieces that grow": parts(call("memory_", "", index=0, id="call_1"), call(G, USER, index=0)),
    "the name after the arguments": parts(call(None, USER, index=0, id="call_1"), call(G, None, index=0)),
    "arguments as an object": parts(call(G, {"path": "USER.md"}, index=0, id="call_1")),
    "arguments encoded twice": parts(call(G, json.dumps(USER), index=0, id="call_1")),
    "arguments encoded three times": parts(call(G, json.dumps(json.dumps(USER)), index=0, id="call_1")),
    "an empty object before": parts(call(G, "{}", index=0, id="call_1"), call(None, USER, index=0)),
    "an empty object before, as an object": parts(call(G, {}, index=0, id="call_1"), call(None, USER, index=0)),
    "an empty object and the name again": parts(call(G, "{}", index=0, id="c1"), call(G, USER, index=0, id="c1")),
    "an empty object behind": parts(call(G, USER, index=0, id="call_1"), call(None, "{}", index=0)),
    "null before": parts(call(G, "null", index=0, id="call_1"), call(None, USER, index=0)),
    "all of it again at the end": parts(
        call(G, '{"path":', index=0, id="call_1"),
        call(None, '"USER.md"}', index=0),
        call(G, USER, index=0, id="call_1"),
    ),
    "quotes of Python": parts(call(G, "{'path': 'USER.md'}", index=0, id="call_1")),
    "an index that is text": parts(call(G, USER, index="0", id="call_1")),
    "an index of null": parts(call(G, '{"path":', index=None, id="c1"), call(None, '"USER.md"}', index=None)),
    "flat, without `function`": parts({"index": 0, "id": "call_1", "name": G, "arguments": USER}),
    "`parameters` in place of arguments": parts(
        {"index": 0, "id": "c1", "function": {"name": G, "parameters": {"path": "USER.md"}}}
    ),
    "an object in place of the list": [chunk({"tool_calls": call(G, USER, id="call_1")}), chunk({}, "tool_calls")],
    "the list as text": [chunk({"tool_calls": json.dumps([call(G, USER, id="call_1")])}), chunk({}, "tool_calls")],
    "null between": [chunk({"tool_calls": None}), chunk({"tool_calls": [None, call(G, USER, id="c1")]}, "stop")],
    "the older `function_call`": [
        chunk({"function_call": {"name": G, "arguments": '{"path":'}}),
        chunk({"function_call": {"arguments": '"USER.md"}'}}, "function_call"),
    ],
    "a part of the content": [
        chunk({"content": [{"type": "tool_use", "id": "t1", "name": G, "input": {"path": "USER.md"}}]}, "tool_use")
    ],
    "a message in place of a delta": [
        {
            "choices": [
                {
                    "index": 0,
                    "message": {"content": None, "tool_calls": [call(G, USER, id="c1")]},
                    "finish_reason": "tool_calls",
                }
            ]
        }
    ],
    "in Ollama's own form": [
        {
            "message": {
                "role": "assistant",
                "content": "",
                "tool_calls": [{"function": {"name": G, "arguments": {"path": "USER.md"}}}],
            },
            "done": True,
        }
    ],
    "ended with stop": [chunk({"tool_calls": [call(G, USER, index=0, id="c1")]}), chunk({}, "stop")],
}


@pytest.mark.parametrize("rows", ONE_CALL.values(), ids=ONE_CALL)
def test_one_call_is_read(rows: list[dict[str, object]]) -> None:
    assert read(sse(*rows)) == Reading(calls=ONE)


TWO_CALLS: dict[str, list[dict[str, object]]] = {
    "two indexes": parts(call(G, USER, index=0, id="a"), call(G, SOUL, index=1, id="b")),
    "in one chunk": [chunk({"tool_calls": [call(G, USER, index=0, id="a"), call(G, SOUL, index=1, id="b")]}, "stop")],
    "in one chunk without indexes": [chunk({"tool_calls": [call(G, USER, id="a"), call(G, SOUL, id="b")]}, "stop")],
    "index 0 in both, two ids": parts(call(G, USER, index=0, id="a"), call(G, SOUL, index=0, id="b")),
    "index 0 in both, no ids": parts(call(G, USER, index=0, id=""), call(G, SOUL, index=0, id="")),
    "no index, no ids": parts(call(G, USER), call(G, SOUL)),
    "no index, two ids": parts(call(G, USER, id="a"), call(G, SOUL, id="b")),
    "one id for both": parts(call(G, USER, index=0, id="a"), call(G, SOUL, index=1, id="a")),
    "one id and one index for both": parts(call(G, USER, index=0, id="a"), call(G, SOUL, index=0, id="a")),
    "in pieces, one after the other": parts(
        call(G, "", index=0, id="a"),
        call(None, USER, index=0),
        call(G, "", index=1, id="b"),
        call(None, SOUL, index=1),
    ),
    "in pieces, in turns": parts(
        call(G, '{"path":', index=0, id="a"),
        call(G, '{"path":', index=1, id="b"),
        call(None, '"USER.md"}', index=0),
        call(None, '"SOUL.md"}', index=1),
    ),
    "in pieces by id alone": parts(
        call(G, '{"path":', id="a"),
        call(None, '"USER.md"}', id="a"),
        call(G, '{"path":', id="b"),
        call(None, '"SOUL.md"}', id="b"),
    ),
    "in pieces, index 0 in both": parts(
        call(G, '{"path":', index=0, id="a"),
        call(None, '"USER.md"}', index=0),
        call(G, '{"path":', index=0, id="b"),
        call(None, '"SOUL.md"}', index=0),
    ),
    "as objects, index 0 in both": parts(call(G, {"path": "USER.md"}, index=0), call(G, {"path": "SOUL.md"}, index=0)),
}


@pytest.mark.parametrize("rows", TWO_CALLS.values(), ids=TWO_CALLS)
def test_two_calls_are_read(rows: list[dict[str, object]]) -> None:
    assert read(sse(*rows)) == Reading(calls=TWO)


def test_two_tools_without_arguments_at_one_index_are_two_calls() -> None:
    rows = parts(call("today", "", index=0, id="a"), call("memory_search", '{"query":"tea"}', index=0, id="b"))
    assert read(sse(*rows)) == Reading(calls=(("today", {}), ("memory_search", {"query": "tea"})))


@pytest.mark.parametrize("empty", ["", "null", "{}", None, {}], ids=repr)
def test_a_call_without_arguments_has_an_empty_object(empty: object) -> None:
    assert read(sse(*parts(call("today", empty, index=0, id="a")))) == Reading(calls=(("today", {}),))


def test_a_call_that_broke_off_is_handed_on_as_it_came() -> None:
    reading = read(sse(chunk({"tool_calls": [call(G, '{"path":"US', index=0, id="a")]}), chunk({}, "length")))
    assert reading == Reading(calls=(("memory_get", '{"path":"US'),))


def test_what_a_provider_attaches_to_a_call_is_kept() -> None:
    extras = {"extra_content": {"google": {"thought_signature": "abc"}}}
    _, summary = read_with_summary(sse(*parts(call(G, USER, index=0, id="a", **extras))))
    assert [one.extras for one in summary.calls] == [extras]


def test_arguments_that_are_proper_are_kept_to_the_letter() -> None:
    text = '{ "path" : "a\\u0042" }'
    _, summary = read_with_summary(sse(*parts(call(G, text, index=0, id="a"))))
    assert [one.arguments for one in summary.calls] == [text]
