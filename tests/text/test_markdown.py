"""Markdown line by line: one answer to what is a heading, a list item and code."""

from __future__ import annotations

import pytest

from assistant.text.markdown import (
    Heading,
    ListItem,
    read_heading,
    read_lines,
    read_list_item,
    read_parts,
    with_fence,
    without_bullet,
    without_code,
    without_fence,
)


@pytest.mark.parametrize(
    ("line", "heading"),
    [
        ("# Title", Heading(1, "Title")),
        ("###### Title", Heading(6, "Title")),
        ("   ##\tTitle ", Heading(2, "Title")),
        ("## Title ##", Heading(2, "Title")),
        ("## C#", Heading(2, "C#")),
        ("## 偏好", Heading(2, "偏好")),
        ("##", Heading(2, "")),
        ("####### seven", None),
        ("    # code", None),
        ("#tag", None),
        ("- # in a list", None),
        ("text # 1", None),
        ("", None),
    ],
)
def test_a_heading_is_read_with_its_level_and_title(line: str, heading: Heading | None) -> None:
    assert read_heading(line) == heading


@pytest.mark.parametrize(
    ("line", "item"),
    [
        ("- one", ListItem("", "one")),
        ("* one", ListItem("", "one")),
        ("+ one", ListItem("", "one")),
        ("• one", ListItem("", "one")),
        ("12. one", ListItem("", "one")),
        ("3) one ", ListItem("", "one ")),
        ("  -   one", ListItem("  ", "one")),
        ("-one", None),
        ("--- ", None),
        ("**bold**", None),
        ("2026. one", None),
        ("1.5 litres", None),
        ("", None),
    ],
)
def test_a_list_item_is_read_with_its_indent(line: str, item: ListItem | None) -> None:
    assert read_list_item(line) == item


@pytest.mark.parametrize(
    ("line", "text"), [("  - one ", "one"), ("1. one", "one"), (" plain ", "plain"), ("- - two", "- two")]
)
def test_a_line_loses_one_bullet_and_the_space_around_it(line: str, text: str) -> None:
    assert without_bullet(line) == text


@pytest.mark.parametrize(
    ("text", "code"),
    [
        pytest.param("a|```|b|```|c", "01110", id="block"),
        pytest.param("~~~python|b|~~~|c", "1110", id="tildes with a language"),
        pytest.param("```|~~~|```|c", "1110", id="the other sign does not close"),
        pytest.param("````|```|````|c", "1110", id="a shorter fence does not close"),
        pytest.param("```|b|```` |c", "1110", id="a longer fence closes"),
        pytest.param("```|``` b|```|c", "1110", id="a fence with words does not close"),
        pytest.param("```one``` line|b", "00", id="code within a line opens nothing"),
        pytest.param("    ```|b", "00", id="too far in"),
        pytest.param("   ```|b", "11", id="never closed"),
        pytest.param("``|b|``", "000", id="too short"),
    ],
)
def test_code_lasts_from_its_fence_to_one_that_fits(text: str, code: str) -> None:
    assert "".join(str(int(line.is_code)) for line in read_lines(text.split("|"))) == code


def test_a_heading_in_code_is_none() -> None:
    lines = read_lines(["# one", "```", "# two", "```", "# three"])
    assert [line.heading.title for line in lines if line.heading] == ["one", "three"]


def test_a_block_of_code_is_one_part() -> None:
    assert list(read_parts("a\n```\nb\n\nc\n```\nd\n~~~\ne")) == ["a", "```\nb\n\nc\n```", "d", "~~~\ne"]


def test_a_text_without_its_code() -> None:
    assert without_code("a\n```\nb\n```\r\nc") == "a\nc"
    assert without_code("a\r\nb") == "a\r\nb"


@pytest.mark.parametrize(
    ("text", "inner"),
    [
        ("```markdown\n## One\n\ntwo\n```", "## One\n\ntwo"),
        ("~~~\none\n~~~", "one"),
        ("```\none\n```py\ntwo\n```\nthree\n```", "one\n```py\ntwo\n```\nthree"),
        ("```\none", "```\none"),
        ("one\n```\ntwo\n```", "one\n```\ntwo\n```"),
        ("```", "```"),
        ("", ""),
    ],
)
def test_the_fence_around_a_whole_text_goes(text: str, inner: str) -> None:
    assert without_fence(text) == inner


def test_a_fence_is_longer_than_any_in_its_text() -> None:
    assert with_fence("a") == "```\na\n```"
    assert without_fence(with_fence("a\n````\nb")) == "a\n````\nb"
