"""Two rankings become one, and chunks become hits."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assistant.index.chunker import Chunk, ChunkKind
from assistant.index.question import SearchQuestion
from assistant.index.search import (
    Candidate,
    RankingInputs,
    fuse,
    make_snippet,
    rate_candidates,
    select_hits,
    word_trust,
)
from assistant.index.vectors.calibration import Calibration, MatchSignals, calibrate, direction_of

CALIBRATION = Calibration(
    unrelated=0.1,
    related=0.5,
    low=0.4,
    high=1.2,
    low_from_cjk=0.3,
    high_from_cjk=0.7,
    low_to_cjk=0.5,
    high_to_cjk=0.9,
)


def asked(*terms: str) -> SearchQuestion:
    return SearchQuestion(" ".join(terms), terms, ())


def chunk(text: str, first: int = 1, last: int = 1, path: str = "memory/a.md", kind: ChunkKind = "note") -> Chunk:
    return Chunk(f"{path}#{first}", path, "", first, last, text, kind, "")


def test_words_weigh_six_tenths_and_meaning_four() -> None:
    assert fuse({1: 10.0, 2: 5.0}, {1: 0.2, 2: 0.6, 3: 0.4}) == [
        Candidate(2, 0.7),
        Candidate(1, 0.6),
        Candidate(3, pytest.approx(0.2)),
    ]


def test_no_more_candidates_are_made_than_are_wanted() -> None:
    assert fuse({1: 10.0, 2: 5.0, 3: 5.0}, {}, count=2) == [Candidate(1, 1.0), Candidate(2, 0.5)]


def test_where_one_side_finds_nothing_the_other_decides() -> None:
    assert fuse({}, {1: 0.2, 2: 0.6}) == [Candidate(2, 1.0), Candidate(1, 0.0)]
    assert fuse({1: 10.0, 2: 5.0}, {}) == [Candidate(1, 1.0), Candidate(2, 0.5)]
    assert fuse({}, {}) == []


def test_words_that_share_little_with_the_question_count_for_less() -> None:
    assert (word_trust([0.1, 0.2]), word_trust([0.9]), word_trust([])) == (0.5, 1.0, 0.0)
    assert [candidate.chunk_id for candidate in fuse({1: 10.0}, {1: 0.2, 2: 0.6}, 0.5)] == [2, 1]


SCORES = st.dictionaries(st.integers(0, 50), st.floats(0, 30), max_size=30)
COSINES = st.dictionaries(st.integers(0, 50), st.floats(-1, 1), max_size=30)


@given(SCORES, COSINES)
def test_fusion_loses_nobody_and_orders_by_a_score_from_0_to_1(
    words: dict[int, float], cosines: dict[int, float]
) -> None:
    found = fuse(words, cosines)
    assert sorted(candidate.chunk_id for candidate in found) == sorted(words.keys() | cosines.keys())
    scores = [candidate.score for candidate in found]
    assert scores == sorted(scores, reverse=True)
    assert all(0.0 <= score <= 1.0 + 1e-9 for score in scores)


def test_the_same_words_and_overlapping_places_are_one_hit() -> None:
    chunks = {
        1: chunk("a\nb\nc", 1, 3),
        2: chunk("b\nc\nd", 2, 4),
        3: chunk("c\nd\ne\nf", 3, 6),
        4: chunk("a\nb\nc", 1, 3, "memory/copy.md"),
    }
    inputs = RankingInputs(asked("a"), dict.fromkeys(chunks, 1.0), dict.fromkeys(chunks, 0.5), CALIBRATION)
    hits = select_hits([Candidate(number, 1.0) for number in chunks], chunks, inputs, 5, 0.1)
    assert [(hit.path, hit.first_line) for hit in hits] == [("memory/a.md", 1), ("memory/a.md", 3)]


def test_hits_below_the_score_and_chunks_that_have_gone_are_left_out() -> None:
    candidates = [Candidate(1, 1.0), Candidate(2, 0.9), Candidate(3, 0.8)]
    chunks = {1: chunk("yes"), 2: chunk("no", 2, 2)}
    inputs = RankingInputs(asked("yes"), {1: 0.8, 2: 0.0}, {1: 0.5, 2: 0.0, 3: 0.5}, CALIBRATION)
    (hit,) = select_hits(candidates, chunks, inputs, 5, 0.2)
    assert (hit.text, hit.relevance) == ("yes", 1.0)


def test_without_an_embedder_relevance_is_the_share_of_terms() -> None:
    inputs = RankingInputs(asked("yes"), {1: 0.42}, {}, None)
    hits = select_hits([Candidate(1, 1.0)], {1: chunk("yes")}, inputs, 5, 0.1)
    assert [hit.relevance for hit in hits] == [0.42]


def test_a_snippet_is_the_lines_around_the_best_one() -> None:
    text = "\n".join(f"line {number} of many words" for number in range(50)) + "\nthe green tea"
    snippet = make_snippet(text, ["green", "tea"], 60)
    assert snippet.text.split("\n") == ["line 48 of many words", "line 49 of many words", "the green tea"]
    assert snippet.best_line == 50


def test_a_long_line_is_cut_around_the_words() -> None:
    snippet = make_snippet("字" * 1000 + "绿茶" + "字" * 1000, ["绿茶"], 40)
    assert "绿茶" in snippet.text
    assert len(snippet.text) <= 40
    assert (snippet.text[0], snippet.text[-1]) == ("…", "…")


@given(st.text(max_size=800), st.lists(st.text(min_size=1, max_size=4), max_size=3), st.integers(10, 300))
def test_a_snippet_is_never_longer_than_asked(text: str, terms: list[str], limit: int) -> None:
    assert len(make_snippet(text, terms, limit).text) <= limit


def test_beside_a_sure_answer_a_less_sure_one_counts_for_more() -> None:
    chunks = {1: chunk("sure"), 2: chunk("half", 5, 5)}
    candidates = [Candidate(1, 1.0), Candidate(2, 0.5)]
    inputs = RankingInputs(asked("sure"), {1: 1.0, 2: 0.05}, {1: 0.5, 2: 0.3}, CALIBRATION)
    assert rate_candidates(candidates, chunks, inputs) == {1: 1.0, 2: pytest.approx(0.2625)}
    assert rate_candidates(candidates[1:], chunks, inputs) == {2: pytest.approx(0.0625)}


def test_across_two_scripts_meaning_alone_may_answer_by_the_scale_of_its_direction() -> None:
    def rated(question: SearchQuestion, text: str) -> dict[int, float]:
        inputs = RankingInputs(question, {}, {1: 0.45}, CALIBRATION)
        return rate_candidates([Candidate(1, 1.0)], {1: chunk(text)}, inputs)

    assert rated(asked("她喜欢喝什么茶"), "She likes green tea") == {1: pytest.approx(1.0)}
    assert rated(asked("what", "drink"), "她喜欢喝绿茶") == {1: pytest.approx(0.7)}
    assert rated(asked("what", "drink"), "She likes green tea") == {1: pytest.approx(0.5625)}


def test_a_note_in_two_languages_can_be_asked_for_in_either() -> None:
    note = "I drink oolong tea in the morning\n我妹妹住在奥斯陆"
    assert (direction_of("早上喝什么", note), direction_of("where is my sister", note)) == ("from_cjk", "to_cjk")
    assert direction_of("数据存在哪里", "项目用 Python 编写，数据保存在数据库里") == "within"


def test_a_chunk_is_as_relevant_as_it_and_its_best_line_are() -> None:
    alone = CALIBRATION.relevance(MatchSignals(0.4, 0.3))
    assert CALIBRATION.relevance(MatchSignals(0.4, 0.3, line_share=0.4, line_cosine=0.3)) == pytest.approx(alone)
    assert CALIBRATION.relevance(MatchSignals(0.4, 0.3, line_share=0.0, line_cosine=0.1)) < alone
    assert CALIBRATION.relevance(MatchSignals(0.4, 0.3, line_share=0.4)) == pytest.approx(alone)


def test_an_embedder_is_calibrated_by_what_questions_with_and_without_an_answer_find() -> None:
    related = [
        [MatchSignals(0.5, 0.6), MatchSignals(0.0, 0.2)],
        [MatchSignals(1.0, 0.5)],
        [MatchSignals(0.0, 0.6, "from_cjk")],
        [MatchSignals(0.0, 0.6, "to_cjk")],
    ]
    unrelated = [
        [MatchSignals(0.0, 0.1)],
        [MatchSignals(0.1, 0.2)],
        [MatchSignals(0.0, 0.25, "from_cjk")],
        [MatchSignals(0.0, 0.24, "to_cjk")],
    ]
    found = calibrate(related, unrelated)
    assert (found.unrelated, found.related) == (pytest.approx(0.22), pytest.approx(0.6))
    assert found.relevance(MatchSignals(0.1, 0.2)) == pytest.approx(0.1, abs=0.01)
    assert found.relevance(MatchSignals(0.0, 0.25, "from_cjk")) == pytest.approx(0.1)
    assert found.relevance(MatchSignals(0.0, 0.24, "to_cjk")) == pytest.approx(0.1)
    assert found.relevance(MatchSignals(0.0, 0.2, "to_cjk")) < 0.1
    assert found.relevance(MatchSignals(1.0, 0.6)) > 1.0
