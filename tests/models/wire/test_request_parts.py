"""What servers refuse in a request, in their own words, and the request without it."""

from __future__ import annotations

import pytest

from assistant.models.wire.request_parts import RequestPart, refused_part, without_parts

TOOL = {"type": "function", "function": {"name": "memory_get", "parameters": {}}}
CALL = {"id": "c1", "type": "function", "function": {"name": "memory_get", "arguments": '{"path":"USER.md"}'}}
PICTURE = {"type": "image_url", "image_url": {"url": "data:image/png;base64,AA"}}
SENT: dict[str, object] = {
    "model": "m",
    "stream": True,
    "stream_options": {"include_usage": True},
    "parallel_tool_calls": False,
    "tool_choice": "auto",
    "tools": [TOOL],
    "messages": [
        {"role": "system", "content": "You help."},
        {"role": "user", "content": [{"type": "text", "text": "Look:"}, PICTURE]},
        {"role": "assistant", "content": "I look.", "reasoning_content": "Hm.", "tool_calls": [CALL]},
        {"role": "tool", "tool_call_id": "c1", "name": "memory_get", "content": "Ada"},
        {"role": "user", "content": "And?"},
    ],
}

REFUSALS: list[tuple[str, RequestPart]] = [
    ("Extra inputs are not permitted: stream_options.include_usage", "stream_options"),
    ("Unknown parameter: 'stream_options'.", "stream_options"),
    ("Unsupported parameter: parallel_tool_calls", "parallel_tool_calls"),
    ('"auto" tool choice requires --enable-auto-tool-choice and --tool-call-parser to be set', "tools"),
    ("registry.ollama.ai/library/gemma3:4b does not support tools", "tools"),
    ("This model does not support function calling.", "tools"),
    ("Function calling is not enabled for this model", "tools"),
    ("No endpoints found that support tool use.", "tools"),
    ("tools param requires --jinja flag", "tools"),
    ("`tool_choice` must be one of none, required", "tool_choice"),
    ("Only user and assistant roles are supported! System role not supported", "system_role"),
    ("Developer instruction is not enabled for models/gemma-3", "system_role"),
    ("This model does not support image inputs", "pictures"),
    ("Invalid content type. image_url is only supported by certain models.", "pictures"),
    ("image input is not supported - hint: you may need to provide the mmproj", "pictures"),
    ("messages[1].content: Input should be a valid string", "pictures"),
    ("Extra inputs are not permitted: messages.2.reasoning_content", "thoughts"),
    ("Conversation roles must alternate user/assistant/user/assistant/...", "alternating_roles"),
]


@pytest.mark.parametrize(("words", "part"), REFUSALS, ids=[words[:50] for words, _ in REFUSALS])
def test_the_part_that_is_refused_is_known(words: str, part: RequestPart) -> None:
    assert refused_part(words, SENT) == part


def test_reasoning_that_is_missed_is_known() -> None:
    message = {"role": "assistant", "content": None, "tool_calls": [CALL]}
    words = "The `reasoning_content` in the thinking mode must be passed back to the API."
    assert refused_part(words, {"messages": [message]}) == "missing_thoughts"
    assert without_parts({"messages": [message]}, ["missing_thoughts"])["messages"] == [
        {"reasoning_content": "", **message}
    ]


@pytest.mark.parametrize(
    "words",
    [
        "Invalid schema for function 'memory_get': None is not of type 'object'",
        "The model `m` does not exist",
        "You exceeded your current quota, check your plan",
        "Internal server error",
    ],
)
def test_a_refusal_of_something_else_takes_nothing_away(words: str) -> None:
    assert refused_part(words, SENT) is None


def test_what_was_not_sent_is_not_what_was_refused() -> None:
    assert refused_part("This model does not support tools", {"messages": [{"role": "user", "content": "Hi"}]}) is None


def test_without_tools_calls_and_results_are_told_in_words() -> None:
    left = without_parts(SENT, ["tools"])
    assert {"tools", "tool_choice", "parallel_tool_calls"} & left.keys() == set()
    assert left["messages"] == [
        {"role": "system", "content": "You help."},
        {"role": "user", "content": [{"type": "text", "text": "Look:"}, PICTURE]},
        {
            "role": "assistant",
            "content": 'I look.\nmemory_get({"path":"USER.md"})',
            "reasoning_content": "Hm.",
        },
        {"role": "user", "content": "Result of memory_get:\nAda\n\nAnd?"},
    ]


def test_a_picture_that_is_refused_leaves_a_sentence() -> None:
    messages = without_parts(SENT, ["pictures"])["messages"]
    assert isinstance(messages, list)
    assert messages[1] == {"role": "user", "content": "Look:\n[A picture was here. This model cannot take it.]"}


def test_a_system_prompt_that_is_refused_is_said_by_the_user() -> None:
    body = {"messages": [{"role": "system", "content": "You help."}, {"role": "user", "content": "Hi"}]}
    assert without_parts(body, ["system_role"])["messages"] == [{"role": "user", "content": "You help.\n\nHi"}]


def test_fields_are_left_out_and_nothing_else_changes() -> None:
    left = without_parts(SENT, ["stream_options", "parallel_tool_calls", "thoughts"])
    assert left.keys() == SENT.keys() - {"stream_options", "parallel_tool_calls"}
    assert "reasoning_content" not in str(left)
    assert without_parts(SENT, []) == SENT
