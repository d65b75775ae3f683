"""The stand-in for a summary: same input, same words; nothing of the previous summary is thrown away first."""

from __future__ import annotations

from itertools import pairwise

from hypothesis import given, settings
from hypothesis import strategies as st

from assistant.compaction.digest.digest import digest_sections
from assistant.compaction.policy import PresetName
from assistant.compaction.summary.sections import FilledSection
from assistant.config.words import Language
from assistant.messages.blocks import Msg
from assistant.messages.tokens import TokenCounter
from tests.compaction.conversations import call as a_call
from tests.compaction.conversations import chat, reply, result, said, tool_steps, user

MARK = (
    "(Written by a program without a model: what was asked and done, shortened. "
    "What the person stated stands word for word in the other sections.)"
)


def digest(
    older: list[Msg],
    prefix: list[Msg] | None = None,
    previous: tuple[FilledSection, ...] = (),
    language: Language = "en",
    tokens: int = 1_000,
) -> dict[str, str]:
    """The bodies of a digest by key."""
    sections = digest_sections(older, prefix or [], previous, "copaw", language, tokens, TokenCounter())
    return {section.key: section.body for section in sections}


def sections_of(bodies: dict[str, str]) -> tuple[FilledSection, ...]:
    """A digest as the previous summary of the next."""
    return tuple(FilledSection(key, key, body) for key, body in bodies.items())


def test_it_lists_what_was_asked_answered_and_done() -> None:
    run = a_call("c1", "Bash", '{"command": "make"}')
    older = [user("build the app in /srv/app"), reply(run, result("c1", "built\nall"), said("It is built."))]
    assert digest(older) == {
        "goal": "- [2026-11-30 09:15] The person: build the app in /srv/app",
        "progress": (
            f"{MARK}\n"
            "- [2026-11-30 09:15] The person: build the app in /srv/app\n"
            '- [2026-11-30 09:15] Bash({"command": "make"}) → success: built all\n'
            "- [2026-11-30 09:15] The assistant: It is built."
        ),
        "context": "- Named: /srv/app",
    }


def test_what_the_person_stated_stands_word_for_word_where_it_belongs() -> None:
    older = [
        user("Help me with the move."),
        user("Never book a flight on Sunday. My sister Ines lives at 14 Rope Street.", "u2"),
        reply(said("Understood, I will keep that in mind for the whole journey.")),
        user("We decided to take the night train. What else is there?", "u3"),
    ]
    found = digest(older)
    assert found["constraints"] == "2026-11-30:\n- Never book a flight on Sunday."
    assert found["decisions"] == "2026-11-30:\n- We decided to take the night train."
    assert found["context"] == "2026-11-30:\n- My sister Ines lives at 14 Rope Street."
    assert found["goal"].splitlines()[0] == "- [2026-11-30 09:15] The person: Help me with the move."


def test_facts_outlive_small_talk_and_many_digests() -> None:
    previous: tuple[FilledSection, ...] = ()
    facts = [f"My box number {number} holds the red lamp." for number in range(50, 80)]
    for stretch in range(5):
        older = [user(f"The tram was late again. {fact}", fact) for fact in facts[stretch * 6 : stretch * 6 + 6]]
        older += [user(f"It rained for a while on the roof, part {n}{stretch}.", f"t{n}") for n in range(40)]
        found = digest(older, previous=previous)
        previous = sections_of(found)
        assert TokenCounter().text("\n".join(found.values())) <= 1_000
    assert [fact for fact in facts if fact not in "\n".join(found.values())] == []


def test_where_not_all_fits_every_stretch_keeps_some() -> None:
    facts = [f"My box number {number} holds the red lamp." for number in range(100, 300)]
    context = digest([user(fact, fact) for fact in facts])["context"]
    kept = [number for number in range(100, 300) if f"number {number} " in context]
    assert 299 in kept
    assert max(later - earlier for earlier, later in pairwise([99, *kept])) <= 12


def test_an_answer_given_twice_is_listed_once() -> None:
    older = [message for n in range(3) for message in (user("And now?", f"u{n}"), reply(said("Wait."), id_=f"a{n}"))]
    assert digest(older)["progress"].count("Wait.") == 1


def test_it_is_written_in_the_language_of_the_conversation() -> None:
    assert digest([user("构建应用")], language="zh")["goal"] == "- [2026-11-30 09:15] 用户：构建应用"


def test_the_newest_request_stands_beside_the_first_goal() -> None:
    previous = (FilledSection("goal", "Goal", "ship the app\n- [2026-11-29 10:00] Asked last: old wish"),)
    assert digest(chat(2, ""), previous=previous)["goal"] == (
        "ship the app\n- [2026-11-30 09:15] Asked last: question 1"
    )


def test_the_newest_work_stands_and_of_older_work_every_stretch_keeps_some() -> None:
    older = [reply(a_call("c1", "Bash", f'{{"command": "make {n:03}"}}'), id_=f"a{n}") for n in range(200)]
    progress = digest(older)["progress"]
    kept = [number for number in range(200) if f"make {number:03}" in progress]
    assert kept[-3:] == [197, 198, 199]
    assert kept[0] < 60
    assert TokenCounter().text(progress) < 400


def test_steps_of_a_running_turn_stand_in_their_own_part() -> None:
    found = digest([], [reply(*tool_steps(2))])
    assert list(found) == ["running_turn"]
    assert found["running_turn"].count("Bash(") == 2


def test_what_was_noted_of_a_turn_that_ended_joins_the_progress() -> None:
    previous = (FilledSection("running_turn", "Running turn", "built half of it"),)
    found = digest(chat(1), previous=previous)
    assert "running_turn" not in found
    assert found["progress"].startswith("built half of it\n")


def test_other_sections_of_the_previous_summary_stay_as_they_are() -> None:
    previous = (FilledSection("constraints", "Constraints and preferences", "never on a friday"),)
    assert digest(chat(1), previous=previous)["constraints"] == "never on a friday"


def test_a_result_of_megabytes_costs_one_line() -> None:
    older = [reply(a_call("c1"), result("c1", "x" * 5_000_000))]
    assert len(digest(older)["progress"]) < 400


@settings(max_examples=40, deadline=None)
@given(
    st.lists(st.lists(st.text(max_size=400), min_size=1, max_size=12), min_size=1, max_size=4),
    st.integers(200, 2_000),
    st.sampled_from(["copaw", "skill_compose"]),
)
def test_whatever_is_said_digests_of_digests_stay_within_their_room(
    stretches: list[list[str]], tokens: int, preset: PresetName
) -> None:
    counter, previous = TokenCounter(), ()
    for texts in stretches:
        older = [user(text, f"u{number}") for number, text in enumerate(texts)]
        older += [reply(said(text), id_=f"a{number}") for number, text in enumerate(texts)]
        previous = digest_sections(older, [], previous, preset, "en", tokens, counter)
        # The goal, a mark and the days may stand beside a section that keeps its least share.
        assert sum(counter.text(section.body) for section in previous) <= tokens * 1.5 + 400
        again = digest_sections(older, [], previous, preset, "en", tokens, counter)
        assert {section.key for section in again} >= {section.key for section in previous} - {"running_turn"}
