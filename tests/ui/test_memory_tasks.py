"""What the buttons of the task cards do, in a real home, and what they refuse."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Iterable
from pathlib import Path

import pytest

from assistant.errors import ForgottenError
from assistant.memory.log import Origin
from assistant.models.scripted import ScriptedModel
from assistant.ui.forget_panel import mark_of
from assistant.ui.loading import Loaded
from assistant.ui.memory_tasks import Task, TaskDesk, TaskFace
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
def desk() -> TaskDesk:
    """The buttons."""
    return TaskDesk()


def filled(target: str = "", text: str = "", ticks: Iterable[str] = ()) -> str:
    """A card's form, as the page's script gathers it."""
    return json.dumps({"target": target, "text": text, "ticks": list(ticks)})


def mark(face: TaskFace) -> str:
    """The mark of the card that is shown."""
    assert face.task.found is not None
    return mark_of(face.task.found)


async def test_what_is_ticked_is_forgotten_everywhere_with_a_receipt(
    desk: TaskDesk, loaded: Loaded, home: Path
) -> None:
    shown = await desk.find(loaded, filled(text="cat is called"))
    assert "My cat is called Ada." in shown.html
    done = await desk.forget(loaded, shown.task, filled(mark(shown), ticks=["0"]))
    assert done.task == Task()
    for label in ("Memory files", "History of memory files", "Conversations", "Contexts"):
        assert label in done.html
    holders = [path for path in home.rglob("*") if path.is_file() and b"called Ada" in path.read_bytes()]
    assert holders == []
    assert "I like tea." in "".join(path.read_text("utf-8") for path in (home / "dialog").iterdir())
    with pytest.raises(ForgottenError):
        loaded.assistant.notes.add_lines("USER.md", "Pets", ["My cat is called Ada."], "flush")


async def test_a_chip_begins_with_the_lines_it_wrote(desk: TaskDesk, loaded: Loaded) -> None:
    change = loaded.assistant.memory_log.history("USER.md")[-1]
    shown = await desk.forget_change(loaded, change.change_id)
    assert shown.task.found is not None
    assert [item.text for item in shown.task.found.exact] == ["My cat is called Ada."]
    assert "no longer pending" in (await desk.forget_change(loaded, "unknown")).html


async def test_nothing_goes_without_a_tick_or_by_ticks_of_another_card(
    desk: TaskDesk, loaded: Loaded, home: Path
) -> None:
    shown = await desk.find(loaded, filled(text="cat"))
    assert "Nothing is ticked" in (await desk.forget(loaded, shown.task, filled(mark(shown)))).html
    for task, target in ((shown.task, "other"), (Task(), mark(shown))):
        assert "no longer pending" in (await desk.forget(loaded, task, filled(target, ticks=["0"]))).html
    assert "called Ada" in (home / "USER.md").read_text("utf-8")


@pytest.mark.parametrize("typed", ["", "  ", "…"])
async def test_no_words_find_nothing_and_say_so(desk: TaskDesk, loaded: Loaded, typed: str) -> None:
    shown = await desk.find(loaded, filled(text=typed))
    assert shown.task == Task() or shown.task.found is not None
    assert "checkbox" not in shown.html


def test_a_card_is_opened_empty_and_closed(desk: TaskDesk) -> None:
    assert "What is to be forgotten" in desk.ask_words().html
    assert desk.close() == TaskFace(Task(), "")
