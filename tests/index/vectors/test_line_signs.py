"""The vectors of lines in one bit a dimension."""

from __future__ import annotations

import numpy as np
import pytest

from assistant.index.vectors.centring import Centring
from assistant.index.vectors.line_signs import LineCosines, line_meanings, pack_signs, read_cosines

DIMENSIONS = 512
NO_CENTRE = Centring(np.zeros(DIMENSIONS, np.float32), np.zeros(DIMENSIONS, np.float32))


def vectors(count: int, seed: int) -> np.ndarray:
    drawn = np.random.default_rng(seed).normal(size=(count, DIMENSIONS)).astype(np.float32)
    return drawn / np.linalg.norm(drawn, axis=1, keepdims=True)


@pytest.mark.parametrize(
    ("lines", "said"),
    [
        (["- 08:30 tea", "- [x] done", "2. third"], ["tea", "done", "third"]),
        (["user: hello", "assistant: hi"], ["hello", "hi"]),
        (["* 我喝茶", "", "  后来"], ["我喝茶", "", "后来"]),
        (["one line alone"], [""]),
        (["one line", ""], ["", ""]),
        ([], []),
    ],
    ids=["entries", "a conversation", "a blank line", "one line", "one line and a blank", "nothing"],
)
def test_a_line_is_what_it_says_and_a_single_one_needs_no_vector(lines: list[str], said: list[str]) -> None:
    assert line_meanings(lines) == said


def test_the_signs_tell_the_cosine_nearly() -> None:
    question, *lines = vectors(9, seed=1)
    lines = [
        (0.1 * number * question + line) / np.linalg.norm(0.1 * number * question + line)
        for number, line in enumerate(lines)
    ]
    (found,) = read_cosines([pack_signs(lines)], question, NO_CENTRE)
    assert found.plain == pytest.approx([float(line @ question) for line in lines], abs=0.12)
    assert found.centred == pytest.approx(found.plain)
    assert max(found.plain) == found.plain[-1]


def test_each_chunk_has_its_lines_and_a_line_without_a_vector_is_near_to_nothing() -> None:
    question, one, two = vectors(3, seed=2)
    first, none, second = read_cosines([pack_signs([one, None]), b"", pack_signs([two])], question, NO_CENTRE)
    assert (len(first.plain), first.plain[1], first.centred[1], len(second.plain)) == (2, 0.0, 0.0, 1)
    assert none == LineCosines((), ())
    assert read_cosines([], question, NO_CENTRE) == []


def test_what_a_line_has_in_common_with_every_text_is_taken_off() -> None:
    question, line, common = vectors(3, seed=3)
    centring = Centring(0.5 * common, 0.5 * common)
    (found,) = read_cosines([pack_signs([line])], question, centring)
    exact = (line - centring.text) @ (question - centring.question)
    assert found.centred == pytest.approx([float(exact)], abs=0.15)
    assert pack_signs([None, None]) == pack_signs([]) == b""
