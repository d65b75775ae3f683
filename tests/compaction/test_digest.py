"""The stand-in for a summary: same input, same words; nothing of the previous summary is thrown away first."""

from __future__ import annotations

from assistant.compaction.digest import digest_sections
from assistant.compaction.sections import FilledSection
from assistant.messages import Msg
from assistant.prompts import Language
from assistant.tokens import TokenCounter
from tests.compaction.conversations import call as a_call
from tests.compaction.conversations import chat, reply, result, said, tool_steps, user


def digest(
    older: list[Msg],
    prefix: list[Msg] | None = None,
    previous: tuple[FilledSection, ...] = (),
    language: Language = "en",
) -> dict[str, str]:
    """The bodies of a digest by key."""
    sections = digest_sections(older, prefix or [], previous, "copaw", language, 1_000, TokenCounter())
    return {section.key: section.body for section in sections}


def test_it_lists_what_was_asked_answered_and_done() -> None:
    run = a_call("c1", "Bash", '{"command": "make"}')
    older = [user("build the app in /srv/app"), reply(run, result("c1", "built\nall"), said("It is built."))]
    assert digest(older) == {
        "goal": "- [2026-11-30 09:15] The person: build the app in /srv/app",
        "progress": (
            "(This part was written by a program without a model: it lists what was said and done, shortened.)\n"
            "- [2026-11-30 09:15] The person: build the app in /srv/app\n"
            '- [2026-11-30 09:15] Bash({"command": "make"}) → success: built all\n'
            "- [2026-11-30 09:15] The assistant: It is built."
        ),
        "context": "- Named: /srv/app",
    }


def test_it_is_written_in_the_language_of_the_conversation() -> None:
    assert digest([user("构建应用")], language="zh")["goal"] == "- [2026-11-30 09:15] 用户：构建应用"


def test_the_newest_request_stands_beside_the_first_goal() -> None:
    previous = (FilledSection("goal", "Goal", "ship the app\n- [2026-11-29 10:00] Asked last: old wish"),)
    assert digest(chat(2, ""), previous=previous)["goal"] == (
        "ship the app\n- [2026-11-30 09:15] Asked last: question 1"
    )


def test_the_newest_entries_fit_and_the_oldest_are_left_to_the_journal() -> None:
    progress = digest(chat(200))["progress"]
    assert "question 199" in progress
    assert "question 0 " not in progress
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
