"""Whatever schema a server gives a tool, what is offered is one that every provider takes."""

from __future__ import annotations

import jsonschema
import pytest
from hypothesis import given
from hypothesis import strategies as st

from assistant.agent.tools.mcp_schemas import ListedTool, UnusableTool, mended_schema, offered_name, read_tool

TEXT = {"type": "string"}
OPEN: dict[str, object] = {"type": "object", "properties": {}, "required": []}


def with_properties(required: list[str] | None = None, **properties: object) -> dict[str, object]:
    """An object's schema."""
    return {"type": "object", "properties": properties, "required": required or []}


@pytest.mark.parametrize(
    ("given", "mended"),
    [
        ({}, OPEN),
        ({"type": "object"}, OPEN),
        ({"type": "object", "properties": None}, OPEN),
        ({"type": "object", "required": None}, OPEN),
        ({"type": ["object", "null"], "properties": {"a": TEXT}}, with_properties(a=TEXT)),
        ({"properties": {"a": TEXT}, "required": ["a", "b", "a"]}, with_properties(["a"], a=TEXT)),
        ({"properties": {"a": TEXT, "required": ["a"]}}, with_properties(["a"], a=TEXT)),
        ({"properties": {"a": "a word"}}, OPEN),
        ({"properties": {"a": {"type": "str"}}}, with_properties(a={})),
        ({"properties": {"a": {"type": "string", "enum": []}}}, with_properties(a=TEXT)),
        ({"properties": {"a": {"type": "string", "pattern": "(?<!"}}}, with_properties(a=TEXT)),
        ({"properties": {"a": {"type": "number", "exclusiveMinimum": True}}}, with_properties(a={"type": "number"})),
        ({"properties": {"a": {"$ref": "https://example.org/a.json"}}}, with_properties(a={})),
        ({"properties": {"a": {"$ref": "file:///etc/passwd"}}}, with_properties(a={})),
        ({"properties": {"a": {"$ref": "#/$defs/none"}}}, with_properties(a={})),
        ({"$schema": "http://example.org/x", "$id": "http://example.org/y", "properties": {}}, OPEN),
        (
            {"anyOf": [with_properties(["a"], a=TEXT), with_properties(["b"], b=TEXT)]},
            with_properties(a=TEXT, b=TEXT),
        ),
        (
            {"oneOf": [with_properties(["a"], a=TEXT), with_properties(["a", "b"], a=TEXT, b=TEXT)]},
            with_properties(["a"], a=TEXT, b=TEXT),
        ),
        (
            {"allOf": [with_properties(["a"], a=TEXT), {"properties": {"b": TEXT}, "required": ["b"]}]},
            with_properties(["a", "b"], a=TEXT, b=TEXT),
        ),
        (
            {"properties": {"a": TEXT}, "anyOf": [{"required": ["a"]}, {"required": ["b"]}]},
            with_properties(a=TEXT),
        ),
        (
            {"anyOf": [{"$ref": "#/$defs/A"}], "$defs": {"A": with_properties(["a"], a=TEXT)}},
            {**with_properties(["a"], a=TEXT), "$defs": {"A": with_properties(["a"], a=TEXT)}},
        ),
    ],
)
def test_a_schema_is_mended_to_an_object_that_takes_the_calls_that_were_meant(given: object, mended: object) -> None:
    assert mended_schema(given) == mended


@pytest.mark.parametrize("given", [{"type": "string"}, {"type": ["array", "null"]}, [], "object", 7, True])
def test_what_is_no_object_cannot_be_offered(given: object) -> None:
    assert read_tool({"name": "ask", "inputSchema": given}) == UnusableTool("ask", "its arguments are no object")


def test_a_recursive_schema_stays() -> None:
    item = {"type": "object", "properties": {"child": {"$ref": "#/$defs/Item"}}}
    schema = with_properties(item={"$ref": "#/$defs/Item"}) | {"$defs": {"Item": item}}
    assert mended_schema(schema) == schema


KEYWORDS = [
    "type", "properties", "required", "items", "anyOf", "allOf", "enum", "$ref", "$defs", "pattern", "minLength",
    "minimum", "additionalProperties", "description", "title", "uniqueItems", "not", "if", "dependencies", "$id",
]  # fmt: skip
VALUES = st.recursive(
    st.sampled_from([None, True, 0, -1, "object", "string", "a", "#", "#/$defs/a", "http://example.org/", "(?<", "["]),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from([*KEYWORDS, "a", "b"]), inner, max_size=4)
    ),
    max_leaves=12,
)


@given(st.dictionaries(st.sampled_from(KEYWORDS), VALUES, max_size=6))
def test_whatever_is_given_what_is_offered_is_a_schema_without_an_address(given: dict[str, object]) -> None:
    mended = mended_schema(given)
    if mended is not None:
        jsonschema.Draft202012Validator.check_schema(mended)
        assert mended["type"] == "object"
        assert "http://example.org/" not in [value for key, value in walk(mended) if key in ("$ref", "$id", "$schema")]


def walk(value: object, key: str = "") -> list[tuple[str, object]]:
    """Every value of a schema with its key."""
    inner = (
        value.items() if isinstance(value, dict) else [(key, one) for one in value] if isinstance(value, list) else []
    )
    return [(key, value), *(pair for name, one in inner for pair in walk(one, str(name)))]


@pytest.mark.parametrize(
    ("row", "tool"),
    [
        ({"name": "ask", "description": "Ask."}, ListedTool("ask", "Ask.", OPEN)),
        ({"name": "ask", "title": "Ask"}, ListedTool("ask", "Ask", OPEN)),
        ({"name": "ask", "description": 7}, ListedTool("ask", "", OPEN)),
        ({"name": "ask", "description": "long " * 1_000}, ListedTool("ask", ("long " * 1_000)[:1_024], OPEN)),
        ({"name": "ask", "input_schema": {"properties": {"a": TEXT}}}, ListedTool("ask", "", with_properties(a=TEXT))),
        ({"name": ""}, UnusableTool("?", "it has no name")),
        ({"name": None}, UnusableTool("?", "it has no name")),
        ("ask", UnusableTool("?", "it is no description of a tool")),
    ],
)
def test_a_row_of_a_list_is_read(row: object, tool: object) -> None:
    assert read_tool(row) == tool


@pytest.mark.parametrize(
    ("tool", "name"),
    [
        ("ask", "mcp__srv__ask"),
        ("calendar.list/all events", "mcp__srv__calendar_list_all_events"),
        ("日历", "mcp__srv____"),
        ("a" * 54, "mcp__srv__" + "a" * 54),
    ],
)
def test_a_name_is_kept_as_far_as_providers_take_it(tool: str, name: str) -> None:
    assert offered_name("srv", tool, ()) == name


def test_names_that_are_too_long_or_taken_become_names_of_their_own() -> None:
    names: list[str] = []
    for tool in ("a.b", "a:b", "a_b", "x" * 60, "x" * 61, "日", "历"):
        names.append(offered_name("srv", tool, names))
    assert (len(set(names)), [name for name in names if len(name) > 64]) == (7, [])
