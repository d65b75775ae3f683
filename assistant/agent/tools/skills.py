"""The owner's skills, read by AgentScope's own loader; a broken one is reported once and the rest go on."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from agentscope.skill import LocalSkillLoader, Skill, SkillLoaderBase

from assistant.config.words import say
from assistant.messages.events import Event, Notice


@dataclass(frozen=True, slots=True)
class _Read:
    stamp: tuple[int, int]
    skills: tuple[Skill, ...]


class SkillLoader(SkillLoaderBase):
    """The skills in one folder, one folder each. They are listed often, so a file is read again when it changed."""

    def __init__(self, folder: Path, emit: Callable[[Event], None]) -> None:
        self._folder = folder
        self._emit = emit
        self._read: dict[Path, _Read] = {}

    async def list_skills(self) -> list[Skill]:
        """Every skill that can be read, by the name of its folder."""
        return [skill for path in skill_files(self._folder) for skill in await self._load(path)]

    async def _load(self, path: Path) -> tuple[Skill, ...]:
        stamp = _stamp(path)
        known = self._read.get(path)
        if known is None or known.stamp != stamp:
            skills = tuple(await LocalSkillLoader(str(path.parent)).list_skills())
            known = self._read[path] = _Read(stamp, skills)
            if not skills:
                self._emit(Notice(say("agent", "skill_unusable", name=path.parent.name)))
        return known.skills


def _stamp(path: Path) -> tuple[int, int]:
    status = path.stat()
    return (status.st_mtime_ns, status.st_size)


def skill_files(folder: Path) -> list[Path]:
    """The SKILL.md of each skill folder."""
    return sorted(path for path in folder.glob("*/SKILL.md") if path.is_file())
