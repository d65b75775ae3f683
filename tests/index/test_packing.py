"""From found chunks to what is handed over: the lines that answer, whole, each fact once, the newest first."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assistant.index.chunker import ChunkKind
from assistant.index.found_lines import FoundLines, join_lines
from assistant.index.packing import Room, pack_lines
from assistant.index.question_words import QuestionWords
from assistant.index.search import SearchHit


def chunk(day: str, *lines: str, first_line: int = 1, relevance: float = 0.5, kind: ChunkKind = "note") -> SearchHit:
    """A chunk of the note of a day, or of what was said on it."""
    text = "\n".join(lines)
    is_note = kind == "note"
    return SearchHit(
        path=f"memory/{day}.md" if is_note else f"dialog/{day}.jsonl",
        first_line=first_line,
        last_line=first_line + len(lines) - 1,
        heading="",
        snippet=text,
        text=text,
        relevance=relevance,
        kind=kind,
        day=day,
        session_id="" if is_note else f"session {day}",
        message_ids=() if is_note else tuple(f"{day} {index}" for index in range(len(lines))),
        score=relevance,
    )


def packed(hits: list[SearchHit], *terms: str, tokens: int = 600) -> tuple[FoundLines, ...]:
    """What is taken of the hits for a question with these terms."""
    words = QuestionWords(dict.fromkeys(terms, 1.0))
    return pack_lines(join_lines(hits, words, {}, ()), Room(tokens))


def texts(runs: tuple[FoundLines, ...]) -> list[list[str]]:
    """The lines of each passage."""
    return [[line.text for line in run.lines] for run in runs]


def test_a_line_comes_whole_with_what_is_around_it_and_the_far_ones_stay() -> None:
    hit = chunk("2026-11-01", "one", "two", "three", "the boat is blue", "five", "six", "seven", "eight", "nine")
    [lines] = texts(packed([hit], "boat"))
    assert lines == ["two", "three", "the boat is blue", "five", "six"]


def test_two_chunks_that_overlap_give_one_passage() -> None:
    first = chunk("2026-11-01", "the boat is blue", "it has a sail")
    second = chunk("2026-11-01", "it has a sail", "the sail is red", first_line=2)
    assert texts(packed([first, second], "boat", "sail")) == [["the boat is blue", "it has a sail", "the sail is red"]]


def test_what_is_said_five_times_comes_once_with_its_newest_day() -> None:
    hits = [chunk(f"2026-11-0{day}", "user: My locker code is 4471.", kind="said") for day in range(1, 6)]
    [run] = packed(hits, "locker", "code")
    assert (run.day, [line.text for line in run.lines]) == ("2026-11-05", ["user: My locker code is 4471."])


def test_a_note_is_kept_rather_than_what_was_said_and_has_its_newest_day() -> None:
    hits = [
        chunk("2026-11-01", "- My locker code is 4471"),
        chunk("2026-11-09", "user: Remember: my locker code is 4471!", kind="said"),
    ]
    [run] = packed(hits, "locker", "code")
    assert (run.day, [line.text for line in run.lines]) == ("2026-11-09", ["- My locker code is 4471"])


@pytest.mark.parametrize(
    ("said", "noted", "terms"),
    [
        (
            "user: We want three days by the sea, no rushing. I am allergic to peanuts, so every meal must be safe.",
            "- Allergic to peanuts: every meal must be safe (2026-11-09)",
            ("allergic", "peanuts", "meal", "safe"),
        ),
        ("user: 记住我妹妹住在奥斯陆", "- 我妹妹住在奥斯陆", ("妹妹", "住在")),
        (
            "user: 我想去海边玩三天，早上不要赶。我对花生过敏，每顿饭都要安全。",
            "- 对花生过敏，每顿饭都要安全（2026-11-09）",
            ("花生", "过敏"),
        ),
    ],
    ids=["a part of what was said", "an order to remember", "a part of what was said in Chinese"],
)
@pytest.mark.parametrize("is_better", [True, False], ids=["said ranks first", "noted ranks first"])
def test_what_a_memory_file_has_kept_is_taken_from_it(
    said: str, noted: str, terms: tuple[str, ...], is_better: bool
) -> None:
    hits = [
        chunk("2026-11-09", noted, relevance=0.4),
        chunk("2026-11-09", said, kind="said", relevance=0.8 if is_better else 0.2),
    ]
    [run] = packed(hits, *terms)
    assert ([line.text for line in run.lines], run.hit.kind) == ([noted], "note")


def test_what_was_said_stays_where_the_note_has_less_of_the_answer_or_another_number() -> None:
    more = [
        chunk("2026-11-09", "- The boat is in Split"),
        chunk("2026-11-09", "user: The boat is in Split, its berth is number nine.", kind="said"),
    ]
    other = [
        chunk("2026-11-08", "- My locker code is 4471"),
        chunk("2026-11-09", "user: My locker code is 5502 now.", kind="said"),
    ]
    assert len(packed(more, "boat", "berth", "number")) == 2
    assert len(packed(other, "locker", "code")) == 2


def test_where_the_better_of_two_has_no_room_the_other_stays() -> None:
    long_note = "- " + "the locker code is 4471 and " * 2 + "so on"
    hits = [chunk("2026-11-01", long_note), chunk("2026-11-09", "user: the locker code is 4471", kind="said")]
    [run] = packed(hits, "locker", "code", tokens=30)
    assert [line.text for line in run.lines] == ["user: the locker code is 4471"]


def test_another_number_and_a_denial_are_not_the_same_fact() -> None:
    hits = [
        chunk("2026-11-01", "My locker code is 4471.", "", "I like strong black tea."),
        chunk("2026-11-02", "My locker code is 5502.", "", "I do not like strong black tea."),
    ]
    said = [line for run in packed(hits, "locker", "tea") for line in run.lines]
    assert len(said) == 4


def test_the_newer_of_two_comes_first() -> None:
    hits = [
        chunk("2026-11-01", "The binding costs 185.", relevance=0.9),
        chunk("2026-11-08", "The binding costs 195 now.", relevance=0.2),
    ]
    assert [run.day for run in packed(hits, "binding", "costs")] == ["2026-11-08", "2026-11-01"]


def test_an_old_value_never_comes_without_the_newer_one() -> None:
    old = chunk("2026-11-01", "The leather quarter binding costs 185 euros.", relevance=0.9)
    new = chunk("2026-11-08", "The leather quarter binding costs 195 euros now, the thread got dearer.", relevance=0.1)
    for tokens in range(10, 120, 3):
        days = [run.day for run in packed([old, new], "leather", "binding", "costs", tokens=tokens)]
        assert days in ([], ["2026-11-08"], ["2026-11-08", "2026-11-01"])


@pytest.mark.parametrize("tokens", [60, 90, 120, 200, 600])
def test_however_little_room_there_is_the_newest_of_many_values_is_there(tokens: int) -> None:
    hits = [
        chunk(
            f"2026-11-0{day}", f"- soup of day {day}", f"- the spare key hangs behind clock {day}", relevance=relevance
        )
        for day, relevance in ((1, 0.6), (2, 0.8), (3, 0.9), (4, 0.5), (5, 0.5))
    ]
    runs = packed(hits, "spare", "key", "hangs", tokens=tokens)
    assert runs[0].day == "2026-11-05"
    assert "- the spare key hangs behind clock 5" in texts(runs)[0]


def test_a_line_that_only_asks_is_behind_one_that_answers() -> None:
    hits = [
        chunk("2026-11-01", "user: Where is the dentist in Harbour Lane?", kind="said"),
        chunk("2026-11-02", "The dentist is on the second floor in Harbour Lane."),
    ]
    assert texts(packed(hits, "dentist", "harbour", "lane", tokens=36)) == [
        ["The dentist is on the second floor in Harbour Lane."]
    ]


def test_nothing_comes_where_there_is_no_room() -> None:
    assert packed([chunk("2026-11-01", "the boat is blue")], "boat", tokens=5) == ()


@given(
    st.lists(
        st.lists(st.sampled_from(["a boat", "a sail?", "the boat is 4", "x", "", "# boat"]), min_size=1, max_size=8),
        max_size=6,
    ),
    st.integers(0, 200),
)
def test_every_line_is_whole_there_once_in_order_and_within_the_room(chunks: list[list[str]], tokens: int) -> None:
    hits = [chunk(f"2026-11-{day:02}", *lines) for day, lines in enumerate(chunks, 1)]
    runs = packed(hits, "boat", tokens=tokens)
    places = [(line.hit.path, line.hit.first_line + line.offset) for run in runs for line in run.lines]
    assert len(places) == len(set(places))
    assert [run.day for run in runs] == sorted((run.day for run in runs), reverse=True)
    for run in runs:
        assert [line.offset for line in run.lines] == sorted(line.offset for line in run.lines)
    assert sum(len(line.text) // 4 for run in runs for line in run.lines) <= tokens
