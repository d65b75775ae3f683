"""Head and tail of long texts: limits hold, characters stay whole, nothing is shown twice."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assistant.compaction.shorten.text_cut import byte_length, cut_ends, is_within, strip_ansi


def test_a_text_of_lines_is_cut_at_line_ends() -> None:
    text = "".join(f"line {n}\n" for n in range(100))
    ends = cut_ends(text, text, 60)
    assert (ends.head, ends.tail) == ("line 0\nline 1\nline 2\nline 3\nline 4\n", "line 98\nline 99\n")


def test_one_long_line_is_cut_inside() -> None:
    ends = cut_ends("a" * 1000, "a" * 1000, 30)
    assert (ends.head, ends.tail) == ("a" * 20, "a" * 10)


def test_no_character_is_cut_in_two() -> None:
    ends = cut_ends("汉字" * 100, "汉字" * 100, 29)
    assert (ends.head, ends.tail) == ("汉字汉字汉字", "字汉字")


def test_characters_can_be_limited_too() -> None:
    ends = cut_ends("汉字" * 100, "汉字" * 100, 10_000, max_chars=30)
    assert (len(ends.head), len(ends.tail)) == (20, 10)


@given(st.text(max_size=400), st.integers(0, 300), st.none() | st.integers(0, 200))
def test_head_and_tail_are_within_the_limits_and_never_overlap(
    text: str, max_bytes: int, max_chars: int | None
) -> None:
    if is_within(text, max_bytes, max_chars):
        return
    ends = cut_ends(text, text, max_bytes, max_chars)
    assert text.startswith(ends.head)
    assert text.endswith(ends.tail)
    assert len(ends.head) + len(ends.tail) < len(text)
    assert byte_length(ends.head) + byte_length(ends.tail) <= max_bytes


@given(st.text(max_size=300), st.integers(10, 200), st.integers(0, 100))
def test_a_second_cut_shows_a_part_of_the_first(text: str, first: int, second: int) -> None:
    once = cut_ends(text, text, first)
    twice = cut_ends(once.head, once.tail, min(first, second))
    assert once.head.startswith(twice.head)
    assert once.tail.endswith(twice.tail)


@pytest.mark.parametrize(
    ("text", "plain"),
    [
        pytest.param("\x1b[1;31mred\x1b[0m", "red", id="colours"),
        pytest.param("\x1b]0;title\x07text", "text", id="a title"),
        pytest.param("\x1b]8;;https://x.y\x1b\\link\x1b]8;;\x1b\\", "link", id="a link"),
        pytest.param("a\x1b[2Kb\x1b[10;5Hc", "abc", id="cursor moves"),
        pytest.param("no escape", "no escape", id="plain text"),
    ],
)
def test_terminal_codes_are_no_text(text: str, plain: str) -> None:
    assert strip_ansi(text) == plain
