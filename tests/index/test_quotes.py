"""A found place is quoted by its sentences: those that answer are marked, each with its line."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assistant.index.chunker import JournalText
from assistant.index.quotes import (
    Quote,
    QuotedRow,
    QuotePlace,
    Sentence,
    make_quote,
    sentences_of,
    share_of,
    wants_meaning,
)
from assistant.index.search import SNIPPET_CHARS, SearchHit
from tests.index.fakes import HashEmbedder
from tests.index.homes import opened, write

AT = "2026-11-29T10:00:00+00:00"


def hit_of(text: str, message_ids: tuple[str, ...] = ()) -> SearchHit:
    """A hit on a note whose chunk starts in line 5."""
    return SearchHit("memory/a.md", 5, 9, "", text, text, 0.9, "note", "2026-11-29", message_ids=message_ids)


def quote_of(text: str, *terms: str, scores: list[float] | None = None) -> list[tuple[int, str, bool]]:
    """Line, text and mark of each row of the quote."""
    hit = hit_of(text)
    quote = make_quote(hit, sentences_of(hit, terms), scores, terms, lambda one: QuotePlace(hit.first_line + one.line))
    return [(row.place.line, row.text, row.is_answer) for row in quote.rows]


def test_the_sentence_with_most_of_the_words_is_marked() -> None:
    text = "- Olga lives in Oslo. She drinks tea in the morning.\n\n- The train leaves at nine."
    assert quote_of(text, "drink", "morning") == [
        (5, "- Olga lives in Oslo.", False),
        (5, "She drinks tea in the morning.", True),
        (7, "- The train leaves at nine.", False),
    ]


def test_headings_and_empty_labels_answer_nothing() -> None:
    assert quote_of("## Tea\n- Tea:\n- It is green.", "tea") == [
        (5, "## Tea", False),
        (6, "- Tea:", False),
        (7, "- It is green.", True),
    ]


def test_equal_sentences_are_both_marked_and_questions_never() -> None:
    text = "Where is my tea?\nMy tea is green.\nThe tea stands on the shelf.\nNo tea is black."
    assert [row for row in quote_of(text, "tea") if row[2]] == [
        (6, "My tea is green.", True),
        (7, "The tea stands on the shelf.", True),
    ]


def test_meaning_decides_where_it_was_asked() -> None:
    assert [row[1] for row in quote_of("喝茶。\n坐火车。", "tea", scores=[0.1, 0.9]) if row[2]] == ["坐火车。"]


@pytest.mark.parametrize(("term", "text"), [("drinks", "I drink"), ("city", "two cities"), ("living", "She lived")])
def test_a_word_is_found_in_another_form(term: str, text: str) -> None:
    assert share_of(text, [term]) == 1.0


def test_meaning_is_asked_only_where_words_leave_a_choice() -> None:
    def sentence(share: float, text: str = "x") -> Sentence:
        return Sentence(0, "", text, text, share)

    assert wants_meaning([sentence(0.0), sentence(0.3)])
    assert not wants_meaning([sentence(0.0), sentence(0.5)])
    assert not wants_meaning([sentence(0.0), sentence(0.1, "Why?")])


@given(st.text(alphabet="ab. \n?茶。", max_size=700), st.lists(st.sampled_from(["a", "茶"]), max_size=2))
def test_rows_are_sentences_of_the_text_in_order_and_short(text: str, terms: list[str]) -> None:
    rows = quote_of(text, *terms)
    assert [line for line, _, _ in rows] == sorted(line for line, _, _ in rows)
    assert all(len(row) <= SNIPPET_CHARS + 1 for _, row, _ in rows)
    whole = {sentence.row for sentence in sentences_of(hit_of(text), terms)}
    assert all(row in whole or "…" in row for _, row, _ in rows)


def said(line: int, message_id: str, role: str, text: str) -> JournalText:
    """A text of one conversation."""
    return JournalText("s", message_id, role, "text", text, AT, line=line)


async def test_a_sentence_of_a_conversation_has_its_line_and_its_speaker(tmp_path: Path) -> None:
    write(tmp_path, "dialog/2026-11-29.jsonl", "{}")
    texts = [
        said(3, "m1", "user", "Hello.\nMy sister lives in Oslo."),
        said(7, "m2", "assistant", "Noted: your sister lives in Oslo."),
        said(9, "m3", "user", "Where does my sister live?"),
    ]
    async with opened(tmp_path, read_dialog=lambda path: texts) as index:
        answer = await index.search("Where does my sister live?")
        quotes = await index.quote("Where does my sister live?", answer.hits)
        known = await index.quote("Where does my sister live?", answer.hits, {"m3"})
        nothing = await index.quote("Where does my sister live?", answer.hits, {"m1", "m2", "m3"})
    assert quotes[0].rows == (
        QuotedRow(QuotePlace(3, "user"), "Hello.", False),
        QuotedRow(QuotePlace(3, "user"), "My sister lives in Oslo.", True),
        QuotedRow(QuotePlace(7, "assistant"), "Noted: your sister lives in Oslo.", True),
        QuotedRow(QuotePlace(9, "user"), "Where does my sister live?", False),
    )
    assert [row.place.line for row in known[0].rows] == [3, 3, 7]
    assert nothing == ()


async def test_a_question_that_finds_only_itself_finds_nothing(tmp_path: Path) -> None:
    write(tmp_path, "dialog/2026-11-29.jsonl", "{}")
    texts = [said(1, "m1", "user", "I like tea."), said(2, "m2", "user", "How tall is the tower?")]
    async with opened(tmp_path, read_dialog=lambda path: texts) as index:
        answer = await index.search("How tall is the tower?")
        assert answer.hits != ()
        assert await index.quote("How tall is the tower?", answer.hits, {"m2"}) == ()


async def test_a_question_is_embedded_once_for_the_places_and_for_their_sentences(tmp_path: Path) -> None:
    write(tmp_path, "memory/a.md", "Train at nine. Hotel Alma.\n")
    embedder = HashEmbedder()
    async with opened(tmp_path, embedder) as index:
        embedder.embedded.clear()
        for question in ("warm bed", "warm bed", "early start"):
            await index.search(question)
            await index.quote(question, [hit_of("Train at nine. Hotel Alma.")])
    sentences = {"Train at nine.", "Hotel Alma."}
    assert [text for text in embedder.embedded if text not in sentences] == ["warm bed", "early start"]


async def test_a_line_of_a_note_is_that_of_the_file(tmp_path: Path) -> None:
    write(tmp_path, "memory/2026-11-29.md", "# Trip\n\n- Train at nine.\n- Hotel Alma.\n")
    async with opened(tmp_path) as index:
        answer = await index.search("which hotel")
        [quote] = await index.quote("which hotel", answer.hits)
    assert quote == Quote(
        "memory/2026-11-29.md",
        "Trip",
        "2026-11-29",
        "note",
        1.0,
        (QuotedRow(QuotePlace(3), "- Train at nine.", False), QuotedRow(QuotePlace(4), "- Hotel Alma.", True)),
    )
