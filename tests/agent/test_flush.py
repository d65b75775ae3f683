"""What a compaction folded is written into memory beside the conversation, once, whatever happens."""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import Callable, Sequence
from datetime import datetime, timedelta, timezone
from pathlib import Path

import pytest

from assistant.agent.flush import Flusher, FlushModel
from assistant.compaction.record import CompactionRecord
from assistant.errors import ModelError
from assistant.memory.admission import Admission
from assistant.memory.log import MemoryLog
from assistant.memory.notes import Notes
from assistant.memory.waiting import WaitingLines
from assistant.messages.blocks import Msg, TextBlock, ToolCallBlock, ToolResultBlock, UserMsg, block_text, text_of
from assistant.messages.events import FlushFinished, MemoryChanged
from assistant.messages.tokens import TokenCounter
from assistant.models.scripted import ScriptedModel, ScriptedRequest, ScriptStep
from assistant.storage.journal.journal import Journal
from assistant.storage.journal.rows import FlushRow
from assistant.storage.journal.unwritten import Unwritten, folded_stretch
from assistant.storage.workspace import FILE_MAX_CHARS, Workspace
from tests.fakes.home import SUMMARY, call, kinds_of, say, scripted_assistant, text
from tests.fakes.records import folding
from tests.index.homes import write

LONG = "The cellar key hangs behind the door. " * 300
OAT = "- I am allergic to oats."


def add(lines: list[str], call_id: str = "call_add_lines_0001", file: str = "USER.md") -> ToolCallBlock:
    arguments = {"file": file, "heading": "Preferences", "lines": lines}
    return call("add_lines", json.dumps(arguments), call_id)


def asked_of(request: ScriptedRequest) -> str:
    """What a flush is asked: the one message of its person."""
    assert [message.role for message in request.messages[:2]] == ["system", "user"]
    return text_of(request.messages[1])


def results_in(request: ScriptedRequest) -> list[str]:
    """The texts of the tool results in a request, oldest first."""
    blocks = [block for message in request.messages for block in message.content]
    return [block_text(block) for block in blocks if isinstance(block, ToolResultBlock)]


async def flushed(
    home: Path, *steps: ScriptStep, waits: bool = True, question: str = "And now?"
) -> list[ScriptedRequest]:
    """The requests of a flush that answers with these steps, after a compaction the person asked for."""
    model = ScriptedModel([[text("Noted.")], [text("Noted.")], [text(SUMMARY)], *steps])
    async with scripted_assistant(home, model, memory="on", recall="off") as assistant:
        conversation = assistant.conversations.create()
        await say(assistant, conversation, f"I am allergic to oats. {LONG}")
        await say(assistant, conversation, question)
        await say(assistant, conversation, "/compact")
        if waits:
            await assistant.flushes.wait()
    model.assert_complete()
    return model.requests[3:]


def user_file(home: Path) -> str:
    return (home / "USER.md").read_text(encoding="utf-8")


async def test_a_flush_writes_lines_and_tells_it_in_the_conversation(home: Path) -> None:
    model = ScriptedModel(
        [[text("Noted.")], [text("Noted.")], [text(SUMMARY)], [add(["I am allergic to oats."])], [text("NO_REPLY")]]
    )
    async with scripted_assistant(home, model, memory="on") as assistant:
        conversation = assistant.conversations.create()
        await say(assistant, conversation, f"I am allergic to oats. {LONG}")
        await say(assistant, conversation, "And now?")
        start = conversation.next_number
        await say(assistant, conversation, "/compact")
        await assistant.flushes.wait()
        told = [numbered.event async for numbered in conversation.follow_until_idle(start)]
        rows = assistant.store.journal.rows(conversation.session_id)

    assert OAT in user_file(home).splitlines()
    assert kinds_of(told) == ["context_compressed", "memory_changed", "flush_finished"]
    assert [event.path for event in told if isinstance(event, MemoryChanged)] == ["USER.md"]
    assert [event.state for event in told if isinstance(event, FlushFinished)] == ["done"]
    assert [row.state for row in rows if isinstance(row, FlushRow)] == ["done"]
    assert "I am allergic to oats." in text_of(model.requests[3].messages[1])
    assert set(model.requests[3].tools) == {"read", "add_lines"}


