"""The objects in a value of JSON, whatever the value is."""

from __future__ import annotations

import pytest

from assistant.text.json_values import objects_in


@pytest.mark.parametrize(
    ("value", "objects"),
    [
        pytest.param([{"a": 1}, "words", None, [{"b": 2}], {}], [{"a": 1}, {}], id="a list"),
        pytest.param({"a": 1}, [], id="an object"),
        pytest.param("[{}]", [], id="words"),
        pytest.param(None, [], id="nothing"),
    ],
)
def test_only_the_objects_of_a_list_are_taken(value: object, objects: list[dict[str, object]]) -> None:
    assert objects_in(value) == objects
