"""What the model is offered: few tokens, in the language of the conversation, and nothing that it cannot use."""

from __future__ import annotations

from pathlib import Path

import pytest

from assistant.config.prompts import render
from assistant.config.words import LANGUAGES, Language
from assistant.messages.blocks import text_of
from assistant.messages.tokens import TokenCounter
from assistant.models.scripted import ScriptedModel, ScriptedRequest
from assistant.text.json_values import is_object
from tests.fakes.home import say, scripted_assistant, text

MOST_TOKENS = 1_500
SMALL_WINDOW_TOKENS = 8_000
ALL_TOOLS = {"Bash", "Read", "Write", "Edit", "Glob", "Grep", "Skill", "memory_search", "memory_get", "memory_save"}
MEMORY_TOOLS = {"memory_search", "memory_get", "memory_save"}
HELLO: dict[Language, str] = {"en": "Good morning", "zh": "早上好，今天有什么安排？"}


async def first_request(home: Path, said: str, context_size: int = 16_000, **values: object) -> ScriptedRequest:
    """What the model is sent for the first message of a new conversation."""
    model = ScriptedModel([[text("Hello.")]], context_size=context_size)
    async with scripted_assistant(
        home, model, recall="off", **{"memory": "on", "language": "auto", **values}
    ) as assistant:
        await say(assistant, assistant.conversations.create(), said)
    return model.requests[0]


@pytest.mark.parametrize("language", LANGUAGES)
async def test_the_schemas_of_all_tools_take_few_tokens(home: Path, language: Language) -> None:
    request = await first_request(home, HELLO[language])
    assert set(request.tools) == ALL_TOOLS
    assert TokenCounter("qwen").schemas(request.schemas) <= MOST_TOKENS


@pytest.mark.parametrize("language", LANGUAGES)
async def test_tools_and_skills_are_described_in_the_language_of_the_first_message(
    home: Path, language: Language
) -> None:
    request = await first_request(home, HELLO[language])
    assert _descriptions(request) == {name: render(f"tool_{name.lower()}", language) for name in request.tools}
    heading = render("skills", language, skills=[]).splitlines()[0]
    assert heading in text_of(request.messages[0]).splitlines()


@pytest.mark.parametrize(
    ("context_size", "values", "tools", "told"),
    [
        (16_000, {}, ALL_TOOLS, "Commands and relative paths start in"),
        (16_000, {"tools": "memory"}, MEMORY_TOOLS, "You have the memory tools only"),
        (SMALL_WINDOW_TOKENS, {}, MEMORY_TOOLS, "You have the memory tools only"),
        (SMALL_WINDOW_TOKENS, {"memory": "off"}, set[str](), "You have no tools in this conversation"),
    ],
    ids=["all", "memory as it is set", "memory in a small window", "none"],
)
async def test_the_prompt_says_what_can_be_called_and_lists_skills_only_where_they_can_be_read(
    home: Path, context_size: int, values: dict[str, str], tools: set[str], told: str
) -> None:
    request = await first_request(home, HELLO["en"], context_size, **values)
    prompt = text_of(request.messages[0])
    said = [words for words in ("Commands and relative", "memory tools only", "no tools in this") if words in prompt]
    assert (set(request.tools), told in prompt, len(said)) == (tools, True, 1)
    assert ("# Skills" in prompt.splitlines()) is ("Read" in tools)


def _descriptions(request: ScriptedRequest) -> dict[str, str]:
    functions = [schema["function"] for schema in request.schemas]
    return {str(one["name"]): str(one["description"]) for one in functions if is_object(one)}
