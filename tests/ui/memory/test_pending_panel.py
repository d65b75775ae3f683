"""Lines that wait are kept, changed or dropped on a card, one by one or all."""

from __future__ import annotations

import json
from pathlib import Path

from assistant.memory.waiting import WaitingLine
from assistant.models.scripted import ScriptedModel
from assistant.ui.memory.memory_tasks import TaskController
from assistant.ui.server.loading import Loaded
from tests.fakes.home import scripted_assistant
from tests.index.homes import write


def waiting(line_id: str, text: str, replaces: str | None = None) -> WaitingLine:
    """A line for USER.md."""
    return WaitingLine(line_id, "USER.md", "", text, "a <page>", "flush", "", "2026-11-30T10:00:00+00:00", replaces)


async def test_ticked_lines_are_kept_as_they_read_in_their_fields_or_dropped_for_good(home: Path) -> None:
    write(home, "USER.md", "- lives in Rome\n")
    async with scripted_assistant(home, ScriptedModel([]), memory="on") as assistant:
        lines = assistant.store.admission.waiting
        for line in (waiting("a1", "lives in Oslo", "- lives in Rome"), waiting("b2", "likes tea"), waiting("c3", "x")):
            lines.add(line)
        loaded, tasks = Loaded(assistant, len), TaskController()
        shown = str(tasks.list_pending(loaded)["task_card"])
        unticked = str(tasks.decide_pending(loaded, json.dumps({"ticks": []}), is_kept=True)["task_card"])
        fields = {"a1": "lives in Oslo since May", "b2": "likes tea", "c3": "x"}
        kept = json.dumps({"ticks": ["a1", "gone"], "fields": fields})
        after = str(tasks.decide_pending(loaded, kept, is_kept=True)["task_card"])
        tasks.decide_pending(loaded, json.dumps({"ticks": ["b2", "c3"], "fields": fields}), is_kept=False)
        empty = str(tasks.list_pending(loaded)["task_card"])
        is_proposed_again = lines.add(waiting("d4", "Likes tea."))
        text = (home / "USER.md").read_text("utf-8")
    assert ('value="lives in Oslo"' in shown, "− lives in Rome" in shown, "a &lt;page&gt;" in shown) == (True,) * 3
    assert "Nothing is ticked" in unticked
    assert ("1 kept." in after, 'value="lives in Oslo' in after) == (True, False)
    assert "Nothing waits." in empty
    assert (text, is_proposed_again) == ("- lives in Oslo since May\n", False)


async def test_looking_through_the_notes_lists_what_is_proposed(home: Path) -> None:
    for day in ("2026-11-01", "2026-11-05"):
        write(home, f"memory/{day}.md", "- The boat is called Marigold.\n")
    async with scripted_assistant(home, ScriptedModel([]), memory="off") as assistant:
        updates = [update async for update in TaskController().consolidate(Loaded(assistant, len))]
    assert "Looking through the notes" in str(updates[0]["task_card"])
    assert "memory/2026-11-01.md:1, memory/2026-11-05.md:1" in str(updates[-1]["task_card"])
