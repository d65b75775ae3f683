"""A rewritten line: exactly what was asked for changes, and nothing else."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assistant.errors import TranscriptError
from assistant.openclaw.rewriting import LineChange, Relink, condense_text, cut_output, cut_text, rewrite


def raw(value: object, **manner: object) -> bytes:
    return json.dumps(value, **({"ensure_ascii": False, "separators": (",", ":")} | manner)).encode() + b"\n"  # type: ignore[arg-type]


def test_a_cut_text_keeps_its_start_and_says_how_much_is_missing() -> None:
    assert cut_text("a" * 2_500, 500) == "a" * 500 + "...[truncated, 2000 chars omitted]"


def test_a_text_that_was_cut_before_counts_on() -> None:
    once = cut_text("a" * 2_500, 500)
    assert cut_text(once, 200) == cut_text("a" * 2_500, 200) == "a" * 200 + "...[truncated, 2300 chars omitted]"


def test_an_output_whose_failure_is_cut_away_says_that_it_failed() -> None:
    late = "x" * 600 + "\nexit code 2"
    assert cut_output("Error: " + "x" * 600, 10) == "Error: xxx...[truncated, 597 chars omitted]"
    assert cut_output(late, 4) == "xxxx...[truncated, 608 chars omitted, failed]"
    assert cut_output(cut_output(late, 500), 4) == cut_output(late, 4)
    assert cut_output("x" * 600 + "\nexit code 0", 4) == "xxxx...[truncated, 608 chars omitted]"


@given(st.text(max_size=400), st.integers(0, 400), st.integers(0, 400))
def test_cutting_loses_no_count_and_a_second_cut_changes_nothing(text: str, first: int, second: int) -> None:
    cut = cut_text(text, first)
    assert cut_text(cut, first) == cut
    if second <= first:
        assert cut_text(cut, second) == cut_text(text, second)


@given(st.text(max_size=900))
def test_condensing_never_lengthens_and_a_second_time_changes_nothing(text: str) -> None:
    once = condense_text(text)
    assert len(once) <= len(text)
    assert condense_text(once) == once


def test_an_explanation_is_condensed_to_its_first_sentence() -> None:
    text = "The cache was stale. " + "It had not been cleared since the start. " * 9
    assert condense_text(text) == f"The cache was stale....[condensed, {len(text) - 20} chars omitted]"


RESULT = {
    "type": "message",
    "id": "a",
    "parentId": "b",
    "later": [1.0, 2],
    "message": {
        "role": "toolResult",
        "toolCallId": "1",
        "toolName": "exec",
        "content": [{"type": "text", "text": "x" * 900}, {"type": "text", "text": "y" * 900}],
        "details": {"aggregated": "z" * 900, "exitCode": 0},
        "isError": False,
    },
}


def test_an_output_is_cut_and_name_id_and_unknown_fields_stay_in_order() -> None:
    changed = json.loads(rewrite(raw(RESULT), False, LineChange(output_limit_chars=500), None))
    assert list(changed) == list(RESULT)
    message = changed["message"]
    assert [block["text"] for block in message["content"]] == [
        "x" * 500 + "...[truncated, 400 chars omitted]",
        "...[truncated, 900 chars omitted]",
    ]
    assert message["details"] == {"aggregated": "z" * 500 + "...[truncated, 400 chars omitted]", "exitCode": 0}
    assert (message["toolName"], message["toolCallId"]) == ("exec", "1")


def test_a_removed_output_leaves_a_stub_so_that_its_call_has_a_result() -> None:
    changed = json.loads(rewrite(raw(RESULT), False, LineChange(removes_output=True), None))
    assert changed["message"]["content"][0] == {"type": "text", "text": "...[truncated, 900 chars omitted]"}


CALL = {"command": "python run.py", "content": "c" * 900, "nested": [{"deep": "d" * 900}]}
DIGEST = {
    "command": "python run.py",
    "content": "c" * 200 + "...[truncated, 700 chars omitted]",
    "nested": [{"deep": "d" * 200 + "...[truncated, 700 chars omitted]"}],
}


def test_long_arguments_are_cut_and_keep_their_shape_in_every_dialect() -> None:
    cut = LineChange(argument_limit_chars=200)
    pi = {"role": "assistant", "content": [{"type": "toolCall", "id": "1", "name": "w", "arguments": CALL}]}
    assert json.loads(rewrite(raw({"message": pi}), False, cut, None))["message"]["content"][0]["arguments"] == DIGEST
    anthropic = {"role": "assistant", "content": [{"type": "tool_use", "id": "1", "name": "w", "input": CALL}]}
    assert json.loads(rewrite(raw(anthropic), False, cut, None))["content"][0]["input"] == DIGEST
    function = {"name": "w", "arguments": json.dumps(CALL)}
    openai = {"role": "assistant", "content": None, "tool_calls": [{"id": "1", "function": function}]}
    written = json.loads(rewrite(raw(openai), False, cut, None))["tool_calls"][0]["function"]["arguments"]
    assert json.loads(written) == DIGEST


def test_thinking_goes_whole_since_a_signed_thought_cannot_be_cut() -> None:
    blocks = [{"type": "thinking", "thinking": "t", "thinkingSignature": "s"}, {"type": "text", "text": "a"}]
    message = {"role": "assistant", "content": blocks, "reasoning_content": "r"}
    assert json.loads(rewrite(raw(message), False, LineChange(drops_thinking=True), None)) == {
        "role": "assistant",
        "content": [{"type": "text", "text": "a"}],
    }


def test_a_picture_in_a_result_becomes_a_note() -> None:
    message = {"role": "toolResult", "toolCallId": "1", "content": [{"type": "image", "data": "A" * 3_000}]}
    changed = json.loads(rewrite(raw({"message": message}), False, LineChange(output_limit_chars=500), None))
    assert changed["message"]["content"] == [{"type": "text", "text": "...[image truncated, 3000 chars omitted]"}]


def test_an_old_picture_of_the_person_becomes_a_note_and_their_words_stay() -> None:
    words = {"type": "text", "text": "What is in this photo?"}
    message = {"role": "user", "content": [words, {"type": "image", "data": "A" * 3_000}]}
    changed = json.loads(rewrite(raw({"message": message}), False, LineChange(drops_pictures=True), None))
    assert changed["message"]["content"] == [
        words,
        {"type": "text", "text": "...[image truncated, 3000 chars omitted]"},
    ]


def test_a_models_short_form_stands_for_all_text_blocks() -> None:
    blocks = [{"type": "text", "text": "a" * 300}, {"type": "text", "text": "b" * 300}]
    changed = rewrite(
        raw({"role": "assistant", "content": blocks}), False, LineChange(condenses=True, condensed_text="short"), None
    )
    assert json.loads(changed)["content"] == [{"type": "text", "text": "short"}]


@pytest.mark.parametrize("parent", ["new", None], ids=["entry", "root"])
def test_relinking_changes_the_parent_and_not_one_other_byte(parent: str | None) -> None:
    before = b'{"type":"message","parentId":"old","x":1.50,"y":"\\u00e9\\/"}\r\n'
    after = before.replace(b'"old"', json.dumps(parent).encode())
    assert rewrite(before, False, None, Relink(parent)) == after


def test_a_parent_that_is_quoted_in_a_text_too_is_not_mistaken() -> None:
    before = raw({"parentId": "old", "text": '"parentId":"old"', "inner": {"parentId": "old"}})
    after = json.loads(rewrite(before, False, None, Relink("new")))
    assert after == {"parentId": "new", "text": '"parentId":"old"', "inner": {"parentId": "old"}}


@pytest.mark.parametrize(
    "line",
    [raw(RESULT), raw(RESULT, separators=(", ", ": ")), raw({"text": "é", "a": 1}, ensure_ascii=True)],
    ids=["compact", "spaced", "escaped"],
)
def test_the_manner_of_a_line_stays(line: bytes) -> None:
    assert rewrite(line, False, LineChange(), None) == line


def test_byte_order_mark_and_line_end_stay() -> None:
    line = b'\xef\xbb\xbf{"role":"user","content":"a"}\r\n'
    assert rewrite(line, True, LineChange(), None) == line


@pytest.mark.parametrize("line", [b'{"a":"\\ud800"}\n', b'{"a":"caf\xe9"}\n'], ids=["lone-surrogate", "no-utf8"])
def test_what_utf8_cannot_hold_goes_back_as_it_came(line: bytes) -> None:
    assert rewrite(line, False, LineChange(), None) == line


def test_a_number_json_cannot_hold_stops_the_run() -> None:
    with pytest.raises(TranscriptError, match="too large"):
        rewrite(b'{"a":1e999,"parentId":"x","b":{"parentId":"x"}}\n', False, None, Relink("y"))
