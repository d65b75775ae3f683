"""Lines come under their heading, once, and nothing else of the text changes."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assistant.memory.line_edits import new_lines_of, with_line_replaced, with_lines_under

TEXT = "# Memory\n\n## Tea\n\n- green\n\n## Work ##\n\n- Python\n\n### Tools\n\n- ruff\n"


@pytest.mark.parametrize(
    ("text", "heading", "after"),
    [
        ("", "Tea", "## Tea\n\n- new\n"),
        ("", "", "- new\n"),
        ("prose", "", "prose\n- new\n"),
        ("prose", "Tea", "prose\n\n## Tea\n\n- new\n"),
        (TEXT, "Tea", TEXT.replace("- green\n", "- green\n- new\n")),
        (TEXT, "## tea", TEXT.replace("- green\n", "- green\n- new\n")),
        (TEXT, "Work", TEXT.replace("- Python\n", "- Python\n- new\n")),
        (TEXT, "Tools", TEXT + "- new\n"),
        (TEXT, "Travel", TEXT + "\n## Travel\n\n- new\n"),
        ("## Tea\n## Work\n", "Tea", "## Tea\n\n- new\n\n## Work\n"),
        ("## Tea\n\n\n\n## Work\n", "Tea", "## Tea\n\n- new\n\n## Work\n"),
        ("```\n## Tea\n```\n", "Tea", "```\n## Tea\n```\n\n## Tea\n\n- new\n"),
        ("## 喝茶\n- 龙井\n", "喝茶", "## 喝茶\n- 龙井\n- new\n"),
    ],
    ids=["empty", "none", "none but text", "no heading", "first", "case", "closed", "last", "missing"]
    + ["bare", "blank lines", "code", "chinese"],
)
def test_a_line_comes_at_the_end_of_its_section(text: str, heading: str, after: str) -> None:
    assert with_lines_under(text, heading, ["- new"]) == after


def test_lines_become_list_items_once_and_none_that_stands_there() -> None:
    assert new_lines_of(
        TEXT, ["likes tea\n* likes   coffee", "- likes tea", "green", " - ruff ", "", "1. first", "# x"]
    ) == [
        "- likes tea",
        "* likes   coffee",
        "1. first",
        "- # x",
    ]


def test_a_line_that_starts_bold_is_no_bullet() -> None:
    assert new_lines_of("", ["**Tea**: green"]) == ["- **Tea**: green"]


def test_an_old_line_gives_its_place_to_the_new_ones() -> None:
    assert with_line_replaced("a\n  - b\nc\n - b\n", "- b", ["- x", "- y"]) == "a\n  - x\n  - y\nc\n"
    assert with_line_replaced("a\n- b\n", "- b", []) == "a\n"
    assert with_line_replaced("- b\n", "b", ["- x"]) is None
    assert with_line_replaced("a\n\n", " ", ["- x"]) is None


lines = st.lists(st.sampled_from(["# A", "## B", "- x", "- y", "prose", "", "```", "x\u2028y"]), max_size=10)


@given(lines, st.sampled_from(["A", "B", "C", ""]), st.lists(st.sampled_from(["x", "new", "- newer"]), max_size=4))
def test_nothing_is_lost_and_a_second_time_adds_nothing(before: list[str], heading: str, added: list[str]) -> None:
    text = "".join(f"{line}\n" for line in before)
    new = new_lines_of(text, added)
    after = with_lines_under(text, heading, new)
    assert new_lines_of(after, added) == []
    standing = [line for line in after.split("\n") if line.strip()]
    for line in new:
        standing.remove(line)
    expected = [line for line in before if line.strip()]
    assert standing == expected or [line for line in standing if line != f"## {heading}"] == [
        line for line in expected if line != f"## {heading}"
    ]
