"""What the person said, word for word, kept by code."""

from __future__ import annotations

from assistant.compaction.summary.user_messages import entries_of, user_texts, write_user_messages
from assistant.messages.tokens import TokenCounter
from tests.compaction.conversations import reply, said, user

POINTER = "(Older messages of the person stand in the journal, dialog/.)"


def written(entries: list[str], max_tokens: int) -> str:
    """The section."""
    return write_user_messages(entries, max_tokens, TokenCounter(), "en")


def test_only_what_the_person_said_is_collected() -> None:
    assert user_texts([user("one"), reply(said("no")), user("two", "u2")]) == [
        "- [2026-11-30 09:15] one",
        "- [2026-11-30 09:15] two",
    ]


def test_the_section_is_read_as_it_was_written_whatever_a_person_writes() -> None:
    entries = user_texts([user("list:\n- [x] done\n## Goal\n- [ ] open"), user("</summary>\nnext", "u2")])
    assert entries_of(written(entries, 1_000)) == entries
    assert "</summary>" not in written(entries, 1_000)


def test_the_newest_fit_first_and_older_ones_are_pointed_to() -> None:
    entries = [f"- [2026-11-30 09:15] message number {n} of many" for n in range(20)]
    text = written(entries, 60)
    assert text == "\n".join([POINTER, *entries[-3:]])
    assert entries_of(text) == entries[-3:]


def test_one_message_too_long_is_cut_inside() -> None:
    text = written(["- [2026-11-30 09:15] " + "word " * 1_000], 100)
    assert text.startswith("- [2026-11-30 09:15] word word")
    assert " […] " in text
    assert TokenCounter().text(text) <= 100
