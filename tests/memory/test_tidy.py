"""A nearly full memory file is looked through; what could go is proposed with its reason, and only that."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assistant.errors import ModelError
from assistant.memory.needless_lines import TidyProposal
from assistant.memory.notes import Note
from assistant.memory.tidy import (
    Tidied,
    Tidying,
    ask_for_proposals,
    merge_proposals,
    propose_tidying,
    without_accepted,
)
from assistant.models.scripted import ScriptedModel
from tests.fakes.home import scripted_assistant, text


def found(text: str) -> list[tuple[int, int, str]]:
    """Line, the line that stays, and the reason of each proposal; any file is nearly full here."""
    proposals = propose_tidying([Note("USER.md", text, "d")], cap_chars=1).proposals
    return [(proposal.line, proposal.stays_line, proposal.reason) for proposal in proposals]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("- likes tea\n- has a cat\n* Likes  tea.", [(3, 1, "says the same")]),
        ("- 喜欢喝绿茶\n- 喜欢喝绿茶。", [(2, 1, "says the same")]),
        ("- works at a bakery in Bern\n- works at a bakery in Bern since spring", [(1, 2, "says nearly the same")]),
        ("- 周末常去苏黎世湖边散步和看书\n- 周末常去苏黎世湖边散步和看书喝茶", [(1, 2, "says nearly the same")]),
        ("- likes green tea in the morning\n- does not like green tea in the morning", []),
        ("- train leaves at 7:10 from Bern\n- train leaves at 8:10 from Bern", []),
        ("- Phone: 555-0142\n- Phone: 555-0199", [(1, 2, "is newer")]),
        ("- 邮箱：a@example.org\n- 邮箱：b@example.org", [(1, 2, "is newer")]),
        ("- Likes: tea\n- Likes: coffee", []),
        ("## Home\n- Room: 12\n## Work\n- Room: 14", []),
        ("- weighs 70 kg (2026-02-01)\n- weighs 70 kg (2025-12-01)", [(2, 1, "is newer")]),
        ("- tea\n  - green\n- tea", []),
        ("```\nlikes tea\nlikes tea\n```\n# likes tea\n# likes tea", []),
        ("- a b c d e\n- a b c d e f\n- a b c d e f g", [(1, 2, "says nearly the same")]),
    ],
)
def test_lines_that_another_makes_needless_are_proposed(text: str, expected: list[tuple[int, int, str]]) -> None:
    assert found(text) == expected


def test_nothing_is_proposed_for_a_file_with_room() -> None:
    note = Note("USER.md", "- likes tea\n- likes tea\n", "d")
    assert propose_tidying([note], cap_chars=len(note.text) * 10 // 8 + 1) == Tidying((), "")


def test_one_notice_tells_of_all_full_files() -> None:
    notes = [
        Note("USER.md", "- tea\n- tea\n", "d"),
        Note("SOUL.md", "- calm and brief", "d"),
        Note("MEMORY.md", "", ""),
    ]
    tidying = propose_tidying(notes, cap_chars=13)
    assert tidying.notice == (
        "Nearly full: USER.md (92%), SOUL.md (123%). 1 line could go; what is over the cap is not in the prompt. "
        "Nothing is removed by itself."
    )
    assert tidying.proposals[0].diff == "--- USER.md\n+++ USER.md\n@@ -2 +1,0 @@\n-- tea"


def test_accepted_lines_leave_the_text_where_they_still_stand() -> None:
    text = "- tea\n- cat\n- tea\n"
    (proposal,) = propose_tidying([Note("USER.md", text, "d")], cap_chars=1).proposals
    assert without_accepted(text, [proposal]) == Tidied("- tea\n- cat\n", 1, 0)
    assert without_accepted("- new\n" + text, [proposal]) == Tidied("- new\n" + text, 0, 1)
    assert without_accepted(text, []) == Tidied(text, 0, 0)


def test_a_line_that_moved_is_found_and_one_whose_reason_went_stays() -> None:
    text = "- works in Bern\n- works in Bern since spring\n"
    (proposal,) = propose_tidying([Note("USER.md", text, "d")], cap_chars=1).proposals
    assert (proposal.text, proposal.stays) == ("- works in Bern", "- works in Bern since spring")
    assert without_accepted("# Me\n" + text, [proposal]) == Tidied("# Me\n- works in Bern since spring\n", 1, 0)
    assert without_accepted("- works in Bern\n", [proposal]) == Tidied("- works in Bern\n", 0, 1)


def test_a_long_file_is_compared_where_it_can_be_the_same() -> None:
    many = [f"- fact number {number + 100} about topic {'abcdefg'[number % 7]}" for number in range(20_000)]
    text = "\n".join([*many, "- likes fact number 117 about topic d", "- Phone: 1", *many[:3], "- Phone: 2"])
    proposals = propose_tidying([Note("MEMORY.md", text, "d")]).proposals
    assert [(proposal.line, proposal.stays_line) for proposal in proposals] == [
        (18, 20_001),
        (20_002, 20_006),
        (20_003, 1),
        (20_004, 2),
        (20_005, 3),
    ]


async def test_a_model_names_lines_and_is_held_to_them() -> None:
    asked: list[str] = []

    async def ask(system: str, user: str) -> str:
        asked.append(user)
        return "2 < 4\n4 < 2\n1 < 2\n3 < 99\n5 < 5\nLine 4 could go too\n"

    note = Note("USER.md", "# Me\nI moved to Bern\nlikes tea\nlives in Bern now </file>\nx", "d")
    (proposal,) = await ask_for_proposals(note, ask, "en")
    assert (proposal.line, proposal.stays_line, proposal.reason) == (2, 4, "says it, as the model reads it")
    assert asked[0].startswith('<file path="USER.md">\n1: # Me\n2: I moved to Bern\n')
    assert asked[0].count("</file>") == 1


async def test_a_model_that_finds_nothing_proposes_nothing() -> None:
    async def ask(system: str, user: str) -> str:
        return "NO_REPLY"

    assert await ask_for_proposals(Note("USER.md", "- tea", "d"), ask, "zh") == ()


def test_what_the_model_adds_contradicts_nothing_found_by_code() -> None:
    def proposal(line: int, stays: int) -> TidyProposal:
        return TidyProposal("USER.md", line, f"- {line}", f"- {stays}", stays, "says the same")

    by_code = Tidying((proposal(3, 1),), "notice")
    more = [proposal(1, 2), proposal(3, 2), proposal(4, 3), proposal(5, 1)]
    assert merge_proposals(by_code, more) == Tidying((proposal(3, 1), proposal(5, 1)), "notice")


lines = st.lists(
    st.sampled_from(
        ["- likes tea", "- likes green tea a lot", "- Phone: 1", "- Phone: 2", "# A", "", "  - deep", "- 喜欢绿茶"]
    ),
    max_size=12,
)


@given(lines)
def test_whatever_is_accepted_its_reason_stays_and_all_else_too(lines: list[str]) -> None:
    text = "\n".join(lines)
    proposals = propose_tidying([Note("USER.md", text, "d")], cap_chars=1).proposals if text else ()
    gone = {proposal.line for proposal in proposals}
    assert all(proposal.stays_line not in gone for proposal in proposals)
    rest = "\n".join(line for number, line in enumerate(lines, 1) if number not in gone)
    assert without_accepted(text, proposals) == Tidied(rest, len(gone), 0)


async def test_an_open_assistant_asks_its_model_too(home: Path) -> None:
    full = "\n".join(["- likes tea", "- moved to Bern", "- lives in Bern now", *(f"- fact {n}" for n in range(1_700))])
    model = ScriptedModel([[text("2 < 3")], ModelError("No answer.")])
    async with scripted_assistant(home, model, memory="on") as assistant:
        assert await assistant.propose_tidying() == Tidying((), "")
        assert await assistant.propose_tidying(["SOUL.md"]) == Tidying((), "")
        note = assistant.notes.read("USER.md")
        assistant.notes.save("USER.md", full, note.digest, "owner")
        tidying = await assistant.propose_tidying()
        assert [(proposal.line, proposal.stays_line) for proposal in tidying.proposals] == [(2, 3)]
        assert tidying.notice.endswith("The model was asked about USER.md and named 1 line.")
        assert (await assistant.propose_tidying()).notice.endswith("The model could not be asked: No answer.")
        assert assistant.notes.read("USER.md").text == full
        tidied = assistant.tidy("USER.md", tidying.proposals)
        assert (tidied.removed, tidied.left) == (1, 0)
        assert "- moved to Bern\n" not in assistant.notes.read("USER.md").text
        change = assistant.memory_log.history("USER.md")[-1]
        assert (change.writer, assistant.memory_log.text_before(change)) == ("tidy", full)
        assert assistant.tidy("USER.md", tidying.proposals).removed == 0
        assert assistant.memory_log.history("USER.md")[-1] == change


async def test_without_a_model_for_it_the_notice_says_so(home: Path) -> None:
    async with scripted_assistant(home, ScriptedModel([])) as assistant:
        note = assistant.notes.read("USER.md")
        assistant.notes.save("USER.md", "\n".join(f"- fact {n}" for n in range(2_000)), note.digest, "owner")
        tidying = await assistant.propose_tidying(["USER.md"])
    assert tidying.proposals == ()
    assert "No line in it says what another says" in tidying.notice
    assert "No model was asked" in tidying.notice
