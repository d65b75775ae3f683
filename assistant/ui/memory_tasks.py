"""What a person does to memory beside the editor: forget with ticks. One card at a time, decided by nobody else."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from assistant.errors import PalimpsestError
from assistant.ui.forget_panel import mark_of, preview_html, receipt_html, ticked_items, words_html, words_of
from assistant.ui.form import MAX_CHARS, read_form
from assistant.ui.loading import Loaded

if TYPE_CHECKING:
    # They bring the agent library and the index with them, which the page does not wait for.
    from assistant.forget import ForgetPreview

_NO_LONGER = "That card shows something that is no longer pending. Nothing was done."


@dataclass(frozen=True, slots=True)
class Task:
    """What is shown in one browser tab and not decided yet."""

    found: ForgetPreview | None = None


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

    async def _find(self, loaded: Loaded, text: str) -> TaskFace:
        try:
            found = await loaded.assistant.forgetter.find(text)
        except PalimpsestError as error:
            return TaskFace(Task(), str(words_html(text, str(error))))
        return TaskFace(Task(found), str(preview_html(found)))
