"""A line that stands in memory already is known, in the same or in other words; one that says more or less is not."""

from __future__ import annotations

import pytest

from assistant.memory.standing import StandingLines


@pytest.mark.parametrize(
    ("said", "line", "is_kept"),
    [
        ("Remember this: my sister lives in Bergen.", "- The person's sister lives in Bergen", True),
        ("记住我妹妹住在奥斯陆", "- 用户的妹妹住在奥斯陆", True),
        ("My locker code is 7731.", "- Locker code: 7731", True),
        ("My locker code is 7731.", "- Locker code: 7713", False),
        ("I live in Oslo and my sister lives in Bergen.", "- The person lives in Oslo", False),
        ("我妹妹住在奥斯陆，我哥哥住在柏林", "- 用户的妹妹住在奥斯陆", False),
        ("I am allergic to oats.", "- The person is allergic to oats and to cats", False),
        ("Bob loves Ada.", "- Ada loves Bob", False),
        ("Tom owes me 20 euros.", "- The person owes Tom 20 euros", False),
        ("My flight goes from Rome to Oslo.", "- The flight goes from Oslo to Rome", False),
    ],
)
def test_what_was_said_is_kept_by_a_line_that_says_all_of_it_and_nothing_else(
    said: str, line: str, is_kept: bool
) -> None:
    assert StandingLines(["- Likes tea", line]).keep(said) is is_kept


@pytest.mark.parametrize(
    ("lines", "new"),
    [
        (["I drink oolong tea.", "- I drink green tea."], ["- I drink green tea."]),
        (["The person drinks oolong tea"], []),
        (["Name: Ada", "* name: Ada"], ["Name: Ada", "* name: Ada"]),
        (["Bus: 14"], []),
        (["Bus: 41"], ["Bus: 41"]),
        ([], []),
    ],
    ids=["another fact", "other words", "the label of a name", "a label of their own", "another value", "nothing"],
)
def test_lines_are_new_unless_another_file_says_the_same(lines: list[str], new: list[str]) -> None:
    standing = StandingLines(["# User", "", "- I drink oolong tea", "- Name: Ada", "- Bus: 14"])
    assert standing.without_kept(lines) == new
