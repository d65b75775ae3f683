"""Skills are read by AgentScope's loader; a broken one is one notice."""

from __future__ import annotations

from pathlib import Path

from assistant.agent.tools.skills import SkillLoader, skill_files
from assistant.messages.events import Event, Notice
from assistant.storage.workspace import Workspace


def write_skill(folder: Path, name: str, text: str) -> None:
    (folder / name).mkdir(parents=True)
    (folder / name / "SKILL.md").write_text(text, encoding="utf-8")


async def test_a_broken_skill_is_told_once_and_the_rest_go_on(tmp_path: Path) -> None:
    write_skill(tmp_path, "good", "---\nname: tea\ndescription: Make tea.\n---\nBoil water.\n")
    write_skill(tmp_path, "bad", "no front matter")
    told: list[Event] = []
    loader = SkillLoader(tmp_path, told.append)
    names = [[skill.name for skill in await loader.list_skills()] for _ in range(3)]
    assert names == [["tea"]] * 3
    assert [event.text.split(" cannot")[0] for event in told if isinstance(event, Notice)] == ["The skill 'bad'"]


async def test_a_skill_that_was_mended_is_there_at_the_next_look(tmp_path: Path) -> None:
    write_skill(tmp_path, "late", "no front matter")
    loader = SkillLoader(tmp_path, lambda _: None)
    assert await loader.list_skills() == []
    (tmp_path / "late" / "SKILL.md").write_text("---\nname: late\ndescription: Now.\n---\nText.\n", encoding="utf-8")
    assert [skill.name for skill in await loader.list_skills()] == ["late"]


async def test_a_new_home_brings_the_context_compressor(tmp_path: Path) -> None:
    workspace = Workspace(tmp_path / "home")
    workspace.create()
    told: list[Event] = []
    skills = await SkillLoader(workspace.skills_folder, told.append).list_skills()
    assert ([skill.name for skill in skills], told) == (["context-compressor"], [])


def test_a_skill_the_owner_removed_does_not_come_back(tmp_path: Path) -> None:
    workspace = Workspace(tmp_path / "home")
    workspace.create()
    for path in skill_files(workspace.skills_folder):
        path.unlink()
    workspace.create()
    assert skill_files(workspace.skills_folder) == []
