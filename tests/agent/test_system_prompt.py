"""The owner's files in the prompt: whole while they fit, else with a marker that says what is missing, and told."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assistant.agent.system_prompt import PromptTexts, SystemPrompt, cap_file, compose_system_prompt
from assistant.messages.events import Notice
from assistant.models.scripted import ScriptedModel
from assistant.storage.workspace import FILE_MAX_CHARS, MEMORY_MAX_CHARS
from tests.fakes.home import say, scripted_assistant, text
from tests.index.homes import write


def composed(files: Mapping[str, str], max_tokens: int = 1_000_000) -> SystemPrompt:
    """The prompt of these files, a character a token."""
    return compose_system_prompt(
        PromptTexts({"AGENTS.md": "", "SOUL.md": "", "USER.md": "", "MEMORY.md": "", **files}, ""),
        language="en",
        today="2026-11-30",
        home=Path("HOME"),
        files_folder=Path("HOME/files"),
        tools="all",
        skills="",
        max_tokens=max_tokens,
        count=len,
    )


@pytest.mark.parametrize("length", [0, 1, 19_999, 20_000])
def test_a_text_up_to_the_limit_stays_as_it_is(length: int) -> None:
    assert cap_file("USER.md", "x" * length, FILE_MAX_CHARS, "en") == "x" * length


def test_a_longer_text_keeps_seven_tenths_of_its_head_and_two_of_its_tail_and_says_so() -> None:
    text = "h" * 14_000 + "m" * 7_000 + "t" * 4_000
    assert cap_file("MEMORY.md", text, FILE_MAX_CHARS, "en") == (
        "h"
        * 14_000
        + "\n[… MEMORY.md is longer than fits here: its first 14000 and last 4000 of 25000 characters are shown. "
        "Read the file for the rest. …]\n" + "t" * 4_000
    )


@given(st.text(max_size=300), st.integers(10, 200))
def test_what_is_shown_is_the_texts_own_head_and_tail(text: str, max_chars: int) -> None:
    capped = cap_file("USER.md", text, max_chars, "zh")
    if capped != text.strip():
        head, _, rest = capped.partition("\n[… USER.md")
        assert text.strip().startswith(head.removesuffix("\n"))
        assert text.strip().endswith(rest.rpartition("…]\n")[2])


def test_a_file_that_does_not_fit_is_named_and_its_part_is_counted_as_it_stands() -> None:
    prompt = composed({"SOUL.md": "calm", "MEMORY.md": "fact\n" * 5_000})
    assert prompt.shortened == ("MEMORY.md",)
    assert 18_000 < prompt.part_tokens["memory"] < FILE_MAX_CHARS
    assert prompt.part_tokens["soul"] == 4
    assert prompt.part_tokens["system"] == len(prompt.text) - prompt.part_tokens["memory"] - 4


def test_the_files_together_stay_within_what_the_window_gives_them() -> None:
    files = dict.fromkeys(("AGENTS.md", "SOUL.md", "USER.md", "MEMORY.md"), "fact\n" * 5_000)
    whole, small = composed(files), composed(files, max_tokens=3_000)
    without_frame = sum(size for part, size in whole.part_tokens.items() if part not in ("system",))
    assert without_frame <= MEMORY_MAX_CHARS + FILE_MAX_CHARS
    assert sum(size for part, size in small.part_tokens.items() if part != "system") <= 3_000
    assert small.shortened == ("AGENTS.md", "SOUL.md", "USER.md", "MEMORY.md")


async def test_the_person_and_the_model_are_told_of_a_file_that_does_not_fit_once(home: Path) -> None:
    model = ScriptedModel([[text("Hello.")], [text("Hello.")]], context_size=128_000)
    write(home, "MEMORY.md", "- one fact among many, and all of them true\n" * 600)
    async with scripted_assistant(home, model) as assistant:
        conversation = assistant.conversations.create()
        told = [*(await say(assistant, conversation, "Hi")), *(await say(assistant, conversation, "Hi"))]
    notices = [event.text for event in told if isinstance(event, Notice)]
    assert [notice.partition(" (")[0] for notice in notices] == ["MEMORY.md is too long to stand in the prompt whole"]
    assert "MEMORY.md is longer than fits here" in (model.requests[0].messages[0].get_text_content() or "")
    assert (home / "MEMORY.md").stat().st_size == 600 * 44
