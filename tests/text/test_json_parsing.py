"""Whatever is wrong with JSON is one kind of failure."""

from __future__ import annotations

import pytest

from assistant.text.json_parsing import MAX_NESTING, is_nested_too_deep, parse_json


def test_a_value_is_parsed() -> None:
    assert parse_json(b'{"a": [1, null]}') == {"a": [1, None]}


@pytest.mark.parametrize("text", ["", "{", "[" * 100_000, '{"a":' * 100_000, b"\xff", "\x00"])
def test_what_is_no_json_is_a_value_error(text: str | bytes) -> None:
    with pytest.raises(ValueError):
        parse_json(text)


@pytest.mark.parametrize(
    ("text", "is_too_deep"),
    [
        ("[" * MAX_NESTING + "]" * MAX_NESTING, False),
        ('{"a":' * (MAX_NESTING + 1), True),
        ('{"a": "' + "[" * 5_000 + '"}', False),
        ('{"a": "\\"' + "[" * 5_000 + '"}', False),
        ("[]" * 5_000, False),
        ('"' * 200_001, False),
    ],
)
def test_brackets_that_stand_open_at_once_are_counted(text: str, is_too_deep: bool) -> None:
    assert is_nested_too_deep(text) is is_too_deep
