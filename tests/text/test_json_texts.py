"""Prose inside JSON is read and changed, identifiers are not."""

from __future__ import annotations

import json

from assistant.text.json_texts import map_texts, texts_of

ROW = {
    "session_id": "tea",
    "kind": "block",
    "at": "tea",
    "block": {
        "type": "tool_call",
        "id": "tea",
        "name": "tea",
        "input": json.dumps({"content": ["tea", 1], "file_id": "tea"}),
    },
    "lines": [{"path": "tea", "text": "tea"}, None],
    "note": "{not json",
}


def test_every_prose_is_read_in_order() -> None:
    assert list(texts_of(ROW)) == ["tea", "tea", "{not json"]


def test_only_prose_is_changed() -> None:
    changed = map_texts(ROW, str.upper)
    assert changed == {
        **ROW,
        "block": {**ROW["block"], "input": json.dumps({"content": ["TEA", 1], "file_id": "tea"})},  # type: ignore[dict-item]
        "lines": [{"path": "tea", "text": "TEA"}, None],
        "note": "{NOT JSON",
    }


def test_a_text_that_is_json_stays_as_it_is_written_when_nothing_in_it_changes() -> None:
    assert map_texts({"input": '{"a":   "b"}'}, str) == {"input": '{"a":   "b"}'}


def test_inner_json_can_be_taken_as_one_text() -> None:
    assert map_texts({"input": '{"a": "b"}'}, str.upper, reads_inner=False) == {"input": '{"A": "B"}'}
