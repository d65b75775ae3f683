"""Reasoning, signatures and other extras go back with their calls, word for word, to the model they came from."""

from __future__ import annotations

from assistant.messages.blocks import AssistantMsg, Msg, TextBlock, ThinkingBlock, ToolCallBlock, ToolResultBlock
from assistant.models.providers.carried import put_back
from assistant.models.providers.request_form import TidyOpenAIFormatter

ORIGIN = "deepseek-v4 at api.example"
SIGNATURE = {"extra_content": {"google": {"thought_signature": "c2ln"}}}


def two_steps(**extras: object) -> Msg:
    """Two steps with a call each; what came with the first is in its thinking block."""
    thinking = ThinkingBlock.model_validate({"thinking": "I should look.", **extras})
    return AssistantMsg(
        "palimpsest",
        [
            thinking,
            ToolCallBlock(id="a", name="memory_get", input="{}"),
            ToolResultBlock(id="a", name="memory_get", output="Ada", state="success"),  # type: ignore[arg-type]
            ToolCallBlock(id="b", name="memory_get", input="{}"),
            ToolResultBlock(id="b", name="memory_get", output="Ben", state="success"),  # type: ignore[arg-type]
            TextBlock(text="Done."),
        ],
    )


async def sent(message: Msg, origin: str = ORIGIN) -> list[dict[str, object]]:
    """The messages as they go to `origin`."""
    wire = await TidyOpenAIFormatter().format([message])
    return put_back(wire, [message], origin)


async def test_reasoning_goes_back_with_its_calls_under_its_own_name():
    rows = await sent(two_steps(origin=ORIGIN, thought_field="reasoning_content"))
    assert [row.get("reasoning_content") for row in rows if row["role"] == "assistant"] == [
        "I should look.",
        None,
        None,
    ]


async def test_what_was_attached_to_a_call_goes_back_with_it():
    rows = await sent(two_steps(origin=ORIGIN, call_extras={"a": SIGNATURE}, message_extras={"signature": "xyz"}))
    assert rows[0]["signature"] == "xyz"
    calls = rows[0]["tool_calls"]
    assert isinstance(calls, list)
    assert calls[0]["extra_content"] == SIGNATURE["extra_content"]


async def test_another_model_gets_none_of_it():
    message = two_steps(origin=ORIGIN, thought_field="reasoning_content", call_extras={"a": SIGNATURE})
    rows = await sent(message, "gpt at other.example")
    assert rows == await TidyOpenAIFormatter().format([message])


async def test_thoughts_written_in_tags_are_not_sent_again():
    rows = await sent(two_steps())
    assert "I should look." not in str(rows)
