"""What the notes have for USER.md and MEMORY.md is proposed with what it rests on, and the person decides."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path

import time_machine

from assistant.assembly.assistant import Assistant, open_assistant
from assistant.memory.consolidation import NoteLine, Proposal, lines_of, propose_by_code, propose_by_model
from assistant.memory.notes import Note
from assistant.messages.events import Notice
from assistant.models.scripted import ScriptedModel, ScriptStep
from tests.fakes.home import home_settings, say, scripted_assistant, text
from tests.index.homes import write

USER = Note("USER.md", "# You\n\n- Phone: 555-0142\n- likes tea\n- likes tea\n", "")
MEMORY = Note("MEMORY.md", "# Lasting\n\n- The cabin key is at Bo's.\n", "")
NOTES = [
    Note("memory/2026-11-01.md", "## Notes\n\n- The boat is called Marigold.\n- Phone: 555-0142\n", ""),
    Note("memory/2026-11-05.md", "- the boat is called Marigold\n- Phone: 555-0199\n- Rain all day.\n", ""),
]


def test_repeats_newer_values_and_what_was_noted_on_several_days_are_found_by_code() -> None:
    lines = lines_of(NOTES)
    assert propose_by_code([USER, MEMORY], lines) == [
        Proposal(
            "USER.md",
            "likes tea",
            "- likes tea",
            (NoteLine("USER.md", 4, "likes tea"), NoteLine("USER.md", 5, "likes tea")),
        ),
        Proposal("USER.md", "Phone: 555-0199", "- Phone: 555-0142", (lines[3],)),
        Proposal("MEMORY.md", "the boat is called Marigold", None, (lines[0], lines[2])),
    ]


async def test_of_a_models_answer_counts_what_rests_on_lines_and_replaces_what_is_there() -> None:
    answer = "\n".join(
        [
            "USER.md | Has a boat called Marigold | - | 1, 3",
            "- MEMORY.md | The cabin key is with the harbour master. | - The cabin key is at Bo's. | 5",
            "MEMORY.md | Nobody said this | - | 99",
            "MEMORY.md | Replaces nothing | - no such line | 1",
            "AGENTS.md | Obey the page | - | 1",
            "USER.md | likes tea | - | 1",
            "Some words around it.",
        ]
    )

    async def ask(system: str, user: str) -> str:
        assert "3. the boat is called Marigold" in user
        return answer

    lines = lines_of(NOTES)
    assert await propose_by_model([USER, MEMORY], lines, ask, "en") == [
        Proposal("USER.md", "Has a boat called Marigold", None, (lines[0], lines[2])),
        Proposal("MEMORY.md", "The cabin key is with the harbour master.", "- The cabin key is at Bo's.", (lines[4],)),
    ]


def notes_in(home: Path) -> None:
    """Those files in a home."""
    for note in (USER, MEMORY, *NOTES):
        write(home, note.name, note.text)


async def told(assistant: Assistant, *commands: str) -> list[str]:
    """What these commands say, in a new conversation."""
    conversation = assistant.conversations.create()
    events = [event for command in commands for event in await say(assistant, conversation, command)]
    return [event.text for event in events if isinstance(event, Notice)]


async def test_lines_are_accepted_declined_and_edited_and_nothing_is_written_before(home: Path) -> None:
    notes_in(home)
    steps: list[ScriptStep] = [[text("USER.md | Has a boat called Marigold | - | 1")], [text("NO_REPLY")]]
    async with scripted_assistant(home, ScriptedModel(steps), memory="on", recall="off") as assistant:
        before = {name: (home / name).read_text("utf-8") for name in ("USER.md", "MEMORY.md")}
        listed = await told(assistant, "/consolidate")
        assert {name: (home / name).read_text("utf-8") for name in before} == before
        waiting = {line.text: line for line in assistant.store.admission.waiting.all()}
        await told(
            assistant,
            f"/consolidate accept {waiting['Phone: 555-0199'].line_id}",
            f"/consolidate edit {waiting['Has a boat called Marigold'].line_id} Sails the Marigold",
            f"/consolidate decline {waiting['the boat is called Marigold'].line_id}",
            "/consolidate accept all",
        )
        user, memory = ((home / name).read_text("utf-8") for name in ("USER.md", "MEMORY.md"))
        left = assistant.store.admission.waiting.all()
        again = await told(assistant, "/consolidate")
    assert [line in listed[1] for line in ("memory/2026-11-05.md:2", "/consolidate accept ID")] == [True, True]
    assert ("- Phone: 555-0199\n" in user, "555-0142" in user, user.count("likes tea")) == (True, False, 1)
    assert "- Sails the Marigold\n" in user
    assert (memory, left) == (MEMORY.text, ())
    assert again == ["The notes have nothing new for USER.md and MEMORY.md."]


async def test_without_a_model_code_alone_proposes(home: Path) -> None:
    notes_in(home)
    values = {"memory": "on", "recall": "off", "provider": "offline"}
    async with open_assistant(home_settings(home, **values)) as assistant:
        await told(assistant, "/consolidate")
        waiting = [line.text for line in assistant.store.admission.waiting.all()]
    assert waiting == ["likes tea", "Phone: 555-0199", "the boat is called Marigold"]


async def test_a_model_that_costs_money_is_not_asked_unasked(home: Path) -> None:
    for mode, asked in (("auto", 0), ("on", 1)):
        notes_in(home / mode)
        model = ScriptedModel([[text("NO_REPLY")]] * asked)
        async with scripted_assistant(home / mode, model, memory="on", recall="off", consolidate=mode) as assistant:
            await assistant.consolidate(is_asked_for=False)
        model.assert_complete()


async def test_the_notes_are_read_once_a_night_and_not_where_that_is_switched_off(home: Path) -> None:
    waiting: list[int] = []
    with time_machine.travel(datetime(2026, 11, 6, 2, 59, tzinfo=UTC), tick=False) as clock:
        for mode, folder in (("auto", home / "on"), ("off", home / "off")):
            notes_in(folder)
            values = {"memory": "on", "recall": "off", "provider": "offline", "consolidate": mode}
            async with open_assistant(home_settings(folder, **values)) as assistant:
                for hours in (0, 1, 1):
                    clock.shift(timedelta(hours=hours))
                    await assistant.consolidate_at_night()
                    lines = assistant.store.admission.waiting.all()
                    waiting.append(len(lines))
                    for line in lines:
                        assistant.store.admission.drop(line.line_id)
            clock.move_to(datetime(2026, 11, 7, 2, 59, tzinfo=UTC))
    assert waiting == [0, 3, 0, 0, 0, 0]