async def test_a_line_that_was_cut_off_is_not_written_and_the_model_gives_it_again(home: Path) -> None:
    half = call(
        "add_lines", '{"file": "USER.md", "heading": "Preferences", "lines": ["I am allergic to o', "call_half0001"
    )
    requests = await flushed(home, [half], [add(["I am allergic to oats."])], [text("NO_REPLY")])
    assert [output.splitlines()[0] for output in results_in(requests[1])] == [
        "This call was cut off before its arguments were complete, so it was not run."
    ]
    assert [line for line in user_file(home).splitlines() if "allergic" in line] == [OAT]


async def test_a_flush_that_was_cut_off_is_done_at_the_next_start_with_what_it_wrote_shown(home: Path) -> None:
    script = [[text("Noted.")], [text("Noted.")], [text(SUMMARY)], [add(["I am allergic to oats."])], [asyncio.Event()]]
    model = ScriptedModel(script)
    async with scripted_assistant(home, model, memory="on") as assistant:
        conversation = assistant.conversations.create()
        await say(assistant, conversation, f"I am allergic to oats. {LONG}")
        await say(assistant, conversation, "And now?")
        await say(assistant, conversation, "/compact")
        while len(model.requests) < 5:
            await asyncio.sleep(0.01)
        session_id = conversation.session_id
        await assistant.flushes.cut()
        cut = [row for row in assistant.store.journal.rows(session_id) if isinstance(row, FlushRow)]

    again = ScriptedModel([[add(["I am allergic to oats."], "call_add_lines_0002")], [text("NO_REPLY")]])
    async with scripted_assistant(home, again, memory="on") as assistant:
        assistant.conversations.open(session_id)
        await assistant.flushes.wait()
        rows = assistant.store.journal.rows(session_id)

    assert cut == []
    assert user_file(home).splitlines().count(OAT) == 1
    assert "You have already written these lines" in text_of(again.requests[0].messages[1])
    assert [row.state for row in rows if isinstance(row, FlushRow)] == ["done"]


async def test_a_flush_that_fails_leaves_a_note_made_by_code(home: Path) -> None:
    model = ScriptedModel([[text("Noted.")], [text("Noted.")], [text(SUMMARY)], ModelError("Nobody answers.")])
    async with scripted_assistant(home, model, memory="on") as assistant:
        conversation = assistant.conversations.create()
        await say(assistant, conversation, f"I am allergic to oats. {LONG}")
        await say(assistant, conversation, "And now?")
        await say(assistant, conversation, "/compact")
        await assistant.flushes.wait()
        rows = assistant.store.journal.rows(conversation.session_id)

    (note,) = [path.read_text(encoding="utf-8") for path in (home / "memory").glob("*.md")]
    assert "written by the program, not by a model" in note
    assert "- what was said about progress, kept for whoever goes on from here" in note
    assert "## Said by the person on " in note
    assert OAT in note.splitlines()
    assert [row.state for row in rows if isinstance(row, FlushRow)] == ["failed"]
    assert sum(isinstance(row, CompactionRecord) for row in rows) == 1


def converse(messages: Sequence[Msg]) -> list[TextBlock | ToolCallBlock]:
    """Notes down, sums up, and as a flush writes what the person said of themselves."""
    system = text_of(messages[0])
    if system.startswith("You are a personal assistant"):
        return [text("Noted.")]
    if not system.startswith("You keep the long-term memory"):
        return [text(SUMMARY)]
    said = re.findall(r"I am allergic to \w+\.", text_of(messages[1]).partition("<conversation>")[2])
    return [add(said)] if said and len(messages) == 2 else [text("NO_REPLY")]


async def test_an_early_fact_is_in_memory_once_its_message_left_the_context_and_each_compaction_is_flushed_once(
    home: Path,
) -> None:
    model = ScriptedModel([converse] * 200)
    async with scripted_assistant(home, model, memory="on", recall="off") as assistant:
        conversation = assistant.conversations.create()
        for number in range(1, 41):
            about = "I am allergic to oats." if number == 5 else f"The keeper counted {number} boats."
            await say(assistant, conversation, f"{about} {LONG[:2_000]}")
        await assistant.flushes.wait()
        rows = assistant.store.journal.rows(conversation.session_id)
        context = [item.text for item in conversation.context_items() if item.key]
        await assistant.index.sync()
        found = {hit.path for hit in (await assistant.index.search("allergic to oats", 20)).hits}

    made = [row.compaction_id for row in rows if isinstance(row, CompactionRecord)]
    assert len(made) > 1
    assert [row.compaction_id for row in rows if isinstance(row, FlushRow) and row.state in ("done", "nothing")] == made
    assert [words for words in context if "allergic" in words] == []
    assert user_file(home).splitlines().count(OAT) == 1
    assert found == {"USER.md", f"dialog/{rows[0].at[:10]}.jsonl"}


