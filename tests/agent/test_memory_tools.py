"""The tools on memory: what is saved comes where it belongs, without asking."""

from __future__ import annotations

import datetime as dt
from pathlib import Path

import pytest

from assistant.agent.memory_tools import Category, MemoryDesk
from assistant.index.memory_index import IndexSettings, MemoryIndex
from assistant.memory.log import MemoryLog
from assistant.memory.notes import Notes
from assistant.prompts import Language
from assistant.workspace import Workspace

NOW = dt.datetime(2026, 11, 30, 9, tzinfo=dt.UTC)


def desk_in(home: Path, language: Language = "en", template: Language = "en") -> MemoryDesk:
    """The tools' desk in a new home; its index is closed."""
    workspace = Workspace(home)
    workspace.create(template)
    notes = Notes(workspace, MemoryLog(workspace.memory_log_path), lambda: NOW)
    index = MemoryIndex(IndexSettings(home), None, lambda path: (), lambda: NOW)
    return MemoryDesk(notes, index, "s", lambda: set[str](), lambda: language, lambda: NOW, lambda: set[str]())


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
