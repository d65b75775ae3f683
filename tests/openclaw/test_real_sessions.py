"""Two recorded runs of OpenClaw: every mode, the loader's order, and figures counted a second time by hand.

The files are data for measuring and no part of this repository; everything shown here is shown by made-up files too.
"""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from assistant.openclaw.compression_options import MODES, CompressionMode, Options
from assistant.openclaw.session_sizes import measure_session
from tests.openclaw.sessions import Fields, load_like_openclaw, parsed, shrink, survey

ROOT = Path(__file__).resolve().parents[2]
NAMES = ("liveclaw_email_short_26k.jsonl", "liveclaw_blog_aborted_58k.jsonl")


def lines_of(name: str) -> list[bytes]:
    data = os.environ.get("PALIMPSEST_BENCH_DATA")
    folders = [Path(data)] if data else [parent / "shared" / "data" for parent in ROOT.parents]
    for folder in folders:
        if (folder / "sessions" / name).is_file():
            return (folder / "sessions" / name).read_bytes().splitlines(keepends=True)
    pytest.skip(f"{name} is not in ../shared/data nor in PALIMPSEST_BENCH_DATA")


def hand_count(lines: list[bytes]) -> int:
    """Characters that reach the model, by a second, plain count over the parsed messages."""
    total = 0
    for entry in parsed(lines):
        message = entry.get("message")
        if entry["type"] != "message" or not isinstance(message, dict):
            continue
        for block in message["content"]:
            match block["type"]:
                case "text":
                    total += len(block["text"])
                case "thinking":
                    total += len(block["thinking"])
                case "toolCall":
                    arguments = json.dumps(block["arguments"], ensure_ascii=False, separators=(",", ":"))
                    total += len(block["name"]) + len(arguments)
                case other:
                    raise AssertionError(other)
    return total


@pytest.mark.parametrize("name", NAMES)
def test_the_figures_of_the_report_are_those_of_a_hand_count(name: str) -> None:
    lines = lines_of(name)
    chars = len(b"".join(lines).decode())
    size = measure_session(survey(lines))
    assert (size.chars, size.tokens) == (chars, chars // 3)
    assert size.context_chars == hand_count(lines)
    outcome = shrink(lines, Options(mode="aggressive", keep_tail="auto"))
    assert sum(found.chars for found in outcome.classes) == chars
    assert sum(found.lines for found in outcome.classes) == len(lines)
    assert sum(found.removed for found in outcome.classes) == outcome.removed_lines
    assert len(outcome.lines) == len(lines) - outcome.removed_lines + 2
    after = len(b"".join(outcome.lines).decode())
    assert (outcome.after.chars, outcome.tokens_after) == (after, after // 3)


@pytest.mark.parametrize("keep", [10, "auto"])
@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("name", NAMES)
def test_every_mode_shrinks_it_and_the_loader_builds_the_same_order(
    name: str, mode: CompressionMode, keep: int
) -> None:
    lines = lines_of(name)
    outcome = shrink(lines, Options(mode=mode, keep_tail=keep))
    assert outcome.status in ("done", "partial")
    assert outcome.tokens_after < outcome.tokens_before * 0.9
    loaded = load_like_openclaw(outcome.lines)
    assert loaded[0].startswith("summary: [SESSION SUMMARY]")
    messages = [entry for entry in parsed(outcome.lines) if entry["type"] == "message"]
    assert len(loaded) == 1 + len(messages)
    order = [entry["id"] for entry in parsed(lines)]
    assert [order.index(entry["id"]) for entry in messages] == sorted(order.index(entry["id"]) for entry in messages)
    assert loaded[-1] == load_like_openclaw(lines)[-1]
    assert _dangling(messages) <= _dangling([entry for entry in parsed(lines) if entry["type"] == "message"])


def test_with_the_standard_tail_the_short_file_is_all_tail_and_stays() -> None:
    lines = lines_of(NAMES[0])
    outcome = shrink(lines, Options())
    assert (outcome.status, list(outcome.lines)) == ("nothing", lines)


def test_with_the_standard_tail_the_long_file_loses_large_arguments_only() -> None:
    lines = lines_of(NAMES[1])
    outcome = shrink(lines, Options())
    assert (outcome.removed_lines, outcome.tail_lines_cut, outcome.status) == (0, 5, "partial")
    assert outcome.lines[-1] == lines[-1]


def _dangling(messages: list[Fields]) -> set[str]:
    calls: set[str] = set()
    results: set[str] = set()
    for entry in messages:
        message = entry["message"]
        assert isinstance(message, dict)
        results.update([message["toolCallId"]] if message["role"] == "toolResult" else [])
        calls.update(block["id"] for block in message["content"] if block["type"] == "toolCall")
    return calls ^ results
