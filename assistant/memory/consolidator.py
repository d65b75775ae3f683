"""Reads the notes since the last time and lets what they have for USER.md and MEMORY.md wait for the person."""

from __future__ import annotations

import uuid
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from assistant.config.prompts import render
from assistant.config.words import Language, say
from assistant.errors import ModelError
from assistant.memory.admission import Admission
from assistant.memory.consolidation import TARGETS, Proposal, lines_of, propose_by_code, propose_by_model
from assistant.memory.notes import Note
from assistant.memory.tidy import TidyModel
from assistant.storage.workspace import Workspace

_NIGHT_HOUR = 3
_FIRST_NOTES = 30
"""So many of the newest notes are read where none was read before."""
_EARLIER_NOTES = 30
"""So many notes before those are looked at for what is repeated."""


@dataclass(frozen=True, slots=True)
class Consolidated:
    """How many lines wait since, and what there is to say of it."""

    count: int
    notice: str


class Consolidator:
    """Consolidates the notes of one home. Nothing is written to a memory file: each line waits for the person."""

    def __init__(self, workspace: Workspace, admission: Admission, now: Callable[[], datetime]) -> None:
        self._workspace = workspace
        self._admission = admission
        self._review = admission.waiting.review
        self._now = now

    @property
    def is_due(self) -> bool:
        """True once a night, from three o'clock on."""
        now = self._now()
        return now.hour >= _NIGHT_HOUR and self._review.until < now.date().isoformat()

    async def run(self, model: TidyModel | None, language: Language) -> Consolidated:
        """Propose by code, and by the model where there is one; the notice says what came of it."""
        notes = self._admission.notes
        days = self._days()
        since = self._review.until
        new = [day for day in days if day >= since] if since else days[-_FIRST_NOTES:]
        files = [notes.read(name) for name in TARGETS]
        older = [day for day in days if day not in new][-_EARLIER_NOTES:]
        read = [notes.read(f"memory/{day}.md") for day in (*older, *new)]
        proposals, notice = propose_by_code(files, lines_of(read)), ""
        if model is not None and new:
            more, notice = await _ask(files, read[len(older) :], model, language)
            proposals = [*proposals, *more]
        count = self._wait(proposals, language)
        self._review.read_until(self._now().date().isoformat())
        found = say("memory", "consolidated", count=count) if count else say("memory", "nothing_to_consolidate")
        return Consolidated(count, f"{found} {notice}".strip())

    def _days(self) -> list[str]:
        names = (self._workspace.relative_name(path) for path in self._workspace.memory_files())
        return sorted(name[len("memory/") : -len(".md")] for name in names if name.startswith("memory/"))

    def _wait(self, proposals: Sequence[Proposal], language: Language) -> int:
        at, count = self._now().isoformat(timespec="seconds"), 0
        for proposal in proposals:
            category = "about_person" if proposal.path == "USER.md" else "lasting_fact"
            heading = render("memory_heading", language, category=category)
            line = replace(proposal.waiting(uuid.uuid4().hex[:8], at), heading=heading)
            count += self._admission.waiting.add(line)
        return count


async def _ask(
    files: Sequence[Note], notes: Sequence[Note], model: TidyModel, language: Language
) -> tuple[list[Proposal], str]:
    """What the model proposes, and what there is to say of it."""
    lines = lines_of(notes)
    while lines and model.count_tokens("\n".join(line.text for line in lines)) > model.max_tokens // 2:
        # The newest count most.
        lines = lines[len(lines) // 4 + 1 :]
    if not lines or sum(model.count_tokens(file.text) for file in files) > model.max_tokens // 2:
        return [], ""
    try:
        return await propose_by_model(files, lines, model.ask, language), ""
    except ModelError as error:
        return [], say("memory", "tidy_not_asked", error=error)
