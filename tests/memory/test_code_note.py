"""What code notes of a compaction: the person's own words, and what is new in the summary."""

from __future__ import annotations

from assistant.memory.code_note import MAX_SAID_BYTES, CodeNote, SaidOn, note_by_code
from tests.compaction.conversations import reply, said, user

BEFORE = "## Progress\n### Done\n- packed the books\n\n## Key decisions\n- take the train"
AFTER = "## Goal\n- move\n\n" + BEFORE.replace("books\n", "books\n- sold the desk\n")


def test_it_holds_what_was_said_by_day_and_what_the_summary_adds() -> None:
    folded = [user("My new flat is at 14 Rope Street. Is it far?"), reply(said("Not at all, it is quite near."))]
    assert note_by_code(folded, AFTER, BEFORE) == CodeNote(
        said=(SaidOn("2026-11-30", ("My new flat is at 14 Rope Street.",)),), summary=("- sold the desk",)
    )


def test_a_line_of_the_summary_that_copies_the_person_is_not_written_twice() -> None:
    summary = "## Key decisions\n2026-11-30:\n- We decided to take the train."
    note = note_by_code([user("We decided to take the train.")], summary, "")
    assert note == CodeNote((SaidOn("2026-11-30", ("We decided to take the train.",)),), ())


def test_one_compaction_adds_a_bounded_note() -> None:
    folded = [user(f"My box number {number} holds the red lamp.", f"u{number}") for number in range(100, 5_000)]
    (day,) = note_by_code(folded, "", "").said
    assert sum(len(line) for line in day.lines) <= MAX_SAID_BYTES
    assert "number 4999 " in day.lines[-1]
