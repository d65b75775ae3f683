"""The tools on memory: what is saved comes where it belongs, without asking."""

from __future__ import annotations

import datetime as dt
import json
import re
from collections.abc import Sequence
from pathlib import Path

import pytest

from assistant.agent.memory_room import MemoryRoom
from assistant.agent.session_state import SessionState
from assistant.agent.tools.memory_tools import MemoryTools, NamedCategory
from assistant.compaction.policy import policy_for
from assistant.compaction.shorten.artifact_reference import ROW_CHARS
from assistant.compaction.shorten.result_limits import ArtifactPlace, cap_result
from assistant.config.clock import Clock
from assistant.config.settings import Settings
from assistant.config.words import Language
from assistant.errors import WorkspaceError
from assistant.index.memory_index import IndexSettings, MemoryIndex
from assistant.memory.admission import Admission
from assistant.memory.log import MemoryLog
from assistant.memory.notes import OWNER_WRITER, Notes
from assistant.memory.waiting import WaitingLines
from assistant.messages.blocks import Msg, ToolCallBlock, ToolResultBlock, block_text, result_text
from assistant.messages.tokens import TokenCounter
from assistant.models.scripted import ScriptedModel, ScriptedRequest
from assistant.storage.artifacts import Artifacts
from assistant.storage.journal.journal import Journal
from assistant.storage.sessions.sessions import Sessions
from assistant.storage.workspace import Workspace
from tests.compaction.conversations import result
from tests.fakes.home import call, say, scripted_assistant, text

NOW = dt.datetime(2026, 11, 30, 9, tzinfo=dt.UTC)


def tools_in(home: Path, language: Language = "en", template: Language = "en") -> MemoryTools:
    """The tools in a new home; its index is closed."""
    workspace = Workspace(home)
    workspace.create(template)
    notes = Notes(workspace, MemoryLog(workspace.memory_log_path), lambda: NOW)
    index = MemoryIndex(IndexSettings(home), None, lambda path: (), lambda: NOW)
    state = state_in(home, language)
    admission = Admission(notes, WaitingLines(workspace.waiting_path), state.journal, lambda: NOW)
    policy = policy_for("copaw", 32_000)
    return MemoryTools(state, admission, index, Artifacts(workspace), MemoryRoom(state, policy, TokenCounter()))


def state_in(home: Path, language: Language = "en") -> SessionState:
    """The state of a new conversation."""
    workspace = Workspace(home)
    journal = Journal(workspace, lambda: NOW)
    sessions = Sessions(workspace, journal, lambda: NOW)
    clock = Clock(Settings(home=home, timezone="UTC"), lambda: NOW)
    return SessionState(sessions.create(""), workspace, journal, sessions, clock, language)


@pytest.mark.parametrize(
    ("category", "name", "after"),
    [
        ("fact", "MEMORY.md", "# What should last\n\n## Facts\n\n- x\n\n## Decisions\n"),
        ("procedure", "MEMORY.md", "# What should last\n\n## Facts\n\n## Decisions\n\n## Procedures\n\n- x\n"),
        ("context", "memory/2026-11-30.md", "## Notes\n\n- x\n"),
        ("session_summary", "memory/2026-11-30.md", "## Notes\n\n- x\n"),
        ("lasting_fact", "MEMORY.md", "# What should last\n\n## Facts\n\n- x\n\n## Decisions\n"),
        ("how_to", "MEMORY.md", "# What should last\n\n## Facts\n\n## Decisions\n\n## Procedures\n\n- x\n"),
        ("today", "memory/2026-11-30.md", "## Notes\n\n- x\n"),
    ],
)
def test_a_line_comes_where_its_category_belongs(home: Path, category: NamedCategory, name: str, after: str) -> None:
    assert tools_in(home).save("x", category).change is not None
    assert (home / name).read_text(encoding="utf-8") == after


@pytest.mark.parametrize(("person", "own"), [("about_person", "about_assistant"), ("preference", "persona")])
def test_what_is_said_of_the_person_and_of_the_assistant_stands_apart(
    home: Path, person: NamedCategory, own: NamedCategory
) -> None:
    tools = tools_in(home)
    tools.save("Name: Ada\nlikes tea", person, OWNER_WRITER)
    tools.save("Name: Quill\nuse few words", own, OWNER_WRITER)
    user = (home / "USER.md").read_text(encoding="utf-8")
    soul = (home / "SOUL.md").read_text(encoding="utf-8")
    assert "- Name: Ada\n" in user
    assert "## Preferences\n\n- likes tea\n" in user
    assert "- Name: Quill\n" in soul
    assert soul.endswith("- use few words\n")