async def test_what_a_shortened_result_said_in_full_is_offered(home: Path) -> None:
    lines = [f"{number}. The harbour was counted again, and nothing was odd there." for number in range(400)]
    lines[200] = "The pilot boat is called Marigold."
    write(home, "files/harbour.txt", "\n".join(lines))
    read = call("Read", json.dumps({"file_path": str(home / "files" / "harbour.txt")}), "call_read_0001")
    model = ScriptedModel([[read], [text("Read.")], *[converse] * 200], context_size=32_000)
    values = {"memory": "on", "recall": "off", "recent_n": 0}
    async with scripted_assistant(home, model, **values) as assistant:
        conversation = assistant.conversations.create()
        await say(assistant, conversation, "Read harbour.txt")
        for _ in range(8):
            await say(assistant, conversation, LONG[:3_000])
        shown = [item.text for item in conversation.context_items()]
        await say(assistant, conversation, "/compact")
        await assistant.flushes.wait()

    assert [words for words in shown if "Marigold" in words] == []
    asked = [asked_of(request) for request in model.requests if set(request.tools) == {"read", "add_lines"}]
    assert ["Marigold" in words for words in asked].count(True) == 1


async def test_the_persons_statements_are_numbered_and_the_task_stands_last(home: Path) -> None:
    requests = await flushed(home, [add(["I am allergic to oats."])], [text("NO_REPLY")], question="Who are you?")
    asked = asked_of(requests[0])
    listed, _, task = asked.partition("</conversation>")[2].partition("Your task now:")
    assert [line for line in listed.splitlines() if line[:1].isdigit()] == ["1. I am allergic to oats."]
    assert task.rstrip().endswith("answer exactly: NO_REPLY")
    assert "NO_REPLY" not in text_of(requests[0].messages[0])


@pytest.mark.parametrize(
    ("said", "answer", "is_noted"),
    [
        ("I am allergic to oats.", [text("NO_REPLY")], True),
        ("I am allergic to oats.", [text("There is nothing to remember.")], True),
        ("Good morning! How are you?", [text("NO_REPLY")], False),
    ],
    ids=["nothing filed", "words alone", "small talk"],
)
async def test_where_a_model_files_nothing_of_what_was_said_code_writes_it_down(
    home: Path, said: str, answer: ScriptStep, is_noted: bool
) -> None:
    model = ScriptedModel([[text("Noted.")], [text("Noted.")], [text(SUMMARY)], answer])
    async with scripted_assistant(home, model, memory="on", recall="off") as assistant:
        conversation = assistant.conversations.create()
        await say(assistant, conversation, f"{said} {LONG}")
        await say(assistant, conversation, "And now?")
        await say(assistant, conversation, "/compact")
        await assistant.flushes.wait()
        rows = assistant.store.journal.rows(conversation.session_id)
    notes = "".join(path.read_text("utf-8") for path in (home / "memory").glob("*.md"))
    assert (f"- {said}\n" in notes) == is_noted
    assert [row.state for row in rows if isinstance(row, FlushRow)] == ["done" if is_noted else "nothing"]


async def test_what_was_saved_while_it_was_said_is_not_noted_once_more(home: Path) -> None:
    save = call("memory_save", json.dumps({"content": "Allergic to oats", "category": "about_person"}), "call_save_001")
    model = ScriptedModel(
        [[save], [text("Noted.")], [text("Noted.")], [text(SUMMARY)], [text("NO_REPLY")]], context_size=32_000
    )
    async with scripted_assistant(home, model, memory="on", recall="off") as assistant:
        conversation = assistant.conversations.create()
        await say(assistant, conversation, f"I am allergic to oats. {LONG}")
        await say(assistant, conversation, "And now?")
        await say(assistant, conversation, "/compact")
        await assistant.flushes.wait()
    assert [path.name for path in (home / "memory").glob("*.md")] == []
    assert user_file(home).count("oats") == 1


