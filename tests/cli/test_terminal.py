"""Events as lines of a terminal: short, and unable to drive it."""

from __future__ import annotations

import pytest

from assistant.agent.compactor import CompactionPreview
from assistant.agent.window import ContextItem
from assistant.cli.terminal import preview_text, terminal_text
from assistant.messages.events import (
    ApprovalRequested,
    CompactionUndone,
    Event,
    MemoryChanged,
    Notice,
    Recalled,
    RecalledLine,
    TextDelta,
    ThinkingDelta,
    ToolFinished,
    ToolStarted,
    TurnFailed,
    TurnFinished,
)


@pytest.mark.parametrize(
    ("event", "shown"),
    [
        (TextDelta("b", "Hello,\n  you"), "Hello,\n  you"),
        (TextDelta("b", "\x1b[2J\x07gone\u202e"), "[2Jgone"),
        (ThinkingDelta("b", "hm"), ""),
        (ToolStarted("c", "Bash", '{"command":\n"ls"}'), '\n· Bash {"command": "ls"}\n'),
        (ToolFinished("c", "Bash", "success", "a\nb"), "  success: a b\n"),
        (
            ToolFinished("c", "Read", "success", "x" * 301, artifact_id="7"),
            f"  success (full text: 7): {'x' * 300}…\n",
        ),
        (
            ApprovalRequested("c", "Bash", "{}", "rm -r x\x1b[1A", "It runs a command."),
            "\n? It runs a command.\nrm -r x⟨U+001B⟩[1A\n",
        ),
        (
            ApprovalRequested("c", "Bash", "{}", f"ls{chr(10) * 50}sh", "It runs a command."),
            "\n? It runs a command.\nls⏎\n" + "⏎\n" * 49 + "sh\n(51 lines, 54 characters)\n",
        ),
        (CompactionUndone("k", 12), "\n↶ compaction taken back: 12 messages are in the context again\n"),
        (MemoryChanged("USER.md", "flush", "", "1"), "\n✎ USER.md changed by flush\n"),
        (Recalled((RecalledLine("memory/a.md", 3, "tea\nat five", 0.8),)), "  ↺ memory/a.md:3 tea at five\n"),
        (Notice("Careful."), "\n! Careful.\n"),
        (Notice("By the way.", "info"), "\ni By the way.\n"),
        (TurnFailed("t", "No answer."), "\n! No answer.\n"),
        (TurnFinished("t", "completed"), "\n"),
        (TurnFinished("t", "interrupted"), "\n[interrupted]\n"),
        (TurnFinished("t", "awaiting_approval"), ""),
        (
            TurnFinished("t", "output_limit", output_tokens=4096),
            "\n[the model stopped at its output limit of 4,096 tokens; /continue goes on]\n",
        ),
    ],
    ids=lambda value: value.type if not isinstance(value, str) else "",
)
def test_an_event_is_shown_in_lines(event: Event, shown: str) -> None:
    assert terminal_text(event) == shown


def test_a_preview_says_what_would_be_folded() -> None:
    item = ContextItem("messages", "You: text", "Good\nmorning", 12)
    assert preview_text(CompactionPreview(9_000, 7_000, (item,), 2, "")) == (
        "Compacting now would fold 7,000 of 9,000 tokens and keep 2 turns. Folded would be:\n"
        "     12  You: text: Good morning"
    )


def test_a_preview_of_nothing_says_why() -> None:
    assert preview_text(CompactionPreview(100, 0, (), 0, "Nothing would be folded.")) == "Nothing would be folded."
