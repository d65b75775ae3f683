"""What an entry carries: every dialect of blocks, and what of it a model gets to see."""

from __future__ import annotations

import json

import pytest

from assistant.openclaw.entry_contents import CallContent, Content, ResultContent, content_chars, read_content
from assistant.openclaw.session_entries import read_line


def line(**fields: object) -> bytes:
    return json.dumps(fields, ensure_ascii=False).encode()


CONTENTS: dict[str, tuple[bytes, Content]] = {
    "openclaw": (
        line(
            type="message",
            message={
                "role": "assistant",
                "content": [
                    {"type": "thinking", "thinking": "hm", "thinkingSignature": "s"},
                    {"type": "text", "text": "I look."},
                    {"type": "toolCall", "id": "1", "name": "exec", "arguments": {"command": "ls"}},
                ],
            },
        ),
        Content(("I look.",), ("hm",), (CallContent("1", "exec", {"command": "ls"}),)),
    ),
    "anthropic": (
        line(
            role="assistant",
            content=[{"type": "text", "text": "a"}, {"type": "tool_use", "id": "1", "name": "Bash", "input": {"x": 1}}],
        ),
        Content(("a",), (), (CallContent("1", "Bash", {"x": 1}),)),
    ),
    "openai": (
        line(
            role="assistant",
            content="a",
            tool_calls=[{"id": "1", "type": "function", "function": {"name": "f", "arguments": '{"x":1}'}}],
        ),
        Content(("a",), (), (CallContent("1", "f", '{"x":1}'),)),
    ),
    "reasoning-content": (line(role="assistant", content="a", reasoning_content="r"), Content(("a",), ("r",))),
    "result": (
        line(
            type="message",
            message={
                "role": "toolResult",
                "toolCallId": "1",
                "toolName": "exec",
                "content": [{"type": "text", "text": "out"}],
                "details": {"exitCode": 2},
                "isError": True,
            },
        ),
        Content(results=(ResultContent("1", "exec", ("out",), 0, True, 2),)),
    ),
    "anthropic-result": (
        line(role="user", content=[{"type": "tool_result", "tool_use_id": "1", "content": "out", "is_error": True}]),
        Content(results=(ResultContent("1", "", ("out",), 0, True),)),
    ),
    "picture": (
        line(role="user", content=[{"type": "text", "text": "see"}, {"type": "image", "data": "AAAA"}]),
        Content(("see",), image_count=1),
    ),
    "string": (line(role="user", content="hello"), Content(("hello",))),
}


@pytest.mark.parametrize(("raw", "content"), CONTENTS.values(), ids=CONTENTS.keys())
def test_every_dialect_of_blocks_is_read_alike(raw: bytes, content: Content) -> None:
    assert read_content(read_line(raw)) == content


CHARS: dict[str, tuple[bytes, int]] = {
    "user": (line(role="user", content="12345"), 5),
    "thinking-text-name-and-arguments": (
        CONTENTS["openclaw"][0],
        len("hm") + len("I look.") + len('exec{"command":"ls"}'),
    ),
    "result-without-details": (CONTENTS["result"][0], 3),
    "picture": (CONTENTS["picture"][0], 3 + 4_800),
    "bash": (line(type="message", message={"role": "bashExecution", "command": "ls", "output": "a b"}), 5),
    "compaction": (line(type="compaction", summary="123", firstKeptEntryId="a"), 3),
    "settings-reach-no-model": (line(type="model_change", modelId="m"), 0),
}


@pytest.mark.parametrize(("raw", "chars"), CHARS.values(), ids=CHARS.keys())
def test_only_what_reaches_a_model_counts_as_content(raw: bytes, chars: int) -> None:
    entry = read_line(raw)
    assert content_chars(entry, read_content(entry)) == chars
