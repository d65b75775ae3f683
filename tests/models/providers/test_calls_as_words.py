"""A conversation with calls for a provider that is offered no tools: the same in words."""

from __future__ import annotations

from assistant.messages.blocks import AssistantMsg, TextBlock, ToolCallBlock, ToolResultBlock
from assistant.models.providers.calls_as_words import with_calls_as_words


def test_a_call_is_a_line_of_the_assistants_and_its_result_is_told_by_the_user() -> None:
    message = AssistantMsg(
        "palimpsest",
        [
            TextBlock(text="I add."),
            ToolCallBlock(id="sum", name="add", input='{"first": 1}'),
            ToolResultBlock(id="sum", name="add", output="three", state="success"),  # type: ignore[arg-type]
        ],
    )

    [told] = with_calls_as_words([message])

    kinds = [block.type for block in told.content]
    assert kinds == ["text", "text", "hint"]
    assert told.content[1].text == 'add({"first": 1})'  # type: ignore[union-attr]
    assert "three" in str(told.content[2].hint)  # type: ignore[union-attr]
    assert [block.type for block in message.content] == ["text", "tool_call", "tool_result"]
