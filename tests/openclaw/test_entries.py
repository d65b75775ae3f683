"""Reading a line: every dialect, every kind of damage, nothing lost."""

from __future__ import annotations

import json

import pytest

from assistant.openclaw.contents import Call, Content, Result, content_chars, read_content
from assistant.openclaw.entries import EntryKind, read_line


def line(**fields: object) -> bytes:
    return json.dumps(fields, ensure_ascii=False).encode()


KINDS: dict[str, tuple[bytes, EntryKind]] = {
    "header": (line(type="session", id="s"), "header"),
    "user": (line(type="message", id="a", message={"role": "user", "content": "hi"}), "user"),
    "plain-user": (line(role="user", content="hi"), "user"),
    "assistant": (line(type="message", message={"role": "assistant", "content": []}), "assistant"),
    "tool-result": (line(type="message", message={"role": "toolResult", "toolCallId": "1"}), "result"),
    "openai-tool": (line(role="tool", tool_call_id="1", content="x"), "result"),
    "anthropic-result": (
        line(role="user", content=[{"type": "tool_result", "tool_use_id": "1", "content": "x"}]),
        "result",
    ),
    "anthropic-result-with-words": (
        line(role="user", content=[{"type": "tool_result", "tool_use_id": "1"}, {"type": "text", "text": "go on"}]),
        "user",
    ),
    "bash": (line(type="message", message={"role": "bashExecution", "command": "ls", "output": ""}), "bash"),
    "system": (line(role="system", content="You are"), "system"),
    "hook-message-of-version-2": (line(type="message", message={"role": "hookMessage", "content": "x"}), "injected"),
    "custom-message": (line(type="custom_message", customType="x", content="x"), "injected"),
    "branch-summary": (line(type="branch_summary", fromId="a", summary="x"), "injected"),
    "compaction": (line(type="compaction", summary="x", firstKeptEntryId="a"), "summary"),
    "spoken-summary": (line(role="system", content="[SESSION SUMMARY]\n• [Fact] x"), "spoken_summary"),
    "reset": (line(type="reset", id="r"), "reset"),
    "bare-marker": (line(type="system", lastCompressed="2026-04-21T12:00:00Z", compressedTokens=1), "marker"),
    "custom-marker": (line(type="custom", customType="context-compressor", data={}), "marker"),
    "custom": (line(type="custom", customType="model-snapshot"), "state"),
    "model-change": (line(type="model_change", id="a"), "state"),
    "unknown-type": (line(type="future_native", opaque=None), "state"),
    "unknown-role": (line(role="narrator", content="x"), "injected"),
    "torn": (b'{"type":"message","id":"a","mess', "unparsable"),
    "array": (b"[1,2]", "unparsable"),
    "not-a-number": (b'{"a":NaN}', "unparsable"),
    "number-of-5000-digits": (b'{"a":' + b"9" * 5000 + b"}", "unparsable"),
    "nested-too-deep": (b'{"a":' + b"[" * 200_000 + b"}", "unparsable"),
    "empty": (b"\n", "blank"),
    "white-space": (b" \t \r\n", "blank"),
}


@pytest.mark.parametrize(("raw", "kind"), KINDS.values(), ids=KINDS.keys())
def test_a_line_is_told_by_its_type_and_role(raw: bytes, kind: EntryKind) -> None:
    assert read_line(raw).kind == kind


def test_a_byte_order_mark_and_windows_line_ends_are_no_part_of_the_json() -> None:
    entry = read_line(b'\xef\xbb\xbf{"type":"session","id":"s"}\r\n', is_first=True)
    assert (entry.kind, entry.id) == ("header", "s")


def test_bytes_that_are_no_utf8_are_carried_through() -> None:
    entry = read_line(b'{"role":"user","content":"caf\xe9"}')
    assert entry.kind == "user"
    assert entry.text.encode("utf-8", "surrogateescape") == b'{"role":"user","content":"caf\xe9"}'


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
        Content(("I look.",), ("hm",), (Call("1", "exec", {"command": "ls"}),)),
    ),
    "anthropic": (
        line(
            role="assistant",
            content=[{"type": "text", "text": "a"}, {"type": "tool_use", "id": "1", "name": "Bash", "input": {"x": 1}}],
        ),
        Content(("a",), (), (Call("1", "Bash", {"x": 1}),)),
    ),
    "openai": (
        line(
            role="assistant",
            content="a",
            tool_calls=[{"id": "1", "type": "function", "function": {"name": "f", "arguments": '{"x":1}'}}],
        ),
        Content(("a",), (), (Call("1", "f", '{"x":1}'),)),
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
        Content(results=(Result("1", "exec", ("out",), 0, True, 2),)),
    ),
    "anthropic-result": (
        line(role="user", content=[{"type": "tool_result", "tool_use_id": "1", "content": "out", "is_error": True}]),
        Content(results=(Result("1", "", ("out",), 0, True),)),
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
