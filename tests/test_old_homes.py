"""A home that an earlier version wrote opens as it was left: `data/home_2026_11` is one, made by running that version.

It was talked to by the offline assistant and by a loopback model: memory saved and forgotten, a large tool result, a
compaction taken back and one that stayed, their flushes, a pin, a conversation in the trash. Beside it are an export of
its conversations and an OpenClaw session that was compressed.
"""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from assistant.cli.main import main
from assistant.conversation.conversation import Conversation
from assistant.errors import ForgottenError
from assistant.messages.blocks import block_text
from assistant.messages.events import CompactionUndone, ContextCompressed, MemoryChanged, ToolFinished, TurnStarted
from assistant.models.scripted import ScriptedModel
from assistant.ui.chat.entries import Transcript
from assistant.ui.chat.fold import fold_all
from tests.fakes.home import SUMMARY, said_in, say, scripted_assistant, text

OLD = Path(__file__).parent / "data" / "home_2026_11"
TITLES = ["Tram times", "Lisbon trip", "Cello and quartet"]
TRIP = "aede435d98b24fb79a1ff1475524fdd5"
CARRIED = "I always carry the small camera, model X100, with two batteries."
ASKED = [
    "Please run `cat garden.txt` and tell me what is sown.",
    "I prefer the night train to Lisbon, never the early flight.",
    "We decided that the budget for the trip is 1,400 euros in all.",
    "Next week I am going to ask Marta about the flat in Alfama.",
    "I am allergic to peanuts, so no restaurant with satay.",
    "The deadline for the tickets is 2026-12-12.",
    "My sister Ines will join us on the third day and likes tiled churches.",
    "We agreed to visit Sintra on the fourth day and take the tram at nine.",
    CARRIED,
    "What is the budget for the trip?",
    "Which train do I prefer to Lisbon?",
]


@pytest.fixture
def old_home(home: Path) -> Path:
    """A copy of the home, written now."""
    # The age of a tool result is that of its file, and a checkout may be old.
    shutil.copytree(OLD / "home", home, copy_function=shutil.copyfile)
    return home


def prompts_of(model: ScriptedModel) -> list[str]:
    """All that each request held."""
    return [
        "\n".join(block_text(block) for message in request.messages for block in message.content)
        for request in model.requests
    ]


def shown(conversation: Conversation) -> Transcript:
    """The transcript that the page draws."""
    return fold_all(Transcript(), conversation.attach().history)


def test_the_fixture_names_no_machine() -> None:
    machine = re.compile(rb"/(?:home|root|tmp|var|mnt|work|Users)/|[A-Za-z]:\\\\|127\.0\.0\.1")
    assert [str(path) for path in OLD.rglob("*") if path.is_file() and machine.search(path.read_bytes())] == []
    assert sum(path.stat().st_size for path in OLD.rglob("*")) < 300_000


async def test_its_conversations_are_listed_and_one_goes_on(old_home: Path) -> None:
    model = ScriptedModel([[text("At nine, from Martim Moniz.")]], context_size=32_000)
    async with scripted_assistant(old_home, model) as assistant:
        assert [line.title for line in assistant.conversations.summaries()] == TITLES
        assert [line.title for line in assistant.conversations.trashed()] == ["Old plans for the attic"]
        conversation = assistant.conversations.open(TRIP)
        assert "At nine" in said_in(await say(assistant, conversation, "And when does the tram leave?"))
        assert assistant.conversations.summaries()[0].session_id == TRIP
    [sent] = prompts_of(model)
    # The prompt has the memory files, the summary stands for what was folded, and the pin is there word for word.
    for part in ("- To be called: Ada", "## Key context", "1,400 euros", CARRIED, "And when does the tram leave?"):
        assert part in sent, part
    assert "Bed 17" not in sent


async def test_its_transcript_is_shown_whole(old_home: Path) -> None:
    async with scripted_assistant(old_home, ScriptedModel([])) as assistant:
        conversation = assistant.conversations.open(TRIP)
        history = conversation.attach().history
        transcript = shown(conversation)
        [artifact] = transcript.artifact_ids
        assert "Bed 159: " in assistant.store.artifacts.read(artifact)
    assert [event.text for event in history if isinstance(event, TurnStarted)] == ASKED
    assert [event.state for event in history if isinstance(event, ToolFinished)] == ["success"]
    compactions = [event for event in history if isinstance(event, ContextCompressed)]
    assert [event.compaction_id for event in transcript.compactions] == [one.compaction_id for one in compactions]
    assert len(compactions) == 2
    # The first was taken back; the flush of each has its place in the chat.
    assert transcript.undoable == compactions[1].compaction_id
    assert {event.writer for event in history if isinstance(event, MemoryChanged)} == {"flush"}