def test_a_heading_that_stands_there_in_the_other_language_is_used(home: Path) -> None:
    tools_in(home, language="zh").save("喜欢乌龙茶", "preference", OWNER_WRITER)
    assert "## Preferences\n\n- 喜欢乌龙茶\n" in (home / "USER.md").read_text(encoding="utf-8")


@pytest.mark.parametrize("text", ["\n".join(f"line {n}" for n in range(900)), "x" * 9_000 + "\nend", "甲" * 7_000])
def test_the_full_text_of_a_shortened_result_is_read_on_where_the_notice_says(home: Path, text: str) -> None:
    tools = tools_in(home)
    artifact_id = "0f8fad5b-d9cb-469f-a165-70867728950e"
    place = ArtifactPlace(lambda: artifact_id, reader="memory_get")
    capped = cap_result(result("c1", text), 3_000, place)
    assert capped.artifact is not None
    Artifacts(Workspace(home)).store_as(artifact_id, capped.artifact.text)
    pointed = re.search(r'memory_get\(path="([^"]+)", from_line=(\d+)\)', result_text(capped.block))
    assert pointed is not None

    read, row, head = "", int(pointed[2]), result_text(capped.block).partition("[")[0].rstrip("\n")
    start = row
    while row:
        answer = tools.read(pointed[1], row)
        read += "".join(line.split("\t", 1)[1] for line in answer.splitlines() if "\t" in line)
        following = re.search(r"Line (\d+) of", answer)
        row = int(following[1]) if following else 0

    plain = text.replace("\n", "")
    before = plain[: len(plain) - len(read)]
    assert plain.endswith(read)
    assert len(before) <= len(head)
    assert start > 1 or len(head) <= ROW_CHARS


@pytest.mark.parametrize(
    "path", ["tool_result/../.env", "tool_result/x.txt", "files/0f8fad5b-d9cb-469f-a165-70867728950e.txt"]
)
def test_nothing_else_is_opened_by_it(home: Path, path: str) -> None:
    with pytest.raises(WorkspaceError):
        tools_in(home).read(path)


def results_in(request: ScriptedRequest) -> list[tuple[str, str]]:
    """State and text of the tool results in a request, oldest first."""
    blocks = [block for message in request.messages for block in message.content]
    return [(str(block.state), block_text(block)) for block in blocks if isinstance(block, ToolResultBlock)]


async def answered(home: Path, name: str, *arguments: dict[str, object]) -> list[tuple[str, str]]:
    """State and text of what a tool gives a model that calls it with each of these arguments."""
    calls = [call(name, json.dumps(each), f"call-memory-{number}") for number, each in enumerate(arguments)]
    model = ScriptedModel([calls, [text("Done.")]])
    async with scripted_assistant(home, model, memory="on", recall="off") as assistant:
        await say(assistant, assistant.conversations.create(), "Go on.")
    return results_in(model.requests[1])


@pytest.mark.parametrize(
    ("first", "count", "expected"),
    [
        (1, 400, '<memory path="MEMORY.md">\n     1\tone\n     2\ttwo\n     3\tthree\n</memory>'),
        (2, 1, '<memory path="MEMORY.md">\n     2\ttwo\n</memory>\nLine 3 of 3 comes next.'),
        (3, 10, '<memory path="MEMORY.md">\n     3\tthree\n</memory>'),
        (4, 10, '<memory path="MEMORY.md">\n</memory>\nThere are 3 lines in this file.'),
    ],
    ids=["whole", "a line and what comes next", "the last", "beyond the end"],
)
def test_lines_of_a_file_are_read_by_number(home: Path, first: int, count: int, expected: str) -> None:
    tools = tools_in(home)
    (home / "MEMORY.md").write_text("one\ntwo\nthree\n", encoding="utf-8")
    assert tools.read("MEMORY.md", first, count).strip() == expected


def test_a_large_file_is_read_to_its_end_page_by_page(home: Path) -> None:
    tools = tools_in(home)
    lines = [f"fact {number}" for number in range(1, 1_001)]
    (home / "MEMORY.md").write_text("\n".join(lines), encoding="utf-8")
    pages = [tools.read("MEMORY.md", first, 400) for first in (1, 401, 801)]
    assert [line.partition("\t")[2] for page in pages for line in page.splitlines() if "\t" in line] == lines


async def test_no_path_leads_out_of_memory(home: Path) -> None:
    paths = ["../../etc/passwd", "/etc/passwd", "AGENTS.md", "memory/2026-11-30-1530.md"]
    results = await answered(home, "memory_get", *({"path": path} for path in paths))
    assert [(state, "is not a memory file" in told) for state, told in results] == [("error", True)] * 4


