"""A labelled line finds the line of its label; nothing else of the text changes."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assistant.text.labels import Filled, LabelledLine, list_labels, read_label, with_labels_filled

USER = "# Who the person is\n\n- Name:\n- To be called:\n- Language:\n\n## Preferences\n\n- Drink: tea\n"
CHINESE_USER = "# 对方是谁\n\n- 姓名：\n- 称呼：\n"


@pytest.mark.parametrize(
    ("line", "label", "value"),
    [
        ("- Name: Ada", "Name", "Ada"),
        ("Name:Ada", "Name", "Ada"),
        ("- **Name:** Ada", "Name", "Ada"),
        ("* **Name**: Ada", "Name", "Ada"),
        ("- Name:", "Name", ""),
        ("- To be called: Ada: the great", "To be called", "Ada: the great"),
        ("- 姓名：小林", "姓名", "小林"),
    ],
)
def test_a_label_and_its_value_are_told_apart(line: str, label: str, value: str) -> None:
    found = read_label(line)
    assert found is not None
    assert (found.label, found.value) == (label, value)


@pytest.mark.parametrize(
    "line",
    [
        "Ada",
        "",
        "10:30 dentist",
        "https://example.org",
        "- `a: b`",
        "# Name: Ada",
        "a/b: c",
        "- [2026-11-30 20:32] The assistant: A.",
        "- Dentist at 10:30",
        "- [ ] Milk: 2 l",
        "- 晚上 8：30 开会",
    ],
)
def test_other_lines_have_no_label(line: str) -> None:
    assert read_label(line) is None


@pytest.mark.parametrize(
    ("text", "line", "after"),
    [
        (USER, "Name: Ada", USER.replace("- Name:", "- Name: Ada")),
        (USER, "- name:  Ada ", USER.replace("- Name:", "- Name: Ada")),
        (USER, "To be called: Ada", USER.replace("- To be called:", "- To be called: Ada")),
        (USER, "姓名：小林", USER.replace("- Name:", "- Name: 小林")),
        (CHINESE_USER, "Name: Ada", CHINESE_USER.replace("姓名：", "姓名：Ada")),
        (CHINESE_USER, "称呼：小林", CHINESE_USER.replace("称呼：", "称呼：小林")),
        ("- **Name:**\n", "Name: Ada", "- **Name:** Ada\n"),
        ("- Name: Ada\n", "Name: Grace", "- Name: Grace\n"),
        ("- Name: Ada\n- Name:\n", "Name: Grace", "- Name: Ada\n- Name: Grace\n"),
        ("## Shop\n\n- Milk:\n", "Milk: 2 l", "## Shop\n\n- Milk: 2 l\n"),
    ],
    ids=["empty", "bullet and case", "second", "across", "across back", "chinese", "bold", "corrected", "empty first"]
    + ["below a heading"],
)
def test_a_line_comes_into_the_line_of_its_label(text: str, line: str, after: str) -> None:
    assert with_labels_filled(text, [line]) == Filled(after, ())


@pytest.mark.parametrize(
    ("text", "line"),
    [
        (USER, "I like tea"),
        (USER, "Name:"),
        (USER, "Height: 170 cm"),
        (USER, "Drink: coffee"),
        ("- [2026-11-30 20:32] The assistant: A.\n", "[2026-11-30 20:51] The assistant: C."),
        ("- Tram at 20:32 from the station\n", "Tram at 20:51 from the harbour"),
        ("- Budget: 200 EUR\n", "Budget: 900 EUR"),
        ("- Note to self: call the dentist\n", "Note to self: buy milk"),
        ("- Name:\n  - first\n", "Name: Ada"),
        ("Name:\n", "Name: Ada"),
        ("```\n- Name:\n```\n", "Name: Ada"),
    ],
    ids=["no label", "no value", "no such label", "full and below a heading", "stamp", "clock time"]
    + ["full and of the person's own", "full sentence", "title of a list", "no item", "code"],
)
def test_a_line_without_a_place_is_left_over(text: str, line: str) -> None:
    assert with_labels_filled(text, [line]) == Filled(text, (line,))


def test_only_list_items_are_listed() -> None:
    assert list_labels("Name: Ada\n- Tone: calm\n") == [LabelledLine("- Tone:", "Tone", "calm")]


@given(
    st.lists(st.sampled_from(["- Name:", "- Name: Ada", "# A", "## B", "prose", "", "```", "  - x: y"]), max_size=8),
    st.sampled_from(["Name: Bo", "x: z", "prose", "名字：小林"]),
)
def test_no_line_without_the_label_changes_and_a_second_time_changes_nothing(before: list[str], line: str) -> None:
    text = "\n".join(before)
    filled = with_labels_filled(text, [line])
    changed = [(old, new) for old, new in zip(text.split("\n"), filled.text.split("\n"), strict=True) if old != new]
    assert len(changed) <= 1
    assert all(old.strip().startswith(("- Name", "- x")) for old, _ in changed)
    assert with_labels_filled(filled.text, [line]) == Filled(filled.text, filled.rest)
