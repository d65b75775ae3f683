"""The lines of overlapping chunks are there once, in order, those that follow each other together."""

from __future__ import annotations

from assistant.index.found_lines import join_lines
from assistant.index.question_words import QuestionWords
from assistant.index.search import SearchHit

WORDS = QuestionWords({"tea": 1.0})


def note(first_line: int, *lines: str, path: str = "memory/2026-11-01.md") -> SearchHit:
    """A chunk of a note."""
    text = "\n".join(lines)
    return SearchHit(path, first_line, first_line + len(lines) - 1, "", text, text, 0.9, "note", "2026-11-01")


def said(first_line: int, *lines: tuple[str, str], session_id: str = "s") -> SearchHit:
    """A chunk of a conversation: message and line."""
    text = "\n".join(line for _, line in lines)
    ids = tuple(message_id for message_id, _ in lines)
    path = "dialog/2026-11-02.jsonl"
    return SearchHit(path, first_line, first_line + 9, "", text, text, 0.8, "said", "2026-11-02", session_id, "", ids)


def joined(*hits: SearchHit, known: tuple[str, ...] = ()) -> list[list[str]]:
    """The texts of the lines, list by list."""
    return [[line.text for line in lines] for lines in join_lines(hits, WORDS, {}, known)]


def test_overlapping_chunks_of_a_note_give_one_list() -> None:
    assert joined(note(3, "b", "c", "d"), note(1, "a", "b")) == [["a", "b", "c", "d"]]


def test_chunks_that_touch_give_one_list_and_chunks_apart_two() -> None:
    assert joined(note(1, "a"), note(2, "b"), note(9, "c")) == [["a", "b"], ["c"]]


def test_overlapping_chunks_of_a_conversation_are_joined_by_what_was_said() -> None:
    first = said(1, ("m1", "user: a"), ("m2", "assistant: b"))
    second = said(2, ("m2", "assistant: b"), ("m3", "user: c"))
    assert joined(second, first) == [["user: a", "assistant: b", "user: c"]]
    assert joined(first, said(2, ("m2", "assistant: b"), session_id="t")) == [
        ["user: a", "assistant: b"],
        ["assistant: b"],
    ]


def test_blank_lines_are_left_out_and_known_messages_part_the_text() -> None:
    hit = said(1, ("m1", "user: a"), ("m1", ""), ("m2", "assistant: b"), ("m3", "user: c"))
    assert joined(hit, known=("m2",)) == [["user: a"], ["user: c"]]


def test_a_line_knows_its_place_its_message_and_how_near_it_is() -> None:
    hit = said(1, ("m1", "user: hello"), ("m2", "assistant: green tea"))
    [[first, second]] = join_lines([hit], WORDS, {0: [0.1, 0.4]}, ())
    assert (first.message_id, first.share, first.closeness) == ("m1", 0.0, 0.1)
    assert (second.message_id, second.share, second.closeness, second.offset) == ("m2", 1.0, 0.4, 1)
