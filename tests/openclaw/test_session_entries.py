"""Reading a line: every kind of entry, every kind of damage, nothing lost."""

from __future__ import annotations

import json

import pytest

from assistant.openclaw.session_entries import EntryKind, read_line


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
