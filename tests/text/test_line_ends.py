"""Line ends: cut at the three there are and at nothing else."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assistant.text.line_ends import lines_with_ends, split_lines, usual_line_end, with_newlines

texts = st.text(st.sampled_from("ab\r\n\u2028\x0b"), max_size=20)


@pytest.mark.parametrize(
    ("text", "lines"),
    [
        pytest.param("", [""], id="empty"),
        pytest.param("a\nb", ["a", "b"], id="newline"),
        pytest.param("a\r\nb\rc\n", ["a", "b", "c", ""], id="all three"),
        pytest.param("a\u2028b\x0bc", ["a\u2028b\x0bc"], id="other separators stay within a line"),
    ],
)
def test_a_text_is_cut_at_its_line_ends(text: str, lines: list[str]) -> None:
    assert split_lines(text) == lines


@given(texts)
def test_lines_with_their_ends_are_the_text_again(text: str) -> None:
    assert "".join(lines_with_ends(text)) == text


@given(texts)
def test_newlines_in_place_of_line_ends_keep_the_lines(text: str) -> None:
    assert with_newlines(text).split("\n") == split_lines(text)


@pytest.mark.parametrize(
    ("text", "usual"), [("", "\n"), ("a\r\nb\nc", "\n"), ("a\r\nb\rc", "\n"), ("a\r\nb\r\nc\n", "\r\n"), ("a\rb", "\n")]
)
def test_the_usual_line_end_is_that_of_most_lines(text: str, usual: str) -> None:
    assert usual_line_end(text) == usual
