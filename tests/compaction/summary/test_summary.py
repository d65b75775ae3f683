"""Asking for a summary: one retry with the reason, pieces in order, nothing left out silently."""

from __future__ import annotations

import pytest

from assistant.compaction.split import split
from assistant.compaction.summary.sections import write_sections
from assistant.compaction.summary.summary import Summary, SummaryFailure, summarise
from assistant.compaction.summary.summary_prompt import other_titles, summary_task
from assistant.errors import ModelError
from assistant.messages.blocks import Msg
from assistant.messages.tokens import TokenCounter
from tests.compaction.conversations import chat, policy, reply, summary_text, tool_steps, user
from tests.compaction.scripted_ask import Answer, ScriptedAsk

RULES = policy(10_000)
NOTES = "## Original request\nwater them\n## Progress so far\nfound the tap\n## Needed to go on\nthe hose"


async def ask_for(
    messages: list[Msg], answers: list[Answer], previous: str = "", window: int = 20_000
) -> tuple[Summary | SummaryFailure, ScriptedAsk]:
    """What comes of a script of answers."""
    counter = TokenCounter()
    ask = ScriptedAsk(answers)
    task = summary_task(
        split(messages, 0, counter, RULES), previous, RULES, "en", counter, summariser_window_tokens=window
    )
    return await summarise(task, ask, counter, other_titles("copaw", "en")), ask


async def test_a_valid_answer_is_taken_as_it_is() -> None:
    summary, ask = await ask_for(chat(60), [summary_text()])
    assert isinstance(summary, Summary)
    assert (write_sections(summary.sections), summary.carried_over, len(ask.prompts)) == (summary_text(), (), 1)


@pytest.mark.parametrize(
    ("bad", "words"),
    [
        pytest.param("ok", "it had none of the headings asked for", id="no headings"),
        pytest.param("## Goal\nship", "it was far too short", id="too short"),
        pytest.param("## Goal\n" + "word " * 3_000, "it was longer than 1000 tokens", id="too long"),
        pytest.param(summary_text("浇花" * 60), "it was not in English", id="another language"),
    ],
)
async def test_a_rejected_answer_is_asked_for_once_more_with_the_reason(bad: str, words: str) -> None:
    summary, ask = await ask_for(chat(60), [bad, summary_text()])
    assert isinstance(summary, Summary)
    assert ask.prompts[1].startswith(ask.prompts[0])
    assert words in ask.prompts[1]


async def test_two_bad_answers_are_a_failure_with_prompt_and_raw_words() -> None:
    failure, ask = await ask_for(chat(60), ["ok", "still ok"])
    assert isinstance(failure, SummaryFailure)
    assert (failure.raw, failure.reason, len(ask.prompts)) == (("ok", "still ok"), "no_headings", 2)
    assert failure.prompt.history_user == ask.prompts[0]


@pytest.mark.parametrize(
    ("error", "detail"),
    [(ModelError("quota"), "quota"), (TimeoutError(), "it took too long")],
    ids=["ours", "Python's"],
)
async def test_no_answer_is_not_asked_for_again(error: Exception, detail: str) -> None:
    failure, ask = await ask_for(chat(60), [error])
    assert isinstance(failure, SummaryFailure)
    assert (failure.raw, failure.reason, failure.detail, len(ask.prompts)) == ((), "no_answer", detail, 1)


async def test_an_answer_still_too_long_counts_and_is_cut_later() -> None:
    summary, ask = await ask_for(chat(60), [summary_text("word " * 800)])
    assert isinstance(summary, Summary)
    assert len(ask.prompts) == 2


async def test_headings_written_otherwise_are_put_right() -> None:
    answer = summary_text().replace("## Goal", "**目标：**").replace("## Key decisions", "### 4. KEY DECISIONS:")
    summary, _ = await ask_for(chat(60), [answer])
    assert isinstance(summary, Summary)
    assert write_sections(summary.sections).count("## Goal\n") == 1
    assert "## Key decisions\n" in write_sections(summary.sections)


async def test_pieces_are_summarised_one_after_another_each_as_an_update() -> None:
    answers: list[Answer] = [summary_text(f"part {n}") for n in range(20)]
    summary, ask = await ask_for(chat(60), answers, window=4_000)
    count = len(ask.prompts)
    assert count > 3
    assert "# previous-summary" not in ask.prompts[0]
    assert all(f"part {n - 1} of goal" in ask.prompts[n] for n in range(1, count))
    assert isinstance(summary, Summary)
    assert write_sections(summary.sections) == summary_text(f"part {count - 1}")


async def test_a_section_that_a_later_piece_forgot_is_carried_over() -> None:
    answers: list[Answer] = [summary_text("first part"), summary_text("later part, " * 9, ("Goal", "Progress"))]
    summary, _ = await ask_for(chat(60), answers, window=4_000)
    assert isinstance(summary, Summary)
    assert "first part of key context" in write_sections(summary.sections)
    assert "Key context" in summary.carried_over


async def test_a_turn_prefix_alone_leaves_the_rest_of_the_summary_as_it_was() -> None:
    messages = [user("water them"), reply(*tool_steps(5))]
    summary, ask = await ask_for(messages, [NOTES], previous=summary_text("earlier"))
    assert isinstance(summary, Summary)
    assert len(ask.prompts) == 1
    assert write_sections(summary.sections) == (
        f"{summary_text('earlier')}\n\n## Running turn\n### Original request\nwater them\n\n"
        "### Progress so far\nfound the tap\n\n### Needed to go on\nthe hose"
    )


async def test_history_and_turn_prefix_are_joined() -> None:
    messages = [*chat(30), user("water them", "u99"), reply(*tool_steps(5), id_="a99")]
    summary, ask = await ask_for(messages, [summary_text(), NOTES])
    assert isinstance(summary, Summary)
    assert len(ask.prompts) == 2
    assert [section.key for section in summary.sections][-1] == "running_turn"


async def test_a_prefix_that_cannot_be_summarised_fails_the_whole() -> None:
    messages = [*chat(30), user("water them", "u99"), reply(*tool_steps(5), id_="a99")]
    failure, _ = await ask_for(messages, [summary_text(), "ok"])
    assert isinstance(failure, SummaryFailure)
    assert failure.raw == (summary_text(), "ok", "ok")