async def test_a_file_that_is_not_there_yet_is_empty(home: Path) -> None:
    assert await answered(home, "memory_get", {"path": "memory/2020-01-01.md"}) == [
        ("success", '<memory path="memory/2020-01-01.md">\n</memory>\nThere are 0 lines in this file.')
    ]


async def test_a_count_or_a_score_that_makes_no_sense_is_refused(home: Path) -> None:
    wrong: list[dict[str, object]] = [{"max_tokens": 0}, {"max_tokens": 50_000}, {"min_score": 1.5}]
    results = await answered(home, "memory_search", *({"query": "tea", **each} for each in wrong))
    assert [state for state, _ in results] == ["error"] * 3


async def test_a_category_nobody_knows_is_refused_and_writes_nothing(home: Path) -> None:
    results = await answered(home, "memory_save", {"content": "likes tea", "category": "secret"})
    assert [state for state, _ in results] == ["error"]
    assert [path for path in home.rglob("*.md") if "likes tea" in path.read_text(encoding="utf-8")] == []


def test_a_long_text_is_saved_whole(home: Path) -> None:
    content = "The recipe: " + "flour and water, " * 600
    tools_in(home).save(content)
    assert content.strip() in (home / "MEMORY.md").read_text(encoding="utf-8")


async def test_what_was_saved_is_found_by_its_words_in_any_order_with_its_line(home: Path) -> None:
    save = {"content": "The cellar key hangs behind the blue door.", "category": "fact"}
    model = ScriptedModel(
        [
            [call("memory_save", json.dumps(save), "call-memory-1")],
            [text("Saved.")],
            [call("memory_search", json.dumps({"query": "door cellar key"}), "call-memory-2")],
            [text("Behind the blue door.")],
        ]
    )
    async with scripted_assistant(home, model, memory="on", recall="off") as assistant:
        await say(assistant, assistant.conversations.create(), "Where the key is, you know now.")
        await assistant.index.sync()
        await say(assistant, assistant.conversations.create(), "Look it up.")
    line = (home / "MEMORY.md").read_text(encoding="utf-8").splitlines().index(f"- {save['content']}") + 1
    ((state, told),) = results_in(model.requests[3])
    assert state == "success"
    assert "[MEMORY.md | undated | relevance " in told
    assert f">{line:6d}\t- {save['content']}" in told


async def test_what_a_search_cites_of_a_conversation_is_opened_at_its_line(home: Path) -> None:
    search = [call("memory_search", json.dumps({"query": "gate code fridge"}), "call-memory-1")]
    model = ScriptedModel([[text("Noted.")], search, [text("There.")]])
    async with scripted_assistant(home, model, memory="on", recall="off") as assistant:
        first = assistant.conversations.create()
        await say(assistant, first, "Hello.\nThe gate code hangs on the fridge.")
        await assistant.index.sync_words()
        second = assistant.conversations.create()
        await say(assistant, second, "Look it up.")
        ((_, told),) = results_in(model.requests[2])
        cited = re.search(r"\[(dialog/[^ ]+) \|.*\n(?:.*\n)*?>? *(\d+)\t.*fridge", told)
        assert cited is not None
        read = second.memory.read(cited[1], int(cited[2]), 2)
        assert read.splitlines()[1:3] == [
            f"{cited[2]:>6}\tuser: Hello.",
            f"{cited[2]:>6}\tThe gate code hangs on the fridge.",
        ]
        await assistant.conversations.trash(first.session_id)
        assert "fridge" not in second.memory.read(cited[1])


@pytest.mark.parametrize("form", ["{}", "- {}", "* {}\n- {}"])
async def test_what_a_memory_tool_answered_is_never_saved(home: Path, form: str) -> None:
    def save_the_answer(messages: Sequence[Msg]) -> list[ToolCallBlock]:
        answers = [
            result_text(block)
            for message in messages
            for block in message.content
            if isinstance(block, ToolResultBlock)
        ]
        content = form.replace("{}", answers[-1].strip())
        return [call("memory_save", json.dumps({"content": content, "category": "today"}), "call_save_0002")]

    first = call("memory_save", json.dumps({"content": "Tea at five.", "category": "today"}), "call_save_0001")
    model = ScriptedModel([[first], save_the_answer, [text("Done.")]])
    async with scripted_assistant(home, model, memory="on") as assistant:
        await say(assistant, assistant.conversations.create(), "Tea at five.")
        written = "".join(path.read_text(encoding="utf-8") for path in (home / "memory").glob("*.md"))
    assert [line for line in written.splitlines() if line.startswith(("-", "*"))] == ["- Tea at five."]
