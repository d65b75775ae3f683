"""Two summaries are told apart line by line and word by word, and nothing of either is lost."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from assistant.ui.chat.summary_diff import ComparedLine, Piece, compare_summaries, without_long_runs

LINES = st.lists(st.text("ab 约定#-\u2028", max_size=12), max_size=12)


def same(line: str) -> ComparedLine:
    """A line that did not change."""
    return ComparedLine("same", (Piece(line),))


def test_a_changed_line_shows_which_words_changed() -> None:
    assert compare_summaries("## Goal\n- Fly to Lisbon on Friday", "## Goal\n- Fly to Porto on Friday\n- Pack") == [
        same("## Goal"),
        ComparedLine("minus", (Piece("- Fly to "), Piece("Lisbon", True), Piece(" on Friday"))),
        ComparedLine("plus", (Piece("- Fly to "), Piece("Porto", True), Piece(" on Friday"))),
        ComparedLine("plus", (Piece("- Pack"),)),
    ]


def test_chinese_characters_are_words() -> None:
    gone, come = compare_summaries("周五下午不安排会议。", "周四下午不安排会议。")
    assert gone.pieces == (Piece("周"), Piece("五", True), Piece("下午不安排会议。"))
    assert come.pieces == (Piece("周"), Piece("四", True), Piece("下午不安排会议。"))


def test_a_line_that_is_another_one_is_no_change_of_it() -> None:
    assert [line.kind for line in compare_summaries("Buy bread and milk", "All tests are green now")] == [
        "minus",
        "plus",
    ]


def test_the_first_summary_is_new_as_a_whole() -> None:
    assert [line.kind for line in compare_summaries("", "one\ntwo")] == ["plus", "plus"]
    assert compare_summaries("", " \n") == []


def test_long_runs_of_unchanged_lines_are_counted_and_left_out() -> None:
    lines = [same(str(number)) for number in range(8)]
    new = ComparedLine("plus", (Piece("new"),))
    gap = ComparedLine("gap", (Piece("… 4 lines as before"),))
    assert without_long_runs([new, *lines, new]) == [new, *lines[:2], gap, *lines[6:], new]
    assert without_long_runs([*lines[:4], new]) == [
        ComparedLine("gap", (Piece("… 2 lines as before"),)),
        *lines[2:4],
        new,
    ]
    assert without_long_runs(lines) == lines


def test_summaries_without_end_are_compared_all_the_same() -> None:
    before, after = ("\n".join(f"{side} {number} " * 40 for number in range(400)) for side in ("old", "new"))
    assert len(compare_summaries(before, after)) == 800
    assert [line.kind for line in compare_summaries("a " * 9_000, "b " * 9_000)] == ["minus", "plus"]


@given(LINES, LINES)
def test_both_summaries_can_be_read_from_their_comparison(before: list[str], after: list[str]) -> None:
    compared = compare_summaries("\n".join(before), "\n".join(after))
    for left_out, lines in (("plus", before), ("minus", after)):
        text = "\n".join(lines).strip()
        assert [line.text for line in compared if line.kind != left_out] == (text.split("\n") if text else [])
