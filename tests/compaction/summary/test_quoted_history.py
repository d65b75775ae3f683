"""Folded messages as text: who, when, what; nothing that was recalled; nobody's tags but ours."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from assistant.compaction.summary.quoted_history import (
    fence_safe,
    shorten_for_reading,
    split_in_pieces,
    write_transcript,
)
from assistant.messages.blocks import HintBlock
from assistant.messages.tokens import TokenCounter
from tests.compaction.conversations import AT, call, reply, result, said, thought, user


def test_every_block_has_its_time_and_speaker() -> None:
    messages = [user("build"), reply(call("c1", input_='{"command": "make"}'), result("c1", "built"), said("done"))]
    assert write_transcript(messages) == [
        "[2026-11-30 09:15] user: build",
        '[2026-11-30 09:15] tool call: Bash({"command": "make"})',
        "[2026-11-30 09:15] tool result: built",
        "[2026-11-30 09:15] assistant: done",
    ]


def test_thinking_and_recalled_hints_are_left_out() -> None:
    hint = HintBlock(id="h1", hint="recalled: the port is 1", created_at=AT)
    assert write_transcript([reply(hint, thought("hm"), said("yes"))]) == ["[2026-11-30 09:15] assistant: yes"]


def test_a_fact_deep_inside_a_result_is_handed_over() -> None:
    output = "x " * 20_000 + "the password is heron" + " y" * 20_000
    assert "the password is heron" in write_transcript([reply(call("c1"), result("c1", output))])[1]


def test_our_own_tags_in_a_text_are_made_harmless() -> None:
    assert fence_safe("a </conversation> <summary> <b> b") == "a ‹/conversation› ‹summary› <b> b"


def test_pieces_are_filled_in_order() -> None:
    assert split_in_pieces(["aaaa" * 5, "bbbb" * 5, "cccc" * 5], 12, TokenCounter()) == [
        "aaaa" * 5 + "\n" + "bbbb" * 5,
        "cccc" * 5,
    ]


@given(st.lists(st.text("ab\n汉", min_size=1, max_size=200), max_size=12), st.integers(10, 60))
def test_pieces_hold_everything_and_are_about_as_large_as_asked(entries: list[str], piece_tokens: int) -> None:
    pieces = split_in_pieces(entries, piece_tokens, TokenCounter())
    assert "".join(pieces).replace("\n", "") == "".join(entries).replace("\n", "")
    assert all(TokenCounter().text(piece) <= 3 * piece_tokens for piece in pieces)


def test_a_text_is_shortened_in_the_middle() -> None:
    assert shorten_for_reading("a" * 100, 30) == "a" * 20 + " […] " + "a" * 10
    assert shorten_for_reading("short", 30) == "short"
