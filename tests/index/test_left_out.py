"""Sentences that are kept out of recall are known by what they say."""

from __future__ import annotations

import pytest

from assistant.index.left_out import is_left_out, sentence_marks

REFUSED = "- The boat is in Split. Its berth is nine.\nuser: 船在斯普利特。"


@pytest.mark.parametrize(
    ("text", "is_out"),
    [
        ("The boat is in Split.", True),
        ("assistant: the boat is in split", True),
        ("- Its berth is nine.", True),
        ("船在斯普利特", True),
        ("The boat is in Split. It is blue.", False),
        ("The boat is in Vis.", False),
        ("", False),
    ],
    ids=["a sentence", "other case and speaker", "the other one", "Chinese", "one more", "another", "nothing"],
)
def test_a_text_is_left_out_when_all_it_says_is(text: str, is_out: bool) -> None:
    assert is_left_out(text, frozenset(sentence_marks(REFUSED))) is is_out


def test_a_mark_tells_nothing_of_its_sentence_and_without_marks_nothing_is_left_out() -> None:
    marks = sentence_marks(REFUSED)
    assert len(marks) == 3
    assert not any("boat" in mark or "船" in mark for mark in marks)
    assert not is_left_out("The boat is in Split.", ())