async def test_its_compaction_is_taken_back_and_made_again(old_home: Path) -> None:
    model = ScriptedModel([[text("Beans first.")], [text(SUMMARY)]], context_size=32_000)
    async with scripted_assistant(old_home, model, memory_reserve_ratio=0.005) as assistant:
        conversation = assistant.conversations.open(TRIP)
        undone = [event for event in await say(assistant, conversation, "/undo") if isinstance(event, CompactionUndone)]
        assert [event.compaction_id for event in undone] == [shown(conversation).compactions[1].compaction_id]
        await say(assistant, conversation, "What did I sow?")
        again = await say(assistant, conversation, "/compact")
        assert [event.reason for event in again if isinstance(event, ContextCompressed)] == ["manual"]
    assert all(part in prompts_of(model)[0] for part in (*ASKED, "Bed 0: beans"))


async def test_its_memory_has_its_history_and_takes_more(old_home: Path) -> None:
    async with scripted_assistant(old_home, ScriptedModel([])) as assistant:

        def writers(name: str) -> list[str]:
            return [change.writer for change in assistant.memory_log.history(name)]

        assert writers("USER.md") == ["outside", "assistant", "assistant", "assistant", "flush", "flush"]
        newest = assistant.memory_log.history("USER.md")[-1]
        assert assistant.memory_log.text_after(newest) == (old_home / "USER.md").read_text("utf-8")
        await say(assistant, assistant.conversations.open(TRIP), "/remember The tram costs three euros.")
        assert writers("MEMORY.md")[-1] == "owner"
        assert "- The tram costs three euros.\n" in (old_home / "MEMORY.md").read_text("utf-8")


async def test_what_was_forgotten_stays_forgotten(old_home: Path) -> None:
    kept = [path.read_text("utf-8") for path in old_home.rglob("*") if path.is_file()]
    assert not any("garage code is heron" in content for content in kept)
    async with scripted_assistant(old_home, ScriptedModel([])) as assistant:
        with pytest.raises(ForgottenError):
            assistant.notes.add_lines("MEMORY.md", "Facts", ["the garage code is heron."], "flush")


@pytest.mark.parametrize(
    ("question", "place"),
    [
        ("cello quartet", "USER.md"),
        ("Borodin quartet rehearsal", "memory/2026-11-29.md"),
        ("阿尔法玛", "USER.md"),
        ("tram Martim Moniz", "dialog/2026-11-30.jsonl"),
    ],
)
async def test_search_finds_notes_and_what_was_said(old_home: Path, question: str, place: str) -> None:
    async with scripted_assistant(old_home, ScriptedModel([])) as assistant:
        await assistant.index.sync_words()
        answer = await assistant.index.search(question, 5)
    assert place in [hit.path for hit in answer.hits]


def test_its_export_is_read_into_another_home(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    other = tmp_path / "other"
    assert main(["import", str(OLD / "export.jsonl"), "--home", str(other)]) == 0
    capsys.readouterr()
    assert main(["sessions", "--home", str(other)]) == 0
    listed = capsys.readouterr().out
    assert [title for title in TITLES if title in listed] == TITLES


def test_a_compressed_session_is_restored(tmp_path: Path) -> None:
    shutil.copytree(OLD / "openclaw", tmp_path / "openclaw")
    session = tmp_path / "openclaw" / "sessions" / "s1.jsonl"
    [copy] = session.parent.glob("compressor-copies/*.jsonl")
    before = copy.read_bytes()
    assert main(["restore", str(session)]) == 0
    assert session.read_bytes() == before


def test_the_skill_in_the_home_still_runs(old_home: Path, tmp_path: Path) -> None:
    [copy] = (OLD / "openclaw" / "sessions" / "compressor-copies").glob("*.jsonl")
    session = Path(shutil.copyfile(copy, tmp_path / "s1.jsonl"))
    script = old_home / "skills" / "context-compressor" / "scripts" / "compress-simple.py"
    words = [sys.executable, str(script), str(session), "aggressive", "3", "--force"]
    environment = {"PYTHONPATH": str(Path(__file__).parent.parent), "HOME": str(tmp_path), "USERPROFILE": str(tmp_path)}
    done = subprocess.run(words, env=environment, capture_output=True, text=True, encoding="utf-8", check=False)
    assert done.returncode == 0, done.stderr
    assert re.fullmatch(r"Compression complete\. \d+ tokens remaining\.", done.stdout.splitlines()[-1])
    assert session.stat().st_size < copy.stat().st_size
