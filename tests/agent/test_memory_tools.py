"""The tools on memory: what is saved comes where it belongs, without asking."""

from __future__ import annotations

import datetime as dt
import re
from pathlib import Path

import pytest

from assistant.agent.memory_tools import Category, MemoryDesk
from assistant.artifacts import Artifacts
from assistant.compaction.artifact_reference import ROW_CHARS
from assistant.compaction.tool_results import ArtifactPlace, cap_result
from assistant.errors import WorkspaceError
from assistant.index.memory_index import IndexSettings, MemoryIndex
from assistant.memory.log import MemoryLog
from assistant.memory.notes import Notes
from assistant.messages import result_text
from assistant.prompts import Language
from assistant.workspace import Workspace
from tests.compaction.conversations import result

NOW = dt.datetime(2026, 11, 30, 9, tzinfo=dt.UTC)


def desk_in(home: Path, language: Language = "en", template: Language = "en") -> MemoryDesk:
    """The tools' desk in a new home; its index is closed."""
    workspace = Workspace(home)
    workspace.create(template)
    notes = Notes(workspace, MemoryLog(workspace.memory_log_path), lambda: NOW)
    index = MemoryIndex(IndexSettings(home), None, lambda path: (), lambda: NOW)
    return MemoryDesk(notes, index, Artifacts(workspace), "s", lambda: set[str](), lambda: language, lambda: NOW)


@pytest.mark.parametrize(
    ("category", "name", "after"),
    [
        ("fact", "MEMORY.md", "# What should last\n\n## Facts\n\n- x\n\n## Decisions\n"),
        ("procedure", "MEMORY.md", "# What should last\n\n## Facts\n\n## Decisions\n\n## Procedures\n\n- x\n"),
        ("context", "memory/2026-11-30.md", "## Notes\n\n- x\n"),
        ("session_summary", "memory/2026-11-30.md", "## Conversations\n\n- x\n"),
    ],
)
def test_a_line_comes_where_its_category_belongs(home: Path, category: Category, name: str, after: str) -> None:
    assert desk_in(home).save("x", category) is not None
    assert (home / name).read_text(encoding="utf-8") == after


def test_what_is_said_of_the_person_and_of_the_assistant_stands_apart(home: Path) -> None:
    desk = desk_in(home)
    desk.save("Name: Ada\nlikes tea", "preference")
    desk.save("Name: Quill\nuse few words", "persona")
    user = (home / "USER.md").read_text(encoding="utf-8")
    soul = (home / "SOUL.md").read_text(encoding="utf-8")
    assert "- Name: Ada\n" in user
    assert "## Preferences\n\n- likes tea\n" in user
    assert "- Name: Quill\n" in soul
    assert soul.endswith("- use few words\n")


def test_a_heading_that_stands_there_in_the_other_language_is_used(home: Path) -> None:
    desk_in(home, language="zh").save("喜欢乌龙茶", "preference")
    assert "## Preferences\n\n- 喜欢乌龙茶\n" in (home / "USER.md").read_text(encoding="utf-8")


@pytest.mark.parametrize("text", ["\n".join(f"line {n}" for n in range(900)), "x" * 9_000 + "\nend", "甲" * 7_000])
def test_the_full_text_of_a_shortened_result_is_read_on_where_the_notice_says(home: Path, text: str) -> None:
    desk = desk_in(home)
    artifact_id = "0f8fad5b-d9cb-469f-a165-70867728950e"
    place = ArtifactPlace(lambda: artifact_id, reader="memory_get")
    capped = cap_result(result("c1", text), 3_000, place)
    assert capped.artifact is not None
    desk.artifacts.store_as(artifact_id, capped.artifact.text)
    pointed = re.search(r'memory_get\(path="([^"]+)", from_line=(\d+)\)', result_text(capped.block))
    assert pointed is not None

    read, row, head = "", int(pointed[2]), result_text(capped.block).partition("[")[0].rstrip("\n")
    start = row
    while row:
        answer = desk.read(pointed[1], row)
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
        desk_in(home).read(path)
