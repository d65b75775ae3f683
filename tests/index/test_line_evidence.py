"""The best line of a chunk counts for it."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from assistant.index.chunker import Chunk, ChunkKind
from assistant.index.line_evidence import BestLine, Candidate, LineEvidence, rank_by_lines
from assistant.index.question_words import QuestionWords
from assistant.index.vectors.line_signs import LineCosines

WORDS = QuestionWords({"spare": 1.0, "key": 1.0})


def chunk(text: str, path: str = "memory/a.md", kind: ChunkKind = "note") -> Chunk:
    return Chunk(f"{path}#0", path, "", 1, 1 + text.count("\n"), text, kind, "")


def evidence(
    lines: Mapping[int, LineCosines] | None = None, cosines: Mapping[int, float] | None = None, trust: float = 1.0
) -> LineEvidence:
    return LineEvidence(WORDS, cosines or {}, lines or {}, trust)


def test_words_that_stand_in_one_line_are_worth_more_than_the_same_spread_over_many() -> None:
    chunks = {1: chunk("a spare tyre\nthe key of a map"), 2: chunk("the spare key\nand more", "memory/b.md")}
    ranked, best = rank_by_lines([Candidate(1, 0.9), Candidate(2, 0.8)], chunks, evidence())
    assert [one.chunk_id for one in ranked] == [2, 1]
    assert best == {1: BestLine(0.5, None), 2: BestLine(1.0, None)}
    assert all(0.0 <= one.score <= 1.0 for one in ranked)


def test_the_meaning_of_a_line_counts_where_words_do_not() -> None:
    chunks = {1: chunk("weather\nlunch"), 2: chunk("bus\nwhere the door opener hides", "memory/b.md")}
    lines = {1: LineCosines((0.1, 0.0), (0.0, 0.0)), 2: LineCosines((0.0, 0.6), (-0.1, 0.5))}
    ranked, best = rank_by_lines([Candidate(1, 0.6), Candidate(2, 0.5)], chunks, evidence(lines))
    assert [one.chunk_id for one in ranked] == [2, 1]
    assert best[2] == BestLine(0.0, 0.5)


def test_a_line_that_two_chunks_share_counts_for_the_better_one() -> None:
    chunks = {1: chunk("rain\nthe spare key"), 2: chunk("the spare key\nsnow")}
    _, best = rank_by_lines([Candidate(1, 0.9), Candidate(2, 0.8)], chunks, evidence())
    assert (best[1].share, best[2].share) == (1.0, 0.0)


@pytest.mark.parametrize(
    ("text", "kind", "share"),
    [
        ("user: where is my spare key?\nassistant: no idea", "said", 0.0),
        ("user: 我的 spare key 在哪？\nassistant: no idea", "said", 0.0),
        ("user: is the spare one lost?\nassistant: no idea", "said", 0.5),
        ("where is my spare key?\nno idea", "note", 1.0),
    ],
    ids=["asked before", "asked before in Chinese", "another question", "a question in a note"],
)
def test_the_same_question_asked_before_is_no_evidence(text: str, kind: ChunkKind, share: float) -> None:
    _, best = rank_by_lines([Candidate(1, 0.9)], {1: chunk(text, kind=kind)}, evidence())
    assert best[1].share == share


def test_a_chunk_without_vectors_of_lines_is_as_near_as_it_is() -> None:
    chunks = {1: chunk("spare\nrain"), 2: chunk("sun\nsnow", "memory/b.md")}
    ranked, _ = rank_by_lines([Candidate(1, 0.5), Candidate(2, 0.5)], chunks, evidence(None, {2: 0.4}, trust=0.1))
    assert [one.chunk_id for one in ranked] == [2, 1]


def test_nothing_in_any_line_and_chunks_that_have_gone_change_no_order() -> None:
    candidates = [Candidate(1, 0.5), Candidate(3, 0.4)]
    assert rank_by_lines(candidates, {1: chunk("rain\nsnow")}, evidence()) == (candidates, {1: BestLine(0.0, None)})