async def test_messages_that_are_left_out_between_are_marked(home: Path) -> None:
    model = ScriptedModel([[text("NO_REPLY")]])
    flusher = flusher_at_night(home)
    folded = compacted(home)
    later = [UserMsg("owner", f"Later word {number}.") for number in range(24)]
    Journal(Workspace(home), lambda: NIGHT).append_missing("s", "owner", later)
    await flusher.flush(folded, fit(model))
    read = asked_of(model.requests[0]).partition("<conversation>")[2].splitlines()
    place = read.index("[4 messages between are left out here]")
    assert "oats" in read[place - 1]
    assert "Later word 4." in read[place + 1]


@pytest.mark.parametrize(
    "steps",
    [
        pytest.param([[text("\n NO_REPLY \n")]], id="nothing to write"),
        pytest.param([[text("There is nothing to remember here.")]], id="any other text"),
        pytest.param([[add(["a"], "c1")], [text("NO_REPLY")]], id="after a call"),
        pytest.param([[add(["a"], "c1")], [add(["b"], "c2")], [add(["c"], "c3")]], id="at the third call"),
    ],
)
async def test_a_flush_ends(home: Path, steps: list[ScriptStep]) -> None:
    assert len(await flushed(home, *steps)) == len(steps)


async def test_what_stands_in_a_file_survives_a_flush_that_never_read_it(home: Path) -> None:
    write(home, "SOUL.md", "# Who I am\n\nI am Quill, and I say little.\n")
    write(home, "USER.md", "# You\n\n- likes green tea\n")
    steps = [[add(["be brief"], "c1", "SOUL.md"), add(["I am allergic to oats."], "c2")], [text("NO_REPLY")]]
    requests = await flushed(home, *steps)
    assert "I am Quill, and I say little." in asked_of(requests[0])
    assert (home / "SOUL.md").read_text("utf-8").startswith("# Who I am\n\nI am Quill, and I say little.\n")
    assert "- likes green tea\n" in user_file(home)
    assert OAT in user_file(home)


async def test_a_second_flush_of_the_day_adds_only_what_is_new(home: Path) -> None:
    model = ScriptedModel([converse] * 200)
    async with scripted_assistant(home, model, memory="on", recall="off") as assistant:
        for other in ("The dog is called Rolf.", "The cat is called Mimi."):
            conversation = assistant.conversations.create()
            await say(assistant, conversation, f"I am allergic to oats. {other} {LONG}")
            await say(assistant, conversation, "And now?")
            await say(assistant, conversation, "/compact")
            await assistant.flushes.wait()
    assert user_file(home).count("allergic to oats") == 1
    assert user_file(home).count("## Preferences") == 1


async def test_what_leads_out_of_memory_is_told_to_the_model_and_the_flush_goes_on(home: Path) -> None:
    wrong = ["../../USER.md", "/etc/passwd", "AGENTS.md", "memory/2026-11-30-1530.md"]
    reads = [call("read", json.dumps({"file": file}), f"call_read_000{number}") for number, file in enumerate(wrong)]
    writes = [add(["x"], f"call_add_000{number}", file) for number, file in enumerate(wrong)]
    unknown = call("Bash", json.dumps({"command": "touch made"}), "call_bash_0001")
    requests = await flushed(home, [*reads, *writes, unknown], [add(["I am allergic to oats."])], [text("NO_REPLY")])
    told = results_in(requests[1])
    assert ["is not a memory file" in words for words in told] == [True] * 8 + [False]
    assert OAT in user_file(home)
    assert "- x" not in "".join(path.read_text(encoding="utf-8") for path in home.rglob("*.md"))


async def test_a_flush_reads_a_file_before_it_corrects_a_line(home: Path) -> None:
    write(home, "USER.md", "- lives in Rome\n")
    read = call("read", json.dumps({"file": "USER.md"}), "call_read_0001")
    missing = call("read", json.dumps({"file": "memory/2020-01-01.md"}), "call_read_0002")
    arguments = {"file": "USER.md", "heading": "", "lines": ["lives in Oslo"], "replaces": "- lives in Rome"}
    correct = call("add_lines", json.dumps(arguments), "call_add_0001")
    moved = "By the way, I live in Oslo now."
    requests = await flushed(home, [read, missing], [correct], [text("NO_REPLY")], question=moved)
    assert results_in(requests[1]) == ["- lives in Rome", "memory/2020-01-01.md is empty."]
    assert user_file(home) == "- lives in Oslo\n"


async def test_a_program_that_ends_waits_for_its_flush(home: Path) -> None:
    async def takes_its_time(messages: Sequence[Msg]) -> list[ToolCallBlock]:
        # Longer than everything else takes to close.
        await asyncio.sleep(0.5)
        return [add(["I am allergic to oats."])]

    await flushed(home, takes_its_time, [text("NO_REPLY")], waits=False)
    assert OAT in user_file(home)


