"""Whatever is wrong with JSON is one kind of failure."""

from __future__ import annotations

import pytest

from assistant.json_parsing import parse_json


def test_a_value_is_parsed() -> None:
    assert parse_json(b'{"a": [1, null]}') == {"a": [1, None]}


@pytest.mark.parametrize("text", ["", "{", "[" * 100_000, '{"a":' * 100_000, b"\xff", "\x00"])
def test_what_is_no_json_is_a_value_error(text: str | bytes) -> None:
    with pytest.raises(ValueError):
        parse_json(text)
