"""From the result of a tool to what is quoted: the sentences that answer, each once, with its place."""

from __future__ import annotations

import pytest

from assistant.config.prompts import render
from assistant.config.words import Language
from assistant.models.offline.offline_quotes import (
    Found,
    read_answers,
    read_facts,
    read_names,
    read_notices,
    write_quotes,
)
from assistant.models.offline.texts import offline_texts

DIALOG = "dialog/2026-11-30.jsonl"


def result_of(*lines: str) -> str:
    """A search's result with these lines in its fence."""
    return "\n".join(["<memory>", *lines, "</memory>", "`>` marks what answers best."])


def test_only_marked_sentences_are_quoted_without_bullets_and_orders() -> None:
    result = result_of(
        "[memory/2026-11-29.md | 2026-11-29 | relevance 0.90 | Trip]",
        "      3\t- The train leaves at nine.",
        ">     4\t- The hotel is the **Alma**.",
        f"[{DIALOG} | 2026-11-30 | relevance 0.80]",
        ">     7\tuser: Please remember that the seat is 12A",
        f"[{DIALOG} | 2026-11-30 | relevance 0.79]",
        ">     9\tassistant: The flat belongs to Olga.",
    )
    assert read_answers(result) == [
        Found("The hotel is the **Alma**.", "memory/2026-11-29.md", 4, "2026-11-29"),
        Found("the seat is 12A", DIALOG, 7, "2026-11-30", "user"),
        Found("The flat belongs to Olga.", DIALOG, 9, "2026-11-30", "assistant"),
    ]


def test_a_thing_is_said_once_and_by_the_best_witness() -> None:
    result = result_of(
        f"[{DIALOG} | 2026-11-30 | relevance 1.00]",
        ">     2\tassistant: > I drink oolong tea",
        f"[{DIALOG} | 2026-11-30 | relevance 1.00]",
        ">     1\tuser: Remember that I drink oolong tea",
        "[USER.md | undated | relevance 0.20]",
        ">     9\t- I drink oolong tea",
    )
    assert read_answers(result) == [Found("I drink oolong tea", "USER.md", 9)]


@pytest.mark.parametrize("language", ["en", "zh"])
def test_its_own_phrases_answer_nothing(language: Language) -> None:
    said = offline_texts(language).nothing_in_memory
    assert read_answers(result_of(f"[{DIALOG} | 2026-11-30 | relevance 1.00]", f">     2\tassistant: {said}")) == []


def test_a_weak_hit_beside_a_strong_one_is_left_out() -> None:
    result = result_of(
        "[MEMORY.md | undated | relevance 1.00]",
        ">     1\t- strong",
        "[MEMORY.md | undated | relevance 0.40]",
        ">     2\t- weak",
    )
    assert [one.text for one in read_answers(result)] == ["strong"]


@pytest.mark.parametrize("language", ["en", "zh"])
def test_the_result_of_the_real_template_without_hits_says_nothing_but_its_notices(language: Language) -> None:
    result = render("memory_hits", language, quotes=(), notices=("Words alone.",), query="tea (green)")
    assert read_answers(result) == []
    assert read_notices(result) == ["Words alone."]


def test_facts_are_lines_that_hold_something() -> None:
    text = "# Who\n\n- Name: Ada\n- To be called:\n\n## Habits\n\n- walks at noon\n"
    lines = list(enumerate(text.splitlines(), 1))
    result = render("memory_lines", "en", path="USER.md", lines=lines, total=8, next_line=None)
    assert read_facts(result) == [Found("Name: Ada", "USER.md", 3), Found("walks at noon", "USER.md", 8)]
    assert read_names(result) == [Found("Ada", "USER.md", 3)]


@pytest.mark.parametrize(
    ("found", "language", "written"),
    [
        (Found("tea", "USER.md", 9), "en", "> tea\n\n`USER.md:9`"),
        (Found("tea", "memory/a.md", 2, "2026-11-29"), "en", "> tea\n\n`memory/a.md:2`, 2026-11-29"),
        (Found("tea", DIALOG, 1, "2026-11-30", "user"), "en", f"> tea\n\n`{DIALOG}:1`, you said so on 2026-11-30"),
        (Found("茶", DIALOG, 1, "2026-11-30", "assistant"), "zh", f"> 茶\n\n`{DIALOG}:1`，2026-11-30 的回答"),
    ],
)
def test_a_quotation_says_where_it_stands(found: Found, language: Language, written: str) -> None:
    assert write_quotes([found], offline_texts(language)) == written