async def test_what_a_flush_wrote_is_found_by_its_words_with_its_line(home: Path) -> None:
    model = ScriptedModel([converse] * 200)
    async with scripted_assistant(home, model, memory="on", recall="off") as assistant:
        conversation = assistant.conversations.create()
        await say(assistant, conversation, f"I am allergic to oats. {LONG}")
        await say(assistant, conversation, "And now?")
        await say(assistant, conversation, "/compact")
        await assistant.flushes.wait()
        await assistant.index.sync()
        hits = (await assistant.index.search("oats allergic", 10)).hits
    assert ("USER.md", f"- {'I am allergic to oats.'}") in [(hit.path, hit.snippet) for hit in hits]


async def test_with_memory_off_no_model_reads_or_writes_it(home: Path) -> None:
    model = ScriptedModel([converse] * 200)
    async with scripted_assistant(home, model, memory="off") as assistant:
        conversation = assistant.conversations.create()
        await say(assistant, conversation, f"I am allergic to oats. {LONG}")
        await say(assistant, conversation, "And now?")
        told = await say(assistant, conversation, "/compact")
        await assistant.flushes.wait()
    assert "context_compressed" in kinds_of(told)
    assert len(model.requests) == 3
    assert [name for request in model.requests for name in request.tools if name.startswith("memory_")] == []
    assert "allergic" not in user_file(home)


NIGHT = datetime(2026, 5, 3, 0, 30, tzinfo=timezone(timedelta(hours=8)))
"""Half past midnight where the person is; in UTC it is still the day before."""


def admission_of(workspace: Workspace, notes: Notes, now: Callable[[], datetime]) -> Admission:
    """What lets lines into the notes of a home."""
    return Admission(notes, WaitingLines(workspace.waiting_path), Journal(workspace, now), now)


async def nobody(_session_id: str) -> None:
    """No model begins a flush by itself in these tests."""


def fit(model: ScriptedModel, window_tokens: int = 32_000) -> FlushModel:
    """A model that may flush."""
    return FlushModel(model, window_tokens, TokenCounter("bytes"))


def flusher_at_night(home: Path) -> Flusher:
    """The flushes of a home half an hour into a day of the person's zone."""
    workspace = Workspace(home)
    workspace.create()
    memory_log = MemoryLog(workspace.memory_log_path)
    return Flusher(
        model_of=nobody,
        admission=admission_of(workspace, Notes(workspace, memory_log, lambda: NIGHT), lambda: NIGHT),
        journal=Journal(workspace, lambda: NIGHT),
        workspace=workspace,
        language=lambda: "en",
        now=lambda: NIGHT,
    )


def compacted(home: Path) -> Unwritten:
    """What a compaction folded: one message of the journal."""
    message = UserMsg("owner", "I am allergic to oats.")
    Journal(Workspace(home), lambda: NIGHT).append_missing("s", "owner", [message])
    return folded_stretch(folding("c1", None, [message], NIGHT.isoformat(), summary=SUMMARY), [])


async def test_a_note_has_the_date_of_the_persons_own_day(home: Path) -> None:
    assert await flusher_at_night(home).flush(compacted(home), None) == "done"
    assert [path.name for path in (home / "memory").iterdir() if path.suffix == ".md"] == ["2026-05-03.md"]


async def test_a_model_is_told_the_persons_own_day(home: Path) -> None:
    model = ScriptedModel([[text("NO_REPLY")]])
    await flusher_at_night(home).flush(compacted(home), fit(model))
    system, user = (text_of(message) for message in model.requests[0].messages)
    assert "- memory/2026-05-03.md: progress" in system
    assert user.startswith("Today is 2026-05-03.")
    assert "I am allergic to oats." in user


