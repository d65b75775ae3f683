"""What a person does to memory beside the editor: forget, tidy, ask who wrote a line. One card at a time."""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from assistant.errors import ConflictError, PalimpsestError
from assistant.memory.log import log_lines
from assistant.memory.provenance import origin_of_line
from assistant.storage.workspace import MEMORY_FILES
from assistant.ui.cards import card
from assistant.ui.form import MAX_CHARS, read_form
from assistant.ui.memory.forget_panel import mark_of, preview_html, receipt_html, ticked_items, words_html, words_of
from assistant.ui.memory.line_panel import origin_html
from assistant.ui.memory.tidy_panel import mark_of as tidying_mark
from assistant.ui.memory.tidy_panel import ticked_proposals, tidied_text, tidying_html
from assistant.ui.server.loading import Loaded

if TYPE_CHECKING:
    # They bring the agent library and the index with them, which the page does not wait for.
    from assistant.memory.forget.forgetter import ForgetPreview
    from assistant.memory.tidy import Tidying

_NO_LONGER = "That card shows something that is no longer pending. Nothing was done."


@dataclass(frozen=True, slots=True)
class Task:
    """What is shown in one browser tab and not decided yet."""

    found: ForgetPreview | None = None
    tidied_name: str = ""
    tidying: Tidying | None = None


@dataclass(frozen=True, slots=True)
class TaskFace:
    """The task and its card; an empty card for none."""

    task: Task
    html: str

    def values(self) -> list[object]:
        """The values in the order of `MemoryParts.task_outputs`."""
        return [self.task, self.html]


class TaskDesk:
    """What the buttons of the task cards do. Ticks count only for the card they were put on."""

    def close(self) -> TaskFace:
        """No card."""
        return TaskFace(Task(), "")

    def ask_words(self) -> TaskFace:
        """Ask what is to be forgotten."""
        return TaskFace(Task(), str(words_html()))

    async def forget_change(self, loaded: Loaded, change_id: str) -> TaskFace:
        """Show where the lines of a memory change stand."""
        change = loaded.assistant.memory_log.change(change_id)
        if change is None:
            return TaskFace(Task(), str(words_html(problem=_NO_LONGER)))
        return await self._find(loaded, words_of(change))

    async def find(self, loaded: Loaded, gathered: str) -> TaskFace:
        """Show where the typed words stand."""
        return await self._find(loaded, read_form(gathered).text[:MAX_CHARS])

    async def find_text(self, loaded: Loaded, text: str) -> TaskFace:
        """Show where the words of a line stand."""
        return await self._find(loaded, text[:MAX_CHARS])

    async def forget(self, loaded: Loaded, task: Task, gathered: str) -> TaskFace:
        """Forget what is ticked of what was shown; the receipt, or the card again with what went wrong."""
        form = read_form(gathered)
        if task.found is None or form.target != mark_of(task.found):
            return TaskFace(task, str(words_html(form.text, _NO_LONGER)))
        chosen = ticked_items(task.found, form.ticks)
        if not chosen:
            return TaskFace(task, str(preview_html(task.found, "Nothing is ticked. Nothing was forgotten.")))
        try:
            receipt = await loaded.assistant.forgetter.forget(chosen)
        except PalimpsestError as error:
            return TaskFace(task, str(preview_html(task.found, str(error))))
        return TaskFace(Task(), str(receipt_html(receipt)))

    async def tidy(self, loaded: Loaded, name: str) -> AsyncIterator[TaskFace]:
        """Look for lines of a file that could go: at first that it is being looked, then what was found."""
        if name not in MEMORY_FILES:
            yield _told("Tidy", "Daily notes are in no prompt, so they are never too long. Nothing was done.")
            return
        yield _told(f"Tidy {name}", "Looking for lines that another one makes needless…")
        try:
            tidying = await loaded.assistant.propose_tidying([name])
        except PalimpsestError as error:
            yield _told(f"Tidy {name}", str(error))
            return
        yield TaskFace(Task(tidied_name=name, tidying=tidying), str(tidying_html(name, tidying)))

    def accept(self, loaded: Loaded, task: Task, gathered: str) -> TaskFace:
        """Take the ticked lines out of the file, as far as they still stand there with their reason."""
        form, tidying = read_form(gathered), task.tidying
        if tidying is None or form.target != tidying_mark(tidying):
            return TaskFace(task, str(card("task", title="Tidy", text=_NO_LONGER)))
        name = task.tidied_name
        chosen = ticked_proposals(tidying, form.ticks)
        if not chosen:
            return TaskFace(task, str(tidying_html(name, tidying, "Nothing is ticked. Nothing was removed.")))
        try:
            tidied = loaded.assistant.tidy(name, chosen)
        except ConflictError:
            problem = f"{name} is being written to at this moment. Nothing was removed; try again."
            return TaskFace(task, str(tidying_html(name, tidying, problem)))
        except PalimpsestError as error:
            return TaskFace(task, str(tidying_html(name, tidying, str(error))))
        return _told(f"Tidy {name}", tidied_text(name, tidied))

    def tell_line(self, loaded: Loaded, name: str, number: int | None) -> TaskFace:
        """Who wrote a line of a file as it is on disk; None for one that is in no file yet."""
        title = "Who wrote this line"
        if number is None:
            return _told(title, "This line is not saved yet, or the file has no such line: you are writing it.")
        assistant = loaded.assistant
        try:
            assistant.notes.note_outside_change(name)
            lines = log_lines(assistant.notes.read(name).text)
        except PalimpsestError as error:
            return _told(title, str(error))
        origin = origin_of_line(assistant.memory_log, name, number)
        if origin is None or number > len(lines):
            return _told(title, f"The log of changes cannot tell where line {number} of {name} comes from.")
        sessions = assistant.conversations.summaries()
        return TaskFace(Task(), str(origin_html(name, number, lines[number - 1], origin, sessions)))

    async def _find(self, loaded: Loaded, text: str) -> TaskFace:
        try:
            found = await loaded.assistant.forgetter.find(text)
        except PalimpsestError as error:
            return TaskFace(Task(), str(words_html(text, str(error))))
        return TaskFace(Task(found), str(preview_html(found)))


def _told(title: str, text: str) -> TaskFace:
    return TaskFace(Task(), str(card("task", title=title, text=text)))
