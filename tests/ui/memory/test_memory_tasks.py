"""What the buttons of the task cards do, in a real home, and what they refuse."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Iterable
from pathlib import Path

import pytest

from assistant.errors import ForgottenError
from assistant.memory.log import Origin
from assistant.models.scripted import ScriptedModel
from assistant.storage.atomic_io import replace_text
from assistant.ui.cards import action
from assistant.ui.components import PageUpdate
from assistant.ui.memory.forget_panel import mark_of
from assistant.ui.memory.memory_tasks import TaskController
from assistant.ui.memory.task import Task
from assistant.ui.memory.tidy_panel import mark_of as tidying_mark
from assistant.ui.server.loading import Loaded
from tests.fakes.home import say, scripted_assistant, text


@pytest.fixture
async def loaded(home: Path) -> AsyncIterator[Loaded]:
    """An assistant that was told of a cat, and wrote it down."""
    async with scripted_assistant(home, ScriptedModel([[text("Noted.")]])) as assistant:
        conversation = assistant.conversations.create()
        await say(assistant, conversation, "My cat is called Ada. I like tea.")
        assistant.notes.add_lines(
            "USER.md", "Pets", ["My cat is called Ada."], Origin("assistant", conversation.session_id)
        )
        yield Loaded(assistant, len)


@pytest.fixture
def controller() -> TaskController:
    """The buttons."""
    return TaskController()


def filled(target: str = "", text: str = "", ticks: Iterable[str] = ()) -> str:
    """A card's form, as the page's script gathers it."""
    return json.dumps({"target": target, "text": text, "ticks": list(ticks)})


def mark(update: PageUpdate) -> str:
    """The mark of the card that is shown."""
    assert update["task"].found is not None
    return mark_of(update["task"].found)


async def test_what_is_ticked_is_forgotten_everywhere_with_a_receipt(
    controller: TaskController, loaded: Loaded, home: Path
) -> None:
    shown = await controller.find(loaded, filled(text="cat is called"))
    assert "My cat is called Ada." in shown["task_card"]
    done = await controller.forget(loaded, shown["task"], filled(mark(shown), ticks=["0"]))
    assert done["task"] == Task()
    for label in ("Memory files", "History of memory files", "Conversations", "Contexts"):
        assert label in done["task_card"]
    holders = [path for path in home.rglob("*") if path.is_file() and b"called Ada" in path.read_bytes()]
    assert holders == []
    assert "I like tea." in "".join(path.read_text("utf-8") for path in (home / "dialog").iterdir())
    with pytest.raises(ForgottenError):
        loaded.assistant.notes.add_lines("USER.md", "Pets", ["My cat is called Ada."], "flush")


async def test_a_chip_begins_with_the_lines_it_wrote(controller: TaskController, loaded: Loaded) -> None:
    change = loaded.assistant.memory_log.history("USER.md")[-1]
    shown = await controller.forget_change(loaded, change.change_id)
    assert shown["task"].found is not None
    assert [item.text for item in shown["task"].found.exact] == ["My cat is called Ada."]
    assert "no longer pending" in (await controller.forget_change(loaded, "unknown"))["task_card"]


async def test_nothing_goes_without_a_tick_or_by_ticks_of_another_card(
    controller: TaskController, loaded: Loaded, home: Path
) -> None:
    shown = await controller.find(loaded, filled(text="cat"))
    assert "Nothing is ticked" in (await controller.forget(loaded, shown["task"], filled(mark(shown))))["task_card"]
    for task, target in ((shown["task"], "other"), (Task(), mark(shown))):
        assert "no longer pending" in (await controller.forget(loaded, task, filled(target, ticks=["0"])))["task_card"]
    assert "called Ada" in (home / "USER.md").read_text("utf-8")


@pytest.mark.parametrize("typed", ["", "  ", "…"])
async def test_no_words_find_nothing_and_say_so(controller: TaskController, loaded: Loaded, typed: str) -> None:
    shown = await controller.find(loaded, filled(text=typed))
    assert shown["task"] == Task() or shown["task"].found is not None
    assert "checkbox" not in shown["task_card"]


def test_a_card_is_opened_empty_and_closed(controller: TaskController) -> None:
    assert "What is to be forgotten" in controller.ask_words()["task_card"]
    assert controller.close() == PageUpdate(task=Task(), task_card="")


FULL = "\n".join(["- likes tea", "- likes tea", *(f"- fact {number}" for number in range(2_000))]) + "\n"


def fill(loaded: Loaded) -> None:
    """MEMORY.md is nearly full, and says one thing twice."""
    note = loaded.assistant.notes.read("MEMORY.md")
    loaded.assistant.notes.save("MEMORY.md", FULL, note.digest, "owner")


async def proposed(controller: TaskController, loaded: Loaded, name: str) -> list[PageUpdate]:
    """What is shown from the button on."""
    return [update async for update in controller.tidy(loaded, name)]


def proposal_mark(update: PageUpdate) -> str:
    """The mark of the proposal that is shown."""
    assert update["task"].tidying is not None
    return tidying_mark(update["task"].tidying)


async def test_only_ticked_lines_leave_a_full_file_and_the_history_restores_them(
    controller: TaskController, loaded: Loaded
) -> None:
    fill(loaded)
    looking, shown = await proposed(controller, loaded, "MEMORY.md")
    assert "Looking" in looking["task_card"]
    assert "line 2 may go" in shown["task_card"]
    assert "checked" not in shown["task_card"]
    assert "Nothing is ticked" in controller.accept(loaded, shown["task"], filled(proposal_mark(shown)))["task_card"]
    assert loaded.assistant.notes.read("MEMORY.md").text == FULL
    done = controller.accept(loaded, shown["task"], filled(proposal_mark(shown), ticks=["0"]))
    assert "1 line is gone from MEMORY.md" in done["task_card"]
    change = loaded.assistant.memory_log.history("MEMORY.md")[-1]
    assert (change.writer, loaded.assistant.memory_log.text_before(change)) == ("tidy", FULL)


async def test_what_changed_since_the_proposal_stays_and_is_told(
    controller: TaskController, loaded: Loaded, home: Path
) -> None:
    fill(loaded)
    (*_, shown) = await proposed(controller, loaded, "MEMORY.md")
    changed = FULL.replace("- likes tea\n- likes tea\n", "- likes coffee\n- likes tea a lot\n")
    (home / "MEMORY.md").write_text(changed, "utf-8")
    done = controller.accept(loaded, shown["task"], filled(proposal_mark(shown), ticks=["0"]))
    assert "1 line stays" in done["task_card"]
    assert (home / "MEMORY.md").read_text("utf-8") == changed
    assert (
        "no longer pending" in controller.accept(loaded, Task(), filled(proposal_mark(shown), ticks=["0"]))["task_card"]
    )


async def test_an_empty_proposal_says_why(controller: TaskController, loaded: Loaded) -> None:
    assert "has room" in (await proposed(controller, loaded, "USER.md"))[-1]["task_card"]
    assert "never too long" in (await proposed(controller, loaded, "memory/2026-11-30.md"))[-1]["task_card"]
    note = loaded.assistant.notes.read("MEMORY.md")
    loaded.assistant.notes.save("MEMORY.md", FULL.replace("- likes tea\n", "", 1), note.digest, "owner")
    shown = (await proposed(controller, loaded, "MEMORY.md"))[-1]["task_card"]
    assert "No line in it says what another says" in shown
    assert "No model was asked" in shown


def test_a_line_tells_its_writer_its_time_and_its_conversation(controller: TaskController, loaded: Loaded) -> None:
    change = loaded.assistant.memory_log.history("USER.md")[-1]
    lines = loaded.assistant.notes.read("USER.md").text.split("\n")
    shown = controller.show_line(loaded, "USER.md", lines.index("- My cat is called Ada.") + 1)["task_card"]
    assert "the assistant" in shown
    assert action("open-message", f"{change.session_id} {change.change_id}") in shown
    assert "the template of a new home" in controller.show_line(loaded, "USER.md", 1)["task_card"]
    for number in (None, 0, 9_999):
        assert "Who wrote this line" in controller.show_line(loaded, "USER.md", number)["task_card"]


def test_a_line_that_replaced_another_shows_it(controller: TaskController, loaded: Loaded, home: Path) -> None:
    path = home / "USER.md"
    # In one step: whoever looks in the middle of a plain write sees an empty file, and every line as new after it.
    replace_text(path, path.read_text("utf-8").replace("called Ada", "called Bea"))
    number = path.read_text("utf-8").split("\n").index("- My cat is called Bea.") + 1
    shown = controller.show_line(loaded, "USER.md", number)["task_card"]
    assert "an editor or another program" in shown
    assert "− - My cat is called Ada." in shown