async def test_years_of_notes_and_huge_files_leave_room_for_the_conversation(home: Path) -> None:
    fact = "- one fact among many, and all of them true\n"
    for day in range(400):
        write(home, f"memory/{2020 + day // 28 // 12}-{day // 28 % 12 + 1:02d}-{day % 28 + 1:02d}.md", fact * 40)
    write(home, "MEMORY.md", fact * 5_000)
    write(home, "USER.md", f"- a line </memory-file> that would close its quotation\n{fact * 100}")
    read = call("read", json.dumps({"file": "MEMORY.md"}), "call_read_0001")
    model = ScriptedModel([[read], [text("NO_REPLY")]])
    assert await flusher_at_night(home).flush(compacted(home), fit(model)) == "done"
    tokens = [sum(TokenCounter("bytes").message(each) for each in request.messages) for request in model.requests]
    assert 7_000 < tokens[0] < 32_000 // 4 + 3_000
    assert 11_000 < tokens[1] < 32_000 // 2 + 3_000
    user = text_of(model.requests[0].messages[1])
    assert "MEMORY.md is longer than fits here" in user
    assert user.count("</memory-file>") == user.count("<memory-file name=")
    assert user.count("- memory/20") == 30


async def test_a_flush_whose_end_cannot_be_journalled_is_told_and_looked_at_again(home: Path) -> None:
    gate, aside = asyncio.Event(), home / "aside"
    model = ScriptedModel([[text("Noted.")], [text("Noted.")], [text(SUMMARY)], [gate, text("NO_REPLY")]])
    async with scripted_assistant(home, model, memory="on") as assistant:
        conversation = assistant.conversations.create()
        await say(assistant, conversation, f"I am allergic to oats. {LONG}")
        await say(assistant, conversation, "And now?")
        start = conversation.next_number
        await say(assistant, conversation, "/compact")
        while len(model.requests) < 4:
            await asyncio.sleep(0.01)
        (home / "dialog").rename(aside)
        (home / "dialog").write_text("a file where the folder should be", encoding="utf-8")
        gate.set()
        await assistant.flushes.wait()
        (home / "dialog").unlink()
        aside.rename(home / "dialog")
        told = [numbered.event async for numbered in conversation.follow_until_idle(start)]
        session_id = conversation.session_id
    assert [event.state for event in told if isinstance(event, FlushFinished)] == ["done"]

    again = ScriptedModel([[text("NO_REPLY")]])
    async with scripted_assistant(home, again, memory="on") as assistant:
        assistant.conversations.open(session_id)
        await assistant.flushes.wait()
        rows = assistant.store.journal.rows(session_id)
    assert [row.state for row in rows if isinstance(row, FlushRow)] == ["done"]


async def test_thirty_days_of_flushes_outgrow_no_cap_and_lose_and_double_nothing(home: Path) -> None:
    days = [NIGHT]

    def now() -> datetime:
        return days[-1]

    workspace = Workspace(home)
    workspace.create()
    memory_log = MemoryLog(workspace.memory_log_path)
    notes = Notes(workspace, memory_log, now)
    facts = [f"Fact {number} of the harbour: {'the boats were counted again, ' * 20}" for number in range(90)]
    for day in range(30):
        days.append(NIGHT + timedelta(days=day))
        # Three new facts a day, and two of the day before once more.
        told = facts[max(0, 3 * day - 2) : 3 * day + 3]
        model = ScriptedModel([[add(told, "call_add_0001", "MEMORY.md")], [text("NO_REPLY")]])
        flusher = Flusher(
            model_of=nobody,
            admission=admission_of(workspace, notes, now),
            journal=Journal(workspace, now),
            workspace=workspace,
            language=lambda: "en",
            now=now,
        )
        message = UserMsg("owner", f"Day {day}.")
        Journal(workspace, now).append_missing("s", "owner", [message])
        record = folding(f"c{day}", None, [message], now().isoformat(), summary=SUMMARY)
        assert await flusher.flush(folded_stretch(record, []), fit(model, 64_000)) == "done"

    written = {path.name: path.read_text("utf-8") for path in [home / "MEMORY.md", *(home / "memory").glob("*.md")]}
    lines = {name: [line.removeprefix("- ") for line in words.splitlines()] for name, words in written.items()}
    assert len(written["MEMORY.md"]) <= FILE_MAX_CHARS < sum(map(len, facts))
    assert [fact for fact in facts for stood in lines.values() if stood.count(fact.strip()) > 1] == []
    assert [fact for fact in facts if not any(fact.strip() in stood for stood in lines.values())] == []
    logged = [line.removeprefix("- ") for name in written for line in logged_lines(memory_log, name)]
    assert {fact.strip() for fact in facts} <= set(logged)


def logged_lines(memory_log: MemoryLog, name: str) -> list[str]:
    """Every line that was ever written into a file."""
    path = name if name == "MEMORY.md" else f"memory/{name}"
    return [line for change in memory_log.history(path) for line in change.added_lines]
