"""What goes wrong between two steps is told, and the turn goes on."""

from __future__ import annotations

import errno
import os
from pathlib import Path

import pytest

from assistant.assembly.assistant import open_assistant
from assistant.messages.events import CompactionUndone, Notice, TurnFinished
from assistant.models.scripted import ScriptedModel
from tests.fakes.home import SUMMARY, home_settings, say, scripted_assistant, text
from tests.fakes.players import SequencePlayer
from tests.fakes.provider import StrictProvider
from tests.fakes.wire import Reply

LONG = "The cellar key hangs behind the door. " * 300


def refuse_next_replace(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The next file that is put in place is refused as on a full disk; the list names its folder then."""
    refused: list[str] = []
    replace = os.replace

    def refusing(source: Path, target: Path) -> None:
        if not refused:
            refused.append(Path(target).parent.name)
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        replace(source, target)

    monkeypatch.setattr(os, "replace", refusing)
    return refused


async def test_an_undo_that_cannot_be_written_during_a_turn_does_not_end_the_turn(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    model = ScriptedModel([[text("Noted.")], [text("Noted.")], [text(SUMMARY)], [text("Still here.")]])
    async with scripted_assistant(home, model) as assistant:
        conversation = assistant.conversations.create()
        await say(assistant, conversation, LONG)
        await say(assistant, conversation, "And now?")
        await say(assistant, conversation, "/compact")
        start = conversation.next_number
        conversation.ask("Where is the key?")
        conversation.undo()
        refused = refuse_next_replace(monkeypatch)
        await conversation.wait()
        told = [numbered.event async for numbered in conversation.follow_until_idle(start)]

    assert refused == ["sessions"]

    assert [event for event in told if isinstance(event, CompactionUndone)] == []
    assert any("could not be undone" in event.text for event in told if isinstance(event, Notice))
    assert [event.reason for event in told if isinstance(event, TurnFinished)] == ["completed"]


@pytest.mark.parametrize(("reads_tokens", "times"), [(None, 0), (2_000, 1)])
async def test_a_server_that_reads_less_than_it_is_sent_is_told_once(
    home: Path, reads_tokens: int | None, times: int
) -> None:
    told: list[str] = []
    with StrictProvider(SequencePlayer(*[Reply(text="Noted.")] * 6), window_tokens=32_000) as provider:
        provider.reads_tokens = reads_tokens
        settings = home_settings(home, provider="openai", base_url=provider.base_url)
        async with open_assistant(settings) as assistant:
            conversation = assistant.conversations.create()
            for _ in range(6):
                told += [
                    one.text for one in await say(assistant, conversation, LONG[:3_000]) if isinstance(one, Notice)
                ]
    assert sum("PALIMPSEST_MAX_INPUT_LENGTH=2000" in one for one in told) == times
    assert len(told) == times
