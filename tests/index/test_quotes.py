"""A found place is quoted by its sentences: those that answer are marked, each with its line."""

from __future__ import annotations

from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from assistant.index.chunker import JournalText
from assistant.index.found_lines import FoundLine, FoundLines
from assistant.index.packing import Room
from assistant.index.question_words import QuestionWords
from assistant.index.quotes import Quote, QuotedRow, QuotePlace, make_quotes
from assistant.index.search import SearchHit
from tests.index.fakes import HashEmbedder
from tests.index.homes import opened, write

AT = "2026-11-29T10:00:00+00:00"
ROOM = Room(2_000)


def quote_of(text: str, *terms: str, closeness: tuple[float, ...] = ()) -> list[tuple[int, str, bool]]:
    """Line, text and mark of each row of the quote of a note whose chunk starts in line 5."""
    hit = SearchHit("memory/a.md", 5, 9, "", text, text, 0.9, "note", "2026-11-29")
    words = QuestionWords(dict.fromkeys(terms, 1.0))
    lines = tuple(
        FoundLine(hit, index, line, words.share_in(line), closeness[index] if closeness else 0.0)
        for index, line in enumerate(text.split("\n"))
        if line
    )
    [quote] = make_quotes([FoundLines(lines)], words, lambda line: QuotePlace(5 + line.offset))
    return [(row.place.line, row.text, row.is_answer) for row in quote.rows]


def test_the_sentence_with_most_of_the_words_is_marked() -> None:
    text = "- Olga lives in Oslo. She drinks tea in the morning.\n\n- The train leaves at nine. It is blue."
    assert quote_of(text, "drink", "morning") == [
        (5, "- Olga lives in Oslo.", False),
        (5, "She drinks tea in the morning.", True),
        (7, "- The train leaves at nine. It is blue.", False),
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
    assert [row[1] for row in quote_of("喝茶。\n坐火车。", "tea", closeness=(0.1, 0.9)) if row[2]] == ["坐火车。"]


def test_only_what_is_nearly_as_good_as_the_best_of_all_is_marked() -> None:
    words = QuestionWords({"green": 1.0, "tea": 1.0})
    found: list[FoundLines] = []
    for text in ("The green tea is here.", "A green door."):
        hit = SearchHit("memory/a.md", 1, 1, "", text, text, 0.9, "note", "")
        found.append(FoundLines((FoundLine(hit, 0, text, words.share_in(text)),)))
    quotes = make_quotes(found, words, lambda line: QuotePlace(1))
    assert [quote.rows[0].is_answer for quote in quotes] == [True, False]


@given(st.text(alphabet="ab. ?茶。", min_size=1, max_size=700), st.lists(st.sampled_from(["a", "茶"]), max_size=2))
def test_rows_are_the_whole_line_in_order(text: str, terms: list[str]) -> None:
    rows = quote_of(text, *terms)
    assert "".join("".join(row.split()) for _, row, _ in rows) == "".join(text.split())


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
        quotes = await index.quote("Where does my sister live?", answer.hits, ROOM)
        known = await index.quote("Where does my sister live?", answer.hits, ROOM, {"m3"})
        nothing = await index.quote("Where does my sister live?", answer.hits, ROOM, {"m1", "m2", "m3"})
    assert quotes[0].rows == (
        QuotedRow(QuotePlace(3, "user"), "Hello.", False),
        QuotedRow(QuotePlace(3, "user"), "My sister lives in Oslo.", True),
    )
    assert [[row.place.line for row in quote.rows] for quote in quotes] == [[3, 3], [9]]
    assert [[row.place.line for row in quote.rows] for quote in known] == [[3, 3]]
    assert nothing == ()


async def test_a_question_that_finds_only_itself_finds_nothing(tmp_path: Path) -> None:
    write(tmp_path, "dialog/2026-11-29.jsonl", "{}")
    texts = [said(1, "m1", "user", "I like tea."), said(2, "m2", "user", "How tall is the tower?")]
    async with opened(tmp_path, read_dialog=lambda path: texts) as index:
        answer = await index.search("How tall is the tower?")
        assert answer.hits != ()
        assert await index.quote("How tall is the tower?", answer.hits, ROOM, {"m2"}) == ()


async def test_a_question_is_embedded_once_for_the_places_and_for_their_sentences(tmp_path: Path) -> None:
    write(tmp_path, "memory/a.md", "Train at nine. Hotel Alma.\n")
    embedder = HashEmbedder()
    async with opened(tmp_path, embedder) as index:
        embedder.embedded.clear()
        for question in ("warm bed", "warm bed", "early start"):
            answer = await index.search(question, min_score=0.0)
            await index.quote(question, answer.hits, ROOM)
    assert [
        text
        for text in embedder.embedded
        if text not in ("Train at nine. Hotel Alma.", "Train at nine.", "Hotel Alma.")
    ] == ["warm bed", "early start"]


async def test_a_line_of_a_note_is_that_of_the_file(tmp_path: Path) -> None:
    write(tmp_path, "memory/2026-11-29.md", "# Trip\n\n- Train at nine.\n- Hotel Alma.\n")
    async with opened(tmp_path) as index:
        answer = await index.search("which hotel")
        [quote] = await index.quote("which hotel", answer.hits, ROOM)
    assert quote == Quote(
        "memory/2026-11-29.md",
        "Trip",
        "2026-11-29",
        "note",
        1.0,
        (QuotedRow(QuotePlace(3), "- Train at nine.", False), QuotedRow(QuotePlace(4), "- Hotel Alma.", True)),
    )
