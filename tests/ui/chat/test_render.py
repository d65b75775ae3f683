"""Entries become cards; buttons stand only where the server would act on them."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest

from assistant.messages.events import ApprovalRequested, MemoryChanged, Spent, TextDelta, TurnFinished, TurnStarted
from assistant.ui.cards import TOKEN, action
from assistant.ui.chat.entries import (
    ApprovalEntry,
    CompactionEntry,
    EndEntry,
    MemoryEntry,
    NoticeEntry,
    ThinkingRow,
    ToolRow,
    Transcript,
    WorkEntry,
)
from assistant.ui.chat.fold import fold_all
from assistant.ui.chat.render import (
    CardEntry,
    SummaryLine,
    answer_text,
    main_argument,
    pretty_input,
    render_entry,
    shown_text,
    summary_lines,
)
from tests.fakes.hostile import HOSTILE
from tests.ui.sample_events import compaction

REQUEST = ApprovalRequested("c1", "Bash", '{"command": "rm x"}', "rm x && echo $$", "It deletes files.")
EVIL: tuple[CardEntry, ...] = (
    WorkEntry((ThinkingRow("b", HOSTILE), ToolRow("c", HOSTILE, HOSTILE, "success", HOSTILE, HOSTILE, "a"))),
    ApprovalEntry(replace(REQUEST, preview=HOSTILE, reason=HOSTILE, name=HOSTILE)),
    CompactionEntry(replace(compaction("k"), summary=HOSTILE, carried_over=(HOSTILE,))),
    MemoryEntry((MemoryChanged(HOSTILE, HOSTILE, f"+{HOSTILE}", HOSTILE),)),
    NoticeEntry(HOSTILE, "warning"),
    EndEntry("t", "failed", error=HOSTILE),
)


@pytest.mark.parametrize("entry", EVIL, ids=lambda entry: type(entry).__name__)
def test_no_entry_lets_a_hostile_text_become_a_tag(entry: CardEntry) -> None:
    content = render_entry(entry, is_last_end=True, undoable="k")
    tags = set(re.findall(r"<([a-z!/][a-z0-9]*)", content.lower()))
    assert tags <= {
        "div",
        "p",
        "label",
        "span",
        "b",
        "i",
        "button",
        "details",
        "summary",
        "pre",
        "code",
        "/div",
        "/p",
        "input",
    } | {f"/{name}" for name in ("span", "b", "i", "button", "details", "summary", "pre", "code", "label")}


@pytest.mark.parametrize("entry", EVIL, ids=lambda entry: type(entry).__name__)
def test_no_card_is_broken_by_a_blank_line_or_by_math(entry: CardEntry) -> None:
    content = render_entry(entry, is_last_end=True)
    assert "\n" not in content
    assert "$$" not in content
    assert content.startswith(f'<div class="{TOKEN} ')


def test_a_pending_approval_shows_the_exact_command_and_two_buttons() -> None:
    content = render_entry(ApprovalEntry(REQUEST))
    assert "rm x &amp;&amp; echo &#36;&#36;" in content
    assert action("allow", "c1") in content
    assert action("deny", "c1") in content


@pytest.mark.parametrize("start", ["diff a b", "--- a\n+++ b", "@@ x"])
def test_a_command_is_shown_whole_whatever_it_looks_like(start: str) -> None:
    command = f"{start}{chr(10) * 300}rm -rf x"
    content = render_entry(ApprovalEntry(replace(REQUEST, preview=command)))
    assert start.splitlines()[0] in content
    assert "rm -rf x" in content
    head, rest = content.split("<details")
    assert "⏎" in head and "rm -rf x" not in head
    lines = command.split("\n")
    assert f"{len(lines) - 40} more lines and " in rest
    assert "open them to be able to allow it" in rest


def test_a_long_diff_that_is_to_be_allowed_is_shown_whole() -> None:
    request = replace(REQUEST, name="Write", preview="--- a\n+++ b\n" + "\n".join(f"+line {n}" for n in range(1_500)))
    content = render_entry(ApprovalEntry(request))
    assert "line 1499" in content
    request = replace(REQUEST, name="Write", preview=f"--- a\n+++ b\n+{'a' * 9_000}; the end")
    assert "; the end" in render_entry(ApprovalEntry(request))


def test_what_turns_or_hides_text_is_shown_as_its_code_before_it_is_allowed() -> None:
    request = replace(REQUEST, preview="ls \u202etxt.sr\u200b\x1b[2J\r")
    assert "ls ⟨U+202E⟩txt.sr⟨U+200B⟩⟨U+001B⟩&#91;2J⟨U+000D⟩" in render_entry(ApprovalEntry(request))


def test_arguments_nested_too_deep_for_a_parser_are_shown_as_they_are() -> None:
    row = ToolRow("c", "Read", "[" * 100_000, "error", "no", "", "")
    assert "&#91;&#91;&#91;" in render_entry(WorkEntry((row,)))


@pytest.mark.parametrize("state", ["allowed", "denied", "ended"])
def test_a_settled_approval_has_no_buttons(state: str) -> None:
    assert "<button" not in render_entry(ApprovalEntry(REQUEST, state))  # type: ignore[arg-type]


def test_only_the_newest_standing_compaction_offers_to_undo() -> None:
    entry = CompactionEntry(compaction("k1"))
    assert action("undo", "k1") in render_entry(entry, undoable="k1")
    assert action("undo", "k1") not in render_entry(entry, undoable="k2")


def test_a_compaction_tells_what_it_did() -> None:
    content = render_entry(CompactionEntry(compaction("k1")))
    for words in ("91.2k", "23.7k", "−74 &#37;", "46 messages folded", "3 turns kept", "Summary that replaced them"):
        assert words.replace("&#37;", "%") in content.replace("&#37;", "%")


def test_only_the_last_end_offers_to_go_on() -> None:
    end = EndEntry("t1", "interrupted")
    assert action("continue", "t1") in render_entry(end, is_last_end=True)
    assert "<button" not in render_entry(end)


@pytest.mark.parametrize(
    ("given", "main", "pretty"),
    [
        ('{"command": "ls -la", "timeout": 5}', "ls -la", "command: ls -la\ntimeout: 5"),
        ('{"n": 1, "deep": {"a": "ä"}}', "n: 1, deep: {'a': 'ä'}", 'n: 1\ndeep: {"a": "ä"}'),
        ("not json", "not json", "not json"),
        ("[1]", "[1]", "[1]"),
        ("", "", ""),
    ],
)
def test_a_call_is_told_by_what_matters_of_it(given: str, main: str, pretty: str) -> None:
    assert (main_argument(given), pretty_input(given)) == (main, pretty)


def test_a_long_text_keeps_head_and_tail_and_says_what_is_missing() -> None:
    text = "h" * 9_000 + "t" * 1_000
    shown = shown_text(text)
    assert shown.startswith("h" * 4_000 + "\n… 4,000 characters are not drawn here …\n")
    assert shown.endswith("t" * 1_000)


def test_the_answer_of_a_turn_is_copied_as_it_was_written() -> None:
    events = [
        TurnStarted("t1", "m1", "a", ""),
        TextDelta("b1", "one"),
        TurnFinished("t1", "completed"),
        TurnStarted("t2", "m2", "b", ""),
        TextDelta("b2", "**two** <b>"),
        TextDelta("b3", "three"),
        TurnFinished("t2", "completed"),
    ]
    assert answer_text(fold_all(Transcript(), events), "t2") == "**two** <b>\n\nthree"


def test_the_headings_of_a_summary_lose_their_marks() -> None:
    assert summary_lines("## Goal\nx\n\n# Next") == [
        SummaryLine("heading", "Goal"),
        SummaryLine("text", "x"),
        SummaryLine("text", ""),
        SummaryLine("heading", "Next"),
    ]


@pytest.mark.parametrize(
    ("spent", "words"),
    [
        (Spent(), ""),
        (Spent(930, 0, 12), "930 tokens in, 12 out"),
        (Spent(12_400, 9_800, 340), "12.4k (9.8k from a cache) tokens in, 340 out"),
        (Spent(930, 0, 12, 0.0), "930 tokens in, 12 out, about &#36;0"),
        (Spent(930, 0, 12, 0.00003), "930 tokens in, 12 out, about &lt; &#36;0.0001"),
        (Spent(930, 0, 12, 0.0310), "930 tokens in, 12 out, about &#36;0.031"),
        (Spent(930, 0, 12, 1.2345), "930 tokens in, 12 out, about &#36;1.23"),
    ],
)
def test_the_end_of_a_turn_says_what_it_took_and_what_it_cost(spent: Spent, words: str) -> None:
    content = render_entry(EndEntry("t1", "completed", spent=spent), is_last_end=True)
    assert words in content
    assert ("tokens" in content, "&#36;" in content) == (spent.input_tokens > 0, spent.usd is not None)


@pytest.mark.parametrize(
    ("tokens", "words"),
    [(4096, "at its output limit of 4,096 tokens, in the middle"), (0, "at its output limit, in the middle")],
)
def test_an_answer_that_was_cut_says_so_and_can_go_on(tokens: int, words: str) -> None:
    end = EndEntry("t1", "output_limit", output_tokens=tokens)
    content = render_entry(end, is_last_end=True)
    assert words in content
    assert action("continue", "t1") in content
    assert action("retry", "t1") in content


def test_figures_from_before_the_results_were_shortened_are_told_as_such() -> None:
    words = "140k is more than the window of 128k: it was counted before tool results were shortened."
    over = replace(compaction("k"), previous_tokens=140_000)
    assert words in render_entry(CompactionEntry(over))
    assert "more than the window" not in render_entry(CompactionEntry(compaction("k")))
