"""`/show` plays the sample beside the person's own conversations, in a home that nothing else knows."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from contextlib import nullcontext
from pathlib import Path

import pytest

from assistant.assembly.assistant import Assistant, open_assistant
from assistant.assembly.sample.show_command import with_show_command
from assistant.conversation.conversation import Conversation
from assistant.errors import SessionNotFoundError
from assistant.messages.events import Notice
from tests.assembly.sample.test_sample import settings_of
from tests.fakes.home import said_in, say
from tests.source_files import ROOT


async def test_the_sample_is_a_conversation_like_any_other_and_in_no_list(home: Path):
    async with with_show_command(open_assistant(settings_of(home))) as assistant:
        own = assistant.conversations.create()
        sample = (await assistant.submit(own, "/show zh")).conversation
        assert sample is not own
        assert sample.language == "zh"
        assert assistant.conversations.open(sample.session_id) is sample
        assert sample.session_id not in [line.session_id for line in assistant.conversations.summaries()]
        assert said_in(await say(assistant, own, "hello")) != ""
        first = assistant.owner_of(sample.session_id).workspace.root
        assert first.exists()
        again = (await assistant.submit(own, "/show en")).conversation
        assert again is not sample
        assert not first.exists()
        with pytest.raises(SessionNotFoundError):
            assistant.conversations.open(sample.session_id)
        second = assistant.owner_of(again.session_id).workspace.root
        assert second.exists()
    assert not second.exists()


async def test_forget_in_the_sample_looks_in_its_home_and_takes_nothing_out(home: Path):
    async with with_show_command(open_assistant(settings_of(home))) as assistant:
        fact = "The harbour of Genoa is my own secret place."
        (home / "MEMORY.md").write_text(f"- {fact}\n", encoding="utf-8")
        own = assistant.conversations.create()
        sample = (await assistant.submit(own, "/show en")).conversation
        note = next(assistant.owner_of(sample.session_id).workspace.memory_folder.glob("*.md"))
        line = note.read_text("utf-8").strip().split("\n")[-1].removeprefix("- ")

        async def notices(text: str) -> str:
            start = sample.next_number
            assert (await assistant.submit(sample, text)).conversation is sample
            events = [numbered.event async for numbered in sample.follow_until_idle(start)]
            return "\n".join(event.text for event in events if isinstance(event, Notice))

        assert "It stands nowhere" in await notices("/forget harbour of Genoa")
        assert "/forget 1 3 forgets" in await notices(f"/forget {line}")
        assert "thrown away whole" in await notices("/forget all")
        assert line in note.read_text("utf-8")
        assert fact in (home / "MEMORY.md").read_text("utf-8")


async def test_help_lists_it_where_it_is_offered_alone(home: Path):
    async with open_assistant(settings_of(home)) as assistant:
        own = assistant.conversations.create()
        assert "/show" not in await _help(assistant, own)
        async with with_show_command(nullcontext(assistant)):
            assert "/show [en or zh]: play a sample" in await _help(assistant, own)


async def _help(assistant: Assistant, conversation: Conversation) -> str:
    start = conversation.next_number
    await assistant.submit(conversation, "/help")
    events = [numbered.event async for numbered in conversation.follow_until_idle(start)]
    return "\n".join(event.text for event in events if isinstance(event, Notice))


@pytest.mark.skipif(os.name == "nt", reason="Windows ends a program without asking it")
def test_its_home_goes_with_a_program_that_is_told_to_end(home: Path, tmp_path: Path) -> None:
    folder = tmp_path / "temporary"
    folder.mkdir()
    environment = {**os.environ, "TMPDIR": str(folder), "PALIMPSEST_HOME": str(home), "PALIMPSEST_EMBEDDER": "none"}
    program = subprocess.Popen(
        [sys.executable, "-m", "assistant", "show"], env=environment, cwd=ROOT, stdout=subprocess.PIPE
    )
    assert program.stdout is not None
    # What it prints first comes from the home that is open.
    assert program.stdout.read(1)
    assert list(folder.glob("palimpsest-*/USER.md")) != []
    program.send_signal(signal.SIGTERM)
    program.communicate(timeout=120)
    assert list(folder.iterdir()) == []
